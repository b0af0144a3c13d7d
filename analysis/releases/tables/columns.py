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
    STEREOTYPE: "the resource lists the pair, and enough of its raters called it a stereotype",
    RANDOM: "any other attribute",
}
_RATINGS = {"1": "Strongly Disagree", "2": "Disagree", "3": "Unsure", "4": "Agree", "5": "Strongly Agree"}

_ANNOTATION = Column("annotation", "integer", "number of the submission in this release; see annotations")
_CAMPAIGN = Column("campaign", "string", "campaign in which it was asked")
_ANNOTATOR = Column("annotator", "string", "pseudonymous id, made anew for each release; see annotators")
_IMAGE = Column("image", "string", "id of the image; see images")
_ATTRIBUTE = Column("attribute", "string", "word or phrase that was asked, normalised")
_GUIDELINES = Column(
    "guidelines", "integer", "version of the guidelines that was read; empty for imported labels", True
)
_LANGUAGE = Column(
    "language",
    "string",
    "language in which the screen was read, ISO 639-1; empty where unknown or where too few people read it",
    True,
)
_DAY = Column("submitted", "date", "day of submission (UTC)")
_OF_IMAGE = (
    Column("model", "string", "model that made the image"),
    Column("condition", "string", "what the prompt was meant to bring out", values=_CONDITIONS),
    Column("identity_group", "string", "identity group the image was made for; empty for none", True),
    Column("region", "string", "region of the identity group; empty where unknown", True),
)

_PROFILE = {
    "gender": "gender, as the annotator chose or wrote it, where its meaning is sure",
    "region_of_origin": "region of origin, a UN M49 sub-region or one that the study names",
    "nationality": "nationality, or its UN M49 sub-region",
    "country_of_residence": "country of residence, or its UN M49 sub-region",
    "age_band": "age band, or a wider one",
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
        Column("role", "string", "what the attribute is for the group; empty without a group", True, _ROLES),
        _ANNOTATOR,
        Column("present", "boolean", "whether the annotator marked the attribute in the image"),
        _GUIDELINES,
        _DAY,
    ),
    "boxes": (
        Column("box", "integer", "number of the box in this release"),
        Column("judgement", "integer", "the judgement it is evidence for; see judgements"),
        _IMAGE,
        _ATTRIBUTE,
        _ANNOTATOR,
        Column("x", "number", "left edge, as a fraction of the image's width"),
        Column("y", "number", "upper edge, as a fraction of the image's height"),
        Column("width", "number", "width, as a fraction of the image's"),
        Column("height", "number", "height, as a fraction of the image's"),
        Column("clipped", "boolean", "whether it reached outside the image as drawn"),
    ),
    "ratings": (
        _ANNOTATION,
        _CAMPAIGN,
        _ATTRIBUTE,
        _ANNOTATOR,
        Column("rating", "integer", "agreement that the attribute can be depicted", values=_RATINGS),
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
            "whether 'none of the above' was chosen; empty where it was not asked",
            True,
        ),
        Column("active_seconds", "number", "seconds of active work; empty where unknown", True),
        _GUIDELINES,
        _DAY,
        Column("justification", "string", "why Unsure, in the annotator's words", True),
    ),
    "annotators": (
        _ANNOTATOR,
        Column("origin", "string", "where labels come from", values=_ORIGINS),
        *(
            Column(name, "string", f"{_PROFILE[name]}; empty if not stated or withheld", True)
            for name in AnnotatorProfile.FIELDS
        ),
        Column("annotations", "integer", "submissions in this release"),
        Column("judgements", "integer", "judgements in this release"),
        Column("ratings", "integer", "ratings in this release"),
    ),
    "images": (
        _IMAGE,
        *_OF_IMAGE,
        Column("prompt", "string", "prompt it was generated from; empty if unknown", True),
        Column("file", "string", "path of the picture in this release; empty if it is not here", True),
        Column("reason", "string", "why there is no file", True),
        Column("sha256", "string", "SHA-256 of that file", True),
        Column("width", "integer", "width in pixels", True),
        Column("height", "integer", "height in pixels", True),
        Column("source_name", "string", "published path of an image that came without a file", True),
        Column("provenance", "string", "how it was generated, as JSON; empty if unknown", True),
    ),
    "soft_labels": (
        Column("kind", "string", "presence (of an attribute in an image) or rating (of an attribute)"),
        Column("image", "string", "id of the image; empty for ratings", True),
        _ATTRIBUTE,
        Column("n", "integer", "how many annotators answered"),
        Column("k", "integer", "how many of them marked it; empty for ratings", True),
        Column("share", "number", "k / n; empty for ratings", True),
        *(
            Column(f"share_{value}", "number", f"share of answers “{words}”; empty for presence", True)
            for value, words in _RATINGS.items()
        ),
        Column(
            "majority", "boolean", "whether more than half marked it; empty on a tie and for ratings", True
        ),
        Column(
            "majority_rating", "integer", "the answer given most often; empty on a tie and for presence", True
        ),
    ),
    "associations": (
        Column("identity_group", "string", "identity group"),
        _ATTRIBUTE,
        Column("role", "string", "what the attribute is for the group", values=_ROLES),
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
        Column("offensiveness", "number", "mean offensiveness as the resource states it, −1 to 4", True),
    ),
}
DESCRIPTIONS: Mapping[str, str] = {
    "judgements": "one row per judgement: an annotator, an image, an attribute, marked or not",
    "boxes": "one row per box drawn as evidence for a judgement",
    "ratings": "one row per rating of an attribute, apart from any image",
    "annotators": "one row per annotator with labels here, described as coarsely as privacy.json says",
    "images": "one row per image of the study that was not retracted",
    "soft_labels": "how annotators answered, taken together, beside the majority",
    "associations": "the pairs of identity group and attribute the study's resource lists, with its raters' answers",
    "annotations": "one row per submission: what was answered on one screen, 'none of the above' among it",
}
TABLES = tuple(COLUMNS)

# Declared questions have theirs where a campaign asks them, models' answers where a model was asked, and what machines
# found is there where machines scored.
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
    """The columns of a table; free text is there only where the release includes it.

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
        "kind": "kind of the campaign; declarations/ says what it asks, of kinds of declared questions",
        "image": "id of the image; empty for ratings and for declared questions",
    }
    return (
        *(replace(column, description=described.get(column.name, column.description)) for column in columns),
        question_columns.OF_ANNOTATIONS,
    )
