"""Settings of Sphinx. `make.py` collects the sources and runs Sphinx with this configuration."""

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

# The text of each parameter states its type. Automatic type hints would require links to NumPy's pages.
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
html_extra_path = ["../../build/site-src/_extra"]  # a report, linked from the start page
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

# Broken external links are only reported (./run docs links).
linkcheck_timeout = 10
linkcheck_retries = 1
linkcheck_workers = 4


def plain_words(app, what, name, obj, options, lines):
    """Escape single stars, bars and names such as labels_, which docstrings use as plain text."""
    if (getattr(obj, "__module__", None) or "").startswith("sklearn."):  # refers to pages of scikit-learn
        lines[:] = lines[:1]
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "..", "* ", "|")):
            continue
        pieces = re.split(r"(`[^`]*`)", line)
        for k in range(0, len(pieces), 2):
            piece = re.sub(r"(?<![\w:])(\w+)_(?!\w)", r"\1\\_", pieces[k])
            pieces[k] = re.sub(r"(?<=[\s\"/(])([*|])(?=[\s.,)])", r"\\\1", piece)
        lines[i] = "".join(pieces)


def setup(app):
    app.connect("autodoc-process-docstring", plain_words, priority=900)
