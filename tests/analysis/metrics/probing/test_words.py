"""Words that distinguish groups, against loops; bigrams against gensim."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from gensim.models.phrases import Phrases
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import distinguishing_words, process_texts
from analysis.metrics.probing.words.bigrams import join_bigrams
from analysis.metrics.probing.words.stop_words import NLTK, SMART

COLUMNS = ["model", "scenario", "group", "text"]
LINES = st.text("abc ", max_size=30)
GROUPS = ("blue_big", "blue_small", "red_big", "red_small")


def texts(seed: int, *, scenarios: int = 3, length: int = 60) -> pd.DataFrame:
    """Draw texts of 30 shared words and some words preferred by a group."""
    generator = np.random.default_rng(seed)
    rows = []
    for model in ("m1", "m2"):
        for scenario in range(scenarios):
            for number, group in enumerate(GROUPS):
                chance = np.ones(30)
                chance[number * 5 : number * 5 + 5] = 4
                words = generator.choice([f"w{i}" for i in range(30)], length, p=chance / chance.sum())
                rows.append((model, f"s{scenario}", group, " ".join([*words, *[f"only{number}"] * 2])))
    return pd.DataFrame(rows, columns=COLUMNS)


def slowly(
    frame: pd.DataFrame, by: str = "group"
) -> dict[tuple[str, str, str, str], tuple[int, float | None, float]]:
    """(model, scope, group, word) → frequency, score (None where only the group has it), smoothed."""
    found = {}
    for model in set(frame["model"]):
        of_model = frame[frame["model"] == model]
        for scope in {*of_model["scenario"], "all"}:
            part = of_model if scope == "all" else of_model[of_model["scenario"] == scope]
            number: dict[str, Counter[str]] = {name: Counter() for name in set(part[by])}
            for name, text in zip(part[by], part["text"], strict=True):
                number[name].update((text or "").split())
            everything = sum(number.values(), Counter())
            for name, own in number.items():
                rest = everything - own
                n_own, n_rest = own.total(), rest.total()
                if not n_own or not n_rest:
                    continue
                for word, f in own.items():
                    smoothed = math.log2((f + 0.5) * (n_rest + 1) / ((rest[word] + 0.5) * (n_own + 1)))
                    if everything[word] < 3:
                        continue
                    score = math.log2(f * n_rest / (rest[word] * n_own)) if rest[word] else None
                    if score is None or score > 0.6:
                        found[model, scope, name, word] = (f, score, smoothed)
    return found


def as_found(table: pd.DataFrame, by: str = "group") -> dict:
    return {
        (row["model"], row["scope"], row[by], row["word"]): (row["frequency"], row["score"], row["smoothed"])
        for row in table.to_dict("records")
    }


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_definition(seed):
    frame = texts(seed)
    found, expected = as_found(distinguishing_words(frame).to_frame()), slowly(frame)
    assert found.keys() == expected.keys()
    assert expected
    for key, (frequency, score, smoothed) in expected.items():
        assert found[key][0] == frequency
        assert found[key][2] == pytest.approx(smoothed, abs=1e-9)
        assert pd.isna(found[key][1]) if score is None else found[key][1] == pytest.approx(score, abs=1e-9)


def test_a_word_that_only_one_group_has_is_kept_and_marked():
    table = distinguishing_words(texts(1)).to_frame()
    only = table[table["word"].str.startswith("only") & (table["scope"] == "all")]
    assert len(only) == 8
    assert only["exclusive"].all()
    assert only["score"].isna().all()
    assert set(only["reason"]) == {"exclusive"}
    assert not table[~table["exclusive"]]["reason"].notna().any()


def test_words_are_ranked_by_frequency_then_alphabet():
    rows = [
        ("m", "s", "a", "pear pear fig fig kiwi kiwi kiwi"),
        ("m", "s", "b", "plum plum plum plum plum plum plum pear"),
    ]
    table = distinguishing_words(pd.DataFrame(rows, columns=COLUMNS)).to_frame()
    of_a = table[(table["scope"] == "s") & (table["group"] == "a")]
    assert of_a[["word", "rank", "frequency", "count"]].to_numpy().tolist() == [
        ["kiwi", 1, 3, 3],
        ["pear", 2, 2, 3],
    ]


def test_the_threshold_is_strict_and_counts_reach_three():
    # f(w,D)·N(rest) = f(w,rest)·N(D)·2: s is exactly 1.
    rows = [("m", "s", "a", "tea tea x1 x2"), ("m", "s", "b", "tea y1 y2 y3")]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    words = distinguishing_words(frame, threshold=1.0).to_frame()["word"].tolist()
    assert "tea" not in words
    assert "tea" in distinguishing_words(frame, threshold=0.999).to_frame()["word"].tolist()
    assert distinguishing_words(frame, threshold=0.999, min_count=4).to_frame().empty


def test_groups_are_pooled_by_a_factor():
    frame = texts(4).assign(colour=lambda f: f["group"].str.split("_").str[0])
    found = as_found(distinguishing_words(frame, by="colour").to_frame(), "colour")
    expected = slowly(frame, "colour")
    assert found.keys() == expected.keys()


def test_scenarios_and_all_of_them_are_scopes():
    table = distinguishing_words(texts(5)).to_frame()
    assert set(table["scope"]) == {"s0", "s1", "s2", "all"}
    assert table[table["scope"] == "all"]["scenario"].isna().all()


def test_a_group_without_the_rest_has_no_rows():
    frame = pd.DataFrame([("m", "s", "a", "tea tea tea"), ("m", "s", "b", None)], columns=COLUMNS)
    result = distinguishing_words(frame)
    assert result.to_frame().empty
    assert result.dropped == {"empty": 1, "one_sided": 4}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["s1", "s2"]), st.sampled_from(GROUPS), LINES), min_size=1))
def test_words_keep_their_invariances(rows):
    frame = pd.DataFrame([("m", *row) for row in rows], columns=COLUMNS)
    table = distinguishing_words(frame).to_frame()
    assert as_found(table).keys() == slowly(frame).keys()
    pd.testing.assert_frame_equal(
        table, distinguishing_words(frame.sample(frac=1, random_state=1)).to_frame()
    )
    # Splitting a text in two changes nothing, because only its words count.
    halves = [(*row[:3], half) for row in frame.itertuples(index=False) for half in (row.text[:0], row.text)]
    pd.testing.assert_frame_equal(
        table, distinguishing_words(pd.DataFrame(halves, columns=COLUMNS)).to_frame()
    )


@pytest.mark.parametrize("seed", range(5))
def test_bigrams_are_those_of_gensim(seed):
    generator = np.random.default_rng(seed)
    vocabulary = [f"w{i}" for i in range(300)]
    sentences = []
    for _ in range(400):
        words = list(generator.choice(vocabulary, 12))
        if generator.random() < 0.1:
            words[3:5] = ["home", "owner"]
        if generator.random() < 0.03:
            words[7:10] = ["home", "owner", "club"]
        if generator.random() < 0.015:
            words[10:12] = ["rare", "pair"]
        sentences.append([str(word) for word in words])
    phrases = Phrases(sentences, min_count=5, threshold=10, delimiter="_")
    expected = [list(phrases[sentence]) for sentence in sentences]
    assert join_bigrams(sentences) == expected
    assert any("home_owner" in sentence for sentence in expected)


@pytest.mark.parametrize(
    ("text", "processed", "published"),
    [
        ("The Man's 2 dogs were running.", "man dog run", "man dog run"),
        ("A husband/wife, well-dressed; it isn't 5 o'clock", None, None),
        ("and/or", "", "andor"),
        ("**Bold** _text_ 100%", "bold text", "bold text"),
        ("", "", ""),
        (None, "", ""),
        ("the of and", "", ""),
        ("cafés — children", "café child", "café child"),
    ],
)
def test_processing_is_as_defined(text, processed, published):
    if processed is not None:
        assert process_texts([text]) == [processed]
        assert process_texts([text], published=True) == [published]
        return
    assert process_texts([text])[0].split()[:3] == ["husband", "wife", "welldressed"]
    assert process_texts([text], published=True)[0].split()[:2] == ["husbandwife", "welldressed"]


def test_stop_words_go_before_and_after_lemmas():
    assert "wanted" not in SMART
    assert "want" in SMART
    assert process_texts(["They wanted maps"]) == ["map"]
    assert "better" in SMART
    assert "good" not in SMART
    assert process_texts(["a better map"]) == ["map"]


def test_bigrams_are_found_over_all_texts_together():
    generator = np.random.default_rng(1)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    noise = [" ".join("".join(generator.choice(letters, 7)) for _ in range(8)) for _ in range(40)]
    processed = process_texts([f"{line} parole officer" for line in noise])
    assert all("parole_officer" in line.split() for line in processed)
    assert not any("_" in line for line in process_texts([*noise[:3], "parole officer"]))


def test_stop_lists_are_the_published_ones():
    assert (len(SMART), len(NLTK)) == (570, 179)  # SMART's 571 entries name "would" twice
    assert {"a's", "zero", "would", "wonder"} <= SMART
    assert {"mightn't", "ain", "yourselves"} <= NLTK
