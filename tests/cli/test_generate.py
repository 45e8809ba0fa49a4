"""ddsc generate: sets with known classes."""
import numpy as np


def test_shapes(ddsc, tmp_path):
    ddsc("generate", "shapes", "-o", tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as data:
        assert sorted(data["labels"]) == [0] * 20 + [1] * 20
    assert "items        40" in ddsc("info", tmp_path / "s.npz").stdout


def test_gaussians(ddsc, tmp_path):
    done = ddsc("generate", "gaussians", "--clusters", "4", "--items", "5", "--points", "7", "--dim",
                "3", "--separation", "20", "-o", tmp_path / "g.npz")
    assert "20 items of 7 points in 3 dimensions" in done.stdout
    assert ddsc("score", "-", tmp_path / "g.npz", stdin=ddsc(
        "cluster", tmp_path / "g.npz", "-k", "4", "--tau", "3", binary=True
    ).stdout).stdout.startswith("AMI       1.0000")


def test_seed(ddsc):
    def make(*words):
        return ddsc("generate", "gaussians", "-o", "-", *words, binary=True).stdout

    assert make() == make("--seed", "0") != make("--seed", "1")


def test_existing_file_is_kept(ddsc, tmp_path):
    (tmp_path / "x.npz").write_text("mine")
    ddsc("generate", "shapes", "-o", tmp_path / "x.npz", code=2)
    assert (tmp_path / "x.npz").read_text() == "mine"
    ddsc("generate", "shapes", "-o", tmp_path / "x.npz", "--force", "--quiet")


def test_useless_options_are_named(ddsc, tmp_path):
    done = ddsc("generate", "shapes", "--dim", "5", "-o", tmp_path / "x.npz")
    assert "--dim has no effect" in done.stderr
