"""The two real cohorts: what the documentation says about them, and the figures of docs/cohort-figures.md.

The figures are made in a browser from the report. With the variable DDSC_PICTURES set to a folder (docs), they are written
there; otherwise, the test only checks that they can be made."""
import base64
import csv
import gzip
import itertools
import json
import os
import pathlib
import struct
import sys
import zlib

import numpy as np
import pytest
import scipy.stats

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import MISSING, REASON, browser_started

CLASSES = ["<30", "30-60", ">60"]


@pytest.fixture(scope="module")
def kidney(ddsc, data_dir, tmp_path_factory):
    """Follows the advice: the raw table causes a warning with a remedy, and `--normalize auto` applies it."""
    source = data_dir / "cohort" / "Kidney_IgAN_G.h5ad"
    if not source.exists() or "hdf5" not in ddsc("--version").stdout:
        pytest.skip("the kidney set is not there")
    path = tmp_path_factory.mktemp("kidney")
    base = ("cluster", source, "--id", "sampleID", "-k", 3)
    units = json.loads(ddsc("info", source, "--id", "sampleID", "--json").stdout)["units"]
    assert units["differ"] and units["advice"] in ("standard", "rank") and units["small"] == 11
    for metric in "mmd", "w2":
        said = ddsc(*base, "--metric", metric, "--normalize", "auto", "-o", path / metric).stderr
        assert f"normalize auto: {'rank' if metric == 'w2' else 'standard'}" in said
    return path


@pytest.fixture(scope="module")
def blood(ddsc, data_dir, tmp_path_factory):
    source = data_dir / "cytometry" / "pbmc8-bcrxl.tsv.gz"
    if not source.exists():
        pytest.skip("the cytometry set is not there")
    path = tmp_path_factory.mktemp("blood")
    with gzip.open(source, "rt") as file:
        rows = {tuple(row[:3]): None for row in csv.reader(file, delimiter="\t")}
    with open(path / "about.csv", "w", newline="") as file:
        csv.writer(file).writerows([("id", "patient", "condition"), *list(rows)[1:]])
    ddsc("cluster", source, "--id", "sample", "--drop", "patient,condition", "--arcsinh", 5, "--per-item", 500, "-m", "mmd",
         "--meta", path / "about.csv", "-k", 2, "-o", path / "r", "-q")
    return path


@pytest.mark.parametrize("metric, least", [("mmd", .42), ("w2", .33)])
def test_order_of_kidneys(kidney, metric, least):
    with open(kidney / metric / "items.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["meta:status"] in CLASSES and int(row["order"]) >= 0]
    rho = scipy.stats.spearmanr([int(row["order"]) for row in rows], [CLASSES.index(row["meta:status"]) for row in rows])[0]
    assert len(rows) > 600 and abs(rho) >= least


def test_number_of_glomeruli(ddsc, kidney):
    """The test warns about numbers of points, and the remedy that it prints makes them equal."""
    words = ("test", kidney / "mmd", "--by", "status", "--adjust", "Age,sex", "--permutations", 199)
    run = ddsc(*words)
    assert "--per-item 20 draws equal numbers" in run.stderr
    told = json.loads(ddsc(*words, "--per-item", 20, "--json").stdout)
    assert told["points"]["smallest"] == told["points"]["largest"] == 20 and not told["points"]["warning"]
    assert told["points"]["left_out"] + told["n_used"] + len({row["id"] for row in told["missing"]}) == 634
    assert next(term["p"] for term in told["terms"] if term["column"] == "status") == 1 / 200


def test_all_relabelings(ddsc, blood):
    """Over the 256 ways to exchange the conditions within patients, at most 5% have p <= .05; the true one is the smallest."""
    with open(blood / "about.csv") as file:
        rows = list(csv.DictReader(file))
    patients = sorted({row["patient"] for row in rows})
    ways = list(itertools.product((0, 1), repeat=len(patients)))
    with open(blood / "ways.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", *(f"way{k}" for k in range(256))])
        for row in rows:
            own = row["condition"] == "Reference"
            out.writerow([row["id"], *("ab"[own ^ way[patients.index(row["patient"])]] for way in ways)])
    p = []
    for begin in range(0, 256, 128):  # the program takes at most 256 columns
        names = ",".join(f"way{k}" for k in range(begin, begin + 128))
        told = json.loads(ddsc("test", blood / "r", "--meta", blood / "ways.csv", "--by", names, "--block", "patient",
                               "--separately", "--json").stdout)
        assert all(term["exhaustive"] and term["permutations"] == 256 for term in told["terms"])
        p += [term["p"] for term in told["terms"]]
    assert len(p) == 256 and np.mean(np.array(p) <= .05) <= .05 and p[0] == min(p) == 2 / 256


def test_markers_of_stimulation(ddsc, blood):
    """Stimulation of the B cell receptor raises pS6, pErk and pPlcg2 in B cells (CD20, IgM) and lowers pNFkB elsewhere."""
    told = json.loads(ddsc("states", blood / "r", "--by", "condition", "--block", "patient", "--json").stdout)
    column = told["by"][0]
    b_cells = next(row["name"] for row in told["states"] if "CD20 high" in row["name"])
    rows = [row for row in column["within"] if row["state"] == b_cells and row["effect"] is not None]
    rows.sort(key=lambda row: -abs(row["effect"]))
    assert {"pS6", "pErk", "pPlcg2"} & {row["coordinate"] for row in rows[:3]} and rows[0]["p"] == 2 / 256
    assert rows[0]["coordinate"] == "pS6"


# ---- figures ----

