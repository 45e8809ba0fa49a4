"""Tests of threads, Ctrl-C, callbacks and memory."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest

import ddsc


def python(code, **more):
    """Run code in a new interpreter that uses the same package."""
    paths = [os.path.dirname(os.path.dirname(ddsc.__file__)), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p), **more}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_no_leak_over_a_thousand_fits():
    X = ddsc.make_gaussians(k=2, n=6, n_points=5)
    raw = [p for p, _ in X]

    def work(times):
        for _ in range(times):
            model = ddsc.DDSC(2, n_neighbors=3, n_jobs=1).fit(raw)
            model.predict(raw[:2])
            ddsc.emd(None, None, np.eye(3), full=True)

    work(200)
    before = resident()
    work(1000)
    assert resident() - before < 3e6


def test_no_threads_are_left_behind():
    X = ddsc.make_gaussians(k=2, n=20)
    before = len(os.listdir("/proc/self/task"))
    models = [ddsc.DDSC(2, n_jobs=4).fit(X) for _ in range(5)]
    assert len(models) == 5
    assert len(os.listdir("/proc/self/task")) == before


def test_two_threads_fit_at_once():
    X = [ddsc.make_gaussians(k=3, n=30, random_state=s) for s in range(4)]
    alone = [ddsc.DDSC(3, n_jobs=1).fit(x).embedding_ for x in X]
    together = [None] * 4

    def work(i):
        for _ in range(3):
            together[i] = ddsc.DDSC(3, n_jobs=1).fit(X[i]).embedding_

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for a, b in zip(alone, together):
        np.testing.assert_array_equal(a, b)


def test_one_set_shared_by_threads():
    X = ddsc.make_gaussians(k=2, n=25)
    expected = ddsc.pairwise(X)
    found = [None] * 4

    def work(i):
        found[i] = ddsc.pairwise(X, n_jobs=2)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for D in found:
        np.testing.assert_array_equal(D, expected)


def test_other_threads_run_during_work():
    """If the call held the interpreter lock, no other thread would make progress during it."""
    X = ddsc.make_gaussians(k=2, n=60, n_points=60)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    during = 0
    for _ in range(50):
        began = time.monotonic()
        ddsc.pairwise(X, n_jobs=1)
        ended = time.monotonic()
        during = max(during, sum(began < t < ended for t in ticks))
        if during >= 5:
            break
    done.set()
    thread.join()
    assert during >= 5


# Each of these calls takes minutes. bench/python.py measures how soon the call stops. This test must also pass on a
# busy machine.
LONG = """
    import signal, time, sys, numpy as np, ddsc
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job begins without it
    X = [np.random.default_rng(i).normal(size=(400, 5)) for i in range(600)]
    ddsc.pairwise(X[:2]), ddsc.DDSC(2).fit(ddsc.make_shapes())  # a signal within an import leaves half a module
    print("ready", flush=True)
    try:
        {call}
        print("done", flush=True)
    except KeyboardInterrupt:
        print("stopped", time.monotonic(), flush=True)
    print(ddsc.DDSC(2, n_neighbors=3).fit(ddsc.make_shapes()).labels_.sum(), flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "ddsc.pairwise(X)",
        "ddsc.DDSC(5, metric='sinkhorn', epsilon='0.5%').fit(X)",
        "ddsc.DDSC(5, metric='w2').fit(X)",
        "ddsc.emd(None, None, np.random.default_rng(0).random((6000, 6000)))",
        "ddsc.Distributions([np.random.default_rng(0).normal(size=(40000, 5))]).compress(3)",
        "ddsc.sinkhorn(None, None, np.random.default_rng(0).random((3000, 3000)), 1e-5)",
    ],
)
def test_ctrl_c_stops_soon(call):
    child = python(LONG.format(call=call))
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.2)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=300)
    lines = out.splitlines()
    if lines[0] == "done":
        pytest.skip("the work was over before the signal")
    assert lines[0].startswith("stopped"), out + err
    assert float(lines[0].split()[1]) - sent < 60
    assert lines[1:] == ["20"] and child.returncode == 0, out + err


def test_callbacks():
    X = ddsc.make_gaussians(k=2, n=30)
    seen = []
    ddsc.DDSC(2, callback=lambda *a: seen.append(a)).fit(X)
    stages = [s for s, _, _ in seen]
    assert {"neighbors", "k-means"} <= set(stages) or {"distances", "k-means"} <= set(stages)
    assert all(0 <= done <= total for _, done, total in seen if total > 0)

    class Enough(Exception):
        pass

    def stop(stage, done, total):
        raise Enough

    with pytest.raises(Enough):
        ddsc.pairwise(X, callback=stop)
    assert ddsc.pairwise(X).shape == (60, 60)
    with pytest.raises(TypeError, match="callable"):
        ddsc.pairwise(X, callback=3)


def test_progress_bar(capsys):
    X = ddsc.make_gaussians(k=2, n=30)
    ddsc.DDSC(2, verbose=1).fit(X)
    shown = capsys.readouterr().err
    assert "k-means" in shown and "100%" in shown


