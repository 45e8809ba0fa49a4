"""Ground costs: values compared with linear programming and POT, and the messages of the program."""
import json

import numpy as np
import pytest

linprog = pytest.importorskip("scipy.optimize").linprog
cdist = pytest.importorskip("scipy.spatial.distance").cdist


def by_linprog(a, b, cost):
    """Return min <P, C> over plans with the marginals a and b."""
    n, m = cost.shape
    equal = np.zeros((n + m, n * m))
    for i in range(n):
        equal[i, i * m:(i + 1) * m] = 1
    for j in range(m):
        equal[n + j, j::m] = 1
    found = linprog(cost.ravel(), A_eq=equal, b_eq=np.concatenate([a, b]), bounds=(0, None), method="highs")
    assert found.status == 0
    return found.fun


def items(rng, n, d, most):
    out = []
    for _ in range(n):
        size = rng.integers(1, most + 1)
        weight = rng.random(size) + 0.01
        out.append((weight / weight.sum(), rng.normal(size=(size, d)) + rng.normal(size=d)))
    return out


def write(path, data):
    np.savez(path, points=np.vstack([x for _, x in data]), weights=np.concatenate([a for a, _ in data]),
             offsets=np.cumsum([0] + [len(a) for a, _ in data]))


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


COSTS = {
    ("w1", None): lambda x, y: cdist(x, y),
    ("w1", "euclidean"): lambda x, y: cdist(x, y),
    ("w1", "cityblock"): lambda x, y: cdist(x, y, "cityblock"),
    ("w2", None): lambda x, y: cdist(x, y, "sqeuclidean"),
    ("w2", "sqeuclidean"): lambda x, y: cdist(x, y, "sqeuclidean"),
    ("w2", "cosine"): lambda x, y: cdist(unit(x), unit(y), "sqeuclidean"),
}


@pytest.mark.parametrize("metric,cost", COSTS)
@pytest.mark.parametrize("d,most", [(1, 12), (2, 10), (5, 12), (30, 10)])
def test_values(ddsc, tmp_path, metric, cost, d, most):
    data = items(np.random.default_rng(d), 7, d, most)
    write(tmp_path / "x.npz", data)
    words = ["--cost", cost] if cost else []
    ddsc("distance", tmp_path / "x.npz", "-m", metric, *words, "-o", tmp_path / "d.npy", "-q")
    found = np.load(tmp_path / "d.npy")
    for i in range(7):
        for j in range(i):
            value = by_linprog(data[i][0], data[j][0], COSTS[metric, cost](data[i][1], data[j][1]))
            wanted = value if metric == "w1" else np.sqrt(max(value, 0))
            assert found[i, j] == found[j, i] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("cost", ["euclidean", "cityblock"])
def test_values_of_pot(ddsc, tmp_path, cost):
    """Items with a few hundred points."""
    ot = pytest.importorskip("ot")
    rng = np.random.default_rng(1)
    data = [(rng.dirichlet(np.ones(n)), rng.normal(size=(n, 3))) for n in (90, 200, 330)]
    write(tmp_path / "x.npz", data)
    done = ddsc("distance", tmp_path / "x.npz", "-m", "w1", "--cost", cost, "-o", tmp_path / "d.npy", "--json")
    found, told = np.load(tmp_path / "d.npy"), json.loads(done.stdout)
    assert told["max_gap"] <= 1e-10 and told["converged"] and told["settings"]["cost"] == cost
    for i in range(3):
        for j in range(i):
            wanted = ot.emd2(data[i][0], data[j][0], COSTS["w1", cost](data[i][1], data[j][1]))
            assert found[i, j] == pytest.approx(wanted, rel=1e-9)


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """Shares of cell types with a matrix of distances between the types: two kinds of patients."""
    folder, rng = tmp_path_factory.mktemp("patients"), np.random.default_rng(4)
    types = rng.normal(size=(8, 3))
    cost = cdist(types, types, "cosine")
    np.fill_diagonal(cost, 0)
    cost = (cost + cost.T) / 2
    kind = np.repeat([0, 1], 20)
    shares = rng.dirichlet(np.ones(8), 40)
    shares[kind == 1, :3] += 1.5
    np.savez(folder / "x.npz", histograms=shares, support=np.arange(8.0)[:, None], labels=kind)
    np.save(folder / "cost.npy", cost)
    np.savetxt(folder / "cost.csv", cost, delimiter=",", fmt="%.17g")
    return folder, shares / shares.sum(1, keepdims=True), cost


