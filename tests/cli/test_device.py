"""--device: identical bytes with a device, without one, and with a device that fails."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

DEVICE = os.environ.get("DDSC_TEST_DEVICE", "reference")
PLUGINS = os.environ.get("DDSC_PLUGIN_PATH",
                         str(pathlib.Path(os.environ.get("DDSC_BUILD", "build")).resolve() / "tests"))
ENV = {"DDSC_PLUGIN_PATH": PLUGINS}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """2,300 histograms on a grid of 8 x 8, some of them equal, which is enough for a prefilter."""
    rng = np.random.default_rng(3)
    at = np.stack(np.meshgrid(np.arange(8), np.arange(8), indexing="ij"), -1).reshape(-1, 2)
    center = rng.uniform(1, 6, (2300, 1, 2))
    weight = np.exp(-((at - center) ** 2).sum(-1)) * rng.uniform(0.5, 1.5, (2300, 64))
    weight[5::9] = weight[4::9][: len(weight[5::9])]
    path = tmp_path_factory.mktemp("device") / "many.npz"
    np.savez(path, points=np.tile(at.astype(float), (2300, 1)), weights=weight.ravel(),
             offsets=np.arange(2301) * 64)
    return path


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    """200 items with a few points on a grid of 8 x 8."""
    rng = np.random.default_rng(4)
    cells = [rng.choice(64, 6, replace=False) for _ in range(200)]
    at = np.stack(np.divmod(np.concatenate(cells), 8), 1).astype(float)
    path = tmp_path_factory.mktemp("device") / "some.npz"
    np.savez(path, points=at, weights=rng.uniform(0.5, 1.5, len(at)), offsets=np.arange(201) * 6)
    return path


@pytest.mark.parametrize("hubs", ["off", "always"])
def test_exact_graph_is_the_same_bytes(ddsc, some, tmp_path, hubs):
    words = ["neighbors", some, "--metric", "w2", "--tau", 5, "--hubs", hubs, "--json", "-q", "-o"]
    plain = json.loads(ddsc(*words, tmp_path / "cpu.mtx", "--device", "cpu", env=ENV).stdout)
    found = json.loads(ddsc(*words, tmp_path / "device.mtx", "--device", DEVICE, env=ENV).stdout)
    assert (tmp_path / "cpu.mtx").read_bytes() == (tmp_path / "device.mtx").read_bytes()
    assert plain["device"] == "cpu" and found["device"] == f"{DEVICE}:0"
    assert "first bounds, dual bounds" in [step for step in found["plan"] if step["stage"] == "device"][0]["why"]


def test_matrix_of_sinkhorn_values(ddsc, many, tmp_path):
    data = np.load(many)
    few = tmp_path / "few.npz"
    np.savez(few, points=data["points"][: 40 * 64], weights=data["weights"][: 40 * 64], offsets=np.arange(41) * 64)
    words = ["distance", few, "--metric", "sinkhorn", "--json", "-q", "-o"]
    told = [json.loads(ddsc(*words, tmp_path / f"{device}.npy", "--device", device, env=ENV).stdout)["device"]
            for device in ("cpu", "auto", DEVICE)]
    plain, auto, found = (np.load(tmp_path / f"{device}.npy") for device in ("cpu", "auto", DEVICE))
    assert told == ["cpu", "cpu", f"{DEVICE}:0"]
    assert (plain == auto).all() and np.allclose(plain, found, rtol=1e-7, atol=1e-9)


def test_a_device_without_a_part_in_it_is_told(ddsc, some, tmp_path):
    words = ["neighbors", some, "--metric", "w1", "--progress", "none", "-f", "-o", tmp_path / "g.mtx", "--device"]
    assert "this search cannot use a device" in ddsc(*words, DEVICE, env=ENV).stderr
    assert "cannot use a device" not in ddsc(*words, "auto", env=ENV).stderr
    assert "must be auto, cpu, cuda" in ddsc(*words, "gpu", code=2).stderr


@pytest.mark.parametrize("words", [["mmd"], ["mmd", "--mmd-features", 200], ["lot"], ["lot", "--hubs", "always"]])
def test_graph_is_the_same_bytes(ddsc, many, tmp_path, words):
    words = ["neighbors", many, "--metric", *words, "--json", "-q", "-o"]
    plain = json.loads(ddsc(*words, tmp_path / "cpu.mtx", "--device", "cpu", env=ENV).stdout)
    found = json.loads(ddsc(*words, tmp_path / "device.mtx", "--device", DEVICE, env=ENV).stdout)
    assert (tmp_path / "cpu.mtx").read_bytes() == (tmp_path / "device.mtx").read_bytes()
    assert plain["device"] == "cpu" and found["device"] == f"{DEVICE}:0"
    assert [step for step in found["plan"] if step["stage"] == "device"][0]["path"] == f"{DEVICE}:0"


def test_clusters_are_the_same_bytes(ddsc, many, tmp_path):
    for device in ("cpu", DEVICE):
        ddsc("cluster", many, "-k", 3, "--metric", "mmd", "-q", "--device", device, "-o", tmp_path / device, env=ENV)
    for name in ("labels.csv", "graph.mtx", "embedding.npy", "eigenvalues.csv"):
        assert (tmp_path / "cpu" / name).read_bytes() == (tmp_path / DEVICE / name).read_bytes(), name
    told = [json.loads((tmp_path / device / "result.json").read_text()) for device in ("cpu", DEVICE)]
    assert [each["device"] for each in told] == ["cpu", f"{DEVICE}:0"]
    by = [[step["path"] for step in each["plan"] if step["stage"] == "products with the graph"] for each in told]
    assert by == [[], [f"{DEVICE}:0"]]


@pytest.mark.parametrize("fault, words", [
    ("driver", "no driver"), ("memory", "too little memory"), ("late", "illegal memory access"),
    ("lists", "invalid neighbor lists"), ("version", "incompatible version")])
def test_a_device_that_fails_is_one_warning(ddsc, many, tmp_path, fault, words):
    command = ["neighbors", many, "--metric", "mmd", "--hubs", "always", "--progress", "none", "-o"]
    plain = ddsc(*command, tmp_path / "cpu.mtx", "--device", "cpu")
    found = ddsc(*command, tmp_path / "device.mtx", "--device", "reference",
                 env={"DDSC_PLUGIN_PATH": str(pathlib.Path(os.environ.get("DDSC_BUILD", "build")).resolve() / "tests"),
                      "DDSC_REFERENCE": fault})
    assert (tmp_path / "cpu.mtx").read_bytes() == (tmp_path / "device.mtx").read_bytes()
    assert words not in plain.stderr
    assert found.stderr.count("the CPU is used instead") == 1 and words in found.stderr


def test_no_plugin(ddsc, many, tmp_path):
    env = {"DDSC_PLUGIN_PATH": str(tmp_path)}
    words = ["neighbors", many, "--metric", "mmd", "--progress", "none", "-f", "-o", tmp_path / "g.mtx", "--device"]
    assert "no plug-in" in ddsc(*words, "cuda", env=env).stderr
    assert "plug-in" not in ddsc(*words, "auto", env=env).stderr
    assert "must be auto, cpu, cuda" in ddsc(*words, "cuda:", code=2, env=env).stderr
    assert "device: cpu\n" in ddsc("--version", env=env).stdout
    assert "device" not in ddsc("info", many, env=env).stdout
    assert json.loads(ddsc("info", many, "--json", env=env).stdout)["device"] == {"name": "cpu", "about": ""}


def test_auto_uses_cuda_for_large_work_only(ddsc, many, tmp_path):
    """The reference device under the name of the CUDA plug-in: this set is too small for auto."""
    (tmp_path / "libddsc_cuda.so").symlink_to(pathlib.Path(PLUGINS) / "libddsc_reference.so")
    env = {"DDSC_PLUGIN_PATH": str(tmp_path)}
    words = ["neighbors", many, "--metric", "mmd", "--json", "--progress", "none", "-f", "-o", tmp_path / "g.mtx"]
    for more, device in ([], "cpu"), (["--device", "auto"], "cpu"), (["--device", "cuda"], "cuda:0"):
        done = ddsc(*words, *more, env=env)
        assert json.loads(done.stdout)["device"] == device
        assert "device" not in done.stderr
    assert "device: cuda, " in ddsc("--version", env=env).stdout


def test_resumed_runs_go_on_with_another_device(ddsc, many, tmp_path):
    words = ["neighbors", many, "--metric", "mmd", "-q", "-f", "--resume", tmp_path / "keep", "-o", tmp_path / "g.mtx"]
    ddsc(*words, "--device", DEVICE, env=ENV)
    first = (tmp_path / "g.mtx").read_bytes()
    ddsc(*words, "--device", "cpu")
    assert (tmp_path / "g.mtx").read_bytes() == first


def test_a_packed_build_runs_elsewhere(tmp_path):
    """Program, tests and both plug-ins run from one folder; missing parts are reported as skipped."""
    root = pathlib.Path(__file__).resolve().parents[2]
    build = pathlib.Path(os.environ.get("DDSC_BUILD", "build")).resolve()
    made = subprocess.run([root / "tools" / "pack.sh", tmp_path / "packed", build], capture_output=True, text=True)
    if "is missing" in made.stderr:
        pytest.skip(made.stderr.strip())
    assert made.returncode == 0, made.stderr
    clean = {name: value for name, value in os.environ.items() if name not in ("DDSC_PLUGIN_PATH", "DDSC_TEST_DEVICE")}

    def go(*words):
        return subprocess.run([tmp_path / "packed" / "go", *words], capture_output=True, text=True, cwd="/",
                              env=clean | {"PYTHON": sys.executable})
    assert go("ddsc", "--version").returncode == 0
    assert go("test_device_eigen").returncode == 0  # requests the reference device
    if not (build / "libddsc_cuda.so").exists():
        assert "skipped, it was not built" in made.stdout
        assert "does not exist" in go("bench").stderr
    again = subprocess.run([root / "tools" / "pack.sh", tmp_path / "packed", build], capture_output=True, text=True)
    assert again.returncode == 1 and "already exists" in again.stderr
