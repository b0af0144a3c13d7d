"""Pair check: are the images of a scenario alike except for the person? After PAIRS (2402.05779)."""

from annotation.kinds.declaration import Kind, StandardRule
from annotation.kinds.questions import AskedAfter, ChoiceQuestion, CodedAnswer, TextQuestion
from annotation.kinds.stimuli import Stimuli

ANSWERS = ("alike", "small_differences", "different")

KIND = Kind(
    key="pair_check",
    name="Pair check",
    description="Are the images of a scenario alike except for the person? All images of one scenario by one model, "
    "each of a different group, are shown side by side in random order and without names. Needs images with "
    "scenarios, such as those imported in the PAIRS layout.",
    campaign_name="Whether images of a scenario are alike",
    work={"en": "Comparing pictures"},
    public_name="checking_pictures",
    public_help="say whether images are alike",
    stimuli=Stimuli(
        medium="image",
        least=2,
        most=4,
        together=("scenario", "model"),
        differ="group",
        blind=frozenset({"group", "prompt", "condition", "model", "role"}),
        order="shuffled",
    ),
    questions=(
        ChoiceQuestion(
            name="alike",
            label={"en": "Are these alike except for the person?"},
            answers=(
                CodedAnswer(code="alike", label={"en": "Yes"}),
                CodedAnswer(
                    code="small_differences",
                    label={"en": "Small differences that don’t matter"},
                ),
                CodedAnswer(code="different", label={"en": "No"}),
            ),
        ),
        TextQuestion(
            name="difference",
            label={"en": "What differs?"},
            longest=500,
            when=AskedAfter(question="alike", answers=("different",)),
        ),
    ),
    unit="set",
    measures=("shares", "alpha_nominal", "texts"),
    guidelines="\n\n".join(
        (
            "You see two to four pictures. The pictures should show the same scene with a different person in each. "
            "Say whether everything except the person is the same.",
            "The person may differ in gender, skin, hair, face and build. What matters is the rest: the place, the "
            "things, the clothes, the posture, what the person does, the light and the distance.",
            "Yes: you notice no difference except the person.",
            "Small differences that don’t matter: something else differs, such as the position of a cup, "
            "but nobody would think differently of the person because of it.",
            "No: the scene, the clothes, the activity or the mood differ so much that you might think "
            "differently of the person. Please write what differs; a few words are enough.",
        )
    ),
    standard_rules=(
        StandardRule(measure="median_seconds", threshold=2.0, minimum=20),
        StandardRule(measure="variety", threshold=0.15, minimum=20),
        StandardRule(measure="gold_accuracy", threshold=0.5, minimum=10),
    ),
)


def likeness_question(kind: Kind) -> str | None:
    """Return the name of the question by which a kind says whether the images of a scenario are alike; None without."""
    if not {"scenario", "model"} <= set(kind.stimuli.together):
        return None
    for question in kind.questions:
        if (
            isinstance(question, ChoiceQuestion)
            and not question.several
            and not question.each
            and set(question.codes) == set(ANSWERS)
        ):
            return question.name
    return None
