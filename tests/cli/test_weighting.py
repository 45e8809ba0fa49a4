"""ddsc text --weighting auto: compares the masses of words with a second implementation."""
import json

import numpy as np
import pytest

from test_text import write_table
from test_words import documents, files  # noqa: F401 (fixture)


def own_masses(texts, dim=100):
    """Return {word: mass} for words in at least two documents, without a vectors file."""
    sets = [set(t.split()) for t in texts]
    words = sorted(w for w in set().union(*sets) if sum(w in s for s in sets) >= 2)
    B = np.array([[w in s for w in words] for s in sets], float)
    df, n = B.sum(0), len(texts)
    together = B.T @ B
    np.fill_diagonal(together, 0)
    met = together.sum(1)
    with np.errstate(divide="ignore"):
        M = np.maximum(np.log(together * met.sum() / np.outer(met, met)), 0)
    value, U = np.linalg.eigh(M)
    keep = np.argsort(-abs(value))[:dim]
    value, U = value[keep], U[:, keep]
    common = (U**2 * value**2).sum(1) / (M**2).sum(1)
    V = U * np.sqrt(abs(value))
    V /= np.linalg.norm(V, axis=1)[:, None]
    weighted = np.log2(n / df)[:, None] * V
    S, count = np.zeros_like(V), np.zeros(len(words))
    for i in range(n):
        for w in np.flatnonzero(B[i]):
            rest = B[i] @ weighted - weighted[w]
            if np.linalg.norm(rest) > 1e-9:
                S[w] += rest / np.linalg.norm(rest)
                count[w] += 1
    chance = (S.sum(0)**2).sum() / count.sum()**2
    with np.errstate(divide="ignore", invalid="ignore"):
        coherence = ((S**2).sum(1) - count) / (count * (count - 1)) - chance
    coherence = np.where(count < 2, 1e-3, np.maximum(coherence * count / (count + 10), 1e-3))
    return dict(zip(words, common * coherence**.25 * np.sqrt(np.log2(n / df))))


def masses_of(path):
    with np.load(path) as z:
        return dict(zip(z["text_words"].tolist(), z["text_masses"]))


def items_by_name(path):
    with np.load(path) as z:
        at = z["offsets"]
        names = (z["point_names"][z["indices"]] if "indices" in z else z["point_names"]).tolist()
        return [dict(zip(names[a:b], z["weights"][a:b])) for a, b in zip(at, at[1:])]


def topics(n_words, n=160, seed=1):
    """Documents on two topics with n_words words each, and a few common words."""
    random = np.random.default_rng(seed)
    both = [f"all{k}" for k in range(5)]
    names = [[f"{t}{k}" for k in range(n_words)] for t in "ab"]
    return [" ".join([*random.choice(names[i % 2], 6), *random.choice(both, 2)]) for i in range(n)]


@pytest.mark.parametrize("n_words, near", [(20, 1e-6), (90, .05)])
def test_masses_are_those_of_the_formulas(ddsc, tmp_path, n_words, near):
    texts = topics(n_words)  # 90 words per topic: more than the 100 dimensions, found by iteration
    write_table(tmp_path / "d.tsv", ["text"], [[t] for t in texts])
    ddsc("text", tmp_path / "d.tsv", "--support", "0", "-o", tmp_path / "o.npz")
    expected, found = own_masses(texts), masses_of(tmp_path / "o.npz")
    assert found.keys() <= expected.keys() and len(found) > 40
    for word, mass in found.items():
        assert mass == pytest.approx(expected[word], rel=near), word
    # a word of both topics has less mass than a word of one, although all are common
    assert max(found[f"all{k}"] for k in range(5)) < np.median([found[f"a{k}"] for k in range(20)])
    for text, item in zip(texts, items_by_name(tmp_path / "o.npz")):
        weight = {w: text.split().count(w) * found[w] for w in set(text.split()) & found.keys()}
        for word, value in item.items():
            assert value == pytest.approx(weight[word] / sum(weight.values()), rel=1e-12)


def test_a_file_of_vectors_gives_mass_to_words_of_one_document(ddsc, files):  # noqa: F811
    rows = documents()
    rows[0][2] += " solo"
    write_table(files / "d.tsv", ["id", "label", "text"], rows)
    with open(files / "v.txt", "a") as f:
        f.write("solo 1 2 3 4 5\n")
    ddsc("text", files / "d.tsv", "--vectors", files / "v.txt", "-o", files / "o.npz")
    found = masses_of(files / "o.npz")
    assert 0 < found["solo"] < np.median(list(found.values())) * 2


def test_later_documents_have_the_same_masses(ddsc, tmp_path):
    texts = topics(20)
    write_table(tmp_path / "d.tsv", ["text"], [[t] for t in texts])
    write_table(tmp_path / "e.tsv", ["text"], [[t] for t in texts[:7]])
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "o.npz")
    ddsc("text", tmp_path / "e.tsv", "--vectors", tmp_path / "o.npz", "-o", tmp_path / "p.npz")
    first, later = items_by_name(tmp_path / "o.npz")[:7], items_by_name(tmp_path / "p.npz")
    assert masses_of(tmp_path / "p.npz") == masses_of(tmp_path / "o.npz")
    for a, b in zip(first, later):
        assert a.keys() == b.keys()
        assert [a[k] for k in sorted(a)] == pytest.approx([b[k] for k in sorted(a)], rel=1e-12)


def test_general_vectors_keep_idf_and_the_choice_is_reported(ddsc, files):  # noqa: F811
    for words, weighting in (("general", "tfidf"), ("fitted", "auto")):
        done = json.loads(ddsc("text", files / "d.tsv", "--vectors", files / "v.txt", "--words", words,
                               "--json", "-f", "-o", files / "o.npz").stdout)
        assert done["settings"]["weighting"] == weighting
        with np.load(files / "o.npz") as z:
            assert ("text_masses" in z) == (weighting == "auto")


@pytest.mark.parametrize("change, message", [
    (lambda m: m[:-1], "elements instead of"), (lambda m: -m, "negative or not finite")])
def test_damaged_masses_are_refused(ddsc, tmp_path, change, message):
    write_table(tmp_path / "d.tsv", ["text"], [[t] for t in topics(20)])
    ddsc("text", tmp_path / "d.tsv", "-o", tmp_path / "o.npz")
    with np.load(tmp_path / "o.npz") as z:
        arrays = dict(z)
    arrays["text_masses"] = change(arrays["text_masses"])
    np.savez(tmp_path / "bad.npz", **arrays)
    assert message in ddsc("info", tmp_path / "bad.npz", code=3).stderr
