"""States of points: shares, associations and transport, as the program computes them."""
import ddsc
import numpy as np
import pytest


def make(seed=0, n=12, points=60):
    """Return items with points in three blobs. The second half of the items has fewer points in the first blob, and the
    last coordinate of these points is larger."""
    random = np.random.default_rng(seed)
    clouds, kinds = [], []
    for i in range(n):
        blob = np.repeat([0, 1, 2], [30, 15, 15] if i < n // 2 else [15, 15, 30])
        x = random.normal(0, .5, (points, 4))
        x[np.arange(points), blob] += 8
        x[:, 3] += (i >= n // 2) * (blob == 0)
        clouds.append(x)
        kinds.append("u" if i < n // 2 else "v")
    return clouds, kinds


def test_found():
    clouds, _ = make()
    found = ddsc.states(clouds)
    assert found["n_states"] == 3 and not found["given"] and list(found["tried"][:2]) == [2, 3]
    assert np.allclose(found["shares"].sum(1), 1) and np.allclose(found["shares"].mean(0), found["total"])
    assert found["by"] == {} and "transport" not in found
    again = ddsc.states(clouds, n_jobs=2)
    assert all(np.array_equal(found[name], again[name]) for name in ("shares", "means", "labels"))


def test_by():
    clouds, kinds = make()
    found = ddsc.states(clouds, by={"kind": kinds}, permutations=999)
    shares, within = found["by"]["kind"]["shares"], found["by"]["kind"]["within"]
    assert shares["exhaustive"] and shares["n_permutations"] == 924 and shares["kind"] == "factor"
    first = found["names"][int(np.argmax(found["means"][:, 0]))]
    row = next(r for r in shares["rows"] if r["state"] == first)
    assert row["class"] == "v" and row["other"] == "u" and row["effect"] == pytest.approx(-.25)
    assert row["low"] <= -.25 <= row["high"] and row["p"] == pytest.approx(2 / 924)
    best = max(within["rows"], key=lambda r: abs(r["effect"]))
    assert (best["state"], best["coordinate"]) == (first, "coordinate 3") and best["effect"] > 1
    welch = np.array([r["effect"] for r in within["rows"]]).reshape(3, 4)
    assert np.isfinite(welch).all()


def test_transport():
    clouds, _ = make()
    found = ddsc.states(clouds, between=(range(6), range(6, 12)))
    flow = found["transport"]
    assert np.allclose(flow["mass"].sum(1), flow["shares_from"]) and np.allclose(flow["mass"].sum(0), flow["shares_to"])
    assert 1 - np.trace(flow["mass"]) == pytest.approx(.25)
    assert flow["value"] > 0 and np.unravel_index(np.abs(flow["shift"]).argmax(), flow["shift"].shape)[1] == 3


def test_types(tmp_path):
    clouds, kinds = make()
    with open(tmp_path / "cells.csv", "w") as file:
        file.write("id,kind,a,b,c,d\n")
        for i, x in enumerate(clouds):
            for row in x:
                file.write(f"{i},{'xyz'[int(np.argmax(row[:3]))]},{','.join(map(repr, row.tolist()))}\n")
    found = ddsc.states(ddsc.read(tmp_path / "cells.csv", type="kind"))
    assert found["given"] and sorted(found["names"]) == ["x", "y", "z"] and len(found["tried"]) == 0
    blind = ddsc.states(clouds)
    assert np.allclose(np.sort(found["total"]), np.sort(blind["total"]))


def test_wrong_input():
    clouds, kinds = make()
    for keywords, words in (
        (dict(n_states=0), "n_states"),
        (dict(n_states=201), "n_states"),
        (dict(between=([0], [])), "between"),
        (dict(between=([0], [99])), "numbered from 0 to 11"),
        (dict(by="kind"), "X.meta"),
        (dict(by={"kind": ["u"] * 12}), "constant"),
        (dict(by={"kind": kinds[:5]}), "12 items"),
    ):
        with pytest.raises(ValueError, match=words):
            ddsc.states(clouds, **keywords)


def vary(clouds, seed=5):
    """Draw 40 of the points of each item, so that shares vary within classes."""
    random = np.random.default_rng(seed)
    return [cloud[random.choice(len(cloud), 40)] for cloud in clouds]


def dense_effect(y, x, Z, block=None):
    """Effect of a class, its HC2 standard error and degrees of freedom, from dense projection matrices."""
    n = len(y)
    fixed = np.ones((n, 1)) if block is None else (np.array(block)[:, None] == np.unique(block)).astype(float)
    A = np.column_stack([x, Z, fixed])
    inverse = np.linalg.pinv(A.T @ A)
    M = np.eye(n) - A @ inverse @ A.T
    weight = (inverse @ A.T)[0] ** 2 / np.diag(M)
    residual = M @ y
    MW = M * weight
    return (inverse @ A.T @ y)[0], np.sqrt(weight @ residual ** 2), np.trace(MW) ** 2 / np.trace(MW @ MW)


def test_adjusted():
    """Against dense matrices: effect, interval, and p of permutations of the residuals."""
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(4)
    clouds, kinds = make(n=12)
    clouds = vary(clouds)
    age, site = random.normal(size=12), [["n", "s", "w"][i % 3] for i in range(12)]
    found = ddsc.states(clouds, 3, by={"kind": kinds}, adjust={"age": age, "site": site}, permutations=4999)
    Z = np.column_stack([age, np.array(site) == "s", np.array(site) == "w"]).astype(float)
    x = np.array([kind == "v" for kind in kinds], float)
    for y, row in zip(found["shares"].T, found["by"]["kind"]["shares"]["rows"]):
        effect, error, df = dense_effect(y, x, Z)
        margin = stats.t.ppf(.975, df) * error
        assert row["effect"] == pytest.approx(effect) and row["class"] == "v"
        assert [row["low"], row["high"]] == pytest.approx([effect - margin, effect + margin], rel=2e-3)
        Q, _ = np.linalg.qr(np.column_stack([np.ones(12), Z]))
        rest = y - Q @ (Q.T @ y)
        drawn = [dense_effect(random.permutation(rest), x, Z)[:2] for _ in range(1500)]
        p = np.mean([abs(b / s) >= abs(effect / error) * (1 - 1e-9) for b, s in drawn])
        assert row["p"] == pytest.approx(p, abs=.05)
    paired = ddsc.states(clouds, 3, by={"time": ["a", "b"] * 6}, adjust={"age": age}, block=np.arange(12) // 2, permutations=999)
    for y, row in zip(paired["shares"].T, paired["by"]["time"]["shares"]["rows"]):
        effect, error, df = dense_effect(y, np.arange(12) % 2, age[:, None], np.arange(12) // 2)
        margin = stats.t.ppf(.975, df) * error
        assert [row["effect"], row["low"]] == pytest.approx([effect, effect - margin], rel=2e-3, abs=1e-12)
    along = ddsc.states(clouds, 3, by={"dose": random.normal(size=12)}, adjust={"age": age}, permutations=99)
    rows = along["by"]["dose"]["shares"]["rows"]
    assert all(-1 <= row["low"] <= row["effect"] <= row["high"] <= 1 for row in rows)
    plain = ddsc.states(clouds, 3, by={"time": ["a", "b"] * 6}, block=np.arange(12) // 2, permutations=999)
    constant = np.arange(12) // 2 + random.normal(size=6)[np.arange(12) // 2]  # constant within pairs: changes nothing
    same = ddsc.states(clouds, 3, by={"time": ["a", "b"] * 6}, adjust={"c": constant}, block=np.arange(12) // 2, permutations=999)
    for row, other in zip(plain["by"]["time"]["shares"]["rows"], same["by"]["time"]["shares"]["rows"]):
        for key in ("effect", "low", "high"):
            assert row[key] == pytest.approx(other[key], abs=1e-9)
    with pytest.raises(ValueError, match="determine"):
        ddsc.states(clouds, 3, by={"kind": kinds}, adjust={"again": [kind * 2 for kind in kinds]})


def test_model():
    clouds, kinds = make()
    clouds = vary(clouds)
    X = ddsc.Distributions(clouds).described(meta={"kind": kinds, "age": list(range(12)), "pair": [i % 6 for i in range(12)]})
    model = ddsc.DDSC(n_clusters=2, metric="mmd").fit(X)
    found = model.states(3, by="kind", adjust=["age"], clusters=(0, 1), permutations=99)
    for c in (0, 1):
        assert np.allclose(found["clusters"][c], found["shares"][model.labels_ == c].mean(0))
    assert np.allclose(found["transport"]["shares_from"], found["clusters"][0])
    plain = ddsc.states(X, 3, by="kind", adjust="age", between=(0, 11), permutations=99)
    for row, other in zip(found["by"]["kind"]["shares"]["rows"], plain["by"]["kind"]["shares"]["rows"]):
        assert row == other
    assert np.allclose(plain["transport"]["shares_to"], plain["shares"][11])
    assert "kind" in model.states(3, by="kind", block="pair", permutations=99)["by"]
    for keywords, words in ((dict(clusters=(0, 2)), "clusters"), (dict(clusters=(0, 1), between=(0, 1)), "either"),
                            (dict(by="kidn"), "X.meta"), (dict(by="kind", adjust=["agee"]), "agee")):
        with pytest.raises(ValueError, match=words):
            model.states(3, **keywords)


def test_names_of_states_are_cut_between_characters():
    rng = np.random.default_rng(0)
    X = ddsc.Distributions([rng.normal(size=(40, 2)) + [9 * (i % 2), 0] for i in range(8)])
    for letters in range(95, 100):
        named = X.described(coordinate_names=["x" * letters + "\u00e9\u00e9\u00e9", "y"])
        assert any("x" * letters in name for name in ddsc.states(named, 2)["names"])
