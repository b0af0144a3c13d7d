"""The tables of models' answers to probe sets. A study in which no model was asked has none of them."""

# The measures' own columns follow these (`analysis.metrics.probing`).
PROBE_TABLES: dict[str, tuple[str, ...]] = {
    "pairs_scores": ("model", "experiment", "group", "n", "association", "refusal_rate"),
    "pairs_tests": (
        *("model", "experiment", "factor", "difference", "ci_low", "ci_high"),
        *("t", "df", "p", "p_holm", "d_z", "p_permutation"),
    ),
    "pairs_questions": ("model", "experiment", "question", "group", "n", "association", "refusal_rate"),
    "pairs_scenarios": ("model", "experiment", "scenario", "group", "n", "association", "refusal_rate"),
    "pairs_orders": ("model", "experiment", "order", "group", "n", "association", "refusal_rate"),
    "pairs_levels": ("model", "experiment", "factor", "level", "n", "association", "refusal_rate"),
    "pairs_question_tests": ("model", "experiment", "question", "factor", "difference", "ci_low", "ci_high"),
    # Whether the option that is named first is chosen, and what changing the order changes.
    "pairs_first_options": ("model", "experiment", "decided", "first", "share", "ci_low", "ci_high"),
    "pairs_order_effects": ("model", "experiment", "level", "other", "difference", "ci_low", "ci_high"),
    "pairs_model_differences": (
        *("experiment", "measure", "factor", "model", "other_model"),
        *("difference", "ci_low", "ci_high"),
    ),
}
