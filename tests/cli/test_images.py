"""Folders and files of images: PNG, JPEG, PGM and PPM."""
import gzip
import json
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from pictures import JPEG_CMYK, JPEG_COLOR, JPEG_GRAY, chunk, pgm, png  # noqa: E402

from conftest import not_sanitized

DIGITS = np.random.default_rng(5).integers(0, 4, (12, 7, 5)) * 85


def convert(ddsc, tmp_path, *words):
    out = tmp_path / "out.npz"
    ddsc("convert", *words, "-o", out, "--force")
    return dict(np.load(out))


def dense(data, i, shape):
    """Return item i as an image of masses."""
    image = np.zeros(shape)
    points = data["support"][data["indices"]] if "support" in data else data["points"]
    for p in range(data["offsets"][i], data["offsets"][i + 1]):
        image[tuple(points[p].astype(int))] += data["weights"][p]
    return image


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "pictures"
    for i, digit in enumerate(DIGITS):
        where = path / ("even" if i % 2 == 0 else "odd")
        where.mkdir(parents=True, exist_ok=True)
        (where / f"{i:02d}.png").write_bytes(png(digit))
    (path / "README.md").write_text("not a picture\n")
    (path / ".hidden.png").write_bytes(b"neither")
    return path


def test_folder_is_a_set_with_names_and_classes(ddsc, folder, tmp_path):
    data = convert(ddsc, tmp_path, folder)
    order = [*range(0, 12, 2), *range(1, 12, 2)]
    assert list(data["ids"]) == [f"{'eo'[i % 2]}{['ven', 'dd'][i % 2]}/{i:02d}" for i in order]
    assert list(data["label_names"]) == ["even", "odd"]
    assert list(data["labels"]) == [0] * 6 + [1] * 6
    assert list(data["coordinate_names"]) == ["row", "column"]
    for row, i in enumerate(order):
        assert np.allclose(dense(data, row, (7, 5)), DIGITS[i] / DIGITS[i].sum(), atol=1e-15)


def test_same_pixels_as_idx(ddsc, folder, tmp_path):
    idx = tmp_path / "all.idx"
    order = [*range(0, 12, 2), *range(1, 12, 2)]
    idx.write_bytes(bytes([0, 0, 8, 3]) + np.array([12, 7, 5], ">u4").tobytes()
                    + DIGITS[order].astype("u1").tobytes())
    a, b = convert(ddsc, tmp_path, folder), convert(ddsc, tmp_path, idx)
    for name in ("support", "indices", "weights", "offsets"):
        assert np.array_equal(a[name], b[name]), name
    assert json.loads(ddsc("info", folder, "--json").stdout)["grid_shape"] == [7, 5]


