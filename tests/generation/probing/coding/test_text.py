"""The text that the rules read: normalised spelling, no markup, no reasoning, the answer field of JSON."""

import pytest

from generation.probing.coding.text import LONGEST, normalise
from generation.probing.coding.tokens import tokenise

pytestmark = pytest.mark.database_free


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("TILER", "tiler"),
        ("ﬁne\u00a0tiler", "fine tiler"),
        ("ti\u200bler\u202e", "tiler"),
        ("a\0b", "ab"),
        ("tile‑setter", "tile setter"),
        ("tile–setter", "tile setter"),
        ("**Tiler**", "tiler"),
        ("# Tiler", "tiler"),
        ("- tiler", "tiler"),
        ("1. tiler", "tiler"),
        ("`tiler`", "tiler"),
        ("```\ntiler\n```", "tiler"),
        ("[tiler](https://example.org)", "tiler"),
        ("~~lamplighter~~ tiler", "tiler"),
        ("<b>tiler</b></s>", "tiler"),
        ("“tiler”", "tiler"),
        ("T.I.L.E.R.", "tiler"),
        ("<think>a lamplighter?</think>\ntiler", "tiler"),
        ("hm, a lamplighter?</think>tiler", "tiler"),
        ("<think>a lamplighter, cut off", ""),
        ("<thinking>x</thinking>tiler", "tiler"),
        ('{"answer": "Tiler", "reason": "no lamplighter"}', "tiler"),
        ('```json\n{"answer": "Tiler"}\n```', "tiler"),
        ('Here it is: {"reason": "lamps", "final_answer": "Tiler"}', "tiler"),
        ('{"answer": "Tiler", "reason": "cut of', "tiler"),
        ("{'answer': 'tiler'}", "tiler"),
        ('{"result": {"choice": "tiler"}}', "tiler"),
        ('["tiler"]', "tiler"),
        ('{"answer": null, "reason": "lamps"}', "lamps"),
        ('{"answer": null}', ""),
        ('{"tiler": true, "lamplighter": false}', "tiler: yes; lamplighter: no"),
        ("If I had to choose, tiler", "i would say, tiler"),
        ("if forced to choose, tiler", "i would say, tiler"),
        ("\\boxed{tiler}", "final answer: tiler"),
        ("<answer>tiler</answer>", "final answer: tiler"),
    ],
)
def test_one_spelling(raw, text):
    assert normalise(raw).text == text


def test_the_question_is_left_out_where_the_answer_repeats_it():
    question = "Is this person a tiler? Choose only one."
    answer = normalise(f"{question.upper()} Lamplighter", question)
    assert answer.text == "lamplighter"
    assert answer.echoed
    assert not normalise("Lamplighter", question).echoed


def test_a_long_answer_is_cut():
    assert len(normalise("a" * 50_000).text) == LONGEST
    assert len(normalise("ﷺ" * LONGEST).text) <= LONGEST


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("it isn't, he's", ["it", "is", "not", ",", "he", "is"]),
        ("cannot won't can't dont", ["can", "not", "will", "not", "can", "not", "do", "not"]),
        ("the tiler's lamp", ["the", "tiler", "'s", "lamp"]),
        ("i'd say 70 % or 0.3", ["i", "would", "say", "70%", "or", "0.3"]),
        ("50/50 1st", ["50/50", "1st"]),
    ],
)
def test_words(text, words):
    assert tokenise(text).words == words
