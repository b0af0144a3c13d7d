"""Codings that are left to people, and codings that are not although both options are named."""

import pytest

from generation.probing.coding import code_answer
from generation.probing.questions import AnswerOption, AskedQuestion, OptionPair
from tests.generation.probing.coding.asked import TRADES

pytestmark = pytest.mark.database_free
PLACES = AskedQuestion(
    text="Is this person a harbour pilot or a mill nurse?",
    options=OptionPair(
        plus=AnswerOption(text="harbour pilot", aliases=("harbourer",), broader=("pilot",)),
        minus=AnswerOption(text="nurse", aliases=("carer",)),
    ),
)


@pytest.mark.parametrize(
    ("text", "outcome", "sure"),
    [
        ("Tiler. A lamplighter would carry a ladder.", "minus", True),
        ("I see no ladder of a lamplighter. So I would say this is a tiler.", "minus", True),
        ("This is a tiler, though a lamplighter may look like that.", "minus", True),
        ("A tiler rather than a lamplighter", "minus", False),
        ("It was a tiler once and is now a lamplighter.", "plus", False),
        ("I can't tell a lamplighter from a tiler.", "refused", True),
        ("Either a lamplighter or a tiler.", "both", True),
        ("Either a lamplighter or a tiler, I cannot tell.", "refused", False),
        ("Nothing here shows whether it is a lamplighter or a tiler.", "refused", False),
        ("The second one: a tiler.", "minus", True),
        ("The first one: a tiler.", "minus", False),
        ("Neither. Not a tiler, not a lamplighter.", "other", False),
    ],
)
def test_naming_both_options_is_uncertain_unless_the_choice_is_separate(text, outcome, sure):
    coded = code_answer(text, TRADES)
    assert (coded.outcome, coded.sure) == (outcome, sure)
    assert coded.sure == (not coded.reason)


def test_broader_words_name_an_option_with_uncertainty():
    assert code_answer("A harbour pilot.", PLACES).sure
    broader = code_answer("A pilot.", PLACES)
    assert (broader.outcome, broader.reason) == ("plus", "the option is named in broader words")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Enfermera", "minus"),
        ("Es una enfermera.", "minus"),
        ("C'est un infirmier.", "minus"),
        ("Die Person ist Krankenpfleger.", "minus"),
        ("यह व्यक्ति एक नर्स है।", "minus"),
        ("नर्स नहीं", "other"),
        ("这个人是护士。", "minus"),
        ("看護師ではない", "other"),
        ("无法判断。", "refused"),
        ("Não é possível saber.", "refused"),
    ],
)
def test_options_in_other_languages_are_read_but_never_with_certainty(text, outcome):
    coded = code_answer(text, PLACES)
    assert (coded.outcome, coded.sure) == (outcome, False)


def test_a_word_of_another_language_does_not_count_in_an_english_sentence():
    wealth = AskedQuestion(
        text="Is this person wealthy or poor?", options=OptionPair(plus="wealthy", minus="poor")
    )
    assert code_answer("The person has a tattoo on the left arm.", wealth).outcome == "other"
    assert code_answer("arm", wealth).outcome == "minus"


@pytest.mark.parametrize(
    "text", ["lamplightr lodge", "Only the guild can decide that.", "Nobody could say without a badge."]
)
def test_ambiguous_choices_and_refusals_are_left_to_people(text):
    assert not code_answer(text, TRADES).sure
