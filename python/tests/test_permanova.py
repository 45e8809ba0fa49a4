"""Compares the distance-based analysis of variance with vegan and with dense formulas, and tests its permutations."""
import itertools
import math
import pathlib
import shutil
import subprocess

import ddsc
import numpy as np
import pytest

ORACLE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "support" / "permanova_vegan.R"


def make(n=40, seed=0, euclidean=False):
    """Return distances between shifted points, which are not Euclidean by default, and columns about the points."""
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 3, n), random.integers(0, 2, n)
    x, block = random.normal(size=n), random.integers(0, 4, n)
    z = random.normal(size=(n, 5)) * (1 + .5 * a[:, None])
    z[:, 0] += .6 * a + .5 * x
    D = np.abs(z[:, None] - z[None]).sum(2)
    if euclidean:
        D = np.sqrt(((z[:, None] - z[None]) ** 2).sum(2))
    return D, {"a": [f"g{k}" for k in a], "b": [f"h{k}" for k in b], "x": x}, [f"p{k}" for k in block]


def dense(D, columns, term):
    """Return R^2 and F of a term, tested after all others, using projection matrices."""
    n = len(D)

    def space(names):
        parts = [np.ones((n, 1))]
        for name in names:
            v = columns[name]
            if isinstance(v, list):
                parts.append((np.array(v)[:, None] == np.unique(v)[None, 1:]).astype(float))
            else:
                parts.append(np.asarray(v)[:, None])
        q, _ = np.linalg.qr(np.hstack(parts))
        return q @ q.T, q.shape[1]

    center = np.eye(n) - 1 / n
    G = -.5 * center @ (D ** 2) @ center
    full, m = space(columns)
    less, m0 = space([name for name in columns if name != term])
    ss, rest = np.trace((full - less) @ G), np.trace((np.eye(n) - full) @ G)
    return ss / np.trace(G), ss / (m - m0) / (rest / (n - m))


@pytest.mark.parametrize("euclidean", [False, True])
def test_formulas(euclidean):
    D, columns, _ = make(euclidean=euclidean)
    found = ddsc.permanova(D, columns, permutations=99)
    assert [t["column"] for t in found["terms"]] == ["a", "b", "x"]
    assert [t["kind"] for t in found["terms"]] == ["factor", "factor", "number"]
    for term in found["terms"]:
        r2, f = dense(D, columns, term["column"])
        assert term["r2"] == pytest.approx(r2, abs=1e-12) and term["f"] == pytest.approx(f, rel=1e-10)
    squared = ddsc.permanova(D ** 2, columns, permutations=99, squared=True)
    assert squared["terms"][0]["f"] == pytest.approx(found["terms"][0]["f"], rel=1e-12)
    one = ddsc.permanova(D, columns, permutations=99, n_jobs=1)
    two = ddsc.permanova(D, columns, permutations=99, n_jobs=2)
    assert [t["p"] for t in one["terms"]] == [t["p"] for t in two["terms"]]
    assert one["terms"][0]["f"] == two["terms"][0]["f"]


@pytest.mark.parametrize("euclidean", [False, True])
def test_equals_vegan(tmp_path, euclidean):
    program = shutil.which("Rscript")
    if not program or subprocess.run([program, "-e", "library(vegan)"], capture_output=True).returncode:
        pytest.skip("R with the package vegan is not installed")
    D, columns, block = make(seed=1, euclidean=euclidean)
    random = np.random.default_rng(2)
    permutations = np.array([random.permutation(40) for _ in range(500)])
    np.savetxt(tmp_path / "D.csv", D, delimiter=",", fmt="%.17g")
    np.savetxt(tmp_path / "permutations.csv", permutations + 1, delimiter=",", fmt="%d")
    rows = zip(columns["a"], columns["b"], columns["x"], block)
    (tmp_path / "columns.csv").write_text("a,b,x,block\n" + "".join(f"{a},{b},{x:.17g},{p}\n" for a, b, x, p in rows))
    told = subprocess.run([program, ORACLE, tmp_path], capture_output=True, text=True, check=True).stdout
    want = {name: list(map(float, rest)) for name, *rest in map(str.split, told.splitlines())}
    found = ddsc.permanova(D, columns, permutations=permutations)
    terms = found["terms"]
    assert [t["df"] for t in terms] + [found["residual_df"]] == want["df"][:4]
    for key, mine in ("ss", "sum_of_squares"), ("r2", "r2"), ("f", "f"):
        assert np.allclose([t[mine] for t in terms], want[key][:3], rtol=1e-8, atol=1e-8), key
    assert np.allclose([t["p"] for t in terms], want["p"], rtol=0, atol=1e-12)
    assert found["residual_sum_of_squares"] == pytest.approx(want["ss"][3], rel=1e-8)
    assert np.allclose(terms[0]["distance_to_centroid"], want["distance"], rtol=0, atol=1e-8)
    assert terms[0]["dispersion_f"] == pytest.approx(want["dispersion_f"][0], rel=1e-8)
    assert terms[0]["dispersion_p"] == pytest.approx(want["dispersion_p"][0], abs=1e-12)
    assert math.isnan(terms[2]["dispersion_f"])


