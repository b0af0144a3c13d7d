"""The tables of declared questions and their columns; a study without such campaigns has none."""

from collections.abc import Mapping

from analysis.releases.contents import Column

_TYPES = {
    "scale": "a point of a scale, in the column `rating`",
    "choice": "one or several answers, in the column `code`",
    "compare": "one of two stimuli: `present` is true at the position of the chosen stimulus, or `code` is tie",
    "rank": "an order of the stimuli: each stimulus has its `rank`",
    "text": "the annotator’s own words, in the column `text`",
    "span": "words of the text that the screen shows: one `code` for each word",
}
_SHAPES = {"box": "a rectangle", "point": "a point"}

ANSWER = Column("answer", "integer", "number of the answer in this release")
TASK = Column("task", "integer", "number of the screen in this release; see the table stimuli")
_CAMPAIGN = Column("campaign", "string", "campaign in which the annotator was asked")
_QUESTION = Column("question", "string", "name of the question; see the table questions")
_POSITION = Column("position", "integer", "place of the image or text on the screen, from 0")

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "questions": (
        _CAMPAIGN,
        Column("number", "integer", "place of the question in the campaign, from 1"),
        Column("question", "string", "name of the question, as in the table answers"),
        Column("type", "string", "kind of answer that the question asks for", values=_TYPES),
        Column("label", "string", "text that annotators read, in English"),
        Column("labels", "string", "text that annotators read, in each language, as JSON"),
        Column(
            "each",
            "boolean",
            "whether the question is asked about each stimulus; otherwise it is asked "
            "once about the whole screen",
        ),
        Column("required", "boolean", "whether annotators had to answer the question when it was asked"),
        Column("several", "boolean", "whether annotators could choose several answers"),
        Column(
            "when_question",
            "string",
            "name of the earlier question that decides whether this question is asked; empty if it is always asked",
            True,
        ),
        Column(
            "when_answers",
            "string",
            "answers to the earlier question after which this question is asked, as JSON; empty if it is "
            "always asked",
            True,
        ),
        Column(
            "place",
            "string",
            "shape that annotators draw to show a place in the image; empty if the "
            "question asks for no place",
            True,
            _SHAPES,
        ),
        Column(
            "place_after",
            "string",
            "answers after which the question asks for a place, as JSON; [] means every answer; empty if "
            "the question asks for no place",
            True,
        ),
    ),
    "options": (
        _CAMPAIGN,
        _QUESTION,
        Column("number", "integer", "place of the answer among the answers to the question, from 1"),
        Column(
            "code", "string", "code of the answer, as in the columns `code` and `rating` of the table answers"
        ),
        Column("label", "string", "text that annotators read, in English"),
        Column("labels", "string", "text that annotators read, in each language, as JSON"),
        Column("apart", "boolean", "whether the answer has no place on the scale, such as “Unsure”"),
        Column("alone", "boolean", "whether the answer excludes all others if several can be chosen"),
    ),
    "stimuli": (
        Column("task", "integer", "number of the screen in this release"),
        Column("campaign", "string", "campaign that showed the screen"),
        _POSITION,
        Column("image", "string", "id of the image; see the table images; empty for texts", True),
        Column(
            "text",
            "string",
            "text that the screen showed; empty for images and for withheld texts of annotators",
            True,
        ),
        Column("model", "string", "model that made the image; empty for texts", True),
        Column(
            "condition",
            "string",
            "what the image’s prompt was for, such as default or stereotypical; empty for texts",
            True,
        ),
        Column(
            "identity_group",
            "string",
            "identity group that the image was made for; empty if it was made for none",
            True,
        ),
        Column("region", "string", "region of the identity group; empty if unknown", True),
    ),
    "answers": (
        ANSWER,
        Column(
            "annotation", "integer", "number of the submission in this release; see the table annotations"
        ),
        _CAMPAIGN,
        TASK,
        _QUESTION,
        Column(
            "position",
            "integer",
            "place of the stimulus that the answer is about; see the table stimuli; empty if the answer is "
            "about the whole screen",
            True,
        ),
        Column(
            "present",
            "boolean",
            "true for the stimulus that the annotator chose; empty for other types of question",
            True,
        ),
        Column(
            "rating",
            "integer",
            "code of the point of the scale; see the table options; empty for other types of question",
            True,
        ),
        Column(
            "code",
            "string",
            "code of the answer; see the table options; w0, w1, … are words of the text; empty for other "
            "types of question",
            True,
        ),
        Column(
            "rank",
            "integer",
            "place of the stimulus in the annotator’s order, 1 is the best; empty for "
            "other types of question",
            True,
        ),
        Column("text", "string", "text that the annotator wrote; empty for other types of question", True),
        Column(
            "annotator",
            "string",
            "pseudonym of the annotator, different in each release; see the table annotators",
        ),
        Column(
            "guidelines",
            "integer",
            "version of the guidelines that the annotator read; empty if there was none",
            True,
        ),
        Column("submitted", "date", "day of submission (UTC)"),
    ),
    "places": (
        Column(
            "answer",
            "integer",
            "number of the answer that the box or point belongs to; see the table answers",
        ),
        Column("shape", "string", "shape that the annotator drew", values=_SHAPES),
        Column("x", "number", "left edge of the box, or the point, as a fraction of the image's width"),
        Column("y", "number", "upper edge of the box, or the point, as a fraction of the image's height"),
        Column(
            "width", "number", "width of the box, as a fraction of the image's width; empty for points", True
        ),
        Column(
            "height",
            "number",
            "height of the box, as a fraction of the image's height; empty for points",
            True,
        ),
        Column(
            "clipped",
            "boolean",
            "whether the annotator drew the box beyond the edge of the image; empty for points",
            True,
        ),
    ),
}
DESCRIPTIONS: Mapping[str, str] = {
    "questions": "one row per declared question of a campaign: its text, its type and when it is asked",
    "options": "one row per answer that a declared question offers, with its label",
    "stimuli": "one row per image or text on a screen with declared questions",
    "answers": "one row per answer to a declared question; the question's type decides which column has the answer",
    "places": "one row per box or point that an annotator drew with an answer to a declared question",
}
TABLES = tuple(COLUMNS)
# Columns of other tables if a campaign asks declared questions.
OF_ANNOTATIONS = Column(
    "task",
    "integer",
    "number of the screen; see the table stimuli; empty if the screen asked about attributes",
    True,
)
OF_ANNOTATORS = Column(
    "answers", "integer", "number of the annotator’s answers to declared questions in this release"
)
