"""Image and text: how well an image fits its prompt. After RichHF-18K (2312.10240) and Gecko (2404.16820)."""

from annotation.kinds.declaration import Kind, StandardRule
from annotation.kinds.questions import (
    ChoiceQuestion,
    CodedAnswer,
    Region,
    ScalePoint,
    ScaleQuestion,
    SpanQuestion,
)
from annotation.kinds.stimuli import Stimuli

KIND = Kind(
    key="image_text",
    name="Image and text",
    description="How well does an image fit its prompt? Each screen shows one image beside its prompt. "
    "Annotators rate how well they fit, mark faults of the image with points, and choose the words of the prompt that "
    "the image does not show.",
    campaign_name="How well images fit their prompts",
    work={"en": "Comparing pictures with texts"},
    public_name="matching",
    public_help="compare an image with its text",
    stimuli=Stimuli(medium="image", prompt_shown=True, blind=frozenset({"condition", "model", "role"})),
    questions=(
        ScaleQuestion(
            name="alignment",
            label={"en": "How much of the description does the picture show?"},
            points=(
                ScalePoint(code=1, label={"en": "Nothing"}),
                ScalePoint(code=2, label={"en": "Little"}),
                ScalePoint(code=3, label={"en": "About half"}),
                ScalePoint(code=4, label={"en": "Most"}),
                ScalePoint(code=5, label={"en": "All of it"}),
            ),
        ),
        SpanQuestion(
            name="missing",
            label={"en": "Which words does the picture not show? Choose each of them."},
            none={"en": "It shows all of them"},
        ),
        ChoiceQuestion(
            name="faults",
            label={"en": "Does the picture have faults, such as wrong hands or garbled letters?"},
            answers=(
                CodedAnswer(code="none", label={"en": "No faults"}),
                CodedAnswer(code="small", label={"en": "Small faults"}),
                CodedAnswer(code="serious", label={"en": "Serious faults"}),
            ),
            region=Region(shape="point", required=True, after=("small", "serious")),
        ),
    ),
    unit="image",
    measures=(
        "means",
        "model_differences",
        "alpha_ordinal",
        "shares",
        "alpha_nominal",
        "point_agreement",
        "word_shares",
        "word_agreement",
    ),
    guidelines="\n\n".join(
        (
            "You see a picture and a description.",
            "First say how much of the description the picture shows. Then choose the words that the picture "
            "does not show; you need not choose small words such as ‘a’ or ‘of’.",
            "Last, look for faults, that is, for anything that is drawn wrongly, regardless of the description. Put a "
            "point on each fault.",
        )
    ),
    standard_rules=(
        StandardRule(measure="median_seconds", threshold=3.0, minimum=20),
        StandardRule(measure="variety", threshold=0.15, minimum=20),
        StandardRule(measure="gold_accuracy", threshold=0.5, minimum=10),
    ),
)
