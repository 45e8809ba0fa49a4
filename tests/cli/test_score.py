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
    assert 'b.csv contains the id "2"' in message


def test_joined_by_id(ddsc, tmp_path):
    """Two orders of the same labels agree; different sets of ids are rejected with a message that names an id."""
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("id,label\na,0\nb,1\nc,1\nd,0\n")
    b.write_text("id,label\na,0\nd,0\nb,1\nc,1\n")
    assert "AMI       1.0000" in ddsc("score", a, b).stdout
    b.write_text("label,id\n0,a\n0,d\n1,b\n1,z\n")
    assert 'a.csv contains the id "c", but' in ddsc("score", a, b, code=3).stderr
    b.write_text("id,label\na,0\na,0\nb,1\nc,1\n")
    assert 'the id "a" occurs twice' in ddsc("score", a, b, code=3).stderr
    b.write_text("0\n1\n1\n0\n")
    done = ddsc("score", a, b)
    assert "AMI       1.0000" in done.stdout and "joined to" in done.stderr and "by order" in done.stderr


def test_truth_and_labels_joined_by_id(ddsc, tmp_path):
    rows = [f"{name},{x}" for name, x in zip("abcdefghijkl", [0, 0.1, 0.2, 0.3, 0.4, 0.5, 9, 9.1, 9.2, 9.3, 9.4, 9.5])]
    (tmp_path / "set.csv").write_text("id,x\n" + "\n".join(rows) + "\n")
    truth = [f"{name},{int(name > 'f')}" for name in "lakbjcidhegf"]
    (tmp_path / "truth.csv").write_text("id,label\n" + "\n".join(truth) + "\n")
    for option in ("--truth", "--labels"):
        done = ddsc("cluster", "set.csv", "-k", "2", option, "truth.csv", "--json", cwd=tmp_path)
        assert json.loads(done.stdout)["scores"]["ami"] == pytest.approx(1)
        bad = [line.replace("d,", "dd,") for line in truth]
        (tmp_path / "bad.csv").write_text("id,label\n" + "\n".join(bad) + "\n")
        message = ddsc("cluster", "set.csv", "-k", "2", option, "bad.csv", cwd=tmp_path, code=3).stderr
        assert 'contains the id "d", but bad.csv does not' in message


HOSTILE = ["x\ny", "a,b", 'q"q', "=cmd|x", "  sp\r\n\x1b[1m", "tab\there", "plain", '"', "\u202e"]


def test_any_id_comes_back(ddsc, tmp_path):
    """Any id is quoted, nothing is lost at its end, and it can be read again."""
    n = len(HOSTILE)
    points = np.random.default_rng(0).random((n * 6, 2))
    np.savez(tmp_path / "set.npz", points=points, weights=np.ones(n * 6), offsets=np.arange(0, n * 6 + 1, 6),
             ids=np.array(HOSTILE))
    ddsc("cluster", "set.npz", "-k", "2", "-o", "out", cwd=tmp_path)
    ddsc("convert", "set.npz", "-o", "set.csv", cwd=tmp_path)
    ddsc("convert", "set.csv", "-o", "back.npz", cwd=tmp_path)
    assert np.load(tmp_path / "back.npz")["ids"].tolist() == HOSTILE
    import csv
    with open(tmp_path / "out" / "labels.csv", newline="") as file:
        assert [row[0] for row in csv.reader(file)][1:] == HOSTILE
    done = ddsc("cluster", "set.csv", "-k", "2", "--truth", "out/labels.csv", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["scores"]["ami"] == pytest.approx(1)


def test_missing_file(ddsc, tmp_path):
    assert "none.csv" in ddsc("score", tmp_path / "none.csv", tmp_path / "none.csv", code=3).stderr


def test_a_column_of_labels_that_was_guessed_is_named(ddsc, tmp_path):
    (tmp_path / "p.csv").write_text("id,label\na,0\nb,1\nc,1\n")
    (tmp_path / "meta.csv").write_text("id,sex,age\na,m,30\nb,f,40\nc,f,40\n")
    done = ddsc("score", tmp_path / "p.csv", tmp_path / "meta.csv")
    assert 'using the last column, "age"' in done.stderr
    (tmp_path / "meta.csv").write_text("kind,id\nm,a\nf,b\nf,c\n")
    done = ddsc("score", tmp_path / "p.csv", tmp_path / "meta.csv", "--json")
    assert json.loads(done.stdout)["ari"] == 1 and not done.stderr
