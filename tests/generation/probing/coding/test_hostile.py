"""Hostile answers: no errors, linear running time, and options keep their meaning."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.probing.coding import CodedAnswer, code_answer
from generation.probing.questions import AskedQuestion, OptionPair
from tests.generation.probing.coding.asked import SWAPPED, TRADES

pytestmark = pytest.mark.database_free

LONG = 20_000
PATTERNS = [
    *(
        "a",
        "\0",
        "\u202e",
        "[",
        "{",
        '{"a":',
        "<think>",
        "</think>",
        "<a",
        "~~",
        "`",
        "*a",
        "_",
        "'",
        '"',
        "-",
        " —",
    ),
    *(
        "1/",
        "1.1",
        "a.b.",
        "’s ",
        "\n- ",
        "\\boxed{",
        ", i think",
        "if i had ",
        "final answer ",
        "70% ",
        "ﷺ",
        "é",
    ),
    *(
        "lamplighter ",
        "lamplighter, ",
        "lamplighter? ",
        "not ",
        "not tiler\n",
        "tiler than ",
        "option 1 ",
        "either ",
    ),
    *(
        "lamplighter or tiler ",
        "lamplighter and tiler and ",
        "sorry tiler ",
        "cannot tell ",
        "final answer: tiler ",
    ),
]
WORDS = st.sampled_from(
    [
        *(
            "lamplighter",
            "tiler",
            "tile-setter",
            "not",
            "no",
            "either",
            "both",
            "rather",
            "than",
            "a",
            "the",
            "is",
            "this",
        ),
        *(
            "person",
            "cannot",
            "tell",
            "but",
            ",",
            ".",
            "?",
            ":",
            "70%",
            "30%",
            "if",
            "final",
            "answer",
            "former",
            "latter",
        ),
        *(
            "option",
            "1",
            "likely",
            "less",
            "more",
            "{",
            "}",
            "[",
            "]",
            "<think>",
            "</think>",
            '"',
            "'",
            "\n",
            "or",
            "'s",
        ),
        *("and", "he", "says", "said", "because", "looks", "like", "next", "to"),
    ]
)


def seconds(text: str) -> float:
    start = time.process_time()
    code_answer(text, TRADES)
    return time.process_time() - start


@pytest.mark.parametrize("pattern", PATTERNS, ids=ascii)
def test_the_running_time_is_linear_in_the_text(pattern):
    short = min(seconds((pattern * LONG)[: LONG // 4]) for _ in range(3))
    long = min(seconds((pattern * LONG)[:LONG]) for _ in range(3))
    # Four times the text; a quadratic rule takes sixteen times as long.
    assert long < max(9 * short, 0.02)
    assert long < 1


@given(st.text(max_size=300))
def test_any_text_has_a_coding(text):
    coded = code_answer(text, TRADES)
    assert isinstance(coded, CodedAnswer)
    assert coded.code == {"plus": 1, "minus": -1}.get(coded.outcome, 0)
    assert len(coded.span) <= 200


@given(st.lists(WORDS, max_size=40))
def test_exchanged_options_exchange_the_sign(words):
    """Plus and minus differ only by the words of the options and their other declarations."""
    plain = OptionPair(plus="lamplighter", minus="tiler")
    exchanged = OptionPair(plus="tiler", minus="lamplighter")
    text = " ".join(words)
    one = code_answer(text, AskedQuestion(text=TRADES.text, options=plain, first="plus"))
    other = code_answer(text, AskedQuestion(text=TRADES.text, options=exchanged, first="minus"))
    assert one.code == -other.code
    assert one.sure == other.sure


@given(st.lists(WORDS, max_size=40))
def test_the_order_asked_matters_to_places_alone(words):
    text = " ".join(words)
    one, other = code_answer(text, TRADES), code_answer(text, SWAPPED)
    if one.outcome != other.outcome:
        assert {"1", "former", "latter"} & set(words)
        # In one order, the place and the name may agree.
        assert not (one.sure and other.sure)


@given(st.lists(WORDS, max_size=40))
def test_case_and_emphasis_do_not_matter(words):
    text = " ".join(words)
    assert code_answer(text.upper(), TRADES).outcome == code_answer(text, TRADES).outcome


@given(st.sampled_from(["lamplighter", "tiler"]), st.text(max_size=60))
def test_reasoning_does_not_count(option, reasoning):
    assert code_answer(f"<think>{reasoning}</think>{option}", TRADES) == code_answer(option, TRADES)
