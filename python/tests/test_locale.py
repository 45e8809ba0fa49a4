"""Files are written and read in the same way in a locale with decimal commas."""

import os
import shutil
import subprocess
import sys

import pytest

WORK = """
import locale, pathlib, sys
import numpy as np
import ddsc
comma = sys.argv[1] == "comma"
if comma:
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    assert locale.localeconv()["decimal_point"] == ","
X = ddsc.make_gaussians(k=2, n=12, n_points=6, separation=3.5, random_state=4)
X.write("set.csv")
X.write("set.npz")
read = ddsc.read("set.csv")
np.testing.assert_array_equal(ddsc.pairwise(read), ddsc.pairwise(X))
model = ddsc.DDSC(2, metric="sinkhorn", epsilon=0.25).fit(read)
page = model.report()
told = model.result_json()
for name in ("seconds", "plan"):
    told.pop(name, None)
pathlib.Path("told.txt").write_text(repr(told) + repr(model.labels_) + repr(model.embedding_))
docs = pathlib.Path("docs.tsv")
docs.write_text("label\\ttext\\n" + "".join(f"{'ab'[k % 2]}\\tcat number {k % 5} sat\\n" for k in range(8)))
ddsc.read_text(docs).write("docs.npz")
"""


def run(place, which, env):
    place.mkdir()
    done = subprocess.run([sys.executable, "-c", WORK, which], cwd=place, env={**os.environ, **env},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {p.name: p.read_bytes() for p in place.iterdir()}


def test_decimal_commas(tmp_path):
    if not shutil.which("localedef"):
        pytest.skip("no localedef")
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")],
                          capture_output=True, text=True)
    if not (tmp_path / "de_DE.UTF-8" / "LC_NUMERIC").exists():
        pytest.skip(f"no locale with decimal commas: {made.stderr.strip()[-200:]}")
    plain = run(tmp_path / "plain", "plain", {})
    comma = run(tmp_path / "comma", "comma", {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"})
    assert set(plain) == {"set.csv", "set.npz", "told.txt", "docs.tsv", "docs.npz"}
    for name, data in plain.items():
        assert comma[name] == data, name
