"""ddsc test: columns, blocks, remedies, rejected input; and the kidney and blood cohorts."""
import gzip
import json
import re
import shutil
import subprocess

import numpy as np
import pytest


def write(path, n=24, points=30, seed=0, few=None):
    """A cohort of two classes that differ in position, as a table of points and a metadata table."""
    random = np.random.default_rng(seed)
    rows, about = ["id,x,y,z"], ["id,group,age,sex,patient,site,gone,one"]
    for i in range(n):
        size = points if few is None or i % 2 else few
        for row in random.normal((.5 * (i % 2), 0, 0), 1, (size, 3)):
            rows.append(f"s{i}," + ",".join(f"{v:.6f}" for v in row))
        age = "" if i == 5 else f"{40 + 7 * i % 23}.5"
        about.append(f"s{i},{'ab'[i % 2]},{age},{'mf'[i // 3 % 2]},p{i // 2},{'uvw'[i % 3]},NA,same")
    (path / "cells.csv").write_text("\n".join(rows) + "\n")
    (path / "about.csv").write_text("\n".join(about) + "\n")


@pytest.fixture(scope="module")
def cohort(tmp_path_factory, ddsc):
    path = tmp_path_factory.mktemp("cohort")
    write(path)
    ddsc("cluster", path / "cells.csv", "--meta", path / "about.csv", "-k", 2, "-o", path / "r", "-q")
    ddsc("distance", path / "cells.csv", "-o", path / "D.npy", "-q")
    return path


def terms(run):
    told = json.loads(run.stdout)
    return told, {term["column"]: term for term in told["terms"]}


def test_columns_and_missing_values(ddsc, cohort):
    words = ("test", cohort / "r", "--by", "group,site", "--adjust", "age,sex", "--permutations", 199)
    run = ddsc(*words, "--json", "--pairwise")
    told, term = terms(run)
    assert list(term) == ["age", "sex", "group", "site"] and told["n_used"] == 23
    assert told["missing"] == [{"id": "s5", "column": "age"}]
    assert [term[name]["kind"] for name in term] == ["number", "factor", "factor", "factor"]
    assert term["group"]["p"] <= .02 and term["site"]["p"] > .05 and term["group"]["p_bh"] == 2 * term["group"]["p"]
    assert term["group"]["dispersion"]["p"] > .01 and len(told["pairs"]) == 4
    assert [level["name"] for level in term["site"]["levels"]] == ["u", "v", "w"]
    assert sum(t["df"] for t in term.values()) + told["residual"]["df"] == 22
    shown = ddsc(*words)
    assert "group" in shown.stdout and "smallest possible p is 0.005" in shown.stdout
    assert "s5 (age)" in shown.stderr
    assert terms(ddsc(*words, "--json", "--pairwise", "-j", 1))[0] | {"seconds": 0} == told | {"seconds": 0}


def test_given_distances(ddsc, cohort):
    words = ("test", cohort / "r", "--by", "group", "--permutations", 99, "--json")
    own, given = (terms(ddsc(*words, *more))[1]["group"] for more in ((), ("--distances", cohort / "D.npy")))
    assert own["f"] == pytest.approx(given["f"], rel=1e-9) and own["p"] == given["p"]
    np.save(cohort / "small.npy", np.zeros((3, 3)))
    assert "distances of 3 items" in ddsc(*words, "--distances", cohort / "small.npy", code=3).stderr
    D = np.load(cohort / "D.npy")
    D[0, 1] = -1
    np.save(cohort / "negative.npy", D)
    assert "negative" in ddsc(*words, "--distances", cohort / "negative.npy", code=3).stderr
    ddsc(*words, "--distances", cohort / "D.npy", "--per-item", 5, code=2)


def test_blocks(ddsc, cohort):
    words = ("test", cohort / "r", "--by", "group", "--block", "patient", "--json")
    term = terms(ddsc(*words))[1]["group"]
    assert term["exhaustive"] and term["permutations"] == 2 ** 12 and term["smallest_p"] == 2 / 2 ** 12
    assert not terms(ddsc(*words, "--permutations", 500))[1]["group"]["exhaustive"]


