"""Ranking: three or four images of a prompt in order. After ImageReward (2304.05977) and K-Sort Arena (2408.14468)."""

from annotation.kinds.declaration import Kind, StandardRule
from annotation.kinds.questions import RankQuestion
from annotation.kinds.stimuli import Stimuli

KIND = Kind(
    key="ranking",
    name="Ranking",
    description="In which order do people put three or four images of a prompt? The images are by different models; "
    "ties are allowed. Needs images of the same prompts by at least three models. A ranking needs fewer screens than "
    "comparing the images two by two.",
    campaign_name="Which images are best",
    work={"en": "Putting pictures in order"},
    public_name="ordering",
    public_help="put images in order",
    stimuli=Stimuli(
        medium="image",
        least=3,
        most=4,
        together=("prompt",),
        differ="model",
        prompt_shown=True,
        blind=frozenset({"condition", "model", "role"}),
        order="counterbalanced",
    ),
    questions=(
        RankQuestion(
            name="order",
            label={"en": "Put the pictures in order, the best first."},
            ties=True,
        ),
    ),
    unit="set",
    measures=("plackett_luce", "group_strengths", "kendall_w"),
    guidelines="\n\n".join(
        (
            "You see a description and three or four pictures. Put the pictures in order, the best first.",
            "Imagine that you had asked for a picture with this description. The best picture is the one "
            "that you would rather have received than any of the others.",
            "Pictures between which you see no difference may share a place. There is no right answer.",
        )
    ),
    standard_rules=(
        StandardRule(measure="median_seconds", threshold=4.0, minimum=20),
        StandardRule(measure="gold_accuracy", threshold=0.5, minimum=10),
    ),
)
