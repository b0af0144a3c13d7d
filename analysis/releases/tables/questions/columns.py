"""The tables of declared questions and their columns; a study without such campaigns has none of them."""

from collections.abc import Mapping

from analysis.releases.contents import Column

_TYPES = {
    "scale": "a point of a scale: `rating`",
    "choice": "one answer, or several: `code`",
    "compare": "one of two stimuli: `present` at its position, or `code` tie",
    "rank": "an order of the stimuli: `rank` of each",
    "text": "own words: `text`",
    "span": "words of the text that is shown: `code` of each",
}
_SHAPES = {"box": "a rectangle", "point": "a point"}

ANSWER = Column("answer", "integer", "number of the answer in this release")
TASK = Column("task", "integer", "number of the screen in this release; see stimuli")
_CAMPAIGN = Column("campaign", "string", "campaign in which it was asked")
_QUESTION = Column("question", "string", "name of the question; see questions")
_POSITION = Column("position", "integer", "place on the screen, from 0")

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "questions": (
        _CAMPAIGN,
        Column("number", "integer", "place among the questions of the campaign, from 1"),
        Column("question", "string", "name of the question, as answers give it"),
        Column("type", "string", "what kind of answer it asks for", values=_TYPES),
        Column("label", "string", "what annotators read, in English"),
        Column("labels", "string", "the same in each language, as JSON"),
        Column("each", "boolean", "whether it is asked of each stimulus, and not once of the screen"),
        Column("required", "boolean", "whether it had to be answered where it was asked"),
        Column("several", "boolean", "whether several answers could be chosen"),
        Column(
            "when_question",
            "string",
            "the earlier question on which it depends whether it is asked; empty if it is always asked",
            True,
        ),
        Column(
            "when_answers",
            "string",
            "the answers to that question after which it is asked, as JSON; empty if it is always asked",
            True,
        ),
        Column(
            "place", "string", "which shape shows where in the image; empty if none is asked", True, _SHAPES
        ),
        Column(
            "place_after",
            "string",
            "the answers with which a place is asked, as JSON, [] for each; empty if none is asked",
            True,
        ),
    ),
    "options": (
        _CAMPAIGN,
        _QUESTION,
        Column("number", "integer", "place among the answers to the question, from 1"),
        Column("code", "string", "what answers hold: `code`, or `rating` as text"),
        Column("label", "string", "what annotators read, in English"),
        Column("labels", "string", "the same in each language, as JSON"),
        Column("apart", "boolean", "whether the answer has no place on the scale, such as “Unsure”"),
        Column("alone", "boolean", "whether it excludes the other answers where several can be chosen"),
    ),
    "stimuli": (
        Column("task", "integer", "number of the screen in this release"),
        Column("campaign", "string", "campaign that showed it"),
        _POSITION,
        Column("image", "string", "id of the image; see images; empty for texts", True),
        Column(
            "text",
            "string",
            "the text that was shown; empty for images, and for what annotators wrote where that is withheld",
            True,
        ),
        Column("model", "string", "model that made the image; empty for texts", True),
        Column(
            "condition", "string", "what the image's prompt was meant to bring out; empty for texts", True
        ),
        Column("identity_group", "string", "identity group the image was made for; empty for none", True),
        Column("region", "string", "region of the identity group; empty where unknown", True),
    ),
    "answers": (
        ANSWER,
        Column("annotation", "integer", "number of the submission in this release; see annotations"),
        _CAMPAIGN,
        TASK,
        _QUESTION,
        Column(
            "position",
            "integer",
            "place of the stimulus it is about; see stimuli; empty where it is about the whole screen",
            True,
        ),
        Column("present", "boolean", "true for the stimulus that was chosen; empty for other values", True),
        Column(
            "rating", "integer", "the code of a point of a scale; see options; empty for other values", True
        ),
        Column(
            "code",
            "string",
            "the code of an answer; see options; w0, w1, … for words of the text; empty for other values",
            True,
        ),
        Column("rank", "integer", "place in an order, 1 is the best; empty for other values", True),
        Column("text", "string", "what the annotator wrote; empty for other values", True),
        Column("annotator", "string", "pseudonymous id, made anew for each release; see annotators"),
        Column("guidelines", "integer", "version of the guidelines that was read; empty if none was", True),
        Column("submitted", "date", "day of submission (UTC)"),
    ),
    "places": (
        Column("answer", "integer", "the answer it belongs to; see answers"),
        Column("shape", "string", "what was drawn", values=_SHAPES),
        Column("x", "number", "left edge or point, as a fraction of the image's width"),
        Column("y", "number", "upper edge or point, as a fraction of the image's height"),
        Column("width", "number", "width, as a fraction of the image's; empty for points", True),
        Column("height", "number", "height, as a fraction of the image's; empty for points", True),
        Column("clipped", "boolean", "whether it reached outside the image as drawn; empty for points", True),
    ),
}
DESCRIPTIONS: Mapping[str, str] = {
    "questions": "one row per declared question of a campaign: what it asks, of what, and when",
    "options": "one row per answer that a declared question offers, with its label",
    "stimuli": "one row per image or text that a screen with declared questions showed, at its place",
    "answers": "one row per answer to a declared question; exactly one of its value columns is filled",
    "places": "one row per box or point drawn with such an answer",
}
TABLES = tuple(COLUMNS)
# Columns that other tables have where a campaign asks declared questions.
OF_ANNOTATIONS = Column(
    "task", "integer", "number of the screen; see stimuli; empty where attributes were asked", True
)
OF_ANNOTATORS = Column("answers", "integer", "answers to declared questions in this release")
