"""An invalid declaration raises an error that names the fault; a valid one survives JSON."""

import pytest
from pydantic import ValidationError

from annotation.kinds.declaration import Kind
from annotation.kinds.problems import ABOUT_ATTRIBUTES
from annotation.kinds.questions import (
    AskedAfter,
    ChoiceQuestion,
    CodedAnswer,
    CompareQuestion,
    MarksQuestion,
    RankQuestion,
    Region,
    ScalePoint,
    ScaleQuestion,
    SpanQuestion,
    TextQuestion,
)
from annotation.kinds.registry import KINDS
from annotation.kinds.stimuli import Stimuli
from annotation.models import Judgement

HARMS = ("none", "odd", "rude")


def texts(english):
    return {"en": english, "de": f"{english} (de)"}


def scale(name="appeal", **more):
    points = tuple(ScalePoint(code=code, label=texts(f"{code} of 3")) for code in (1, 2, 3))
    return ScaleQuestion(name=name, label=texts(name), points=points, **more)


def choice(**more):
    answers = tuple(CodedAnswer(code=code, label=texts(code)) for code in HARMS)
    return ChoiceQuestion(name="harm", label=texts("Harm"), answers=answers, **more)


def kind(*questions, stimuli=None, unit="set", **more):
    return Kind(
        key="triple",
        name="Three images",
        description="Which of three images appeals most?",
        campaign_name="What appeals",
        work=texts("Looking at pictures"),
        public_name="looking",
        public_help="look at three images",
        stimuli=stimuli
        or Stimuli(medium="image", least=3, most=3, together=("prompt",), order="counterbalanced"),
        questions=questions
        or (scale(each=True), choice(each=True, when=AskedAfter(question="appeal", answers=(1,)))),
        unit=unit,
        measures=("means",),
        guidelines="Look.",
        **more,
    )


@pytest.mark.parametrize("declared", [*KINDS.values(), kind()], ids=lambda declared: declared.key)
def test_a_declaration_survives_json(declared):
    assert Kind.model_validate_json(declared.model_dump_json()) == declared


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: kind(scale(), scale()), "triple: question appeal is declared twice"),
        (
            lambda: kind(choice(when=AskedAfter(question="appeal", answers=(1,))), scale()),
            "harm depends on appeal, which is not asked earlier",
        ),
        (
            lambda: kind(scale(), choice(when=AskedAfter(question="appeal", answers=(4,)))),
            "harm depends on 4, which is not an answer to appeal",
        ),
        (
            lambda: kind(CompareQuestion(name="better", label=texts("Better"))),
            "better needs exactly two stimuli to compare",
        ),
        (
            lambda: kind(
                RankQuestion(name="order", label=texts("Order")),
                stimuli=Stimuli(medium="image", least=2, most=2),
            ),
            "order needs three or more stimuli to rank",
        ),
        (
            lambda: kind(scale(region=Region(shape="box")), stimuli=Stimuli(medium="text")),
            "appeal asks for a place, but no image is shown",
        ),
        (
            lambda: kind(scale(each=True), choice(when=AskedAfter(question="appeal", answers=(1,)))),
            "harm is asked once, but depends on a question that is asked about each stimulus",
        ),
        (
            lambda: kind(scale(region=Region(shape="point"))),
            "appeal asks for a place but does not say in which",
        ),
        (
            lambda: kind(choice(several=True, each=True, region=Region(shape="point"))),
            "harm has no single answer that a place could belong to",
        ),
        (
            lambda: kind(scale(each=True, region=Region(shape="point", after=(9,)))),
            "appeal asks for a place after 9, which is not an answer to it",
        ),
        (lambda: kind(SpanQuestion(name="missing", label=texts("Missing"))), "missing asks for words"),
        (
            lambda: kind(scale(each=True), stimuli=Stimuli(medium="image")),
            "cannot be asked about each stimulus",
        ),
        (lambda: kind(scale(name="attribute")), "there is no attribute to ask attribute about"),
        (lambda: kind(MarksQuestion(name="shows", label=texts("Shows"))), "marks attributes, but none are"),
        (lambda: kind(unit="image_attribute"), "no question about the attributes is called attribute"),
        (
            lambda: Stimuli(medium="image", prompt_shown=True, blind=frozenset({"prompt"})),
            "is not kept from annotators",
        ),
        (lambda: Stimuli(medium="image", least=2, most=2, prompt_shown=True), "only beside images of one"),
        (
            lambda: Stimuli(medium="image", least=2, most=2, together=("model",), differ="model"),
            "stimuli cannot share the model and differ in it",
        ),
        (lambda: scale(name="Is it good?"), "is not a valid name"),
        (lambda: TextQuestion(name="why", label={"en": "Why?"}), "'Why?' is not given in de"),
        (
            lambda: Stimuli(medium="image", least=3, most=2),
            "the minimum of 3 stimuli is above the maximum of 2",
        ),
        (lambda: Stimuli(medium="image", order="shuffled"), "one stimulus has no order"),
        (lambda: kind(colour="red"), "Extra inputs are not permitted"),
    ],
)
def test_invalid_questions_are_refused_by_name(wrong, message):
    with pytest.raises(ValidationError) as refused:
        wrong()
    assert message in str(refused.value)


def test_a_declaration_does_not_change():
    with pytest.raises(ValidationError, match="frozen"):
        KINDS["attribute_likert"].name = "Another"


def test_an_instrument_begins_with_the_words_of_its_kind():
    rating = KINDS["attribute_likert"]
    assert rating.statement == "This can be depicted visually in an image."
    assert next(iter(rating.labels.items())) == ("5", "Strongly Agree")
    assert [point.code for point in rating.scale] == [5, 4, 2, 1, 3]
    assert KINDS["stereotype_marking"].labels == {}


def test_the_question_about_attributes_is_what_judgements_name_by_default():
    assert Judgement().question == ABOUT_ATTRIBUTES