def test_matrix(ddsc, patients):
    folder, shares, cost = patients
    ddsc("distance", folder / "x.npz", "-m", "w1", "--cost", folder / "cost.npy", "-o", folder / "d.npy", "-q")
    ddsc("distance", folder / "x.npz", "-m", "w2", "--cost", folder / "cost.csv", "-o", folder / "d2.npy",
         "--squared", "-q")
    found, squared = np.load(folder / "d.npy"), np.load(folder / "d2.npy")
    assert np.allclose(found, squared, rtol=1e-12, atol=0)
    for i in range(0, 40, 7):
        for j in range(i):
            assert found[i, j] == pytest.approx(by_linprog(shares[i], shares[j], cost), rel=1e-9, abs=1e-12)


def test_matrix_in_a_model(ddsc, patients):
    folder, *_ = patients
    ddsc("cluster", folder / "x.npz", "-k", 2, "-m", "w1", "--cost", folder / "cost.npy", "-o", folder / "r", "-q")
    told = json.loads((folder / "r" / "result.json").read_text())
    assert told["settings"]["metric"] == "w1" and told["settings"]["cost"] == str(folder / "cost.npy")
    assert told["scores"]["ami"] > 0.8
    model = np.load(folder / "r" / "model.npz")
    assert (model["cost_matrix"] == np.load(folder / "cost.npy")).all()
    labels = ddsc("assign", folder / "r" / "model.npz", folder / "x.npz").stdout.split("\n")
    again = (folder / "r" / "labels.csv").read_text().split("\n")
    assert [line.split(",")[:2] for line in labels[1:]] == [line.split(",")[:2] for line in again[1:]]


@pytest.mark.parametrize("metric,cost", [("w1", "cityblock"), ("w2", "cosine"), ("sinkhorn", "euclidean")])
def test_model(ddsc, three_groups, tmp_path, metric, cost):
    words = ["-k", 3, "-m", metric, "--cost", cost, "-q"]
    ddsc("cluster", three_groups, *words, "-o", tmp_path / "r")
    assert json.loads((tmp_path / "r" / "result.json").read_text())["settings"]["cost"] == cost
    assert f"cost={cost}" in np.load(tmp_path / "r" / "model.npz")["model_settings"]
    labels = ddsc("assign", tmp_path / "r" / "model.npz", three_groups).stdout
    assert [line.split(",")[1] for line in labels.split()[1:]] == \
        [line.split(",")[1] for line in (tmp_path / "r" / "labels.csv").read_text().split()[1:]]


@pytest.mark.parametrize("words", [["--method", "d2"], ["--method", "d2", "-m", "w1"], ["--method", "pd2"], ["-m", "lot"]])
def test_cosine_is_points_at_length_one(ddsc, tmp_path, words):
    data = items(np.random.default_rng(8), 24, 5, 9)
    write(tmp_path / "x.npz", data)
    write(tmp_path / "u.npz", [(w, x / np.linalg.norm(x, axis=1, keepdims=True)) for w, x in data])
    ddsc("cluster", tmp_path / "x.npz", "-k", 3, *words, "--cost", "cosine", "-o", tmp_path / "x", "-q")
    ddsc("cluster", tmp_path / "u.npz", "-k", 3, *words, "-o", tmp_path / "u", "-q")
    ddsc("cluster", tmp_path / "x.npz", "-k", 3, *words, "-o", tmp_path / "plain", "-q")
    labels = [(tmp_path / name / "labels.csv").read_text() for name in ("x", "u", "plain")]
    assert labels[0] == labels[1] != labels[2]
    told = json.loads((tmp_path / "x" / "result.json").read_text())
    assert told["settings"]["cost"] == "cosine"
    if words[0] == "--method":
        centers = [np.load(tmp_path / name / "centers.npz")["points"] for name in ("x", "u")]
        assert centers[0] == pytest.approx(centers[1], abs=1e-6) and (np.linalg.norm(centers[0], axis=1) <= 1 + 1e-9).all()


