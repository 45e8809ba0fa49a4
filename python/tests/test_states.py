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