def test_number_of_points(ddsc, tmp_path):
    write(tmp_path, n=24, points=120, few=30)
    ddsc("cluster", tmp_path / "cells.csv", "--meta", tmp_path / "about.csv", "-k", 2, "-o", tmp_path / "r", "-q")
    words = ("test", tmp_path / "r", "--by", "group", "--permutations", 199)
    assert terms(ddsc(*words, "--json"))[0]["points"]["warning"]
    assert "--per-item 30" in ddsc(*words).stderr
    told = terms(ddsc(*words, "--json", "--per-item", 30))[0]
    assert not told["points"]["warning"] and told["points"]["largest"] == 30
    told = terms(ddsc(*words, "--json", "--by", "sex", "--per-item", 50))[0]
    assert told["n_used"] == 12 and told["missing"] == [] and told["points"]["left_out"] == 12
    assert told["points"]["smallest"] == told["points"]["largest"] == 50
    assert any("12 items with fewer than 50 points were omitted" in note for note in told["notes"])
    assert "constant" in ddsc(*words, "--per-item", 50, code=3).stderr  # all items of one class have few points
    assert "larger spread" in ddsc("test", tmp_path / "r", "--by", "sex", "--adjust", "log_points").stderr
    assert not terms(ddsc("test", tmp_path / "r", "--by", "sex", "--adjust", "log_points", "--json"))[0]["points"]["warning"]


@pytest.mark.parametrize("words, code, message", [
    (("--by", "groop"), 2, "did you mean 'group'"), (("--by", "label"), 2, "chosen to differ"),
    (("--by", "one"), 3, "constant"), (("--by", "gone"), 3, "no values"),
    (("--by", "group", "--adjust", "gone"), 3, "no values"), (("--by", "group", "--adjust", "group"), 2, "twice"),
    (("--by", "id2"), 2, "no column"), ((), 2, "--by COLUMN is required"), (("--by", ","), 2, "at least one"),
    (("--by", "group,group"), 2, "twice"), (("--by", "group", "--factor", "sex"), 2, "neither"),
    (("--by", "group", "--numeric", "group"), 3, "not a finite number"),
    (("--by", "group", "--permutations", 0), 2, "permutations"),
    (("--by", "group", "--permutations", 99999999), 2, "permutations"),
])
def test_hostile_columns(ddsc, cohort, words, code, message):
    assert re.search(message, ddsc("test", cohort / "r", *words, code=code).stderr)


def test_hostile_sets(ddsc, tmp_path):
    write(tmp_path, n=6, points=4)
    meta = tmp_path / "about.csv"
    lines = meta.read_text().splitlines()
    meta.write_text("\n".join([lines[0] + ",own"] + [f"{line},u{k}" for k, line in enumerate(lines[1:])]) + "\n")
    ddsc("cluster", tmp_path / "cells.csv", "-k", 2, "-o", tmp_path / "r", "-q")
    assert "--meta" in ddsc("test", tmp_path / "r", "--by", "own", code=2).stderr
    assert "different value for each" in ddsc("test", tmp_path / "r", "--meta", meta, "--by", "own", code=3).stderr
    term = terms(ddsc("test", tmp_path / "r", "--meta", meta, "--by", "group", "--json"))[1]["group"]
    assert term["exhaustive"] and term["permutations"] == 20 and term["smallest_p"] == .1
    assert "never be significant" in ddsc("test", tmp_path / "r", "--meta", meta, "--by", "group").stderr
    ddsc("cluster", tmp_path / "cells.csv", "-m", "mmd", "--mmd-estimator", "unbiased", "-k", 2, "-o", tmp_path / "u", "-q")
    assert "unbiased" in ddsc("test", tmp_path / "u", "--meta", meta, "--by", "group", code=2).stderr
    ddsc("distance", tmp_path / "cells.csv", "-o", tmp_path / "D.npy", "-q")
    ddsc("cluster", tmp_path / "D.npy", "--precomputed", "-k", 2, "-o", tmp_path / "p", "-q")
    assert "no model.npz" in ddsc("test", tmp_path / "p", "--by", "group", code=3).stderr
    assert ddsc("test", tmp_path / "nothing", "--by", "group", code=3).stderr


