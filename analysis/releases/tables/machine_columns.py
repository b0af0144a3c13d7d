"""The tables of automatic scores in a release, and their columns in order."""

from collections.abc import Mapping

from analysis.models import Scorer
from analysis.releases.contents import Column
from analysis.results.schema import AUTOMATED, PROMISED

_SCORER = Column("scorer", "string", "name of the scorer; see the table scorers")
_IMAGE = Column("image", "string", "id of the image; see the table images")
_CAPTION = Column(
    "position", "integer", "number of the caption among the captions by this scorer of this image, from 0"
)

# Scores, image by image.
FOUND: Mapping[str, tuple[Column, ...]] = {
    "scorers": (
        _SCORER,
        Column(
            "kind",
            "string",
            "what the scorer does",
            values={kind.value: str(kind.label) for kind in Scorer.Kind},
        ),
        Column("model", "string", "name of the model that the scorer uses"),
        Column("revision", "string", "revision of the model, or digest of its files; empty if unknown", True),
        Column(
            "encoder",
            "string",
            "encoder that turned images and texts into vectors; empty if the scorer uses none",
            True,
        ),
        Column("parameters", "string", "parameters of the scorer, as JSON"),
        Column("images", "integer", "number of images in this release that the scorer has scored"),
        Column("failed", "integer", "number of images in this release that the scorer could not score"),
    ),
    "attribute_scores": (
        _SCORER,
        _IMAGE,
        Column("attribute", "string", "word or phrase that the scorer looked for, normalised"),
        Column("probability", "number", "how likely the image shows the attribute, 0 to 1"),
        Column("cosine", "number", "cosine similarity of image and attribute, −1 to 1"),
    ),
    "captions": (_SCORER, _IMAGE, _CAPTION, Column("text", "string", "the caption")),
    "text_scores": (
        _SCORER,
        Column("captioned_by", "string", "name of the scorer that wrote the caption; see the table captions"),
        _IMAGE,
        _CAPTION,
        Column("label", "string", "label that the classifier gave the caption"),
        Column("score", "number", "probability of the label, 0 to 1"),
    ),
}
_WORDS = {
    "model": "model that made the images",
    "scorer": "name of the scorer; see the table scorers",
    "encoder": "encoder whose vectors were compared",
    "identity_group": "identity group",
    "attribute": "word or phrase; empty if the row is about all attributes",
    "n": "number of units: pairs of image and attribute with a majority, units of a bin, or targets",
    "positives": "number of units that the majority of annotators marked",
    "ties_left_out": "number of pairs of image and attribute without a majority, which are left out",
    "threshold": "score from which an attribute counts as present, chosen on one half of the images",
    "precision": "of the units that the scorer marks, the share that people mark too, in the half of the "
    "images that was not used to choose the threshold",
    "precision_low": "lower end of the 95 % interval of the precision",
    "precision_high": "upper end of the 95 % interval of the precision",
    "recall": "of the units that people mark, the share that the scorer marks too, in the half of the "
    "images that was not used to choose the threshold",
    "f1": "harmonic mean of precision and recall",
    "average_precision": "average precision",
    "auc": "area under the ROC curve",
    "brier": "mean squared difference between the score and the share of people who marked the attribute",
    "spearman": "rank correlation of the score and the share of people who marked the attribute",
    "automatable": "whether precision_low reaches the target precision",
    "reason": "why a value of the row is null",
    "human_reason": "why a value based on people's answers is null",
    "bin": "number of the bin of scores",
    "low": "lower end of the bin",
    "high": "upper end of the bin",
    "mean_score": "mean score in the bin",
    "observed": "mean share of people who marked the attribute, over the units in the bin",
    "ci_low": "lower end of the 95 % interval",
    "ci_high": "upper end of the 95 % interval",
    "salience": "how much more the captions of the group's images name the attribute than the captions of "
    "other groups' images",
    "rank": "rank of the attribute by salience within the group; empty if the attribute has no rank",
    "likelihood": "share of judgements in which people marked the attribute; empty if people were not asked about it",
    "captions": "number of the group's captions that contain the attribute",
    "share": "smoothed share of the attribute among all attributes found in the group's captions",
    "document_frequency": "number of captions of all groups that contain the attribute",
    "idf": "weight of the attribute: the rarer it is, the larger",
    "shown": "number of times that people were asked about the attribute",
    "above_median": "whether people marked the attribute more often than the median attribute of the group",
    "s_d_s": "mean cosine similarity of default and stereotypical images",
    "s_d_ns": "mean cosine similarity of default and non-stereotypical images",
    "s_s_ns": "mean cosine similarity of stereotypical and non-stereotypical images",
    "mean_similarity": "mean of the three similarities",
    "pull": "s_d_s − s_d_ns",
    "category": "category of the target",
    "target": "the target",
    "ii": "association of the target's images with images of the attribute sets",
    "itp": "association of the target's prompts with images of the attribute sets",
    "ita": "association of the target's images with texts of the attribute sets",
    "tt": "association of the target's prompts with texts of the attribute sets",
    "mcas": "sum of the four components; above 0, the target is nearer to the first set",
    "effect_size": "effect size of the sum",
    "p_value": "two-sided p value of the sum, by a permutation test",
    "terms": "targets that the row is about: targets with positive scores, targets with negative scores, or "
    "all targets",
    "mean": "mean MCAS",
    "sd": "population standard deviation of the scores",
    "images": "number of images that the scorer judged",
    "stereotypes": "number of stereotypes of the group",
    "random_attributes": "number of random attributes of the group",
    "likelihood_stereotype": "mean likelihood of the group's stereotypes according to the scorer",
    "likelihood_random": "mean likelihood of the group's random attributes according to the scorer",
    **{
        f"{who}_theta{end}": f"{words} by {by}"
        for who, by in (("automated", "the machine"), ("human", "people"))
        for end, words in (
            ("", "θ"),
            ("_low", "lower end of the 95 % interval of θ"),
            ("_high", "upper end of the 95 % interval of θ"),
            ("_smoothed", "θ smoothed"),
        )
    },
}
_TEXT = {"model", "scorer", "encoder", "identity_group", "attribute", "reason", "human_reason", "category",
         "target", "terms"}  # fmt: skip
