"""One test for each defect that was found in the program and fixed."""
import json
import resource
import signal
import subprocess

import numpy as np


def test_one_item(ddsc, tmp_path):
    """The pruned search never ended on a set without pairs."""
    ddsc("generate", "gaussians", "--clusters", 1, "--items", 1, "-o", tmp_path / "one.npz")
    for metric in "w2", "sinkhorn", "mmd", "lot":
        done = ddsc("cluster", tmp_path / "one.npz", "-k", 1, "-m", metric)
        assert done.stdout == "id,label\n0,0\n"
        assert "1 items in 1 cluster," in done.stderr
    done = ddsc("neighbors", tmp_path / "one.npz", "--exact-graph", "pruned", "-o", "-")
    assert done.stdout.splitlines()[-1] == "1 1 0"


def test_generate_has_a_summary_for_machines(ddsc, tmp_path):
    done = ddsc("generate", "shapes", "-o", tmp_path / "s.npz", "--json")
    assert json.loads(done.stdout)["items"] == 40 and done.stderr == ""
    ddsc("generate", "shapes", "-o", "-", "--json", code=2)


def test_options_without_effect_are_named(ddsc, tmp_path):
    ddsc("generate", "shapes", "-o", tmp_path / "s.npz")
    run = "cluster", tmp_path / "s.npz", "-k", 2
    done = ddsc(*run, "-m", "mmd", "--mmd-kernel", "energy", "--bandwidth", 3)
    assert "--bandwidth has no effect" in done.stderr and "bandwidth 0" not in done.stderr
    done = ddsc(*run, "-m", "lot", "--reference", tmp_path / "s.npz", "--reference-size", 5)
    assert "--reference-size has no effect" in done.stderr
    assert "--exact-graph pruned has no effect" in ddsc(*run, "--exact-graph", "pruned",
                                                        "--sample", 0.5).stderr


def test_standard_output_is_not_named_as_a_file(ddsc, tmp_path):
    ddsc("generate", "shapes", "-o", tmp_path / "s.npz")
    done = ddsc("distance", tmp_path / "s.npz", "-m", "mmd", "-o", "-", binary=True)
    assert done.stdout[:6] == b"\x93NUMPY" and done.stderr.strip().endswith(" s")


def test_a_bad_matrix_is_named(ddsc, tmp_path):
    matrix = np.ones((4, 4)) - np.eye(4)
    matrix[1, 2] = 7
    np.save(tmp_path / "bad.npy", matrix)
    for verb in ("cluster", "-k", 2), ("neighbors",):
        message = ddsc(verb[0], tmp_path / "bad.npy", "--precomputed", *verb[1:], code=3).stderr
        assert f"{tmp_path / 'bad.npy'}: the matrix is not symmetric: entry (1, 2)" in message


def test_squared_estimates_below_zero_are_taken_back(ddsc, tmp_path):
    """distance --squared writes unbiased MMD unchanged; --squared-input used to reject negative values."""
    ddsc("generate", "gaussians", "-o", tmp_path / "g.npz", "--points", 8)
    ddsc("distance", tmp_path / "g.npz", "-m", "mmd", "--mmd-estimator", "unbiased",
         "--squared", "-o", tmp_path / "D.npy")
    matrix = np.load(tmp_path / "D.npy")
    assert matrix.min() < 0
    direct = ddsc("cluster", tmp_path / "g.npz", "-m", "mmd", "--mmd-estimator", "unbiased", "-k", 3).stdout
    given = ddsc("cluster", tmp_path / "D.npy", "--precomputed", "--squared-input", "-k", 3).stdout
    assert given == direct
    np.save(tmp_path / "E.npy", matrix)
    ddsc("cluster", tmp_path / "E.npy", "--precomputed", "-k", 3, code=3)


def test_a_closed_terminal_leaves_no_files(at_work, slow_set, tmp_path):
    # nohup ignores SIGHUP, and the program leaves an ignored signal ignored.
    listen = lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)
    job = at_work("distance", slow_set, "-o", "D.npy", cwd=tmp_path, preexec_fn=listen)
    job.send_signal(signal.SIGHUP)
    job.communicate(timeout=300)
    assert job.returncode == 75
    assert list(tmp_path.iterdir()) == []


def test_a_file_over_the_limit_is_an_error_not_a_crash(program, ddsc, tmp_path):
    ddsc("generate", "gaussians", "--items", 100, "-o", tmp_path / "g.npz")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    done = subprocess.run([program, "distance", "g.npz", "-m", "mmd", "-o", "D.npy"], cwd=tmp_path,
                          capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 6 and "D.npy: cannot write: File too large" in done.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["g.npz"]


def test_narrow_kernels_keep_their_digits(ddsc, tmp_path):
    """The unbiased estimate used to be a difference of nearly equal sums."""
    random = np.random.default_rng(3)
    points = random.normal(size=(3, 12, 10))
    np.save(tmp_path / "c.npy", points)
    for width in 0.2, 0.3, 0.4:
        ddsc("distance", tmp_path / "c.npy", "-m", "mmd", "--bandwidth", width, "--squared", "--mmd-estimator", "unbiased",
             "-o", tmp_path / "D.npy", "--force")
        found = np.load(tmp_path / "D.npy")

        def mean(a, b, off_diagonal):
            r2 = ((a[:, None] - b[None]) ** 2).sum(-1)
            k = np.exp(-r2 / (2 * width**2))
            return k[~np.eye(12, dtype=bool)].mean() if off_diagonal else k.mean()

        for i in range(3):
            for j in range(i):
                a, b = points[i], points[j]
                expected = mean(a, a, True) + mean(b, b, True) - 2 * mean(a, b, False)
                assert abs(found[i, j] - expected) <= 1e-10 * abs(expected)