def kidney(data_dir, path):
    """Write the columns about patients of the kidney set."""
    h5py = pytest.importorskip("h5py")
    source = data_dir / "cohort" / "Kidney_IgAN_G.h5ad"
    if not source.exists():
        pytest.skip("the kidney set is not there")
    with h5py.File(source) as file:
        def column(name):
            data = file["obs"][name]
            return data["categories"][:].astype(str)[data["codes"][:]] if isinstance(data, h5py.Group) else data[:]
        table = dict(zip(column("sampleID"), zip(column("status"), column("sex"), column("Age"))))
    path.write_text("id,status,sex,Age\n" + "".join(f"{i},{s},{x},{a!r}\n" for i, (s, x, a) in table.items()))
    return source, table


def test_kidney_equals_vegan(ddsc, data_dir, tmp_path):
    program = shutil.which("Rscript")
    if not program or subprocess.run([program, "-e", "library(vegan)"], capture_output=True).returncode:
        pytest.skip("R with the package vegan is not installed")
    source, table = kidney(data_dir, tmp_path / "about.csv")
    words = (source, "--id", "sampleID", "--normalize", "standard", "-m", "mmd")
    ddsc("cluster", *words, "--meta", tmp_path / "about.csv", "-k", 3, "-o", tmp_path / "r", "-q")
    told, term = terms(ddsc("test", tmp_path / "r", "--by", "status", "--adjust", "Age,sex", "--permutations", 99, "--json"))
    ddsc("distance", *words, "-o", tmp_path / "D.npy", "-q")
    np.savetxt(tmp_path / "D.csv", np.load(tmp_path / "D.npy"), delimiter=",", fmt="%.17g")
    ids = list(np.load(tmp_path / "r" / "model.npz")["ids"])
    (tmp_path / "rows.csv").write_text("status,sex,Age\n" + "".join("%s,%s,%r\n" % table[i] for i in ids))
    script = ("suppressMessages(library(vegan)); D <- as.dist(as.matrix(read.csv('D.csv', header = FALSE))); "
              "m <- read.csv('rows.csv'); m$status <- factor(m$status); m$sex <- factor(m$sex); "
              "f <- adonis2(D ~ Age + sex + status, data = m, by = 'margin', permutations = 2); "
              "b <- betadisper(D, m$status, type = 'centroid'); "
              "cat(format(c(f$R2[1:3], f$F[1:3], anova(b)$F[1]), digits = 17))")
    said = subprocess.run([program, "-e", script], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    want = list(map(float, said.split()))
    found = [term[name][key] for key in ("r2", "f") for name in ("Age", "sex", "status")]
    assert np.allclose(found + [term["status"]["dispersion"]["f"]], want, rtol=1e-8, atol=1e-8)
    assert term["status"]["p"] == .01


def test_blood_cells(ddsc, data_dir, tmp_path):
    """Stimulated and plain samples of eight donors: paired permutations, all 256 of them."""
    source = data_dir / "cytometry" / "pbmc8-bcrxl.tsv.gz"
    if not source.exists():
        pytest.skip("the cytometry set is not there")
    with gzip.open(source, "rt") as file:
        names = file.readline().split("\t")
        about = dict(line.split("\t", 3)[0:1] + [tuple(line.split("\t", 3)[1:3])] for line in file)
    assert names[:3] == ["sample", "patient", "condition"]
    (tmp_path / "m.csv").write_text("id,patient,condition\n" + "".join(f"{i},{p},{c}\n" for i, (p, c) in about.items()))
    ddsc("cluster", source, "--id", "sample", "--drop", "patient,condition", "--arcsinh", 5, "--per-item", 200, "-m", "lot",
         "--meta", tmp_path / "m.csv", "-k", 2, "-o", tmp_path / "r", "-q")
    term = terms(ddsc("test", tmp_path / "r", "--by", "condition", "--block", "patient", "--json"))[1]["condition"]
    assert term["permutations"] == 256 and term["exhaustive"] and term["p"] == term["smallest_p"] == 2 / 256
