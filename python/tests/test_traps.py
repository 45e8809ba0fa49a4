"""Tests of mistakes that were accepted silently or reported in internal terms."""

import subprocess
import sys

import numpy as np
import pytest

import ddsc


@pytest.mark.parametrize("channels", [3, 4])
def test_color_images_are_not_volumes(channels):
    images = np.random.default_rng(0).integers(0, 256, (6, 16, 16, channels), dtype=np.uint8)
    with pytest.raises(ValueError, match="as_='colors'"):
        ddsc.Distributions.from_histograms(images)
    colors = ddsc.Distributions.from_histograms(images, as_="colors")
    assert colors.dim == 3 and colors.coordinate_names == ["L", "a", "b"] and len(colors.support) <= 512
    assert ddsc.Distributions.from_histograms(images.mean(axis=-1)).dim == 2
    assert ddsc.Distributions.from_histograms(images, as_="volume").dim == 3
    with pytest.raises(ValueError, match=r"\(N, height, width, 3 or 4\)"):
        ddsc.Distributions.from_histograms(images[:, :, :, 0], as_="colors")
    with pytest.raises(ValueError, match="from 0 to 1"):
        ddsc.Distributions.from_histograms(images.astype(float), as_="colors")
    floats = ddsc.Distributions.from_histograms(images / 255, as_="colors")
    np.testing.assert_array_equal(floats.support, colors.support)


def test_color_images_with_the_channels_first():
    images = np.random.default_rng(0).uniform(size=(5, 3, 16, 16))
    for as_ in (None, "colors"):
        with pytest.raises(ValueError, match=r"transpose\(0, 2, 3, 1\)"):
            ddsc.Distributions.from_histograms(images, as_=as_)
    assert ddsc.Distributions.from_histograms(images, as_="volume").dim == 3


def write_png(path, pixels):
    import struct
    import zlib

    rows, columns, channels = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", columns, rows, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


@pytest.mark.parametrize("channels", [3, 4])
def test_colors_are_those_of_the_library(tmp_path, channels):
    images = np.random.default_rng(1).integers(0, 256, (2, 9, 7, channels), dtype=np.uint8)
    mine = ddsc.Distributions.from_histograms(images, as_="colors")
    for i, image in enumerate(images):
        write_png(tmp_path / f"{i}.png", image)
    try:
        read = ddsc.read([tmp_path / "0.png", tmp_path / "1.png"], as_="colors")
    except ValueError as error:
        pytest.skip(str(error))  # a build without PNG
    for (points, weights), (others, masses) in zip(mine, read):
        order, sequence = np.lexsort(points.T.round(6)), np.lexsort(others.T.round(6))
        np.testing.assert_allclose(points[order], others[sequence], atol=1e-9)
        np.testing.assert_allclose(weights[order], masses[sequence], rtol=1e-6)


def test_duplicate_ids():
    items = [np.zeros((2, 2)), np.ones((2, 2)), np.ones((1, 2))]
    for make in (
        lambda: ddsc.Distributions(items, ids=["a", "b", "a"]),
        lambda: ddsc.Distributions({"1": items[0], 1: items[1]}),
        lambda: ddsc.Distributions.from_histograms(np.eye(2), ids=["a", "a"]),
        lambda: ddsc.Distributions.from_arrays(np.eye(2), [0, 1, 2], ids=["a", "a"]),
    ):
        with pytest.raises(ValueError, match="both have the id"):
            make()
    X = ddsc.Distributions(items, ids=list("abc"))
    assert X[[0, 0, 1]].ids == ["a", "a", "b"]  # resampling with replacement


def test_names_of_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"sample": ["a", "b"], "x": [1.0, 2.0]})
    for given in ({"groupby": "sampel"}, {"groupby": "sample", "weight": "sampl"}, {"groupby": "x", "columns": ["simple"]}):
        with pytest.raises(ValueError, match=r"it has sample, x \(did you mean 'sample'\?\)"):
            ddsc.Distributions.from_frame(frame, **given)