@pytest.mark.parametrize("cost", ["euclidean", "cityblock"])
def test_d2_by_distances(ddsc, three_groups, tmp_path, cost):
    ddsc("cluster", three_groups, "-k", 3, "--method", "d2", "--cost", cost, "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    assert told["settings"]["cost"] == cost and told["scores"]["ami"] == pytest.approx(1)
    ot = pytest.importorskip("ot")
    data, centers = (np.load(path) for path in (three_groups, tmp_path / "r" / "centers.npz"))
    labels = np.loadtxt(tmp_path / "r" / "labels.csv", delimiter=",", skiprows=1, usecols=1, dtype=int)
    total = 0
    for i, c in enumerate(labels):
        (x, a), (y, b) = ((s["points"][s["offsets"][k]:s["offsets"][k + 1]], s["weights"][s["offsets"][k]:s["offsets"][k + 1]])
                          for s, k in ((centers, c), (data, i)))
        total += ot.emd2(a / a.sum(), b / b.sum(), cdist(x, y, cost))
    assert told["objective"] == pytest.approx(total, rel=1e-6)


def test_d2_says_how_to_ask_for_w1(ddsc, three_groups):
    assert "which uses --cost (euclidean: W1)" in ddsc("cluster", three_groups, "-k", 3, "--method", "d2", "-m", "w1").stderr


def test_d2_over_a_matrix(ddsc, tmp_path):
    """Rows of two distant kinds: centers are on rows of their kind."""
    random = np.random.default_rng(5)
    points = [random.choice(5, 3, replace=False) + 5 * (i % 2) for i in range(24)]
    write(tmp_path / "x.npz", [(np.full(3, 1 / 3), p[:, None].astype(float)) for p in points])
    cost = 0.2 + random.uniform(0, 0.1, (10, 10))
    cost[:5, 5:] = cost[5:, :5] = 1
    cost = np.triu(cost, 1)
    np.save(tmp_path / "cost.npy", cost + cost.T)
    ddsc("cluster", tmp_path / "x.npz", "-k", 2, "--method", "d2", "--cost", tmp_path / "cost.npy", "-o", tmp_path / "r", "-q")
    told = json.loads((tmp_path / "r" / "result.json").read_text())
    assert told["settings"]["cost"].endswith("cost.npy")
    labels = [line.split(",")[1] for line in (tmp_path / "r" / "labels.csv").read_text().split()[1:]]
    assert labels == ["0", "1"] * 12
    centers = np.load(tmp_path / "r" / "centers.npz")["points"].reshape(2, -1)
    assert (centers // 5 == [[0], [1]]).all() and (centers == centers.round()).all()


def test_sinkhorn_against_pot(ddsc, tmp_path):
    ot = pytest.importorskip("ot")
    data = items(np.random.default_rng(3), 5, 3, 10)
    write(tmp_path / "x.npz", data)
    for cost in ("euclidean", "cityblock"):
        ddsc("distance", tmp_path / "x.npz", "-m", "sinkhorn", "--sinkhorn-value", "sharp", "--epsilon", 0.3, "--cost",
             cost, "-o", tmp_path / "d.npy", "-q", "-f")
        found = np.load(tmp_path / "d.npy")
        for i in range(5):
            for j in range(i):
                (a, x), (b, y) = data[i], data[j]
                matrix = COSTS["w1", cost](x, y)
                plan = ot.sinkhorn(a, b, matrix, 0.3, stopThr=1e-13, numItermax=100000, method="sinkhorn_log")
                assert found[i, j] == pytest.approx((plan * matrix).sum(), rel=1e-6)


@pytest.mark.parametrize("words,code,says", [
    (["-m", "w2", "--cost", "euclidean"], 2, "w1"),
    (["-m", "w1", "--cost", "cosine"], 2, "w2"),
    (["-m", "mmd", "--cost", "euclidean"], 2, "kernel"),
    (["-m", "lot", "--cost", "cityblock"], 2, "requires squared Euclidean costs"),
    (["--method", "pd2", "--cost", "euclidean"], 2, "cost = euclidean: the barycenter method projected requires sqeuclidean or cosine"),
    (["--method", "d2", "--barycenter", "ibp", "--cost", "cityblock"], 2, "cost = cityblock: the barycenter method ibp requires sqeuclidean or cosine"),
    (["--method", "kmeans", "--cost", "cityblock"], 2, "a vector baseline"),
    (["-m", "w1", "--cost", "missing.npy"], 3, "missing.npy"),
    (["-m", "w1", "--cost", "cityblok"], 2, "did you mean 'cityblock'?"),
    (["-m", "w1", "--cost", "Euclidean"], 2, "did you mean 'euclidean'?"),
    (["-m", "w1", "--cost", ""], 2, "--cost"),
])
def test_refused(ddsc, three_groups, words, code, says):
    assert says in ddsc("cluster", three_groups, "-k", 3, *words, code=code).stderr


def test_matrix_refused(ddsc, three_groups, tmp_path):
    np.save(tmp_path / "cost.npy", 1 - np.eye(4))
    words = ["distance", three_groups, "-m", "w1", "--cost", tmp_path / "cost.npy", "-o", tmp_path / "d.npy"]
    says = ddsc(*words, code=3).stderr
    assert "single coordinate" in says and "cost.npy: cost matrix" in says
    np.save(tmp_path / "cost.npy", np.eye(4))
    says = ddsc(*words, code=3).stderr
    assert "diagonal" in says and "cost.npy: " in says


def test_a_file_with_the_name_of_a_mistake_is_read(ddsc, tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n" + "".join(f"i{k},{k % 4}\ni{k},{k % 3}\n" for k in range(8)))
    np.savetxt(tmp_path / "cityblok", np.abs(np.subtract.outer(range(4), range(4))), fmt="%g")
    ddsc("distance", tmp_path / "a.csv", "-m", "w1", "--cost", "cityblok", "-o", "d.npy", cwd=tmp_path)


def test_resume_knows_the_cost(ddsc, three_groups, tmp_path):
    words = ["distance", three_groups, "-m", "w1", "-o", tmp_path / "d.npy", "--resume", tmp_path / "keep", "-f", "--json"]
    ddsc(*words)
    assert json.loads(ddsc(*words).stdout)["resumed"] > 0
    ddsc(*words, "--cost", "cityblock", code=2)


@pytest.mark.parametrize("text,code", [
    (",A,B,C\nA,0,1,4\nB,1,0,2\nC,4,2,0\n", 0), ("A;B;C\n0;1;4\n1;0;2\n4;2;0\n", 0),
    ("0 1 4\n1 0 2\n4 2 0\n", 0), ("0,1,4\n1,0,2\n4,2,0\n", 0), ("\ufeff0\t1\t4\r\n1\t0\t2\r\n4\t2\t0\r\n", 0),
    ("0,1,4\n1,0,2\n", 3), ("0,1,4\n1,0\n4,2,0\n", 3), ("A,B,C\n0,1,x\n1,0,2\n4,2,0\n", 3), ("A,B,C\n", 3),
    ("A,0,1\nB,1,0\nC,2,2\n", 3), ("0,1,4\n1,0,\n4,2,0\n", 3)])
def test_matrix_of_text(ddsc, tmp_path, text, code):
    """Names above and before the numbers, or none; spaces, commas, tabs."""
    (tmp_path / "d.csv").write_text(text)
    done = ddsc("neighbors", tmp_path / "d.csv", "--precomputed", "--tau", 1, "-o", tmp_path / "g.mtx", code=code)
    if code:
        assert "d.csv" in done.stderr
        return
    graph = [line.split() for line in (tmp_path / "g.mtx").read_text().split("\n") if line and line[0] != "%"]
    assert [row[:2] for row in graph[1:]] == [["2", "1"], ["1", "2"], ["2", "3"]]


def graph(ddsc, path, tmp_path, how, *words):
    ddsc("neighbors", path, "-t", 5, "--exact-graph", how, "-o", tmp_path / f"{how}.mtx", "-f", "-q", *words)
    return (tmp_path / f"{how}.mtx").read_bytes()


@pytest.mark.parametrize("metric", ["w1", "w2"])
def test_far_from_the_origin_the_pruned_graph_is_the_full_one(ddsc, tmp_path, metric):
    """Offsets far larger than the extent: the loss of accuracy of a bound must not exclude a neighbor."""
    rng = np.random.default_rng(8)
    data = [(np.ones(1), 2.0 ** 44 + rng.integers(0, 2560, (1, 3)) / 256) for _ in range(150)]
    write(tmp_path / "far.npz", data)
    assert graph(ddsc, tmp_path / "far.npz", tmp_path, "full", "-m", metric) == \
        graph(ddsc, tmp_path / "far.npz", tmp_path, "pruned", "-m", metric)


def test_costs_that_are_symmetric_up_to_rounding(ddsc, tmp_path):
    rng = np.random.default_rng(9)
    cost = 1e-9 * rng.random((8, 8))
    cost[6, 7] = cost[7, 6] = 1
    np.fill_diagonal(cost, 0)
    np.save(tmp_path / "c.npy", cost)
    data = [(np.full(3, 1 / 3), rng.choice(6, 3, replace=False)[:, None].astype(float)) for _ in range(80)]
    write(tmp_path / "m.npz", data)
    words = ("-m", "w1", "--cost", tmp_path / "c.npy")
    assert graph(ddsc, tmp_path / "m.npz", tmp_path, "full", *words) == \
        graph(ddsc, tmp_path / "m.npz", tmp_path, "pruned", *words)


@pytest.mark.parametrize("table", ["a,0,1\nb,1,0\n", ",a,b\na,0,1\nb,1,0\n", "a;b\n0;1\n1;0\n", "0\t1\n1\t0\n"])
def test_matrices_with_and_without_names(ddsc, tmp_path, table):
    (tmp_path / "cost.csv").write_text(table)
    write(tmp_path / "s.npz", [(np.ones(1), np.array([[k % 2]], float)) for k in range(4)])
    ddsc("distance", tmp_path / "s.npz", "-m", "w1", "--cost", tmp_path / "cost.csv", "-o", tmp_path / "d.npy", "-q")
    assert np.load(tmp_path / "d.npy")[0].tolist() == [0, 1, 0, 1]