def test_kinds_of_files_agree(ddsc, tmp_path):
    gray = DIGITS[0]
    files = {"a.png": png(gray), "b.pgm": pgm(gray), "c.png": png(gray * 257, depth=16),
             "d.png": png(np.repeat(gray[:, :, None], 3, axis=2)), "e.pgm.gz": gzip.compress(pgm(gray)),
             "f.pgm": b"P2 5 7 3\n" + " ".join(str(v // 85) for v in gray.flat).encode(),
             "g.ppm": b"P3\n5 7\n#\n255 " + " ".join(f"{v} {v} {v}" for v in gray.flat).encode(),
             "h.pgm": b"P5 5 7 65535\n" + (gray * 257).astype(">u2").tobytes(),
             "i.png": png(np.dstack([gray * 0 + 255, gray]))}  # white, partly transparent
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    data = convert(ddsc, tmp_path, *[tmp_path / name for name in files])
    assert list(data["ids"]) == list("abcdefghi")
    for i in range(len(files)):
        assert np.allclose(dense(data, i, (7, 5)), gray / gray.sum(), atol=1e-6), list(files)[i]


def test_ink_is_what_brightness_is_not(ddsc, tmp_path):
    (tmp_path / "a.png").write_bytes(png(DIGITS[1]))
    data = convert(ddsc, tmp_path, tmp_path / "a.png", "--as", "ink")
    ink = 255 - DIGITS[1]
    assert np.allclose(dense(data, 0, (7, 5)), ink / ink.sum(), atol=1e-15)
    assert list(data["ids"]) == ["a"]


def test_images_of_different_sizes(ddsc, tmp_path):
    (tmp_path / "a.png").write_bytes(png(DIGITS[0]))
    (tmp_path / "b.png").write_bytes(png(DIGITS[1][:4, :3]))
    (tmp_path / "c.pgm").write_bytes(pgm(DIGITS[2]))
    data = convert(ddsc, tmp_path, tmp_path / "a.png", tmp_path / "b.png", tmp_path / "c.pgm")
    for i, digit in enumerate((DIGITS[0], DIGITS[1][:4, :3], DIGITS[2])):
        assert np.allclose(dense(data, i, digit.shape), digit / digit.sum(), atol=1e-15)


def test_colors(ddsc, tmp_path):
    picture = np.zeros((4, 4, 3), int)
    picture[:1] = (255, 255, 255)
    picture[1:] = (200, 0, 0)
    (tmp_path / "a.png").write_bytes(png(picture))
    (tmp_path / "b.png").write_bytes(png(np.full((2, 9, 3), 10)))
    data = convert(ddsc, tmp_path, tmp_path / "a.png", tmp_path / "b.png", "--as", "colors")
    assert list(data["coordinate_names"]) == ["L", "a", "b"]
    assert list(data["offsets"]) == [0, 2, 3] and sorted(data["weights"]) == [0.25, 0.75, 1]
    points = data["support"][data["indices"]] if "support" in data else data["points"]
    by_weight = dict(zip(data["weights"], points))
    assert by_weight[0.25][0] > 90 and abs(by_weight[0.25][1]) < 1e-2  # nearly white, without hue
    assert by_weight[0.75][1] > 60                                     # red
    assert by_weight[1][0] < 6                                         # nearly black


def test_jpeg(ddsc, tmp_path):
    (tmp_path / "a.jpg").write_bytes(JPEG_GRAY)
    (tmp_path / "b.jpeg").write_bytes(JPEG_COLOR)
    data = convert(ddsc, tmp_path, tmp_path / "a.jpg")
    image = dense(data, 0, (8, 8))
    assert np.allclose(image[2:6, 2:6], 1 / 16, atol=2e-3) and image[2:6, 2:6].sum() > 0.97
    data = convert(ddsc, tmp_path, tmp_path / "b.jpeg", "--as", "colors")
    assert np.sort(data["weights"])[-2:].sum() > 0.8
    (tmp_path / "c.jpg").write_bytes(JPEG_CMYK)
    assert "4 color components" in ddsc("info", tmp_path / "c.jpg", code=3).stderr


@pytest.mark.parametrize("data, words", [
    (png(DIGITS[0])[:-20], "damaged PNG"),
    (png(DIGITS[0]).replace(b"IDAT", b"IDAX"), "damaged PNG"),
    (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"\x00\x0f\x00\x00\x00\x0f\x00\x00\x08\x00\x00\x00\x00")
     + chunk(b"IDAT", b"x") + chunk(b"IEND", b""), "983040 x 983040|damaged PNG"),
    (JPEG_GRAY[:-9], "damaged JPEG"),
    (JPEG_COLOR[:300], "damaged JPEG"),
    (JPEG_GRAY[:100] + b"\xff\x01" + JPEG_GRAY[102:], "damaged JPEG"),
    (b"P5 3 3 255\n12345678", "pixels are missing"),
    (b"P5 0 3 255\n", "0 x 3"),
    (b"P5 99999 99999 255\n", "99999 x 99999"),
    (b"P5 99999999999 1 255\n", "too large"),
    (b"P2 2 2 255\n1 2 3", "pixels are missing"),
    (b"P2 2 2 255\n1 2 3 x", "where a number is expected"),
    (b"P2 2 2 9\n1 2 3 10", "too large"),
    (b"P2 2 2 0\n1 2 3 10", "maximum value"),
])
def test_broken_images_are_refused_by_name(ddsc, tmp_path, data, words):
    (tmp_path / "bad.img").write_bytes(data)
    error = ddsc("info", tmp_path / "bad.img", code=3).stderr
    assert "bad.img" in error and any(word in error for word in words.split("|")), error


def test_folder_without_pictures_and_options_that_do_not_fit(ddsc, tmp_path):
    (tmp_path / "empty").mkdir()
    assert ".png" in ddsc("info", tmp_path / "empty", code=3).stderr
    (tmp_path / "a.csv").write_text("id,x\na,1\n")
    assert "as applies only to image files" in ddsc("info", tmp_path / "a.csv", "--as", "ink", code=2).stderr


def test_black_image_is_an_item_without_mass(ddsc, tmp_path):
    (tmp_path / "a.png").write_bytes(png(DIGITS[0] * 0))
    (tmp_path / "b.png").write_bytes(png(DIGITS[1]))
    assert '"a"' in ddsc("info", tmp_path / "a.png", tmp_path / "b.png", code=3).stderr
    data = json.loads(ddsc("info", tmp_path / "a.png", tmp_path / "b.png", "--on-empty", "drop",
                           "--json").stdout)
    assert data["items"] == 1 and data["dropped_items"] == 1


@not_sanitized
def test_1000_png_digits_in_one_command(ddsc, data_dir, tmp_path):
    """The clusters of a folder of PNG digits are the same as those of the idx file."""
    with gzip.open(data_dir / "mnist" / "t10k-images-idx3-ubyte.gz") as f:
        images = np.frombuffer(f.read(), "u1", offset=16).reshape(-1, 28, 28)[:1000]
    with gzip.open(data_dir / "mnist" / "t10k-labels-idx1-ubyte.gz") as f:
        labels = np.frombuffer(f.read(), "u1", offset=8)[:1000]
    for i, (image, label) in enumerate(zip(images, labels)):
        where = tmp_path / "digits" / str(label)
        where.mkdir(parents=True, exist_ok=True)
        (where / f"{i:04d}.png").write_bytes(png(image))
    ddsc("cluster", tmp_path / "digits", "-k", "10", "--metric", "mmd", "-o", tmp_path / "by-png")
    result = json.loads((tmp_path / "by-png" / "result.json").read_text())
    assert result["scores"]["ami"] > 0.4
    order = np.argsort(labels, kind="stable")
    idx = tmp_path / "same.idx"
    idx.write_bytes(bytes([0, 0, 8, 3]) + np.array([1000, 28, 28], ">u4").tobytes()
                    + images[order].tobytes())
    ddsc("cluster", idx, "-k", "10", "--metric", "mmd", "-o", tmp_path / "by-idx")
    columns = [[line.split(",")[1] for line in (tmp_path / name / "labels.csv").read_text().split()]
               for name in ("by-png", "by-idx")]
    assert columns[0] == columns[1]
