"""ddsc score, against scikit-learn."""
import json

import numpy as np
import pytest
from sklearn import metrics


def write(path, labels):
    path.write_text("id,label\n" + "".join(f"{i},{v}\n" for i, v in enumerate(labels)))
    return path


@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn(ddsc, tmp_path, seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 300))
    a, b = (random.integers(0, random.integers(1, 12), n) for _ in range(2))
    data = json.loads(ddsc("score", write(tmp_path / "a.csv", a), write(tmp_path / "b.csv", b),
                           "--json").stdout)
    assert data["ami"] == pytest.approx(metrics.adjusted_mutual_info_score(b, a), abs=1e-9)
    assert data["ari"] == pytest.approx(metrics.adjusted_rand_score(b, a), abs=1e-12)
    assert data["nmi"] == pytest.approx(metrics.normalized_mutual_info_score(b, a), abs=1e-9)
    table = np.array([[np.sum((a == i) & (b == j)) for j in np.unique(b)] for i in np.unique(a)])
    assert data["purity"] == pytest.approx(table.max(1).sum() / n)
    assert data["confusion"]["counts"] == table.tolist()
    assert data["confusion"]["labels"] == np.unique(a).tolist()
    assert data["confusion"]["classes"] == np.unique(b).tolist()


def test_table(ddsc, tmp_path):
    a = write(tmp_path / "a.csv", [0, 0, 1, 1])
    text = ddsc("score", a, a).stdout
    assert "AMI       1.0000" in text and "purity    1.0000" in text
    assert text.splitlines()[-1].split() == ["1", "0", "2"]


def test_negative_labels_are_left_out(ddsc, tmp_path):
    a, b = write(tmp_path / "a.csv", [0, 1, -1, 1]), write(tmp_path / "b.csv", [5, 6, 6, -1])
    data = json.loads(ddsc("score", a, b, "--json").stdout)
    assert data["n"] == 2 and data["ari"] == 1


def test_names_and_npy(ddsc, tmp_path):
    write(tmp_path / "a.csv", ["cat", "dog", "cat"])
    np.save(tmp_path / "b.npy", np.array([7, 1, 7]))
    assert json.loads(ddsc("score", tmp_path / "a.csv", tmp_path / "b.npy", "--json").stdout)["ami"] == 1


def test_standard_input(ddsc, tmp_path):
    a = write(tmp_path / "a.csv", [0, 1, 1])
    assert "1.0000" in ddsc("score", "-", a, stdin=a.read_bytes()).stdout
    ddsc("score", "-", "-", stdin=b"", code=2)


def test_lengths_must_agree(ddsc, tmp_path):
    a, b = write(tmp_path / "a.csv", [0, 1]), write(tmp_path / "b.csv", [0, 1, 2])
    message = ddsc("score", a, b, code=3).stderr
    assert "2 labels" in message and "3" in message


def test_missing_file(ddsc, tmp_path):
    assert "none.csv" in ddsc("score", tmp_path / "none.csv", tmp_path / "none.csv", code=3).stderr