def test_without_optional_packages():
    code = """
        import sys
        for name in ("sklearn", "scipy", "matplotlib", "pandas", "tqdm"):
            sys.modules[name] = None
        import pickle, numpy as np, ddsc
        X = ddsc.make_gaussians(k=2, n=10)
        model = ddsc.DDSC(2, verbose=1, n_neighbors=4).fit(X)
        assert repr(ddsc.DDSC(3)) == "DDSC(n_clusters=3)", repr(ddsc.DDSC(3))
        assert model.get_params()["n_clusters"] == 2
        assert model.set_params(n_clusters=3).n_clusters == 3
        A = model.affinity_matrix_
        assert isinstance(A, ddsc.CSR) and A.toarray().shape == (20, 20)
        assert (pickle.loads(pickle.dumps(model)).predict(X) == model.labels_).all()
        assert ddsc.LinearOT().fit_transform(X).shape[0] == 20
        try:
            ddsc.DDSC().predict(X)
        except ValueError as error:
            assert "not fitted" in str(error)
        try:
            ddsc.plot.eigengap(model)
        except ImportError as error:
            assert "matplotlib" in str(error)
        print("good")
    """
    child = python(code)
    out, err = child.communicate(timeout=60)
    assert out == "good\n", err
    assert "k-means 100%" in err


def test_a_forked_child_can_work():
    code = """
        import multiprocessing as mp, ddsc
        X = ddsc.make_gaussians(k=2, n=10)
        expected = ddsc.pairwise(X, n_jobs=2)
        def work(_):
            return ddsc.pairwise(X, n_jobs=2)
        with mp.get_context("fork").Pool(2) as pool:
            for D in pool.map(work, range(4)):
                assert (D == expected).all()
        print("good")
    """
    out, err = python(code).communicate(timeout=60)
    assert out == "good\n", err


def test_n_jobs_follows_the_environment():
    code = "import ddsc; print(ddsc.DDSC(2, n_neighbors=3).fit(ddsc.make_shapes()).stats_['threads'])"
    assert python(code, OMP_NUM_THREADS="3").communicate(timeout=60)[0] == "3\n"
    many = "import ddsc; print(ddsc.DDSC(2, n_jobs=-1).fit(ddsc.make_shapes()).stats_['threads'])"
    assert int(python(many).communicate(timeout=60)[0]) == len(os.sched_getaffinity(0))


def test_device(tmp_path, monkeypatch):
    """A missing device causes a warning, and the CPU is used; "auto" causes no warning."""
    monkeypatch.setenv("DDSC_PLUGIN_PATH", str(tmp_path))
    X = np.random.default_rng(2).normal(size=(2100, 2, 20))
    plain = ddsc.neighbors(X, metric="lot", device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (ddsc.neighbors(X, metric="lot") != plain).nnz == 0
    with pytest.warns(UserWarning, match="device cuda:0: no plug-in"):
        found = ddsc.neighbors(X, metric="lot", device="cuda")
    assert (found != plain).nnz == 0
    assert ddsc.DDSC(3, metric="mmd").fit(X[:50]).result_json()["device"] == "cpu"


@pytest.mark.parametrize(
    "call",
    [
        lambda X, limit: ddsc.pairwise(X, memory_limit=limit),
        lambda X, limit: ddsc.pairwise(X[:1], X[1:], memory_limit=limit),
        lambda X, limit: ddsc.neighbors(X, n_neighbors=1, memory_limit=limit),
        lambda X, limit: ddsc.compare(X, 2, memory_limit=limit),
        lambda X, limit: ddsc.DDSC(2, memory_limit=limit).fit(X),
        lambda X, limit: ddsc.DDSC(2, method="kmeans", memory_limit=limit).fit(X),
    ],
)
def test_memory_limit_covers_the_set_that_is_made(call):
    """Return equal points, which a set stores once, and integers, which are first converted to float64."""
    for dtype in float, np.int8:
        X = [np.full((60000, 5), i, dtype) for i in range(2)]
        tracemalloc.start()
        with pytest.raises(MemoryError, match="limit 1000000"):
            call(X, 10**6)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 10**6
    lists = [[[float(i)] * 5] * 6000 for i in range(2)]  # of no known size: the library itself refuses
    with pytest.raises(MemoryError, match="limit 400000"):
        call(lists, 4 * 10**5)


def test_memory_limit_counts_both_sets():
    X, Y = ([np.random.default_rng(seed).random((9000, 2))] for seed in (0, 1))
    with pytest.raises(MemoryError, match="limit"):
        ddsc.pairwise(X, Y, metric="mmd", memory_limit=9 * 10**5)
    made = ddsc.pairwise([x[:50] for x in X], [y[:50] for y in Y], memory_limit=10**8)
    np.testing.assert_array_equal(made, ddsc.pairwise([x[:50] for x in X], [y[:50] for y in Y]))
