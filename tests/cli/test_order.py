"""ddsc order: stability, share, curves and associations of the main direction."""
import csv
import json

import numpy as np
import pytest
import scipy.stats


def write(path, place, points=40, seed=0):
    """Clouds at the given positions (n x 3), and a table about them; item 4 has no age."""
    random = np.random.default_rng(seed)
    rows, about = ["id,u,v,w"], ["id,age,site,grade"]
    for i, at in enumerate(place):
        rows += [f"s{i:02}," + ",".join(f"{v:.6f}" for v in row) for row in random.normal(at, .3, (points, 3))]
        age = "" if i == 4 else f"{40 + at[0] * 5 + random.normal():.3f}"
        about.append(f"s{i:02},{age},{'xyz'[i % 3]},{'low' if at[0] < 2 else 'high'}")
    (path / "cells.csv").write_text("\n".join(rows) + "\n")
    (path / "about.csv").write_text("\n".join(about) + "\n")
    return path / "cells.csv", path / "about.csv"


@pytest.fixture(scope="module")
def line(tmp_path_factory, ddsc):
    path = tmp_path_factory.mktemp("line")
    t = np.random.default_rng(1).permutation(60) / 15
    cells, about = write(path, np.c_[t, 0 * t, -t / 2])
    ddsc("cluster", cells, "--meta", about, "-m", "mmd", "-k", 2, "-o", path / "r", "-q")
    return path, t


