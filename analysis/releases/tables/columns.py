"""The tables of a release and their columns, in order: what the writers write and the codebook explains."""

from collections.abc import Mapping
from dataclasses import replace

from accounts.models import Annotator, AnnotatorProfile
from analysis.releases.contents import Column
from analysis.releases.tables import machine_columns
from analysis.releases.tables.probes import columns as probe_columns
from analysis.releases.tables.probes import words
from analysis.releases.tables.questions import columns as question_columns
from annotation.kinds.registry import MARKING, RATING
from generation.models import Condition
from studies.protocol.attribute_roles import RANDOM, STEREOTYPE

_CONDITIONS = {condition.value: str(condition.label) for condition in Condition}
_ORIGINS = {origin.value: str(origin.label) for origin in Annotator.Origin}
_ROLES = {
    STEREOTYPE: "the resource lists the attribute for the group, and enough raters called it a stereotype",
    RANDOM: "any other attribute",
}
_RATINGS = {"1": "Strongly Disagree", "2": "Disagree", "3": "Unsure", "4": "Agree", "5": "Strongly Agree"}

_ANNOTATION = Column(
    "annotation", "integer", "number of the submission in this release; see the table annotations"
)
_CAMPAIGN = Column("campaign", "string", "campaign in which the annotator was asked")
_ANNOTATOR = Column(
    "annotator", "string", "pseudonym of the annotator, different in each release; see the table annotators"
)
_IMAGE = Column("image", "string", "id of the image; see the table images")
_ATTRIBUTE = Column("attribute", "string", "word or phrase that annotators were asked about, normalised")
_GUIDELINES = Column(
    "guidelines",
    "integer",
    "version of the guidelines that the annotator read; empty for imported labels",
    True,
)
_LANGUAGE = Column(
    "language",
    "string",
    "language in which the annotator read the screen, ISO 639-1; empty if unknown or if too few people read "
    "this language",
    True,
)
_DAY = Column("submitted", "date", "day of submission (UTC)")
_OF_IMAGE = (
    Column("model", "string", "model that made the image"),
    Column(
        "condition",
        "string",
        "what the image’s prompt was for, such as default or stereotypical",
        values=_CONDITIONS,
    ),
    Column(
        "identity_group",
        "string",
        "identity group that the image was made for; empty if it was made for none",
        True,
    ),
    Column("region", "string", "region of the identity group; empty if unknown", True),
)

