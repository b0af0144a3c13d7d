"""Attributes in captions, compared with a plain loop over words."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import simplemma
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import match_captions, match_spans
from analysis.metrics.captions import matcher as captions_module


def captions_of(texts: list[str], **columns: Any) -> pd.DataFrame:
    frame = pd.DataFrame({"image": [f"i{n}" for n in range(len(texts))], "caption": texts})
    return frame.assign(scorer="s", model="m", identity_group="Aru").assign(**columns)


def found(text: str, attributes: list[str]) -> list[str]:
    """Return the attributes found by `match_captions`; check that `match_spans` finds the same."""
    matches = match_captions(captions_of(["", text, "hat"]), attributes)
    row = matches.present.toarray()[1]
    names = [name for name, there in zip(matches.attributes, row, strict=True) if there]
    assert {span[2] for span in match_spans(text, attributes)} == set(names)
    return names


@pytest.mark.parametrize(
    ("text", "attribute", "there"),
    [
        ("two hats on a table", "hat", True),
        ("a hat", "hats", True),
        ("the hatter smiles", "hat", False),
        ("that chatty man", "hat", False),
        ("a HAT.", "Hat", True),
        ("a tall-hat", "tall hat", True),
        ("a tall hat", "tall-hat", True),
        ("tall\u2010hats", "tall hat", True),
        ("a tall, hat", "tall hat", False),
        ("hat tall", "tall hat", False),
        ("a tall old hat", "tall hat", False),
        ("the woman's drum", "woman", True),
        ("the woman\u2019s drum", "woman", True),
        ("the women's drums", "woman drum", True),
        ("both girls' hats", "girl hat", True),
        ("'hat'", "hat", True),
        ("children riding boats", "child ride boat", True),
        ("wolves", "wolf", True),
        ("a zibble and another", "zibbles", True),
        ("three zibbles", "zibble", True),
        ("zibbler", "zibble", False),
        ("lungis", "lungi", True),
        ("a cafe\u0301", "caf\u00e9", True),
        ("CAF\u00c9S", "caf\u00e9", True),
        ("cafe", "caf\u00e9", False),
        ("Stra\u00dfe", "STRASSE", True),
        ("\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e", "\u0939\u093f\u0928\u094d\u0926\u0940", True),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939", False),
        ("a tall_hat", "tall hat", True),
        ("ha\u00adts", "hat", True),
        ("hat\x00tall hat", "tall hat", True),
        ("rock & roll", "rock & roll", True),
        ("rock roll", "rock & roll", False),
        ("4 hats", "4 hats", True),
        ("hats!", "!hat?", True),
        ("a hat", "", False),
        ("what?!", "?!", False),
        ("", "hat", False),
    ],
)  # fmt: skip
def test_whole_words_with_inflections_folded(text: str, attribute: str, there: bool) -> None:
    assert found(text, [attribute]) == ([attribute] if there else [])


def test_attributes_may_overlap() -> None:
    attributes = ["hat", "tall hat", "tall", "hat stand"]
    assert found("Tall hats standing", attributes) == attributes
    assert match_spans("Tall hats", attributes) == [(0, 4, "tall"), (0, 9, "tall hat"), (5, 9, "hat")]


def test_spans_are_positions_in_the_original_text() -> None:
    text = "The cafe\u0301\u2019s HATS, two tall\u2010hats & a woman's hat"
    spans = match_spans(text, ["caf\u00e9", "hat", "tall hat", "woman"])
    assert [(text[start:end], attribute) for start, end, attribute in spans] == [
        ("cafe\u0301", "caf\u00e9"),
        ("HATS", "hat"),
        ("tall\u2010hats", "tall hat"),
        ("hats", "hat"),
        ("woman", "woman"),
        ("hat", "hat"),
    ]


def test_no_phrase_reaches_from_one_caption_into_the_next() -> None:
    matches = match_captions(captions_of(["a tall", "hat", "tall hat"]), ["tall hat"])
    assert matches.present.toarray()[:, 0].tolist() == [False, False, True]


VOCABULARY = [
    "hat",
    "hats",
    "Hat",
    "tall",
    "TALL",
    "hatter",
    "drum",
    "drums",
    "wears",
    "woman",
    "women",
    "kite",
]
word = st.sampled_from(VOCABULARY)
separator = st.sampled_from([" ", "  ", "-", ", ", ". ", "\n"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    return "".join(draw(word) + draw(separator) for _ in range(draw(st.integers(0, 6))))


def plain(text: str, attribute: str) -> bool:
    """Match word by word: separators other than spaces and hyphens end a phrase."""
    wanted = [simplemma.lemmatize(w.lower(), "en") for w in attribute.replace("-", " ").split()]
    for part in re.split(r"[,.]", text):
        lemmas = [simplemma.lemmatize(w.lower(), "en") for w in part.replace("-", " ").split()]
        if any(lemmas[i : i + len(wanted)] == wanted for i in range(len(lemmas) - len(wanted) + 1)):
            return True
    return False


@settings(max_examples=80, deadline=None)
@given(
    st.lists(texts(), min_size=1, max_size=4),
    st.lists(st.lists(word, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=4),
)
def test_equals_a_loop_over_words(drawn: list[str], attributes: list[str]) -> None:
    matches = match_captions(captions_of(drawn), attributes)
    assert matches.attributes == tuple(dict.fromkeys(attributes))
    assert matches.present.dtype == bool
    expected = [[plain(text, attribute) for attribute in matches.attributes] for text in drawn]
    assert matches.present.toarray().tolist() == expected
    for text, row in zip(drawn, expected, strict=True):
        spans = match_spans(text, attributes)
        assert {span[2] for span in spans} == {
            a for a, there in zip(matches.attributes, row, strict=True) if there
        }
        for start, end, attribute in spans:
            assert plain(text[start:end], attribute)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30), st.text(max_size=12))
def test_matches_lie_within_any_text(text: str, attribute: str) -> None:
    found(text, [attribute])
    for start, end, _ in match_spans(text, [attribute]):
        assert 0 <= start < end <= len(text)


def test_shares_of_an_images_captions() -> None:
    # Image i0 has two captions with a hat of three; i1 has one caption without any; model n another i0.
    frame = captions_of(
        ["a hat", "hats", "a drum", "nothing", "a hat"],
        image=["i0", "i0", "i0", "i1", "i0"],
        model=["m", "m", "m", "m", "n"],
        identity_group=["Aru", "Aru", "Aru", None, "Aru"],
    )
    shares = match_captions(frame, ["hat", "drum"]).shares()
    assert list(shares.columns) == ["model", "scorer", "identity_group", "image", "attribute", "score"]
    rows = {(r["model"], r["image"], r["attribute"]): r["score"] for r in shares.to_dict("records")}
    assert rows == pytest.approx(
        {
            ("m", "i0", "hat"): 2 / 3,
            ("m", "i0", "drum"): 1 / 3,
            ("m", "i1", "hat"): 0,
            ("m", "i1", "drum"): 0,
            ("n", "i0", "hat"): 1,
            ("n", "i0", "drum"): 0,
        }
    )
    assert shares.loc[shares["image"] == "i1", "identity_group"].isna().all()


def test_shares_of_some_units_are_those_of_all() -> None:
    texts = [f"a {word} and a {other}" for word in VOCABULARY[:4] for other in VOCABULARY[6:]]
    frame = captions_of(texts, image=[f"i{n % 5}" for n in range(len(texts))])
    frame = pd.concat([frame, frame[:9].assign(scorer="t")])
    matches = match_captions(frame, ["hat", "drum", "tall", "kite"])
    every = matches.shares()
    units = pd.DataFrame(
        {"image": ["i3", "i0", "i3", "i3", "no"], "attribute": ["hat", "kite", "hat", "bow", "hat"]}
    )
    some = matches.shares(units)
    pairs = list(zip(every["image"], every["attribute"], strict=True))
    wanted = every[[pair in {("i3", "hat"), ("i0", "kite")} for pair in pairs]].reset_index(drop=True)
    assert len(some) == 4
    pd.testing.assert_frame_equal(some, wanted)
    assert matches.shares(units[:0]).empty


def test_many_captions_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = captions_of([f"a {word} tall hat" for word in VOCABULARY] * 3)
    whole = match_captions(frame, ["hat", "tall hat", "drum"]).present.toarray()
    monkeypatch.setattr(captions_module, "CAPTIONS_AT_ONCE", 7)
    assert (match_captions(frame, ["hat", "tall hat", "drum"]).present.toarray() == whole).all()


def test_no_captions_and_no_attributes() -> None:
    empty = match_captions(captions_of([]), ["hat"])
    assert empty.present.shape == (0, 1)
    assert empty.shares().empty
    assert match_captions(captions_of(["a hat"]), []).present.shape == (1, 0)
    assert match_captions(captions_of(["a hat"]), []).shares().empty
    assert match_spans("a hat", []) == []


def test_an_attribute_is_kept_once_and_its_inflections_apart() -> None:
    matches = match_captions(captions_of(["a hat"]), ["hat", "hats", "hat"])
    assert matches.attributes == ("hat", "hats")
    assert np.asarray(matches.present.toarray()).tolist() == [[True, True]]


def test_captions_must_be_there() -> None:
    with pytest.raises(ValueError, match="captions: column 'caption' is empty in 1 rows"):
        match_captions(captions_of(["a hat"], caption=None), ["hat"])
    with pytest.raises(ValueError, match="captions: column 'image' is missing"):
        match_captions(captions_of(["a hat"]).drop(columns="image"), ["hat"])


def test_one_scorer_and_one_model_need_no_name() -> None:
    shares = match_captions(captions_of(["a hat"]).drop(columns=["scorer", "model"]), ["hat"]).shares()
    assert shares[["scorer", "model", "score"]].to_numpy().tolist() == [["", "", 1.0]]