def test_a_line(ddsc, line):
    path, t = line
    words = ("order", path / "r", "--start", "grade=low", "--json")
    told = json.loads(ddsc(*words, "-o", path / "order.csv").stdout)
    assert told["ordered"] == 60 and told["stability"]["stable"] and told["stability"]["rho"] > .9
    assert told["variation"]["one_direction"] and told["variation"]["share"] > .5
    rank = {name: k for k, name in enumerate(told["items"])}
    assert scipy.stats.spearmanr(t, [rank[f"s{i:02}"] for i in range(60)])[0] > .95
    with open(path / "order.csv") as file:
        assert {row["id"]: int(row["order"]) for row in csv.DictReader(file)} == rank
    traits = {row["name"]: row for row in told["traits"]}
    assert list(traits) == ["u", "w", "v"] or list(traits) == ["w", "u", "v"]
    data = np.loadtxt(path / "cells.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3)).reshape(60, 40, 3).mean(1)
    place = np.array([rank[f"s{i:02}"] for i in range(60)])
    for c, name in enumerate("uvw"):
        assert traits[name]["rho"] == pytest.approx(scipy.stats.spearmanr(data[:, c], place)[0], abs=1e-9)
        grid = np.linspace(0, 1, 21)
        w = np.exp(-((place / 59 - grid[:, None]) / .1) ** 2 / 2)
        mean = w @ data[:, c] / w.sum(1)
        half = 1.96 * np.sqrt((w ** 2 * (data[:, c] - mean[:, None]) ** 2).sum(1)) / w.sum(1)
        assert np.allclose(traits[name]["curve"], mean) and np.allclose(traits[name]["high"], mean + half)
    assert told == json.loads(ddsc(*words, "-j", 1).stdout)
    assert "one direction is enough" in ddsc("order", path / "r").stdout


def test_the_stability_is_that_of_the_report(ddsc, line):
    path, _ = line
    own, stored = (json.loads(ddsc("order", path / "r", *seed, "--json").stdout)["stability"]["rho"]
                   for seed in (("--seed", 5), ()))
    told = json.loads((path / "r" / "result.json").read_text())
    assert told["verdict"]["level"] == "continuum" and stored == told["order"]["stability"]
    assert f"{stored:.2f}" in (path / "r" / "report.html").read_text() and stored != own > .9


def test_columns_about_items(ddsc, line):
    path, _ = line
    told = json.loads(ddsc("order", path / "r", "--json").stdout)
    column = {row["column"]: row for row in told["columns"]}
    assert list(column) == ["age", "site", "grade"]  # all items have 40 points
    with open(path / "about.csv") as file:
        about = {row["id"]: row for row in csv.DictReader(file)}
    rank = {name: k for k, name in enumerate(told["items"])}
    have = [i for i in about if about[i]["age"]]
    rho = scipy.stats.spearmanr([float(about[i]["age"]) for i in have], [rank[i] for i in have])[0]
    assert column["age"]["rho"] == pytest.approx(rho, abs=1e-9) and column["age"]["items"] == len(have)
    ranks, site = np.array([rank[i] for i in about]), np.array([about[i]["site"] for i in about])
    between = sum((site == s).sum() * (ranks[site == s].mean() - ranks.mean()) ** 2 for s in "xyz")
    assert column["site"]["eta_squared"] == pytest.approx(between / ((ranks - ranks.mean()) ** 2).sum(), abs=1e-9)
    assert column["site"]["p"] > .05 and column["age"]["p_holm"] == pytest.approx(.003)


def test_share_of_the_variation(ddsc, line):
    """Compares the result with projection matrices on the full distance matrix."""
    path, _ = line
    told = json.loads(ddsc("order", path / "r", "--json").stdout)
    ddsc("distance", path / "cells.csv", "-m", "mmd", "--squared", "-o", path / "D.npy", "-f", "-q")
    D = np.load(path / "D.npy")
    ids = list(np.load(path / "r" / "model.npz")["ids"])
    D = D[np.ix_([ids.index(i) for i in told["items"]], [ids.index(i) for i in told["items"]])]
    center = np.eye(60) - 1 / 60
    G = -.5 * center @ D @ center
    q, _ = np.linalg.qr(np.vander(np.linspace(-1, 1, 60), 4))
    main = np.linalg.eigvalsh(q.T @ G @ q)[-1]
    assert told["variation"]["main_share"] == pytest.approx(main / np.trace(G), rel=1e-6)
    rest = (np.eye(60) - q @ q.T) @ G @ (np.eye(60) - q @ q.T)
    assert told["variation"]["share"] == pytest.approx(np.trace(q.T @ G @ q) / np.trace(G), rel=1e-6)
    assert told["variation"]["next_share"] == pytest.approx(np.linalg.eigvalsh(rest)[-1] / np.trace(G), rel=1e-3)


def test_a_square_needs_two_directions(ddsc, tmp_path):
    place = np.array([(i % 8, i // 8, 0) for i in range(64)]) / 2
    cells, about = write(tmp_path, place, points=20)
    ddsc("cluster", cells, "-m", "mmd", "-k", 2, "-o", tmp_path / "r", "-q")
    assert not json.loads(ddsc("order", tmp_path / "r", "--json").stdout)["variation"]["one_direction"]


def test_start(ddsc, line):
    path, _ = line
    items = json.loads(ddsc("order", path / "r", "--json").stdout)["items"]
    for start, want in ((items[0], items), (items[-1], items[::-1])):
        assert json.loads(ddsc("order", path / "r", "--start", start, "--json").stdout)["items"] == want
    low, high = (json.loads(ddsc("order", path / "r", "--start", f"grade={g}", "--json").stdout)["items"] for g in ("low", "high"))
    assert low == high[::-1]
    for start, words in (("nobody", "neither"), ("grade=none", "neither"), ("grde=low", "did you mean 'grade'")):
        assert words in ddsc("order", path / "r", "--start", start, code=2).stderr


def test_hostile_sets(ddsc, tmp_path):
    np.savez(tmp_path / "a.npz", points=np.random.default_rng(0).normal(size=(30, 2)), weights=np.ones(30), offsets=np.arange(31))
    ddsc("cluster", tmp_path / "a.npz", "-k", 2, "-o", tmp_path / "r", "-q")
    told = json.loads(ddsc("order", tmp_path / "r", "--json").stdout)
    assert not told["stability"]["available"] and told["stability"]["rho"] is None and told["columns"] == []
    assert "single point" in ddsc("order", tmp_path / "r").stdout
    ddsc("order", tmp_path / "r", "-o", tmp_path / "a.npz", code=2)
    (tmp_path / "r" / "items.csv").write_text("id,label\n0,1\n")
    assert "no order" in ddsc("order", tmp_path / "r", code=3).stderr
    (tmp_path / "r" / "items.csv").write_text("id,label,order\n0,1,5\n")
    assert "does not contain the items" in ddsc("order", tmp_path / "r", code=3).stderr
    (tmp_path / "r" / "items.csv").unlink()
    assert "cannot be read" in ddsc("order", tmp_path / "r", code=3).stderr
    ddsc("order", tmp_path / "nothing", code=3)
    ddsc("order", tmp_path / "r", "--json", "-o", "-", code=2)


def test_number_of_points_and_words(ddsc, tmp_path):
    random = np.random.default_rng(2)
    rows = ["id\ttext"]
    early, late = ["sun", "sand", "sea", "shore"], ["snow", "ice", "peak", "rock"]
    for i in range(40):
        words = random.choice(early + late, 12, p=np.r_[[(1 - i / 40) / 4] * 4, [i / 160] * 4])
        rows.append(f"d{i}\t" + " ".join(words))
    (tmp_path / "d.tsv").write_text("\n".join(rows) + "\n")
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "d.npz", "-q")
    ddsc("cluster", tmp_path / "d.npz", "-k", 2, "-o", tmp_path / "r", "-q")
    told = json.loads(ddsc("order", tmp_path / "r", "--start", "d0", "--json").stdout)
    rho = {row["name"]: row["rho"] for row in told["traits"]}
    assert told["traits_are"] == "words" and set(rho) <= set(early + late)
    assert np.mean([rho[w] for w in early if w in rho]) < 0 < np.mean([rho[w] for w in late if w in rho])
    sizes = 10 + 5 * np.arange(30)  # positions follow the number of points
    clouds = ["id,x"] + [f"c{i},{x:.5f}" for i, n in enumerate(sizes) for x in random.normal(i / 3, 1, n)]
    (tmp_path / "c.csv").write_text("\n".join(clouds) + "\n")
    ddsc("cluster", tmp_path / "c.csv", "-m", "mmd", "-k", 2, "-o", tmp_path / "s", "-q")
    assert "number of points" in ddsc("order", tmp_path / "s").stderr
