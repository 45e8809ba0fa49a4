"""Tests of texts as clouds of sentence vectors."""

import pickle
import zlib

import numpy as np
import pytest

import ddsc


def hashed(sentences):
    """Return hashed bags of words with 64 entries, so that no encoder is needed."""
    rows = np.zeros((len(sentences), 64))
    for k, sentence in enumerate(sentences):
        for word in sentence.lower().strip(".!? ").split():
            rows[k, zlib.crc32(word.encode()) % 64] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def make_texts():
    topics = ["cow barn field hay".split(), "ship sail wave port".split()]
    rng = np.random.default_rng(1)
    texts = [" ".join(" ".join(rng.choice(topics[i % 2], 4)) + "." for _ in range(5)) for i in range(40)]
    return texts, np.arange(40) % 2


def test_sentences_of_any_encoder():
    texts, truth = make_texts()
    calls = []

    def encode(sentences):
        calls.append(sentences)
        return hashed(sentences)

    X = ddsc.Distributions.from_texts(texts, encode, labels=truth)
    assert len(calls) == 1 and len(set(calls[0])) == len(calls[0])
    assert set(X.point_names) <= set(calls[0]) and len(X.point_names) == len(X.support)
    for name, row in zip(X.point_names, X.support):
        np.testing.assert_array_equal(hashed([name])[0], row)
    model = ddsc.DDSC(2).fit(X)
    assert ddsc.adjusted_mutual_info_score(truth, model.labels_) == pytest.approx(1)
    X = ddsc.Distributions.from_texts(["One! Two?", "", "Three\nfour"], hashed)
    assert len(X) == 3 and X.n_items == 2 and sorted(X.point_names) == ["One!", "Three", "Two?", "four"]
    words = ddsc.Distributions.from_texts(["a b", "c"], hashed, split=str.split)
    assert words.sizes.tolist() == [2, 1]


@pytest.mark.parametrize(
    "texts, encode, error",
    [
        ("one text", hashed, "single string"),
        ([b"bytes"], hashed, "must be str"),
        (["", " "], hashed, "none of the texts"),
        (["a. b."], lambda s: np.zeros((1, 3)), "shape \\(1, 3\\) for 2 sentences"),
    ],
)
def test_texts_that_cannot_be_taken(texts, encode, error):
    with pytest.raises((TypeError, ValueError), match=error):
        ddsc.Distributions.from_texts(texts, encode)


def test_sentences_weigh_by_letters_or_alike():
    texts = ["One! Twenty-two?", "Three"]
    by_letters = ddsc.Distributions.from_texts(texts, hashed)
    alike = ddsc.Distributions.from_texts(texts, hashed, weights="equal")
    assert sorted(by_letters[0][1].tolist()) == pytest.approx([4 / 15, 11 / 15])
    assert alike[0][1].tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="equal"):
        ddsc.Distributions.from_texts(texts, hashed, weights="words")


def test_columns_about_documents_and_pickles(tmp_path):
    words = ["ball", "goal", "team", "bank", "loan", "rate"]
    rows = ["id\ttext"] + [
        f"d{i}\t" + " ".join(words[3 * (i % 2):][(i + k) % 3] for k in range(9)) for i in range(12)
    ]
    (tmp_path / "docs.tsv").write_text("\n".join([*rows, "none\t..."]) + "\n")
    (tmp_path / "m.csv").write_text("id,year\n" + "".join(f"d{i},{1990 + i}\n" for i in range(12)) + "none,1\n")
    X = ddsc.read_text(tmp_path / "docs.tsv", meta=tmp_path / "m.csv")
    assert X.meta["year"] == [str(1990 + i) for i in range(12)] + ["1"] and X.n_items == 12
    again = pickle.loads(pickle.dumps(X))  # with the words that were fitted, and the row that was dropped
    assert len(again) == 13 and again.meta == X.meta and again.titles == X.titles and again.ids == X.ids
    again.write(tmp_path / "a.npz")
    X.write(tmp_path / "b.npz")
    a, b = np.load(tmp_path / "a.npz"), np.load(tmp_path / "b.npz")
    assert set(a) == set(b) and "text_words" in a and all(np.array_equal(a[name], b[name]) for name in a)
