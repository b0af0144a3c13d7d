"""Open question: what people see in an image, in their own words. After DIVE (2507.13383) and 2507.16033."""

from annotation.kinds.declaration import Kind, StandardRule
from annotation.kinds.questions import TextQuestion
from annotation.kinds.stimuli import Stimuli

KIND = Kind(
    key="open_question",
    name="Open question",
    description="What do people see in an image? Each screen shows one image, and annotators answer in "
    "their own words. A later campaign can code the answers.",
    campaign_name="What people see in the images",
    work={"en": "Describing pictures"},
    public_name="describing",
    public_help="describe an image in your own words",
    stimuli=Stimuli(medium="image", blind=frozenset({"group", "prompt", "condition", "model", "role"})),
    questions=(
        TextQuestion(
            name="description",
            label={"en": "What does this picture show, and how does it strike you?"},
            longest=1_000,
        ),
    ),
    unit="image",
    measures=("texts",),
    guidelines="\n\n".join(
        (
            "You see one picture. Write in one to three sentences what it shows and how it strikes you.",
            "Write as you would tell somebody who cannot see the picture. There is no right answer, and spelling does "
            "not matter. Don’t write names of people you know.",
        )
    ),
    standard_rules=(StandardRule(measure="median_seconds", threshold=5.0, minimum=20),),
)