def test_a_set_is_not_a_list_of_items():
    X = ddsc.make_shapes(4)
    with pytest.raises(ValueError, match="Distributions already"):
        ddsc.Distributions(X, ids=range(8))
    with pytest.raises(ValueError, match="X must be a matrix of numbers, not Distributions"):
        ddsc.DDSC(2, metric="precomputed").fit(ddsc.pairwise(X)).predict(X)
    assert len(ddsc.Distributions(list(X), ids=range(8))) == 8


def test_names_of_metrics():
    X = ddsc.make_shapes(4)
    for wrong, meant in (("precomputd", "precomputed"), ("sinkhon", "sinkhorn"), ("wasserstein", "w2"), ("wasserstien", "w2")):
        with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
            ddsc.DDSC(2, metric=wrong).fit(X)
    with pytest.raises(ValueError, match="'precomputed'"):
        ddsc.DDSC(2, metric="nothing like it").fit(X)
    with pytest.raises(ValueError) as error:
        ddsc.pairwise(X, metric="nothing like it")
    assert "precomputed" not in str(error.value) and "did you mean" not in str(error.value)
    with pytest.raises(ValueError, match="did you mean 'kmeans'"):
        ddsc.DDSC(2, method="kmean").fit(X)


def test_messages_use_the_terms_of_the_caller():
    for make in (
        lambda: ddsc.Distributions([np.array([[np.nan, 1.0]])]),
        lambda: ddsc.Distributions([np.zeros((2, 2))], [[-1.0, 2.0]]),
        lambda: ddsc.Distributions([np.zeros((2, 2)), np.zeros((0, 2))]),
        lambda: ddsc.Distributions.from_arrays(np.eye(2), [0, 3, 2]),
        lambda: ddsc.Distributions.from_histograms(-np.eye(2)),
        lambda: ddsc.DDSC(2).fit([np.full((2, 2), np.inf), np.zeros((2, 2))]),
    ):
        with pytest.raises(ValueError) as error:
            make()
        assert not str(error.value).startswith("measures") and len(str(error.value)) > 15


def test_messages_name_arguments_of_python(tmp_path):
    X = ddsc.make_shapes(4)
    model = ddsc.DDSC(2).fit(X)
    for write in (X.write, model.save):
        write(tmp_path / "x.npz", overwrite=True)
        with pytest.raises(FileExistsError, match="pass overwrite=True"):
            write(tmp_path / "x.npz")
    with pytest.warns(UserWarning, match="^n_neighbors = 50, .*reduce n_neighbors$"):
        ddsc.DDSC(2, n_neighbors=50).fit(X)
    with pytest.raises(ValueError, match="did you mean metric='w1', cost='cosine'"):
        ddsc.DDSC(2, metric="cosine").fit(X)
    with pytest.raises(ValueError, match="^pca = 3: the points have 2 coordinates"):
        X.transformed(pca=3)
    with pytest.raises(ValueError, match="distances has 2 items"):
        ddsc.permanova(np.eye(2), {"a": [1, 2]})
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(ValueError, match=r"\(id=COLUMN\)"):
        ddsc.read(tmp_path / "t.csv")


def test_figures_need_a_fitted_model():
    with pytest.raises(ValueError, match="not fitted yet"):
        ddsc.plot.map(ddsc.DDSC(2))
    with pytest.raises(TypeError, match="must be a fitted DDSC, not Distributions"):
        ddsc.plot.map(ddsc.make_shapes(4))


def test_former_names_are_not_listed():
    model = ddsc.DDSC(2).fit(ddsc.make_shapes(4))
    assert not {"doubt_", "centres_", "centre_size"} & set(dir(model)) and "ambiguity_" in dir(model)
    with pytest.warns(FutureWarning):
        assert len(model.doubt_) == 8


def test_only_public_names_are_listed():
    code = (
        "import ddsc, ddsc.plot, ddsc.datasets\n"
        "ddsc.DDSC(2).fit(ddsc.make_shapes(4))\n"
        "for module in (ddsc, ddsc.plot, ddsc.datasets):\n"
        "    print(sorted(set(dir(module)) - {'__version__'}) == sorted(set(module.__all__) - {'__version__'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"] * 3
    assert not {"Any", "np", "importlib", "List"} & {name for m in (ddsc, ddsc.plot, ddsc.datasets) for name in dir(m)}
    assert not [n for n in vars(ddsc.DDSC(2).fit(ddsc.make_shapes(4))) if n.startswith("__")]
