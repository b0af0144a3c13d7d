"""BiasDora's published procedure, row by row, on answers with all kinds of faults."""

import math
import string
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.metrics import tfidf_associations
from analysis.metrics.probing.associations.exact import upper_tail_of_sums

DESCRIPTORS = ("child", "Old person", "old person", "The oldest person", "nan", "Walker", "long  name")
TWICE = "Old person"  # asked for two dimensions: twice as many documents
COLUMNS = ["setting", "letter", "descriptor", "document", "word"]


def replies(seed: int, *, setting: str, runs: int = 3) -> pd.DataFrame:
    """26 answers a document: capitals, words under other letters, null, missing answers of four kinds."""
    generator = np.random.default_rng(seed)
    words = {letter: [f"{letter}{end}" for end in ("ab", "eth", "ium")] for letter in string.ascii_lowercase}
    words["n"] = ["null", "none", "nan"]
    rows = []
    for descriptor in DESCRIPTORS:
        for document in range(runs * (2 if descriptor == TWICE else 1)):
            for letter in string.ascii_lowercase:
                said = generator.choice(list(words)) if generator.random() < 0.1 else letter
                word: object = generator.choice(words[str(said)], p=[0.6, 0.3, 0.1])
                if generator.random() < 0.2:
                    word = str(word).upper()
                if generator.random() < 0.1:
                    word = (None, "", float("nan"), " ")[generator.integers(4)]
                rows.append((setting, letter, descriptor, document, word))
    return pd.DataFrame(rows, columns=COLUMNS)


def published_procedure(frame: pd.DataFrame) -> dict[tuple[str, str], dict[str, float]]:
    """(descriptor, word) → tf, df, T, score, z and p of one text-to-text setting."""
    tf: Counter = Counter()
    df: Counter = Counter()
    documents = list(frame.groupby(["descriptor", "document"], sort=False))
    for (descriptor, _), rows in documents:
        answered = [word.lower() for word in rows["word"] if isinstance(word, str) and word.strip()]
        tf.update((descriptor, word) for word in answered)
        df.update(set(answered))
    total = len(documents) * 26
    score = pd.Series([times * math.log(total / df[word]) for (_, word), times in tf.items()])
    z, p = stats.zscore(score, ddof=1), stats.norm.sf(score, loc=score.mean(), scale=score.std())
    return {
        pair: {
            "tf": tf[pair],
            "df": df[pair[1]],
            "documents": total,
            "tfidf": score[i],
            "z": z[i],
            "p": p[i],
        }
        for i, pair in enumerate(tf)
    }


def as_typed(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the same answers with the column types of other tools."""
    return {
        "object": frame.astype(object),
        "string": frame.astype("string"),
        "arrow": frame.astype("string[pyarrow]"),
        "category": frame.astype(dict.fromkeys(COLUMNS, "category")),
        "shuffled": frame.sample(frac=1, random_state=1),
        "one index": frame.set_index(np.zeros(len(frame), dtype=int)),
        "capital letters": frame.assign(letter=frame["letter"].str.upper()),
    }


@pytest.mark.parametrize("seed", range(2))
def test_tables_are_those_of_the_published_procedure(seed):
    frames = [replies(10 * seed + k, setting=f"setting{k}") for k in range(1, 6)]
    table = tfidf_associations(pd.concat(frames, ignore_index=True)).to_frame()
    for frame in frames:
        rows = table[table["setting"] == frame["setting"][0]].to_dict("records")
        expected = published_procedure(frame)
        assert {(row["descriptor"], row["word"]) for row in rows} == expected.keys()
        for row in rows:
            values = expected[row["descriptor"], row["word"]]
            assert {name: row[name] for name in values} == pytest.approx(values, rel=1e-9)
            assert row["significant"] == (values["p"] < 0.05)


@pytest.mark.parametrize("kind", as_typed(replies(0, setting="s")))
def test_types_and_order_of_a_table_change_nothing(kind):
    frame = replies(0, setting="s")
    expected = tfidf_associations(frame)
    result = tfidf_associations(as_typed(frame)[kind])
    pd.testing.assert_frame_equal(result.table, expected.table)
    assert result.dropped == expected.dropped


@pytest.mark.parametrize("blank", ["", "  ", None, float("nan"), pd.NA])
def test_a_blank_word_is_a_missing_answer_whose_document_counts(blank):
    rows = [("s", "a", "one", 0, "ant"), ("s", "a", "one", 1, blank), ("s", "a", "two", 0, "axe")]
    result = tfidf_associations(pd.DataFrame(rows, columns=COLUMNS))
    assert result.table["word"].tolist() == ["ant", "axe"]
    assert result.table["documents"].tolist() == [3 * 26] * 2
    assert result.dropped["missing"] == 1
    assert result.table["p_exact"].tolist() == [0.5, 0.5]  # one of two answered cells


def test_words_are_lowered_as_python_lowers_them():
    capital = ["ΣΊΣΥΦΟΣ", "İSTANBUL", "STRASSE", "Straße"]
    frame = pd.DataFrame([("s", "", "one", 0, word) for word in capital], columns=COLUMNS)
    assert set(tfidf_associations(frame).table["word"]) == {word.lower() for word in capital}


def masses(cells: int, with_word: int, drawn: int) -> list[Fraction]:
    ways = [math.comb(with_word, k) * math.comb(cells - with_word, drawn - k) for k in range(drawn + 1)]
    return [Fraction(way, math.comb(cells, drawn)) for way in ways]


def test_tails_of_sums_keep_their_digits():
    generator = np.random.default_rng(3)
    letters = generator.integers(1, 7, 300)
    cells = generator.integers(20, 4_000, letters.sum())
    drawn, with_word = generator.integers(0, 20, len(cells)), generator.integers(1, 20, len(cells))
    tf = generator.integers(0, 25, len(letters))
    p = upper_tail_of_sums(tf, letters, cells, with_word, drawn)
    start = 0
    for count, number, tail in zip(tf, letters, p, strict=True):
        total = [Fraction(1)]
        for at in range(start, start + number):
            of_letter = masses(int(cells[at]), int(with_word[at]), int(drawn[at]))
            joined = [Fraction(0)] * (len(total) + len(of_letter) - 1)
            for i, one in enumerate(total):
                for j, other in enumerate(of_letter):
                    joined[i + j] += one * other
            total = joined
        start += number
        assert tail == pytest.approx(float(sum(total[count:])), rel=1e-9, abs=0)
    assert p.min() < 1e-20
