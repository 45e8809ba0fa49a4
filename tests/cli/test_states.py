"""ddsc states: states of points, association with columns, transport between items and clusters; --type."""
import csv
import json

import numpy as np
import pytest

MARKERS = ["CD3", "CD4", "CD8", "CD20", "pS6"]
TYPES = ["helper", "killer", "b"]


@pytest.fixture(scope="module")
def cohort(tmp_path_factory, ddsc):
    """16 samples of 8 patients. After treatment, helper cells turn into killer cells, and pS6 rises in b cells."""
    path = tmp_path_factory.mktemp("states")
    random = np.random.default_rng(3)
    center = np.array([[4, 4, 0, 0, 0], [4, 0, 4, 0, 0], [0, 0, 0, 4, 0]], float)
    with open(path / "cells.csv", "w", newline="") as file, open(path / "patients.csv", "w", newline="") as meta:
        out, about = csv.writer(file), csv.writer(meta)
        out.writerow(["id", "kind", *MARKERS])
        about.writerow(["id", "patient", "time", "age"])
        for patient in range(8):
            tilt = random.normal(0, .03)
            for time in ("before", "after"):
                name = f"p{patient}_{time}"
                about.writerow([name, patient, time, 30 + 3 * patient])
                share = np.array([.5 + tilt, .3, .2 - tilt]) + (time == "after") * np.array([-.15, .15, 0])
                for kind in random.choice(3, 150, p=share):
                    cell = center[kind] + random.normal(0, .6, 5)
                    cell[4] += 1.0 * (time == "after" and kind == 2)
                    out.writerow([name, TYPES[kind], *cell.round(4)])
    base = ("cluster", path / "cells.csv", "--meta", path / "patients.csv", "-k", 2, "--metric", "mmd")
    ddsc(*base, "--drop", "kind", "-o", path / "found")
    ddsc(*base, "--type", "kind", "-o", path / "given")
    return path


def read(ddsc, *words):
    return json.loads(ddsc("states", *words, "--json").stdout)


def test_found(ddsc, cohort):
    told = read(ddsc, cohort / "found")
    assert not told["given"] and len(told["states"]) == 3 and told["coordinates"] == MARKERS
    assert {row["n"] for row in told["tried"]} >= {2, 3, 20}
    assert sum(row["share"] for row in told["states"]) == pytest.approx(1)
    for row in told["items"] + told["clusters"]:
        assert sum(row["shares"]) == pytest.approx(1)
    assert "descriptive" in told["clusters_note"]
    text = ddsc("states", cohort / "found").stdout
    assert "S1 (" in text and "agreement of halves" in text and "descriptive" in text
    assert len(read(ddsc, cohort / "found", "--states", 6)["states"]) == 6
    assert told == read(ddsc, cohort / "found", "--threads", 1)


def test_given(ddsc, cohort):
    told = read(ddsc, cohort / "given")
    assert told["given"] and sorted(row["name"] for row in told["states"]) == sorted(TYPES)
    found = read(ddsc, cohort / "found")  # the blobs are far from each other, so both agree
    assert np.allclose([r["share"] for r in told["states"]], [r["share"] for r in found["states"]], atol=.01)
    result = json.loads((cohort / "given" / "result.json").read_text())
    assert result["cells"]["states"]["given"] and "markers" in result["clusters"][0]
    assert len(result["cells"]["states"]["items"]) == 16
    assert "kind" in ddsc("cluster", cohort / "cells.csv", "--type", "knd", "-k", 2, code=3).stderr


def test_by(ddsc, cohort):
    told = read(ddsc, cohort / "given", "--by", "time", "--block", "patient")["by"][0]
    assert told["exhaustive"] and told["permutations"] == 256 and told["smallest_p"] == 2 / 256
    rows = {row["state"]: row for row in told["shares"]}
    assert rows["killer"]["class"] == "before" and rows["killer"]["other"] == "after"
    assert rows["killer"]["effect"] == pytest.approx(-.15, abs=.05) and rows["killer"]["p"] <= 2 / 256
    assert rows["killer"]["low"] < rows["killer"]["effect"] < rows["killer"]["high"] < 0
    assert rows["b"]["p"] > .05 and rows["b"]["low"] < 0 < rows["b"]["high"]
    best = min(told["within"], key=lambda row: (row["p_bh"], -abs(row["effect"])))
    assert (best["state"], best["coordinate"]) == ("b", "pS6") and best["effect"] < -1
    assert all(row["p_bh"] >= row["p"] for row in told["within"])
    age = read(ddsc, cohort / "given", "--by", "age", "--numeric", "age", "--permutations", 199)["by"][0]
    assert age["kind"] == "number" and all(-1 <= row["low"] <= row["effect"] <= row["high"] <= 1 for row in age["shares"])
    text = ddsc("states", cohort / "given", "--by", "time", "--block", "patient").stdout
    assert "before - after" in text and "256 arrangements" in text


def test_transport(ddsc, cohort):
    told = read(ddsc, cohort / "given", "p0_before", "p0_after")
    flow, names = told["transport"], [row["name"] for row in told["states"]]
    mass = np.array(flow["mass"])
    assert mass.sum(1) == pytest.approx(flow["shares_from"]) and mass.sum(0) == pytest.approx(flow["shares_to"])
    off = mass - np.diag(np.diag(mass))
    assert np.unravel_index(off.argmax(), off.shape) == (names.index("helper"), names.index("killer"))
    shift = np.array(flow["shift"])
    assert np.unravel_index(np.abs(shift).argmax(), shift.shape) == (names.index("b"), MARKERS.index("pS6"))
    between = read(ddsc, cohort / "given", 0, 1)["transport"]
    assert between["from"] == "cluster 0" and between["points_from"] == 1000
    text = ddsc("states", cohort / "given", "cluster:0", "cluster:1").stdout
    assert "stays in its state" in text and "transport from cluster 0 to cluster 1" in text


def test_wrong_input(ddsc, cohort):
    for words, code, message in (
        (("nobody", "p0_after"), 3, "neither the id of an item nor a cluster"),
        (("p0_after",), 2, "expected two"),
        (("--by", "tim"), 2, "did you mean 'time'"),
        (("--by", "label"), 2, "cannot be tested"),
        (("--block", "patient"), 2, "--block requires --by"),
        (("--states", "0"), 2, "auto or a number"),
        (("--states", "201"), 2, "auto or a number"),
    ):
        assert message in ddsc("states", cohort / "given", *words, code=code).stderr
    ddsc("states", cohort / "nothing", code=3)


def test_private_report(ddsc, cohort, tmp_path):
    ddsc("cluster", cohort / "cells.csv", "--type", "kind", "--private", "-k", 2, "-o", tmp_path / "r")
    page = (tmp_path / "r" / "report.html").read_text() + (tmp_path / "r" / "result.json").read_text()
    assert "helper" not in page and '"densities"' in page