def exact(D, label, arrangements):
    """Return p and the smallest possible p over all distinct arrangements of the labels."""
    values = np.array([dense(D, {"g": list(a)}, "g")[1] for a in sorted(set(arrangements))])
    f = dense(D, {"g": list(label)}, "g")[1]
    return (values >= f - 1e-9).mean(), (values >= values.max() - 1e-9).mean(), len(values)


def test_all_arrangements():
    random = np.random.default_rng(3)
    z = random.normal(size=(7, 3))
    z[:3] += 1
    D = np.sqrt(((z[:, None] - z[None]) ** 2).sum(2))
    label = "AAABBBB"
    term = ddsc.permanova(D, list(label))["terms"][0]
    p, least, n = exact(D, label, itertools.permutations(label))
    assert term["exhaustive"] and term["n_permutations"] == n == 35
    assert term["p"] == pytest.approx(p) and term["smallest_p"] == pytest.approx(least)
    assert not ddsc.permanova(D, list(label), permutations=34)["terms"][0]["exhaustive"]


def test_blocks():
    random = np.random.default_rng(4)
    z = random.normal(size=(8, 2))
    z[::2] += 1
    D = np.sqrt(((z[:, None] - z[None]) ** 2).sum(2))
    block, label = list("ppqqrrss"), "ABABABAB"
    term = ddsc.permanova(D, list(label), block=block)["terms"][0]
    p, least, n = exact(D, label, ["".join(x) for x in itertools.product(("AB", "BA"), repeat=4)])
    assert (term["n_permutations"], term["p"], term["smallest_p"]) == (n, pytest.approx(p), pytest.approx(least))
    assert n == 16 and least == 2 / 16 and not term["whole_blocks"]
    # the column is constant within blocks, so whole blocks of equal size are exchanged
    label = "AAAABBBB"
    term = ddsc.permanova(D, list(label), block=block)["terms"][0]
    p, least, n = exact(D, label, ["".join(2 * c for c in x) for x in itertools.permutations("AABB")])
    assert term["whole_blocks"] and (term["n_permutations"], term["p"]) == (6, pytest.approx(p))
    with pytest.raises(ValueError, match="only whole blocks of equal size"):
        ddsc.permanova(D[:6, :6], list("AAABBB"), block=list("pqqrrr"))


def test_missing_values_are_listed():
    D, columns, block = make()
    columns["a"][3], columns["x"][5] = None, np.nan
    found = ddsc.permanova(D, columns, permutations=99)
    assert found["missing"] == [(3, "a"), (5, "x")] and found["n_used"] == 38
    keep = [i for i in range(40) if i not in (3, 5)]
    rest = {name: [v[i] for i in keep] if name != "x" else v[keep] for name, v in columns.items()}
    again = ddsc.permanova(D[np.ix_(keep, keep)], rest, permutations=99)
    assert [t["f"] for t in again["terms"]] == [t["f"] for t in found["terms"]]
    with pytest.raises(ValueError, match="permutations"):
        ddsc.permanova(D, columns, permutations=np.tile(np.arange(40), (5, 1)))


