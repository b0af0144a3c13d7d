"""The tables of answers to declared questions, with their columns. A study without such campaigns has none of them."""

_OF_QUESTION = ("campaign", "question")
_PLACES = ("strength", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "reason")
# by: all, model or identity_group; item is then empty, a model or a group.
_SLICE = (*_OF_QUESTION, "by", "item")
_INTERVAL = ("ci_low", "ci_high", "reason")
_WINS = ("wins", "losses", "ties", "win_rate", "win_rate_low", "win_rate_high", "win_rate_reason")
QUESTION_TABLES: dict[str, tuple[str, ...]] = {
    # Items are models or groups, whichever differs between the compared images.
    "preferences": (*_OF_QUESTION, "item", "comparisons", *_WINS, *_PLACES),
    "rankings": (*_OF_QUESTION, "item", "rankings", "first", *_PLACES),
    # Every two items of `preferences` and `rankings`; distinct: the interval of the difference excludes 0.
    "preference_pairs": (
        *_OF_QUESTION,
        "item",
        "other",
        "comparisons",
        "wins",
        "losses",
        "ties",
        "share",
        "share_reason",
        "difference",
        "ci_low",
        "ci_high",
        "distinct",
        "reason",
    ),
    # The items of `preferences` or `rankings` again, for screens that show one group.
    "group_leaderboards": (*_OF_QUESTION, "identity_group", "item", "answers", "first", *_WINS, *_PLACES),
    "position_bias": (*_OF_QUESTION, "first", "second", "ties", "share", *_INTERVAL),
    "scales": (
        *_SLICE,
        "answers",
        "units",
        "annotators",
        "mean",
        *_INTERVAL,
        "apart",
        "apart_share",
        "apart_low",
        "apart_high",
        "apart_reason",
    ),
    # Of choices and of the points of scales.
    "choices": (*_SLICE, "code", "label", "apart", "answers", "chosen", "share", *_INTERVAL),
    # code is empty for means of scales; other is empty if an item is compared with all others.
    "question_differences": (
        *_OF_QUESTION,
        "by",
        "code",
        "item",
        "other",
        "difference",
        "ci_low",
        "ci_high",
        "distinct",
        "reason",
    ),
    # code: the answer that is chosen or not; empty if a measure is about all answers.
    "question_agreement": (*_SLICE, "code", "measure", "value", *_INTERVAL, "units", "annotators", "answers"),
    "texts": (*_SLICE, "texts", "annotators", "units", "median_words", "longest_words"),
    "marked_words": (*_SLICE, "answers", "words", "marked", "share", *_INTERVAL),
}
