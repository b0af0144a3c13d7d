"""The tables of models' answers to probe sets. A study without such answers has none of them."""

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
    # How often the first-named option is chosen, and the effect of changing the order.
    "pairs_first_options": ("model", "experiment", "decided", "first", "share", "ci_low", "ci_high"),
    "pairs_order_effects": ("model", "experiment", "level", "other", "difference", "ci_low", "ci_high"),
    "pairs_model_differences": (
        *("experiment", "measure", "factor", "model", "other_model"),
        *("difference", "ci_low", "ci_high"),
    ),
    # People's verdicts about the images of each scenario (`image_model`: the model that made them).
    "pairs_scenario_checks": (
        *("image_model", "experiment", "scenario", "verdict"),
        *("alike", "small_differences", "different"),
    ),
}
# People's codings of reviewed answers compared with the rules, if people coded any.
REVIEW_TABLES: dict[str, tuple[str, ...]] = {
    "pairs_review": (
        *("compared", "coder", "measure", "stratum", "value", "ci_low", "ci_high"),
        *("errors", "reviewed", "answers", "reason"),
    ),
    "pairs_review_scores": (
        *("model", "experiment", "group", "n", "association", "association_rules", "difference"),
        *("ci_low", "ci_high", "refusal_rate", "refusal_rate_rules", "reason"),
    ),
}
# Words that models wrote about groups and associated with descriptors, if a model was asked for them.
WORD_TABLES: dict[str, tuple[str, ...]] = {
    "pairs_words": ("model", "scope", "group", "word", "frequency", "score", "exclusive"),
    "associations": (
        *(
            "model",
            "modality",
            "setting",
            "dimension",
            "descriptor",
            "word",
            "tf",
            "df",
            "documents",
            "tfidf",
        ),
        *("z", "p", "significant", "p_exact", "q_exact", "q_all_pairs", "significant_exact"),
        *("sentiment", "toxicity", "bias_level", "bias_level_people"),
    ),
    "association_words": ("model", "setting", "outcome", "answers", "share"),
    "association_shares": (
        *("rule", "model", "setting", "dimension", "measure", "associations", "scored", "share"),
        *("ci_low", "ci_high"),
    ),
    "association_overlap": (
        *("rule", "compared", "model", "setting", "other_model", "other_setting", "measure", "value"),
        *("ci_low", "ci_high"),
    ),
    "judge_agreement": ("judge", "measure", "value", "ci_low", "ci_high", "pairs", "annotators", "ratings"),
}
# Of associations, which may have 200,000 rows, those that are significant by either rule; for pages.
PUBLISHED, EXACT = "published", "exact"
# A rule, and its column of significance.
RULES = {PUBLISHED: "significant", EXACT: "significant_exact"}
SIGNIFICANT = "significant_associations"
