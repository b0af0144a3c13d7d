"""The tables of a release that say what machines found, and their columns in order."""

from collections.abc import Mapping

from analysis.models import Scorer
from analysis.releases.contents import Column
from analysis.results.schema import AUTOMATED, PROMISED

_SCORER = Column("scorer", "string", "name of the scorer; see scorers")
_IMAGE = Column("image", "string", "id of the image; see images")
_CAPTION = Column("position", "integer", "number of the caption among those of this scorer and image, from 0")

# What was found, image by image.
FOUND: Mapping[str, tuple[Column, ...]] = {
    "scorers": (
        _SCORER,
        Column(
            "kind", "string", "what it does", values={kind.value: str(kind.label) for kind in Scorer.Kind}
        ),
        Column("model", "string", "name of the model it used"),
        Column(
            "revision", "string", "revision of that model, or digest of its files; empty if unknown", True
        ),
        Column("encoder", "string", "what turned images and texts into vectors; empty for none", True),
        Column("parameters", "string", "its parameters, as JSON"),
        Column("images", "integer", "images of this release that it is done with"),
        Column("failed", "integer", "images of this release that it could not score"),
    ),
    "attribute_scores": (
        _SCORER,
        _IMAGE,
        Column("attribute", "string", "word or phrase that was looked for, normalised"),
        Column("probability", "number", "how likely the attribute is in the picture, 0 to 1"),
        Column("cosine", "number", "cosine of picture and attribute, −1 to 1"),
    ),
    "captions": (_SCORER, _IMAGE, _CAPTION, Column("text", "string", "the caption")),
    "text_scores": (
        _SCORER,
        Column("captioned_by", "string", "name of the scorer that wrote the caption; see captions"),
        _IMAGE,
        _CAPTION,
        Column("label", "string", "label of the classifier"),
        Column("score", "number", "probability of that label, 0 to 1"),
    ),
}
_WORDS = {
    "model": "model that made the images",
    "scorer": "name of the scorer; see scorers",
    "encoder": "whose vectors were compared",
    "identity_group": "identity group",
    "attribute": "word or phrase; empty over all attributes",
    "n": "how many there are: images × attributes with a majority, units of a class, or targets",
    "positives": "of these, those that the majority marked",
    "ties_left_out": "images × attributes without a majority",
    "threshold": "score from which the machine says yes, chosen on one half of the images",
    "precision": "share of the machine's yes on the other half that people share",
    "precision_low": "lower end of its 95 % interval",
    "precision_high": "upper end of its 95 % interval",
    "recall": "share of people's yes on the other half that the machine finds",
    "f1": "harmonic mean of precision and recall",
    "average_precision": "average precision",
    "auc": "area under the ROC curve",
    "brier": "mean squared difference of score and share of people",
    "spearman": "rank correlation of score and share of people",
    "automatable": "whether precision_low reaches the target precision",
    "reason": "why a number is null",
    "human_reason": "why a number of people is null",
    "bin": "number of the class of scores",
    "low": "lower end of the class",
    "high": "upper end of the class",
    "mean_score": "mean score in the class",
    "observed": "mean share of people who marked it",
    "ci_low": "lower end of the 95 % interval",
    "ci_high": "upper end of the 95 % interval",
    "salience": "how much more the group's captions name the attribute than those of other groups",
    "rank": "place by salience within the group; empty beyond the first",
    "likelihood": "share of judgements in which people marked it; empty where they were not asked",
    "captions": "captions of the group that contain it",
    "share": "smoothed share of the group's matches",
    "document_frequency": "captions of all groups that contain it",
    "idf": "weight of the attribute, the larger the rarer",
    "shown": "how often people were asked",
    "above_median": "whether people marked it more often than the group's median attribute",
    "s_d_s": "mean cosine of default and stereotypical images",
    "s_d_ns": "mean cosine of default and non-stereotypical images",
    "s_s_ns": "mean cosine of stereotypical and non-stereotypical images",
    "mean_similarity": "mean of the three",
    "pull": "s_d_s − s_d_ns",
    "category": "category of the target",
    "target": "the target",
    "ii": "images of the target with images of the attribute sets",
    "itp": "prompts of the target with images of the attribute sets",
    "ita": "images of the target with texts of the attribute sets",
    "tt": "prompts of the target with texts of the attribute sets",
    "mcas": "sum of the four, positive: nearer to the first set",
    "effect_size": "effect size of the sum",
    "p_value": "two-sided permutation p of the sum",
    "terms": "targets with positive scores, negative ones, or all",
    "mean": "mean MCAS",
    "sd": "population standard deviation",
    "images": "images with judgements of the machine",
    "stereotypes": "stereotypes of the group",
    "random_attributes": "random attributes of the group",
    "likelihood_stereotype": "mean likelihood of stereotypes by the machine",
    "likelihood_random": "mean likelihood of random attributes by the machine",
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


# What results make of it: the columns that `analyze` promises, from the report that stands.
MEASURED: Mapping[str, tuple[Column, ...]] = {
    name: tuple(_column(column) for column in PROMISED[name]) for name in AUTOMATED
}
COLUMNS: Mapping[str, tuple[Column, ...]] = {**FOUND, **MEASURED}
DESCRIPTIONS: Mapping[str, str] = {
    "scorers": "one row per machine that scored images of the study",
    "attribute_scores": "one row per scorer, image and attribute: how far the picture shows it",
    "captions": "one row per caption that a machine wrote of an image",
    "text_scores": "one row per label that a classifier gave a caption",
    "concordance": "how well a scorer finds what the majority of people sees, over all attributes and for each",
    "calibration": "scores in classes against the share of people",
    "salience": "attributes in a group's captions against those of other groups, beside people's answers",
    "pull": "whether a group's default images are nearer to the stereotypical ones than to others",
    "mcas": "association of each target with two attribute sets: four components and their sum",
    "mcas_categories": "the same by category of targets",
    "automated_tendency": "θ by a machine's judgements beside θ by people's",
}
TABLES = tuple(COLUMNS)
