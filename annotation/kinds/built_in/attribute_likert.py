"""Visual attributes: can this attribute be seen in a picture? Jha et al. 2024 (ViSAGe), first annotation."""

from annotation.kinds.declaration import Kind, StandardRule
from annotation.kinds.problems import ABOUT_ATTRIBUTES
from annotation.kinds.questions import AskedAfter, ScalePoint, ScaleQuestion, TextQuestion
from annotation.kinds.stimuli import Stimuli

KIND = Kind(
    key="attribute_likert",
    name="Visual-attribute rating",
    description="Can this attribute be seen in an image at all? Each screen shows one attribute with "
    "five answers. Needs no images. Do this first if you don’t know which stereotypes are visual.",
    campaign_name="Which attributes can be seen",
    work={"en": "Rating words"},
    public_name="rating",
    public_help="rate one attribute",
    stimuli=Stimuli(medium="text", blind=frozenset({"group", "role"})),
    questions=(
        ScaleQuestion(
            name=ABOUT_ATTRIBUTES,
            label={"en": "This can be depicted visually in an image."},
            points=(
                ScalePoint(code=5, label={"en": "Strongly Agree"}),
                ScalePoint(code=4, label={"en": "Agree"}),
                ScalePoint(code=2, label={"en": "Disagree"}),
                ScalePoint(code=1, label={"en": "Strongly Disagree"}),
                ScalePoint(code=3, label={"en": "Unsure"}, apart=True),
            ),
        ),
        TextQuestion(
            name="justification",
            label={"en": "Why are you unsure?"},
            when=AskedAfter(question=ABOUT_ATTRIBUTES, answers=(3,)),
        ),
    ),
    unit="attribute",
    measures=("visual_shares", "consensus", "alpha_ordinal"),
    guidelines="\n\n".join(
        (
            "You see one word or phrase. Say how far you agree that it can be shown in a picture, so that "
            "somebody who sees the picture recognises it.",
            "Strongly Agree: it is a thing, a colour or something else that can be pointed at, such as a hat "
            "or a drum.",
            "Agree: it cannot be pointed at, but it can be concluded from what is visible. For example, "
            "clothes and surroundings may suggest that somebody is poor or fashionable.",
            "Disagree: it is hard to recognise in a picture, or it can be recognised only in very particular pictures.",
            "Strongly Disagree: no picture can show it, just as no picture can show whether somebody is "
            "kind or talkative.",
            "Unsure: you cannot decide. Please write why; a few words are enough.",
            "It does not matter whether the word is true of anybody, or fair: we ask whether it can be seen.",
        )
    ),
    standard_rules=(
        StandardRule(measure="median_seconds", threshold=1.0, minimum=20),
        StandardRule(measure="variety", threshold=0.15, minimum=20),
        StandardRule(measure="gold_accuracy", threshold=0.5, minimum=10),
    ),
)
