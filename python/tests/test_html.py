"""Tests of the HTML that notebooks show: tables and pictures, no dicts, no long hexadecimal text, everything escaped."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import ddsc

NASTY = "<script>alert(1)</script> & \"quoted\" 'text'"


class Tags(HTMLParser):
    """Checks that elements are closed in order, and collects them and the visible text."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("img", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def check(page):
    """Check the rules for HTML in a notebook, and return the tags and the text."""
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    text = " ".join(tags.text)
    assert not re.search(r"[0-9a-f]{16}", re.sub(r'src="data:[^"]*"', "", page)), "hexadecimal text"
    assert not re.search(r"[{}]|\['|': ", text), text
    assert not {"script", "iframe", "link", "style"} & set(tags.seen)
    assert not re.search(r"https?://|\son\w+=", page)
    return tags.seen, text


@pytest.fixture(scope="module")
def planar():
    rng = np.random.default_rng(0)
    items = [rng.normal(5 * (i % 2), 1, (12, 2)) for i in range(24)]
    X = ddsc.Distributions(items, ids=[f"{NASTY} {i}" for i in range(24)], labels=[NASTY, "b"] * 12)
    X = X.described(titles=[f"{NASTY} t{i}" for i in range(24)], coordinate_names=[NASTY, "y"], meta={NASTY: [NASTY] * 24})
    return X, ddsc.DDSC(2, n_jobs=1).fit(X)


def test_model(planar):
    _, model = planar
    seen, text = check(model._repr_html_())
    assert seen.count("circle") == 24 and seen.count("img") == 2 and "svg" in seen and "table" in seen
    assert "24 items in 2 clusters" in text and "<script>" in text  # as text
    assert model.result_json()["verdict"]["text"] in text
    bundle = model._repr_mimebundle_()
    assert bundle["text/html"] == model._repr_html_() and bundle["text/plain"] == repr(model)


def test_documents_show_words():
    model = ddsc.DDSC(5, n_jobs=1).fit(ddsc.datasets.load_documents())
    _, text = check(model._repr_html_())
    for cluster in model.explain():
        assert cluster["words"][0]["word"] in text and str(cluster["size"]) in text
    check(ddsc.datasets.load_documents()._repr_html_())


def test_explanation_is_still_a_list_of_dicts(planar):
    _, model = planar
    told = model.explain()
    assert isinstance(told, list) and isinstance(told[0], dict) and told == model.result_json()["clusters"]
    seen, _ = check(told._repr_html_())
    assert seen.count("img") == 2
    check(told[0]._repr_html_())
    for printed in (repr(told), str(told), repr(told[0])):
        assert "{" not in printed and not re.search(r"[0-9a-f]{16}", printed) and "items" in printed
    assert len(repr(told).splitlines()) == 2


def test_sets(planar):
    X, _ = planar
    seen, text = check(X._repr_html_())
    assert seen.count("img") == 5 and "24 items in 2 dimensions" in text and "19 more items" in text
    assert "12 points per item" in text and "b (12)" in text
    digits = ddsc.datasets.load_digits()[:4]
    seen, text = check(digits._repr_html_())
    assert seen.count("img") == 4 and "more items" not in text and "row, column" in text
    empty = ddsc.Distributions([np.zeros((1, 2)), np.zeros((0, 2))], on_empty="drop")
    assert "1 items without mass" in check(empty._repr_html_())[1]
    check(ddsc.make_gaussians(dim=4).transformed(normalize="standard")._repr_html_())


@pytest.mark.parametrize("settings", [{"method": "kmeans"}, {"metric": "precomputed"}, {"n_clusters": 1}, {"n_clusters": 22}])
def test_other_fits(planar, settings):
    X, _ = planar
    given = ddsc.pairwise(X) if "metric" in settings else X
    page = ddsc.DDSC(**{"n_clusters": 2, **settings}).fit(given)._repr_html_()
    assert len(check(page)[1]) > 50
    assert ("and 2 more clusters" in page) == (settings.get("n_clusters") == 22)


def test_unfitted_and_loaded_models(planar, tmp_path):
    _, model = planar
    assert "DDSC" in ddsc.DDSC(3)._repr_html_() and "DDSC" in ddsc.DDSC(3)._repr_mimebundle_()["text/plain"]
    model.save(tmp_path / "model.npz")
    assert "24 items in 2 clusters" in check(ddsc.DDSC.load(tmp_path / "model.npz")._repr_html_())[1]


def test_pictures_show_the_item():
    import base64
    import struct
    import zlib

    from ddsc._html import picture

    shades = np.zeros((3, 4))
    shades[0, 3] = 1
    data = base64.b64decode(re.search(r"base64,([^\"]+)", picture(shades, "x", "#ff0000"))[1])
    assert struct.unpack(">II", data[16:24]) == (4, 3)
    begin = data.index(b"IDAT") + 4
    pixels = np.frombuffer(zlib.decompress(data[begin:-16]), np.uint8).reshape(3, 17)[:, 1:].reshape(3, 4, 4)
    assert pixels[0, 3].tolist() == [255, 0, 0, 255] and pixels[:, :, 3].sum() == 255
