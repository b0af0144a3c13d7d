"""The structure of results: named tables with their columns, headline numbers and their inputs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.results.probe_tables import PROBE_TABLES, REVIEW_TABLES, WORD_TABLES
from analysis.results.question_tables import QUESTION_TABLES
from annotation.kinds import registry

if TYPE_CHECKING:  # pages read stored tables: the server starts without numerical libraries
    import pandas as pd

# Columns on which other programs rely come first and keep names and order; further columns may follow.
PROMISED: dict[str, tuple[str, ...]] = {
    "likelihood": (
        "identity_group",
        "attribute",
        "role",
        "shown",
        "marked",
        "likelihood",
        "ci_low",
        "ci_high",
    ),
    "tendency": (
        "identity_group",
        "stereotypes",
        "random_attributes",
        "likelihood_stereotype",
        "likelihood_stereotype_low",
        "likelihood_stereotype_high",
        "likelihood_random",
        "likelihood_random_low",
        "likelihood_random_high",
        "theta",
        "theta_low",
        "theta_high",
        "theta_smoothed",
        "reason",
    ),
    "offensiveness": (
        "identity_group",
        "offensiveness",
        "offensiveness_normalised",
        "offensiveness_unscaled",
        "marked_stereotypes",
        "ci_low",
        "ci_high",
    ),
    "agreement": (
        "scope",
        "scope_value",
        "measure",
        "value",
        "ci_low",
        "ci_high",
        "units",
        "annotators",
        "judgements",
    ),
    "consensus": ("label", "agreeing", "share"),
    "visual_attributes": ("attribute", "ratings", "mean", "unanimous", "visual"),
    "annotators": (
        "annotator",
        "judgements",
        "median_seconds",
        "agreement_with_others",
        "dawid_skene",
        "mace",
        "gold_accuracy",
        "flags",
        "flag_reasons",
    ),
    # Changes of the headline and of the ranking of groups: one row per scenario and statistic (pooled, mean, median).
    # scenario: baseline, without_flagged, majority, annotator_group, none_of_the_above. scenario_value is
    # `field: value` of an annotator_group, the other mode of none_of_the_above, else empty.
    "sensitivity": (
        "model",
        "scenario",
        "scenario_value",
        "statistic",
        "value",
        "baseline",
        "difference",
        "groups",
        "kendall_tau",
        "largest_rank_change",
        "largest_rank_change_group",
        "judgements",
        "reason",
        "judgements_left_out",
        "annotators",
    ),
    "sensitivity_ranks": (
        "model",
        "scenario",
        "scenario_value",
        "identity_group",
        "theta_smoothed",
        "rank",
        "baseline_rank",
        "reason",
    ),
    # field: a profile field, or `relation_to_depicted`. scope: all or identity_group.
    "annotator_groups": (
        "field",
        "model",
        "scope",
        "scope_value",
        "measure",
        "group_a",
        "group_b",
        "value_a",
        "value_b",
        "difference",
        "ci_low",
        "ci_high",
        "p",
        "p_adjusted",
        "reason",
        "annotators_a",
        "annotators_b",
    ),
    "annotator_group_agreement": (
        "field",
        "model",
        "group_a",
        "group_b",
        "measure",
        "value",
        "units",
        "reason",
    ),
    # compared: model (then `model` is empty) or campaign (for one model; sides are slugs).
    "model_differences": (
        "compared",
        "model",
        "scope",
        "scope_value",
        "measure",
        "side_a",
        "side_b",
        "value_a",
        "value_b",
        "difference",
        "ci_low",
        "ci_high",
        "ratio",
        "ratio_low",
        "ratio_high",
        "reason",
    ),
    "iou_distribution": ("model", "bin_low", "bin_high", "pairs", "share", "reason"),
    # Of scorers. attribute: null over all attributes.
    "concordance": (
        "attribute",
        "scorer",
        "n",
        "precision",
        "recall",
        "f1",
        "average_precision",
        "auc",
        "model",
        "positives",
        "ties_left_out",
        "threshold",
        "precision_low",
        "precision_high",
        "brier",
        "spearman",
        "automatable",
        "reason",
    ),
    "calibration": (
        "scorer",
        "model",
        "bin",
        "low",
        "high",
        "mean_score",
        "observed",
        "ci_low",
        "ci_high",
        "n",
    ),
    "salience": (
        "identity_group",
        "attribute",
        "salience",
        "rank",
        "likelihood",
        "scorer",
        "model",
        "captions",
        "share",
        "document_frequency",
        "idf",
        "shown",
        "above_median",
    ),
    # encoder: the encoder of the compared vectors.
    "pull": (
        "identity_group",
        "s_d_s",
        "s_d_ns",
        "s_s_ns",
        "mean_similarity",
        "pull",
        "ci_low",
        "ci_high",
        "model",
        "encoder",
        "reason",
    ),
    "mcas": (
        "model",
        "category",
        "target",
        "ii",
        "itp",
        "ita",
        "tt",
        "mcas",
        "ci_low",
        "ci_high",
        "effect_size",
        "p_value",
        "encoder",
        "reason",
    ),
    "mcas_categories": ("model", "category", "terms", "n", "mean", "sd", "encoder"),
    # θ from people, and θ from a scorer whose scores are used as judgements.
    "automated_tendency": (
        "identity_group",
        "scorer",
        "model",
        "automated_theta",
        "automated_theta_low",
        "automated_theta_high",
        "automated_theta_smoothed",
        "human_theta",
        "human_theta_low",
        "human_theta_high",
        "human_theta_smoothed",
        "stereotypes",
        "random_attributes",
        "likelihood_stereotype",
        "likelihood_random",
        "images",
        "reason",
        "human_reason",
    ),
}
# Tables based on automatic scores.
AUTOMATED = (
    "concordance",
    "calibration",
    "salience",
    "pull",
    "mcas",
    "mcas_categories",
    "automated_tendency",
)
ABOUT_IMAGES = ("likelihood", "tendency", "offensiveness", "agreement")
FILES = tuple(PROMISED)
# If answers were given in more than one language.
BY_LANGUAGE: dict[str, tuple[str, ...]] = {
    "by_language": (
        *("campaign_kind", "campaign", "question", "model", "language", "other_language", "measure"),
        *("identity_group", "attribute", "n", "annotators", "estimate", "ci_low", "ci_high", "reason"),
    )
}
# Tables of people's answers to declared questions and of models' answers to probes: files only if there are such
# answers.
OPTIONAL_FILES = (*BY_LANGUAGE, *QUESTION_TABLES, *PROBE_TABLES, *REVIEW_TABLES, *WORD_TABLES)


def files_of(names: Collection[str]) -> list[str]:
    """The downloads of a report with tables of these names."""
    return [*FILES, *(name for name in OPTIONAL_FILES if name in names)]


# Annotators' answers, row by row, for download.
LABELS = ("judgements", "boxes", "ratings")
# Kept in a stored report for the pages; not among the files.
DIVISIVE = "divisive"
SALIENT = "salient"  # of salience, which may have 50,000 rows, those with a rank
# The five answers of a rating as shown to people, and the answers about an image.
RATING_LABELS = {
    "1": "Strongly Disagree",
    "2": "Disagree",
    "3": "Unsure",
    "4": "Agree",
    "5": "Strongly Agree",
    "any": "any",
}
PRESENCE_LABELS = {"0": "absent", "1": "present", "any": "any"}
# How coefficients are called on pages and in the report.
COEFFICIENTS = {
    "krippendorff_alpha_nominal": "Krippendorff’s α, nominal",
    "krippendorff_alpha_ordinal": "Krippendorff’s α, ordinal",
    "gwet_ac1": "Gwet’s AC1",
    "gwet_ac2_quadratic": "Gwet’s AC2, quadratic weights",
    "fleiss_kappa": "Fleiss’ κ",
    "observed_agreement": "Observed agreement",
    "box_mean_iou": "Boxes: mean overlap (IoU)",
    "box_iou_above_0.25": "Boxes: share above IoU 0.25",
    "box_iou_above_0.5": "Boxes: share above IoU 0.5",
    "box_iou_above_0.75": "Boxes: share above IoU 0.75",
    "box_same_number": "Boxes: share with equal numbers of boxes",
    "box_number_difference": "Boxes: mean difference in number",
    "box_observed_distance": "Boxes: observed distance",
    "box_expected_distance": "Boxes: expected distance (other images)",
    "box_alpha": "Boxes: α against other images",
}
# The meaning of a note on a coefficient.
COEFFICIENT_NOTES = {
    "sampled_pairs": "estimated: an attribute with more than 50,000 pairs of drawings is represented by a "
    "random sample of 50,000 pairs",
}


# The kinds of campaign whose labels are measured here.
MARKING, LIKERT = registry.MARKING.key, registry.RATING.key


@dataclass(frozen=True, eq=False)
class Results:
    """Tables by name, and the summary: parameters, headline numbers, counts and what was left out."""

    tables: "Mapping[str, pd.DataFrame]"
    summary: Mapping[str, Any]


def described(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the agreement table with its coefficient and note in words, as pages and the report show it."""
    return {
        **row,
        "words": COEFFICIENTS.get(row["measure"], row["measure"]),
        "note_words": COEFFICIENT_NOTES.get(row.get("note") or "", ""),
    }


def ordered(name: str, frame: "pd.DataFrame") -> "pd.DataFrame":
    """Declared columns first (null if absent), then the model, then all other columns."""
    leading = list(PROMISED[name]) + (["model"] if name in ABOUT_IMAGES else [])
    frame = frame.assign(**{column: None for column in leading if column not in frame})
    return frame[leading + [column for column in frame.columns if column not in leading]]


def records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows as plain values, None for null."""
    from analysis.metrics.data.results import as_python

    columns = {str(name): as_python(column) for name, column in frame.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