_PROFILE = {
    "gender": "gender, as the annotator chose or wrote it, if its meaning is clear",
    "region_of_origin": "region of origin: a UN M49 sub-region or a region that the study defines",
    "nationality": "nationality, or the UN M49 sub-region of that country",
    "country_of_residence": "country of residence, or the UN M49 sub-region of that country",
    "age_band": "age band, or a wider age band",
    "languages": "languages, in alphabetical order, separated by '; '",
}

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "judgements": (
        Column("judgement", "integer", "number of the judgement in this release"),
        _ANNOTATION,
        _CAMPAIGN,
        *_OF_IMAGE,
        _IMAGE,
        _ATTRIBUTE,
        Column(
            "role",
            "string",
            "whether the attribute is a stereotype of the group or a random attribute; empty without a group",
            True,
            _ROLES,
        ),
        _ANNOTATOR,
        Column("present", "boolean", "whether the annotator marked the attribute in the image"),
        _GUIDELINES,
        _DAY,
    ),
    "boxes": (
        Column("box", "integer", "number of the box in this release"),
        Column(
            "judgement",
            "integer",
            "number of the judgement that the box is evidence for; see the table judgements",
        ),
        _IMAGE,
        _ATTRIBUTE,
        _ANNOTATOR,
        Column("x", "number", "left edge of the box, as a fraction of the image's width"),
        Column("y", "number", "upper edge of the box, as a fraction of the image's height"),
        Column("width", "number", "width of the box, as a fraction of the image's width"),
        Column("height", "number", "height of the box, as a fraction of the image's height"),
        Column("clipped", "boolean", "whether the annotator drew the box beyond the edge of the image"),
    ),
    "ratings": (
        _ANNOTATION,
        _CAMPAIGN,
        _ATTRIBUTE,
        _ANNOTATOR,
        Column(
            "rating",
            "integer",
            "how far the annotator agrees that the attribute can be depicted",
            values=_RATINGS,
        ),
        _GUIDELINES,
        _DAY,
    ),
    "annotations": (
        _ANNOTATION,
        _CAMPAIGN,
        Column("kind", "string", f"kind of the campaign: {RATING.key} or {MARKING.key}"),
        Column("image", "string", "id of the image; empty for ratings", True),
        _ANNOTATOR,
        Column(
            "none_of_the_above",
            "boolean",
            "whether the annotator chose 'None of the above'; empty if the screen did not offer this answer",
            True,
        ),
        Column("active_seconds", "number", "seconds of active work on the screen; empty if unknown", True),
        _GUIDELINES,
        _DAY,
        Column("justification", "string", "why the annotator answered Unsure, in their own words", True),
    ),
    "annotators": (
        _ANNOTATOR,
        Column("origin", "string", "where the annotator’s labels come from", values=_ORIGINS),
        *(
            Column(name, "string", f"{_PROFILE[name]}; empty if not stated or withheld", True)
            for name in AnnotatorProfile.FIELDS
        ),
        Column("annotations", "integer", "number of the annotator’s submissions in this release"),
        Column("judgements", "integer", "number of the annotator’s judgements in this release"),
        Column("ratings", "integer", "number of the annotator’s ratings in this release"),
    ),
    "images": (
        _IMAGE,
        *_OF_IMAGE,
        Column("prompt", "string", "prompt that the image was generated from; empty if unknown", True),
        Column(
            "file",
            "string",
            "path of the image file in this release; empty if the release does not include it",
            True,
        ),
        Column("reason", "string", "why the release does not include the image file", True),
        Column("sha256", "string", "SHA-256 of the image file", True),
        Column("width", "integer", "width of the image in pixels", True),
        Column("height", "integer", "height of the image in pixels", True),
        Column("source_name", "string", "published path of an image that was imported without a file", True),
        Column("provenance", "string", "how the image was generated, as JSON; empty if unknown", True),
    ),
    "soft_labels": (
        Column(
            "kind",
            "string",
            "what was answered: presence (of an attribute in an image) or rating (of an attribute)",
        ),
        Column("image", "string", "id of the image; empty for ratings", True),
        _ATTRIBUTE,
        Column("n", "integer", "number of annotators who answered"),
        Column("k", "integer", "number of annotators who marked the attribute; empty for ratings", True),
        Column(
            "share", "number", "share of annotators who marked the attribute, k / n; empty for ratings", True
        ),
        *(
            Column(f"share_{value}", "number", f"share of answers “{words}”; empty for presence", True)
            for value, words in _RATINGS.items()
        ),
        Column(
            "majority",
            "boolean",
            "whether more than half of the annotators marked the attribute; empty for a tie and for ratings",
            True,
        ),
        Column(
            "majority_rating", "integer", "the most frequent rating; empty for a tie and for presence", True
        ),
    ),
    "associations": (
        Column("identity_group", "string", "identity group"),
        _ATTRIBUTE,
        Column(
            "role",
            "string",
            "whether the attribute is a stereotype of the group or a random attribute",
            values=_ROLES,
        ),
        *(
            Column(
                f"{where}_{answer}",
                "integer",
                f"raters {words} who answered “{answer.replace('not', 'not a stereotype')}”",
                True,
            )
            for where, words in (("in_region", "in the region"), ("out_region", "outside the region"))
            for answer in ("stereotype", "not", "unsure")
        ),
        *(Column(f"rating_{n}", "number", f"rating {n} of offensiveness, −1 to 4", True) for n in (1, 2, 3)),
        Column("offensiveness", "number", "mean offensiveness according to the resource, −1 to 4", True),
    ),
}
DESCRIPTIONS: Mapping[str, str] = {
    "judgements": "one row per judgement: whether an annotator marked an attribute in an image",
    "boxes": "one row per box drawn as evidence for a judgement",
    "ratings": "one row per rating of an attribute, shown without an image",
    "annotators": "one row per annotator with labels in this release; privacy.json says how detailed the "
    "profiles are",
    "images": "one row per image of the study that was not retracted",
    "soft_labels": "one row per question: shares of annotators' answers, and the majority's answer",
    "associations": "one row per stereotype that the study's resource lists: identity group, attribute and "
    "raters' answers",
    "annotations": "one row per submission: an annotator's answers on one screen, including 'None of the above'",
}
TABLES = tuple(COLUMNS)

# Tables of declared questions exist if a campaign asks them, tables of models' answers if a model was asked, and tables
# of automatic scores if there are scores.
ALL_TABLES = (
    *TABLES,
    *question_columns.TABLES,
    *probe_columns.TABLES,
    words.TABLE,
    *machine_columns.TABLES,
)
_ALL_COLUMNS = {
    **COLUMNS,
    **question_columns.COLUMNS,
    **probe_columns.COLUMNS,
    **words.COLUMNS,
    **machine_columns.COLUMNS,
}
ALL_DESCRIPTIONS: Mapping[str, str] = {
    **DESCRIPTIONS,
    **question_columns.DESCRIPTIONS,
    **probe_columns.DESCRIPTIONS,
    **words.DESCRIPTIONS,
    **machine_columns.DESCRIPTIONS,
}
# What annotators wrote in their own words.
_OWN_WORDS = {("annotations", "justification"), ("answers", "text")}


def columns_of(
    table: str, *, justifications: bool, questions: bool = False, languages: bool = False
) -> tuple[Column, ...]:
    """The columns of a table; free text only if the release includes it.

    `questions`: whether the study has campaigns of declared questions, which add columns to tables of all campaigns.
    `languages`: whether screens were read in several languages.
    """
    columns = _with_questions(table) if questions else _ALL_COLUMNS[table]
    if languages and table == "annotations":
        columns = (*columns, _LANGUAGE)
    return tuple(column for column in columns if justifications or (table, column.name) not in _OWN_WORDS)


def _with_questions(table: str) -> tuple[Column, ...]:
    columns = _ALL_COLUMNS[table]
    if table == "annotators":
        return (*columns, question_columns.OF_ANNOTATORS)
    if table != "annotations":
        return columns
    described = {
        "kind": "kind of the campaign; if its questions are declared, the folder declarations has them",
        "image": "id of the image; empty for ratings and declared questions",
    }
    return (
        *(replace(column, description=described.get(column.name, column.description)) for column in columns),
        question_columns.OF_ANNOTATIONS,
    )
