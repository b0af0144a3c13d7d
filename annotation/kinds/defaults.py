"""The default words of each kind of campaign: what annotators read unless the lead writes their own."""

from dataclasses import dataclass, field

from annotation.models import Campaign

UNSURE = 3
RATING_LABELS = {
    "5": "Strongly Agree",
    "4": "Agree",
    "3": "Unsure",
    "2": "Disagree",
    "1": "Strongly Disagree",
}
# From most to least agreement; Unsure stands apart at the end.
RATING_ORDER = ("5", "4", "2", "1", "3")


@dataclass(frozen=True)
class Words:
    """What an instrument says: guidelines (paragraphs), the statement that is judged, the answers' labels."""

    guidelines: str
    statement: str
    labels: dict[str, str] = field(default_factory=dict)


_RATING = Words(
    guidelines="\n\n".join(
        (
            "You see one word or phrase. Say how far you agree that it can be shown in a picture, so that "
            "somebody who sees the picture could tell.",
            "Strongly Agree: it is a thing, a colour or something else that can be pointed at, such as a hat "
            "or a drum.",
            "Agree: it cannot be pointed at, but what can be seen lets one conclude it, as clothes and "
            "surroundings may let one conclude that somebody is poor or fashionable.",
            "Disagree: it is hard to make out in a picture, or only in very particular ones.",
            "Strongly Disagree: no picture can tell, as none tells whether somebody is kind or talkative.",
            "Unsure: you cannot decide. Please write why; a few words are enough.",
            "Whether the word is true or fair of anybody does not matter: we ask whether it can be seen.",
        )
    ),
    statement="This can be depicted visually in an image.",
    labels=RATING_LABELS,
)

_MARKING = Words(
    guidelines="\n\n".join(
        (
            "You see a picture and up to five words or phrases. Tick each one that the picture shows, then "
            "draw a box around what shows it. If several places show it, draw a box around each.",
            "Judge by what can be seen in this picture, not by what you know or expect. A word may be shown "
            "by a thing, a colour, clothes, a face, a posture or the surroundings.",
            "If the whole picture shows it, draw the box around the whole picture.",
            "If the picture shows none of them, choose ‘None of the above’.",
            "The same picture may come back with other words. You may skip a picture.",
        )
    ),
    statement="Which of these does the picture show, and where?",
)

DEFAULTS: dict[str, Words] = {
    Campaign.Kind.ATTRIBUTE_LIKERT: _RATING,
    Campaign.Kind.STEREOTYPE_MARKING: _MARKING,
}