def test_pairs_and_many_columns():
    D, columns, _ = make(60, seed=5)
    found = ddsc.permanova(D, {"a": columns["a"]}, adjust={"x": columns["x"]}, pairwise=True, permutations=499)
    assert [(p["a"], p["b"]) for p in found["pairs"]] == [("g0", "g1"), ("g0", "g2"), ("g1", "g2")]
    p = np.array([pair["p"] for pair in found["pairs"]])
    order, holm = np.argsort(p, kind="stable"), np.empty(3)
    holm[order] = np.minimum(1, np.maximum.accumulate(p[order] * [3, 2, 1]))
    assert np.allclose([pair["p_holm"] for pair in found["pairs"]], holm)
    keep = [i for i, g in enumerate(columns["a"]) if g != "g0"]
    f = dense(D[np.ix_(keep, keep)], {"a": [columns["a"][i] for i in keep], "x": columns["x"][keep]}, "a")[1]
    assert found["pairs"][2]["f"] == pytest.approx(f, rel=1e-10)
    found = ddsc.permanova(D, columns, separately=True, permutations=499)
    p = np.array([t["p"] for t in found["terms"]])
    bh = [min(min(1, p[j] * 3 / (p <= p[j]).sum()) for j in range(3) if p[j] >= p[i]) for i in range(3)]
    assert np.allclose([t["p_bh"] for t in found["terms"]], bh)
    for term in found["terms"]:
        own = {term["column"]: columns[term["column"]]}
        assert term["f"] == pytest.approx(dense(D, own, term["column"])[1], rel=1e-10)


def test_number_of_points():
    random = np.random.default_rng(6)
    sizes = np.repeat([10, 80], 12)
    X = [random.normal(size=(n, 3)) for n in sizes]
    group = np.repeat(["few", "many"], 12)
    other = np.tile(["u", "v"], 12)
    found = ddsc.permanova(ddsc.pairwise(X), {"group": group}, points=sizes, permutations=199)
    assert found["points_warning"] and found["points_p"] < .05 and found["points_r2"] > .02
    found = ddsc.permanova(ddsc.pairwise(X), {"other": other}, points=sizes, permutations=199)
    assert not found["points_warning"] and found["terms"][0]["points_p"] > .5


@pytest.mark.parametrize("columns, words", [
    (dict(by=["a"] * 40), "constant"), (dict(by=[None] * 40), "has no values"),
    (dict(by=[f"i{k}" for k in range(40)]), "different value for each"),
    (dict(by={"a": ["u", "v"] * 20}, adjust={"b": ["s", "t"] * 20}), "determined by the other columns"),
    (dict(by=[1.0, math.inf] * 20, kinds={"by": "number"}), "not a finite number"),
    (dict(by=["u", "v"] * 20, kinds={"by": "number"}), "not a finite number"),
    (dict(by=["u"] * 20 + ["v"] * 20, block=[f"p{k // 20}" for k in range(40)], permutations=99), "determined|whole|p"),
    (dict(by=["u", "v"]), "40 items"), (dict(by=["u", "v"] * 20, kinds={"z": "factor"}), "unknown column"),
    (dict(by=["u", "v"] * 20, permutations=0), "permutations"),
    (dict(by=["u", "v"] * 20, permutations=[[0] * 40]), "not a permutation"),
    (dict(by={"a": ["u", "v"] * 20}, adjust={"a": ["u", "v"] * 20}), "two columns"),
])
def test_hostile_columns(columns, words):
    D, _, _ = make()
    if "block" in columns:  # two blocks of equal size: only two arrangements, which give the same F
        term = ddsc.permanova(D, **columns)["terms"][0]
        assert term["p"] == term["smallest_p"] == 1
        return
    with pytest.raises(ValueError, match=words):
        ddsc.permanova(D, **columns)


def test_hostile_distances():
    D, columns, _ = make()
    for change, words in (((0, 1, np.nan), "unknown"), ((0, 1, -1), "unbiased"), ((0, 1, D[0, 1] + 1), "symmetric")):
        bad = D.copy()
        bad[change[0], change[1]] = change[2]
        with pytest.raises(ValueError, match=words):
            ddsc.permanova(bad, columns)
    with pytest.raises(ValueError, match="distances between the 40 items used are 0"):
        ddsc.permanova(np.zeros((40, 40)), columns)
    with pytest.raises(ValueError, match="square"):
        ddsc.permanova(D[:3], columns)
    with pytest.raises(ValueError, match="coefficients"):
        ddsc.permanova(D[:5, :5], {"a": list("uuvvw"), "b": list("sttss"), "c": list("xyxyx")})