def read_png(data):
    """Return the pixels of a PNG as the browser writes it (8 bits, RGB or RGBA)."""
    place, parts, head = 8, b"", None
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place:place + 8])
        if kind == b"IHDR":
            head = struct.unpack(">IIBB", data[place + 8:place + 18])
        if kind == b"IDAT":
            parts += data[place + 8:place + 8 + size]
        place += size + 12
    wide, high, depth, color = head
    assert depth == 8 and color in (2, 6)
    n = 3 if color == 2 else 4
    lines = np.frombuffer(zlib.decompress(parts), np.uint8).reshape(high, 1 + n * wide)
    out = np.zeros((high + 1, wide + 1, n), np.int32)  # with a border of zeros above and on the left
    for y, line in enumerate(lines, 1):
        own, kind = line[1:].reshape(wide, n).astype(np.int32), line[0]
        if kind == 0:
            out[y, 1:] = own
        elif kind == 1:
            out[y, 1:] = np.cumsum(own, 0) % 256
        elif kind == 2:
            out[y, 1:] = (own + out[y - 1, 1:]) % 256
        else:
            for x in range(1, wide + 1):
                a, b, c = out[y, x - 1], out[y - 1, x], out[y - 1, x - 1]
                if kind == 3:
                    near = (a + b) // 2
                else:
                    da, db, dc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
                    near = np.where((da <= db) & (da <= dc), a, np.where(db <= dc, b, c))
                out[y, x] = (own[x - 1] + near) % 256
    return out[1:, 1:, :3].astype(np.uint8)


def write_png(pixels, most=64):
    """Return a PNG with a palette: the most frequent colors, to which the others are rounded."""
    flat = pixels.reshape(-1, 3).astype(np.int64)
    rounded = np.minimum((flat + 4) // 8 * 8, 255)
    codes, counts = np.unique(rounded @ [65536, 256, 1], return_counts=True)
    chosen = codes[np.argsort(-counts, kind="stable")[:most]]
    colors = np.stack([chosen >> 16, chosen >> 8 & 255, chosen & 255], 1)
    near = np.array([np.abs(colors - [c >> 16, c >> 8 & 255, c & 255]).sum(1).argmin() for c in codes], np.uint8)
    index = near[np.searchsorted(codes, rounded @ [65536, 256, 1])].reshape(pixels.shape[:2])
    lines = np.hstack([np.zeros((len(index), 1), np.uint8), index])

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *index.shape[::-1], 8, 3, 0, 0, 0))
            + chunk(b"PLTE", colors.astype(np.uint8).tobytes()) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
            + chunk(b"IEND", b""))


def shoot(browser, first, last, width):
    """Return a picture of the page from the top of one element to the bottom of another."""
    top, bottom = (browser.ask(f"document.querySelector('{css}').getBoundingClientRect().{side} + scrollY")
                   for css, side in ((first, "top"), (last, "bottom")))
    clip = {"x": 0, "y": max(0, top - 12), "width": width, "height": bottom - top + 15, "scale": 1}
    shot = browser.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
    return read_png(base64.b64decode(shot))


def keep(name, pixels):
    assert np.unique(pixels.reshape(-1, 3), axis=0).shape[0] > 20, name  # not blank
    data = write_png(pixels)
    assert np.abs(read_palette(data, pixels.shape) - pixels.astype(int)).mean() < 6
    assert len(data) < 120_000, (name, len(data))
    if "DDSC_PICTURES" in os.environ:
        (pathlib.Path(os.environ["DDSC_PICTURES"]) / f"{name}.png").write_bytes(data)


def read_palette(data, shape):
    size = struct.unpack(">I", data[33:37])[0]
    colors = np.frombuffer(data[41:41 + size], np.uint8).reshape(-1, 3).astype(int)
    place = 41 + size + 4
    length = struct.unpack(">I", data[place:place + 4])[0]
    lines = np.frombuffer(zlib.decompress(data[place + 8:place + 8 + length]), np.uint8).reshape(shape[0], -1)
    return colors[lines[:, 1:]]


@pytest.fixture(scope="module")
def browser():
    if MISSING:
        pytest.skip(REASON)
    with browser_started() as found:
        found.screen(760, 1000, "light")
        found.devtools("Emulation.setScrollbarsHidden", hidden=True)
        yield found


def color_by(browser, column):
    browser.ask("""(s => { s.value = [...s.options].find(o => o.textContent === '%s').value;
        s.dispatchEvent(new Event('change')); return 1; })(document.querySelector('#by'))""" % column)
    browser.settle()


def test_figures_of_kidneys(browser, kidney):
    browser.open(kidney / "mmd" / "report.html")
    browser.settle()
    color_by(browser, "status")
    keep("kidney-map", shoot(browser, "#stage", "#stage", 760))
    keep("kidney-order", shoot(browser, "#order-curves", "#order-curves", 760))
    keep("kidney-composition", shoot(browser, "#mix-states", "#mix", 760))
    assert browser.complaints() == []


def test_figures_of_blood(browser, blood):
    browser.open(blood / "r" / "report.html")
    browser.settle()
    keep("blood-markers", shoot(browser, "#marker-heat", "#marker-heat", 760))
    keep("blood-densities", shoot(browser, "#densities", "#densities", 760))
    browser.ask("""(names => ['p1_Reference', 'p1_BCR-XL'].forEach((name, k) => {
        const s = document.querySelector(['#pair-from', '#pair-to'][k]);
        s.value = [...s.options].find(o => o.textContent === name).value; s.dispatchEvent(new Event('change')); }))() || 1""")
    browser.settle()
    keep("blood-transport", shoot(browser, "#pair-flow", "#pair-flow", 760))
    assert browser.complaints() == []
