"""Files compressed with zstd: one frame, several frames, truncated, damaged, and a decompression bomb."""
import ctypes
import struct

import numpy as np
import pytest

TEXT = b"id,x,y\n" + b"".join(b"%d,%d,%d\n" % (i // 10, i * i % 97, i) for i in range(3000))


@pytest.fixture(scope="module")
def pack(ddsc):
    if "zstd" not in ddsc("--version").stdout:
        pytest.skip("built without libzstd")
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        pytest.skip("no libzstd to write with")
    library.ZSTD_compress.restype = library.ZSTD_compressBound.restype = ctypes.c_size_t

    def pack(data):
        capacity = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
        out = ctypes.create_string_buffer(capacity)
        n = library.ZSTD_compress(out, ctypes.c_size_t(capacity), data, ctypes.c_size_t(len(data)), 3)
        return out.raw[:n]

    return pack


def points(ddsc, path, out):
    ddsc("convert", path, "-o", out, "--force")
    return out.read_bytes()


def test_the_same_as_unpacked(ddsc, pack, tmp_path):
    (tmp_path / "a.csv").write_bytes(TEXT)
    plain = points(ddsc, tmp_path / "a.csv", tmp_path / "out.npz")
    half = len(TEXT) // 2
    for data in (pack(TEXT), pack(TEXT[:half]) + pack(TEXT[half:]),
                 pack(TEXT) + b"\x50\x2a\x4d\x18\3\0\0\0abc"):  # a frame to be skipped
        (tmp_path / "a.csv.zst").write_bytes(data)
        assert points(ddsc, tmp_path / "a.csv.zst", tmp_path / "out.npz") == plain
    (tmp_path / "b.npz.zst").write_bytes(pack(plain))
    assert points(ddsc, tmp_path / "b.npz.zst", tmp_path / "out.npz") == plain
    assert "300" in ddsc("info", "-", stdin=pack(TEXT)).stdout


def test_folder_of_packed_files(ddsc, pack, tmp_path):
    folder = tmp_path / "clouds"
    folder.mkdir()
    for k in range(3):
        rows = "\n".join(f"{x} {x + k} 0" for x in range(5))
        (folder / f"c{k}.xyz.zst").write_bytes(pack(rows.encode()))
    ddsc("convert", folder, "-o", tmp_path / "out.npz")
    assert list(np.load(tmp_path / "out.npz")["ids"]) == ["c0", "c1", "c2"]


def test_broken_ones_are_refused(ddsc, pack, tmp_path):
    path = tmp_path / "a.csv.zst"
    whole = pack(TEXT)
    images = b"\0\0\x08\3" + struct.pack(">III", 15000, 100, 100)
    for data, text in ((whole[:-7], "truncated"), (whole[:9], "truncated"), (whole + b"garbage", "damaged"),
                       (whole[:100] + bytes(40) + whole[140:], ""),
                       (pack(images + bytes(150_000_000)), "at most")):
        path.write_bytes(data)
        error = ddsc("info", path, code=3).stderr
        assert text in error and "a.csv.zst" in error
