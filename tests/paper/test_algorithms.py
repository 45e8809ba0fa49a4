"""`--paper` against an independent implementation of Algorithms 1 and 2, on shapes, digits and documents."""
import gzip
import json
import re

import numpy as np
import pytest

pytest.importorskip("scipy.optimize")
from algorithms import cost, embedding, kmeans, lloyd, lot, lot2, mmd2, neighbor_lists, plan, sinkhorn2, w2_squared

N = 60
UNITS = 48  # weights are multiples of 1/UNITS, so that exact transport is an assignment
K = {"shapes": 2, "digits": 5, "documents": 3}
TAU = {"shapes": 5, "digits": 8, "documents": 8}
BANDWIDTH = {"shapes": 2, "digits": 1.5, "documents": 4}
EPSILON = {"shapes": 1, "digits": 10, "documents": 20}


def in_units(weights):
    """Round weights to multiples of 1/UNITS that sum to 1 (largest remainders). Points without a unit are dropped."""
    exact = UNITS * weights / weights.sum()
    units = np.floor(exact)
    units[np.argsort(units - exact, kind="stable")[:int(UNITS - units.sum())]] += 1
    return units / UNITS


def digits(data_dir):
    """Return MNIST images of five digits, halved to 14 x 14 pixels."""
    with gzip.open(data_dir / "mnist" / "train-images-idx3-ubyte.gz") as f:
        f.read(16)
        images = np.frombuffer(f.read(5000 * 784), np.uint8).reshape(-1, 14, 2, 14, 2).sum((2, 4)).astype(float)
    with gzip.open(data_dir / "mnist" / "train-labels-idx1-ubyte.gz") as f:
        f.read(8)
        labels = np.frombuffer(f.read(5000), np.uint8)
    chosen = np.concatenate([np.flatnonzero(labels == c)[:N // 5] for c in range(5)])
    items = []
    for image in images[chosen]:
        weights = in_units(image.ravel())
        at = np.flatnonzero(weights)
        items.append((np.column_stack(np.divmod(at, 14)).astype(float), weights[at]))
    return items


def documents(ddsc, data_dir, folder):
    """Return documents of BBCSport with their own 16 points of word vectors."""
    text = data_dir / "text"
    ddsc("text", text / "bbcsport.tsv.gz", "--vectors", text / "glove.6B.100d.subset.txt.gz", "--text", "abstract",
         "--stopwords", text / "stoplist2.txt", "--paper", "-o", folder / "all.npz")
    z = np.load(folder / "all.npz")
    rows = z["support"][z["indices"]] if "indices" in z else z["points"]
    items = []
    for i in range(0, 10 * N, 10):
        part = slice(z["offsets"][i], z["offsets"][i + 1])
        weights = in_units(z["weights"][part])
        items.append((rows[part][weights > 0], weights[weights > 0]))
    return items


@pytest.fixture(scope="module", params=["shapes", "digits", "documents"])
def data(request, ddsc, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "shapes":
        ddsc("generate", "shapes", "-o", folder / "X.npz")
        z = np.load(folder / "X.npz")
        items = [(p, np.full(len(p), 1 / len(p))) for p in np.split(z["points"], z["offsets"][1:-1])]
    else:
        data_dir = request.getfixturevalue("data_dir")
        items = digits(data_dir) if request.param == "digits" else documents(ddsc, data_dir, folder)
        write(folder / "X.npz", items)
    points = np.vstack([x for x, _ in items])
    m0 = round(np.mean([len(a) for _, a in items]))
    x0 = np.random.default_rng(1).normal(points.mean(0), points.std(0), (m0, points.shape[1]))
    write(folder / "X0.npz", [(x0, np.full(m0, 1 / m0))])
    return request.param, folder, items, x0


def write(path, items):
    np.savez(path, points=np.vstack([x for x, _ in items]), weights=np.concatenate([a for _, a in items]),
             offsets=np.cumsum([0] + [len(a) for _, a in items]))


def words_of(metric, name, folder):
    return ["-m", metric, "--paper"] + {
        "mmd": ["--bandwidth", BANDWIDTH[name]], "sinkhorn": ["--epsilon", EPSILON[name], "--tolerance", 1e-13],
        "w2": [], "lot": ["--reference", folder / "X0.npz"]}[metric]


def squared(metric, name, items, x0):
    if metric == "mmd":
        return mmd2(items, BANDWIDTH[name])
    if metric == "sinkhorn":
        return sinkhorn2(items, EPSILON[name])
    return w2_squared(items, 40 if name == "shapes" else UNITS) if metric == "w2" else lot2(items, x0)


def median_rule(listed):
    """Return 1 / median, using only positive values if at least half are not positive, or 1 if none is positive."""
    positive = listed[listed > 0]
    if 2 * len(positive) > listed.size:
        positive = np.maximum(listed, 0)
    return 1 / np.median(positive) if len(positive) else 1


@pytest.mark.parametrize("metric", ["mmd", "sinkhorn", "w2", "lot"])
def test_algorithm(ddsc, data, metric):
    name, folder, items, x0 = data
    k, tau, words = K[name], TAU[name], words_of(metric, name, folder)
    d2 = squared(metric, name, items, x0)

    ddsc("distance", folder / "X.npz", *words, "--squared", "-o", folder / "D.npy", "-f")
    theirs = np.load(folder / "D.npy")
    assert np.abs(theirs - d2).max() <= 1e-12 * np.abs(d2).max()

    out = folder / metric
    ddsc("cluster", folder / "X.npz", *words, "-k", k, "--tau", tau, "-o", out)
    edges = np.loadtxt(out / "graph.mtx", comments="%", skiprows=3)[:, :2].astype(int) - 1
    lists = neighbor_lists(d2, tau)
    assert {tuple(e) for e in edges} == {(i, c) for c in range(len(d2)) for i in lists[:, c]}

    chosen = json.loads((out / "result.json").read_text())["chosen"]
    gamma = median_rule(np.take_along_axis(d2, lists, 0))
    assert chosen["gamma"] == pytest.approx(gamma, rel=1e-9)

    values, rows = embedding(d2, tau, gamma, k)
    found = np.loadtxt(out / "eigenvalues.csv", delimiter=",", skiprows=1)[:, 1]
    assert np.abs(found - values[:len(found)]).max() <= 1e-9

    labels = np.loadtxt(out / "labels.csv", delimiter=",", skiprows=1, usecols=1).astype(int)
    mine, inertia = lloyd(rows, np.array([rows[labels == c].mean(0) for c in range(k)]))
    assert (mine == labels).all()  # k-means from the program's centers does not move
    assert inertia <= 1.01 * kmeans(rows, k) + 1e-12


def test_embedding(ddsc, data):
    """`ddsc embed` writes phi, prints its properties, and draws a normal X_0 with m_0 points on its own."""
    name, folder, items, x0 = data
    words = ["embed", folder / "X.npz", "--paper"]
    printed = json.loads(ddsc(*words, "--reference", folder / "X0.npz", "-o", folder / "Z.npy", "-f", "--json").stdout)
    z, uniform = lot(items, x0), np.full(len(x0), 1 / len(x0))
    assert np.abs(np.load(folder / "Z.npy") - z).max() <= 1e-12 * np.abs(z).max()
    w2 = np.sqrt([(plan(x0, uniform, x, a) * cost(x0, x)).sum() for x, a in items])
    shortfall = 1 - np.linalg.norm(z, axis=1) / w2
    assert printed["reference_norm"] == 0 and printed["items_with_split_mass"] == (shortfall > 1e-9).sum()
    assert printed["norm_shortfall_mean"] == pytest.approx(shortfall.mean(), abs=2e-9)
    assert printed["norm_shortfall_max"] == pytest.approx(shortfall.max(), abs=1e-12)
    assert (printed["items_with_split_mass"] == 0) == (name == "shapes")  # equal sizes and weights: a permutation
    own = [json.loads(ddsc(*words, "-s", seed, "-o", folder / f"Z{seed}.npy", "-f", "--json").stdout) for seed in (0, 0, 1)]
    assert all(o.pop("seconds") >= 0 and o["reference_size"] == len(x0) for o in own) and own[0] == own[1]
    assert not np.allclose(np.load(folder / "Z0.npy"), np.load(folder / "Z1.npy"))  # X_0 is a random draw


def test_missing_pairs_stay_missing(ddsc, data):
    """The neighbor lists contain the nearest items among the sampled pairs, and no others."""
    name, folder, items, _ = data
    words, n = ["-m", "w2", "--paper", "--sample", 0.5], len(items)

    def edges(path):
        return np.loadtxt(path, comments="%", skiprows=3)[:, :2].astype(int) - 1

    ddsc("neighbors", folder / "X.npz", *words, "--tau", n - 1, "-o", folder / "known.mtx", "-f")
    known = np.zeros((n, n), bool)
    known[tuple(edges(folder / "known.mtx").T)] = True
    ddsc("cluster", folder / "X.npz", *words, "-k", 2, "--tau", 5, "-o", folder / "part", "-f")
    solved = json.loads((folder / "part" / "result.json").read_text())["pairs"]["solved"]
    assert (known == known.T).all() and known.sum() == 2 * solved and 0.4 < solved / (n * (n - 1) / 2) < 0.6
    d2 = w2_squared(items, 40 if name == "shapes" else UNITS)
    lists = neighbor_lists(np.where(known, d2, np.inf), 5)
    expected = {(i, c) for c in range(n) for i in lists[:, c] if known[i, c]}
    assert {tuple(e) for e in edges(folder / "part" / "graph.mtx")} == expected


# ---- every feature is off ----

COMMON = {"method": "ddsc", "k": 2, "kmeans_restarts": 30, "tau": "auto", "exact_graph": "auto", "neighbors": "exact",
          "hubs": "off", "sample": 1, "sample_columns": 1, "gamma": "median", "paper": True, "min_cluster": 0,
          "refine": "off", "eigen_tolerance": 1e-8}
SETTINGS = {
    "mmd": {"metric": "mmd", "mmd_kernel": "gaussian", "mmd_estimator": "unbiased", "bandwidth": "near"},
    "sinkhorn": {"metric": "sinkhorn", "cost": "sqeuclidean", "epsilon": 5, "epsilon_is_percent": True,
                 "sinkhorn_value": "paper", "tolerance": 1e-9, "max_iterations": 100000},
    "w2": {"metric": "w2", "cost": "sqeuclidean"},
    "lot": {"metric": "lot", "cost": "sqeuclidean", "reference": "normal", "reference_size": "auto"}}


@pytest.mark.parametrize("metric", SETTINGS)
def test_settings(ddsc, tmp_path, metric):
    """A new setting must be listed here with the value that the paper gives it, and in src/base/paper.c."""
    ddsc("generate", "shapes", "-o", tmp_path / "X.npz")
    done = json.loads(ddsc("cluster", tmp_path / "X.npz", "-k", 2, "-m", metric, "--paper", "--json").stdout)
    assert done["settings"] == {**COMMON, **SETTINGS[metric]}


@pytest.mark.parametrize("verb, words, setting", [
    ("cluster", ["-k", 2, "-m", "mmd", "--mmd-estimator", "biased"], "mmd_estimator"),
    ("distance", ["-m", "mmd", "--mmd-features", 10], "mmd_features"),
    ("distance", ["-m", "sinkhorn", "--sinkhorn-value", "debiased"], "sinkhorn_value"),
    ("embed", ["--reference", "kmeans"], "reference_rule"), ("embed", ["--reference-size", 7], "reference_size"),
    ("neighbors", ["-m", "lot", "--lot-components", 3], "lot_components"),
    ("neighbors", ["--hubs", "always"], "hubs"), ("neighbors", ["--neighbors", "approximate"], "neighbors"),
    ("cluster", ["-k", 2, "--sample-columns", 0.5], "sample_columns"),
    ("cluster", ["-k", 2, "--gamma", "local"], "gamma_rule"), ("cluster", ["-k", 2, "--min-cluster", 0.5], "--min-cluster"),
    ("cluster", ["-k", 2, "-m", "w2+mmd"], "joined"), ("cluster", ["-k", 2, "--outliers"], "--outliers"),
    ("cluster", ["-k", 2, "--min-cluster", 0.2], "--min-cluster"),  # the default, but given
    ("distance", ["-m", "sinkhorn", "--sinkhorn-value", "regularized"], "--sinkhorn-value")])
def test_contradictions(ddsc, tmp_path, verb, words, setting):
    ddsc("generate", "shapes", "-o", tmp_path / "X.npz")
    done = ddsc(verb, tmp_path / "X.npz", *words, "--paper", "-o", tmp_path / "out.npy", code=2)
    assert setting in done.stderr
    ddsc(verb, tmp_path / "X.npz", *words, "-o", tmp_path / "out.npy")


def test_assign(ddsc, tmp_path):
    ddsc("generate", "shapes", "-o", tmp_path / "X.npz")
    for metric in ("mmd", "sinkhorn", "w2", "lot"):
        ddsc("cluster", tmp_path / "X.npz", "-k", 2, "-m", metric, "--paper", "-o", tmp_path / metric)
        ddsc("assign", tmp_path / metric / "model.npz", tmp_path / "X.npz", "--paper")
    for words in ([], ["--gamma", "median", "--hubs", "off", "--min-cluster", 0]):
        ddsc("cluster", tmp_path / "X.npz", "-k", 2, "-m", "sinkhorn", *words, "-o", tmp_path / "own", "-f")
        done = ddsc("assign", tmp_path / "own" / "model.npz", tmp_path / "X.npz", "--paper", code=2)
        assert "paper" in done.stderr


# Settings that --paper leaves alone: the paper leaves them open, or they change no result.
OPEN = {
    "ddsc_metric_settings": "metric epsilon epsilon_is_percent sinkhorn_tolerance sinkhorn_max_iterations mmd_kernel "
                            "bandwidth reference_measures w2_max_pivots cost cost_matrix cost_size",
    "ddsc_graph_settings": "tau exact_graph",
    "ddsc_cluster_settings": "k_min k_max metric graph gamma kmeans_restarts eigen_tolerance eigen_max_iterations like "
                             "resolve",
    "ddsc_text_settings": "text_columns label_column id_columns where stopwords_path lemmas_path idf support "
                          "on_empty max_bytes"}


@pytest.mark.parametrize("struct", OPEN)
def test_every_setting_is_decided(ddsc, source, struct):
    """A new setting needs a rule in src/base/paper.c or an entry in OPEN."""
    header = (source / "include" / "ddsc" / "ddsc.h").read_text()
    body = re.search(rf"typedef struct {struct} {{(.*?)^}} {struct};", header, re.M | re.S).group(1)
    declared = re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";")
    fields = {name for line in declared for name in re.findall(r"(\w+)(?:\[\w+\])?\s*(?:,|$)", line.strip())}
    ruled = set(re.findall(r"^  (\w+) = ", ddsc("help", "paper").stdout, re.M))
    assert fields - ruled == {"struct_size", "paper", *OPEN[struct].split()}


def test_help_lists_every_line(ddsc):
    text = ddsc("help", "paper").stdout
    steps = re.findall(r"^  (\d+)(?:-(\d+))?  ", text.split("Algorithm 2 (")[0], re.M)
    listed = {n for low, high in steps for n in range(int(low), int(high or low) + 1)}
    assert listed == set(range(1, 16))
    for word in ("gamma", "tau", "restarts", "negative MMD^2", "sign of the entropy", "sinkhorn_value = paper"):
        assert f"  {word}" in text
    assert max(map(len, text.splitlines())) <= 80


def test_plan_of_the_oracle():
    """The linear program and the assignment agree, so the two oracles confirm each other."""
    random = np.random.default_rng(0)
    items = [(random.normal(size=(12, 3)), np.full(12, 1 / 12)) for _ in range(2)]
    p = plan(*items[0], *items[1])
    value = (p * ((items[0][0][:, None] - items[1][0][None]) ** 2).sum(2)).sum()
    assert value == pytest.approx(w2_squared(items, 12)[0, 1], rel=1e-12)
