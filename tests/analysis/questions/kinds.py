"""Kinds of questions that tests declare: a pair, a ranking, one image with every other type of question."""

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import (
    AskedAfter,
    ChoiceQuestion,
    CodedAnswer,
    CompareQuestion,
    RankQuestion,
    Region,
    ScalePoint,
    ScaleQuestion,
    SpanQuestion,
    TextQuestion,
)
from annotation.kinds.stimuli import Stimuli


def both(text: str) -> dict[str, str]:
    return {"en": text, "de": f"{text} (de)"}


def kind(key: str, **parts: object) -> Kind:
    """Return a kind whose texts do not matter."""
    return Kind(
        **{
            "key": key,
            "name": key.capitalize(),
            "description": "For tests.",
            "campaign_name": key.capitalize(),
            "work": both("Looking at pictures"),
            "public_name": key,
            "public_help": "answer questions",
            "guidelines": "Look.",
            **parts,
        }
    )


def scale(name: str, **parts: object) -> ScaleQuestion:
    points = [ScalePoint(code=code, label=both(f"Point {code}")) for code in range(1, 6)]
    unsure = ScalePoint(code=9, label=both("Unsure"), apart=True)
    return ScaleQuestion(name=name, label=both(name.capitalize()), points=(*points, unsure), **parts)


PAIR = kind(
    "pair",
    stimuli=Stimuli(
        medium="image",
        least=2,
        most=2,
        together=("prompt",),
        differ="model",
        prompt_shown=True,
        order="counterbalanced",
    ),
    questions=(
        CompareQuestion(name="better", label=both("Which is better?"), tie=both("No difference")),
        scale("quality", each=True),
    ),
    unit="pair",
    measures=(
        "win_rate",
        "bradley_terry_ties",
        "group_strengths",
        "position_bias",
        "means",
        "model_differences",
    ),
)

RANKING = kind(
    "ranking",
    stimuli=Stimuli(medium="image", least=4, most=4, together=("prompt",), differ="model", order="shuffled"),
    questions=(RankQuestion(name="order", label=both("Order them"), ties=True),),
    unit="set",
    measures=("plackett_luce", "group_strengths", "kendall_w"),
)

RUBRIC = kind(
    "rubric",
    stimuli=Stimuli(medium="image", prompt_shown=True),
    questions=(
        scale("realism"),
        ChoiceQuestion(
            name="shows",
            label=both("Does it show the prompt?"),
            answers=tuple(CodedAnswer(code=code, label=both(code)) for code in ("yes", "partly", "no")),
        ),
        ChoiceQuestion(
            name="faults",
            label=both("Which faults?"),
            answers=tuple(CodedAnswer(code=code, label=both(code)) for code in ("hands", "text", "faces")),
            several=True,
            required=False,
        ),
        SpanQuestion(name="missing", label=both("Which words are missing?"), none=both("None")),
        ScaleQuestion(
            name="worst",
            label=both("How bad is the worst fault?"),
            points=tuple(ScalePoint(code=code, label=both(str(code))) for code in (0, 1, 2)),
            region=Region(shape="point", required=True, after=(1, 2)),
        ),
        TextQuestion(
            name="why",
            label=both("Why?"),
            required=False,
            when=AskedAfter(question="shows", answers=("partly", "no")),
        ),
    ),
    unit="image",
    measures=(
        "means",
        "point_shares",
        "alpha_ordinal",
        "group_differences",
        "model_differences",
        "shares",
        "alpha_nominal",
        "alpha_masi",
        "alpha_answers",
        "texts",
        "word_shares",
        "word_agreement",
        "point_agreement",
    ),
)
