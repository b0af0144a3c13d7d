"""Pairwise comparison: which of two images is better? After Pick-a-Pic (2305.01569), HPSv2 (2306.09341)."""

from annotation.kinds.declaration import Kind, StandardRule
from annotation.kinds.questions import CompareQuestion
from annotation.kinds.stimuli import Stimuli

_TIE = {"en": "No difference"}

KIND = Kind(
    key="pairwise",
    name="Pairwise comparison",
    description="Which of two images of a prompt is better? The images are by different models, and each model comes "
    "first equally often. Needs images of the same prompts by at least two models.",
    campaign_name="Which image is better",
    work={"en": "Comparing two pictures"},
    public_name="comparing",
    public_help="compare two images",
    stimuli=Stimuli(
        medium="image",
        least=2,
        most=2,
        together=("prompt",),
        differ="model",
        prompt_shown=True,
        blind=frozenset({"condition", "model", "role"}),
        order="counterbalanced",
    ),
    questions=(
        CompareQuestion(
            name="fits_prompt",
            label={"en": "Which picture fits the description better?"},
            tie=_TIE,
        ),
        CompareQuestion(
            name="overall",
            label={"en": "Which picture is better, all things considered?"},
            tie=_TIE,
        ),
    ),
    unit="pair",
    measures=("win_rate", "bradley_terry_ties", "group_strengths", "position_bias"),
    guidelines="\n\n".join(
        (
            "You see a description and two pictures. Answer two questions about the pictures.",
            "Which picture fits the description better? Look only at whether the picture shows what the description "
            "says, not at how well it is made.",
            "Which picture is better, all things considered? Imagine that you had asked for a picture with this "
            "description, and choose the picture that you would rather have received.",
            "If you see no difference, say so. There is no right answer.",
        )
    ),
    standard_rules=(
        StandardRule(measure="median_seconds", threshold=2.0, minimum=20),
        StandardRule(measure="variety", threshold=0.15, minimum=20),
        StandardRule(measure="gold_accuracy", threshold=0.5, minimum=10),
    ),
)