_WHOLE = {"n", "positives", "ties_left_out", "bin", "rank", "captions", "document_frequency", "shown", "images",
          "stereotypes", "random_attributes"}  # fmt: skip
_YES_NO = {"automatable", "above_median"}
# Never empty, in whatever table they are.
_ALWAYS = {
    "model",
    "scorer",
    "encoder",
    "identity_group",
    "target",
    "terms",
    "category",
    "bin",
    "low",
    "high",
}


def _column(name: str) -> Column:
    kind = (
        "string"
        if name in _TEXT
        else "integer"
        if name in _WHOLE
        else "boolean"
        if name in _YES_NO
        else "number"
    )
    return Column(name, kind, _WORDS[name], name not in _ALWAYS)


# Results from these scores: the columns that `analyze` guarantees, from the current report.
MEASURED: Mapping[str, tuple[Column, ...]] = {
    name: tuple(_column(column) for column in PROMISED[name]) for name in AUTOMATED
}
COLUMNS: Mapping[str, tuple[Column, ...]] = {**FOUND, **MEASURED}
DESCRIPTIONS: Mapping[str, str] = {
    "scorers": "one row per scorer of the study's images",
    "attribute_scores": "one row per scorer, image and attribute: how likely the image shows the attribute",
    "captions": "one row per caption that a model wrote for an image",
    "text_scores": "one row per label that a classifier gave a caption",
    "concordance": "how well a scorer agrees with the majority of people, for all attributes together and "
    "for each attribute",
    "calibration": "one row per bin of scores: the mean score and the share of people who marked the attribute",
    "salience": "one row per attribute and group: how much more the group's captions name the attribute "
    "than other captions do, and people's answers about the attribute",
    "pull": "one row per group: whether its default images resemble its stereotypical images more than its "
    "non-stereotypical images",
    "mcas": "one row per target: its association with two attribute sets, as four components and their sum",
    "mcas_categories": "one row per category of targets: the mean association of its targets",
    "automated_tendency": "one row per group: θ from a scorer's judgements and θ from people's judgements",
}
TABLES = tuple(COLUMNS)
