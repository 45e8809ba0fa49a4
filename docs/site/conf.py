"""Settings of Sphinx. `make.py` puts the sources together and calls it."""

import re
from importlib.util import find_spec

import ddsc

project = "ddsc"
author = "The ddsc authors"
copyright = "The ddsc authors, Apache License 2.0"
version = release = ddsc.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["gallery-src", "_extra", "sg_execution_times.rst", "gallery/sg_execution_times.rst"]
nitpicky = True
nitpick_ignore_regex = [
    ("c:identifier", r"u?int\d+_t|size_t"),
    ("py:.*", r"matplotlib.*"),
]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

# Types stand in the text of a parameter, in words; the machine's own would need the pages of numpy.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery-src",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_" if find_spec("scanpy") else r"/\d\d_(?!scanpy)",  # the latter is shown, not run
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1000,
    "plot_gallery": True,
    "capture_repr": ("_repr_html_",),
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": False,
}

html_theme = "furo"
html_title = f"ddsc {version}"
html_static_path = ["static"]
html_extra_path = ["../../build/site-src/_extra"]  # a report as it is, for the start page
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

# Other people's pages are only reported on (./run docs links).
linkcheck_timeout = 10
linkcheck_retries = 1
linkcheck_workers = 4


def plain_words(app, what, name, obj, options, lines):
    """Docstrings are read as text by most: a lone star, a bar or a name such as labels_ is no mark."""
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "..", "* ", "|")):
            continue
        pieces = re.split(r"(`[^`]*`)", line)
        for k in range(0, len(pieces), 2):
            piece = re.sub(r"(?<![\w:])(\w+)_(?!\w)", r"\1\\_", pieces[k])
            pieces[k] = re.sub(r"(?<=[\s\"/(])([*|])(?=[\s.)])", r"\\\1", piece)
        lines[i] = "".join(pieces)


def setup(app):
    app.connect("autodoc-process-docstring", plain_words, priority=900)
