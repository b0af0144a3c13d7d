"""Which invariances each measure claims. Unlisted invariances are not claimed and may fail."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis import metrics
from tests.analysis.metrics.library.automated_tables import SETS, as_captions, as_mcas, as_pull, as_scores
from tests.analysis.metrics.library.comparison_tables import (
    as_answers,
    as_associations,
    as_choices,
    as_comparisons,
    as_levels,
    as_points,
    as_probe,
    as_rankings,
    as_review,
    as_texts,
    as_words,
)
from tests.analysis.metrics.tables import ROLES

SHUFFLED = "rows in another order"
RENAMED_ANNOTATORS = "other names for annotators"
RENAMED_IMAGES = "other names for images"
UNUSED = "categories that no row uses"
DUPLICATED = "every row twice"
FLIPPED = "present and absent exchanged"
KINDS = (SHUFFLED, RENAMED_ANNOTATORS, RENAMED_IMAGES, UNUSED, DUPLICATED, FLIPPED)


@dataclass(frozen=True)
class Claim:
    """`estimates(frame)`: what must not change. `holds`: under which changes; `fails`: under which it must
    change for the table of the test, so that nobody comes to claim it."""

    estimates: Callable[[pd.DataFrame], Any]
    holds: frozenset[str]
    fails: frozenset[str] = frozenset()


def change(frame: pd.DataFrame, kind: str, generator: np.random.Generator) -> pd.DataFrame:
    if kind == SHUFFLED:
        return frame.iloc[generator.permutation(len(frame))]
    if kind in (RENAMED_ANNOTATORS, RENAMED_IMAGES):
        column = "annotator" if kind == RENAMED_ANNOTATORS else "image"
        names = frame[column].unique()
        return frame.assign(
            **{column: frame[column].map(dict(zip(names, generator.permutation(names), strict=True)))}
        )
    if kind == UNUSED:
        used = {
            column: frame[column].astype("category")
            for column in ("identity_group", "attribute", "annotator")
        }
        return frame.assign(
            **{column: values.cat.add_categories(["never"]) for column, values in used.items()}
        )
    if kind == DUPLICATED:
        twice = frame.assign(judgement=frame["judgement"] + 100_000) if "judgement" in frame else frame
        return pd.concat([frame, twice], ignore_index=True)
    return frame.assign(present=1 - frame["present"])


def _table(result: metrics.Result, *columns: str) -> list[dict[str, Any]]:
    return result.table[list(columns)].to_dict("records")


def _boxes(frame: pd.DataFrame) -> pd.DataFrame:
    """A box per positive judgement, placed by its content so that it moves with its row."""
    marked = frame[frame["present"] == 1].drop_duplicates(["image", "attribute", "annotator"])
    corner = marked["corner"]
    return marked.assign(judgement=marked["row"], x0=corner, y0=0.0, x1=corner + 0.5, y1=0.6)


def _likert(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["attribute", "annotator"]].assign(rating=frame["row"] % 5 + 1)


ATTRIBUTES = ["hat", "drum", "boat", "kite"]
ORDER = frozenset({SHUFFLED, UNUSED})
NAMES = ORDER | {RENAMED_ANNOTATORS, RENAMED_IMAGES}
PAIRS = NAMES | {FLIPPED}

CLAIMS: dict[str, Claim] = {
    "likelihood": Claim(
        lambda f: _table(metrics.likelihood(f, ROLES, resamples=20), "attribute", "likelihood"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "tendency": Claim(
        lambda f: _table(metrics.tendency(f, ROLES, resamples=20), "identity_group", "theta"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "offensiveness": Claim(
        lambda f: _table(metrics.offensiveness(f, SCORED, resamples=20), "identity_group", "offensiveness"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "krippendorff_alpha": Claim(
        lambda f: _table(
            metrics.krippendorff_alpha(f, resamples=0, by="identity_group"), "scope_value", "value"
        ),
        PAIRS,
        frozenset({DUPLICATED}),
    ),
    "gwet_ac": Claim(
        lambda f: _table(metrics.gwet_ac(f, resamples=0), "value"), PAIRS, frozenset({DUPLICATED})
    ),
    "fleiss_kappa": Claim(
        lambda f: _table(metrics.fleiss_kappa(f, resamples=0), "value"), PAIRS, frozenset({DUPLICATED})
    ),
    "observed_agreement": Claim(
        lambda f: _table(metrics.observed_agreement(f, resamples=0), "value"), PAIRS, frozenset({DUPLICATED})
    ),
    "krippendorff_alpha_sets": Claim(
        lambda f: _table(metrics.krippendorff_alpha_sets(as_choices(f), resamples=0), "value"),
        NAMES,
        frozenset({DUPLICATED, FLIPPED}),
    ),
    "consensus": Claim(
        lambda f: _table(metrics.consensus(f, raters=3), "label", "share"), NAMES, frozenset({FLIPPED})
    ),
    "visual_attributes": Claim(
        lambda f: _table(metrics.visual_attributes(_likert(f)), "attribute", "mean", "visual"),
        NAMES | {DUPLICATED, FLIPPED},
    ),
    "box_agreement": Claim(
        lambda f: _table(metrics.box_agreement(_boxes(f), resamples=0), "measure", "value"),
        NAMES,
        frozenset({FLIPPED}),
    ),
    "point_agreement": Claim(
        lambda f: _table(metrics.point_agreement(as_points(f)), "measure", "value"),
        NAMES | {DUPLICATED},  # twice the same points of an annotator
        frozenset({FLIPPED}),
    ),
    "consensus_boxes": Claim(
        lambda f: _table(metrics.consensus_boxes(_boxes(f)), "x0", "x1", "drawn_by"),
        ORDER,
        frozenset({FLIPPED}),
    ),
    "annotator_ids_usable": Claim(
        lambda f: bool(metrics.annotator_ids_usable(f)), NAMES | {FLIPPED}, frozenset({DUPLICATED})
    ),
    "annotator_statistics": Claim(
        lambda f: _table(metrics.annotator_statistics(f, skills=False), "annotator", "agreement_with_others"),
        ORDER | {RENAMED_IMAGES, FLIPPED},
        frozenset({DUPLICATED, RENAMED_ANNOTATORS}),
    ),
    "compare_annotator_groups": Claim(
        lambda f: _table(
            metrics.compare_annotator_groups(f, ROLES, GROUPED, resamples=20, permutations=20),
            "measure",
            "difference",
            "p",
        ),
        ORDER | {RENAMED_IMAGES},
        frozenset({DUPLICATED, RENAMED_ANNOTATORS, FLIPPED}),
    ),
    "compare_models": Claim(
        lambda f: _table(
            metrics.compare_models(
                pd.concat([f.assign(model="a"), f[f["row"] % 3 > 0].assign(model="b")]), ROLES, resamples=20
            ),
            "measure",
            "difference",
        ),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "answer_means": Claim(
        lambda f: _table(metrics.answer_means(as_answers(f)), "item", "value"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "position_bias": Claim(
        lambda f: _table(metrics.position_bias(as_comparisons(f)), "share"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "preference_strengths": Claim(
        lambda f: _table(
            metrics.preference_strengths(as_comparisons(f)),
            "item",
            "win_rate",
            "strength",
            "rank",
        ),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "ranking_strengths": Claim(
        lambda f: _table(metrics.ranking_strengths(as_rankings(f)), "item", "strength", "rank"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "kendall_w": Claim(
        lambda f: _table(metrics.kendall_w(as_rankings(f)), "measure", "value"),
        NAMES,
        frozenset({DUPLICATED}),  # W of the opposite rankings is the same
    ),
    "mcas": Claim(
        lambda f: _table(
            metrics.mcas(*as_mcas(f), sets=SETS, resamples=0, permutations=50),
            "target",
            "ii",
            "itp",
            "ita",
            "tt",
            "mcas",
        ),
        NAMES | {DUPLICATED},
    ),
    "mcas_categories": Claim(
        lambda f: _table(
            metrics.mcas_categories(metrics.mcas(*as_mcas(f), sets=SETS, resamples=0, permutations=50)),
            "category",
            "terms",
            "mean",
            "sd",
        ),
        NAMES | {DUPLICATED},
    ),
    "concordance": Claim(
        lambda f: _table(
            metrics.concordance(as_scores(f), f, resamples=20),
            "attribute",
            "n",
            "auc",
            "average_precision",
            "brier",
            "spearman",
        ),
        NAMES | {DUPLICATED},  # not the threshold: names decide the half of an image
        frozenset({FLIPPED}),
    ),
    "salience": Claim(
        lambda f: _table(
            metrics.salience(as_captions(f), ATTRIBUTES), "identity_group", "attribute", "salience", "rank"
        ),
        NAMES,
        frozenset({DUPLICATED, FLIPPED}),
    ),
    "pull": Claim(
        lambda f: _table(
            metrics.pull(*as_pull(f), resamples=0), "identity_group", "s_d_s", "s_d_ns", "s_s_ns", "pull"
        ),
        NAMES | {DUPLICATED},
    ),
    "association_scores": Claim(
        lambda f: _table(metrics.association_scores(as_probe(f)), "group", "association", "refusal_rate"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "paired_comparison": Claim(
        lambda f: _table(
            metrics.paired_comparison(as_probe(f)), "difference", "t", "p_holm", "p_permutation"
        ),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "condition_effects": Claim(
        lambda f: _table(metrics.condition_effects(as_probe(f)), "difference", "t", "p_holm"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "first_option_shares": Claim(
        lambda f: _table(metrics.first_option_shares(as_probe(f)), "share"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "model_differences": Claim(
        lambda f: _table(metrics.model_differences(as_probe(f)), "measure", "difference", "t"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "plan_probe": Claim(
        lambda f: _table(metrics.plan_probe(pilot=as_probe(f)), "requests", "association_half_width"),
        NAMES,
        frozenset({DUPLICATED, FLIPPED}),
    ),
    "distinguishing_words": Claim(
        lambda f: _table(metrics.distinguishing_words(as_texts(f)), "scope", "group", "word", "score"),
        NAMES,
        frozenset({FLIPPED}),  # every row twice: rarer words reach the least count
    ),
    "tfidf_associations": Claim(
        lambda f: _table(
            metrics.tfidf_associations(as_words(f)), "descriptor", "word", "tfidf", "z", "p_exact"
        ),
        NAMES,
        frozenset({FLIPPED, DUPLICATED}),  # every word stands twice in its document
    ),
    "harm_shares": Claim(
        lambda f: _table(metrics.harm_shares(as_associations(f)), "model", "measure", "share"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "association_overlap": Claim(
        lambda f: _table(metrics.association_overlap(as_associations(f), resamples=20), "measure", "value"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "coding_errors": Claim(
        lambda f: _table(metrics.coding_errors(*as_review(f)), "measure", "stratum", "value"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "judge_agreement": Claim(
        lambda f: _table(metrics.judge_agreement(*as_levels(f), resamples=20), "measure", "value"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "pigeonhole_bootstrap": Claim(
        lambda f: _table(metrics.pigeonhole_bootstrap(f, resamples=20).summary(), "attribute", "estimate"),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
    "sensitivity": Claim(
        lambda f: _table(
            metrics.sensitivity(
                f, ROLES, min_stereotypes=0, flagged=["p1"], annotator_groups=GROUPED.assign(field="side")
            ),
            "scenario_value",
            "value",
            "kendall_tau",
            "largest_rank_change_group",
        ),
        ORDER | {RENAMED_IMAGES},
        frozenset({DUPLICATED, RENAMED_ANNOTATORS, FLIPPED}),
    ),
    "plan_precision": Claim(
        lambda f: _table(
            metrics.plan_precision(pilot=f, roles=ROLES, agreement=0.3, simulations=10, resamples=50),
            "measure",
            "half_width",
        ),
        NAMES | {DUPLICATED},
        frozenset({FLIPPED}),
    ),
}
PEOPLE = [f"p{i}" for i in range(12)]
GROUPED = pd.DataFrame({"annotator": PEOPLE, "group": ["north", "south"] * 6})
SCORED = ROLES.assign(
    offensiveness_stored=[1.0, 2.0, 0.5, 3.0, 4.0], rating_1=1.0, rating_2=2.0, rating_3=3.0
)


def example() -> pd.DataFrame:
    """Two groups, eight images each, four attributes, three of twelve people for each image."""
    generator = np.random.default_rng(11)
    rows = [
        (f"{group}{i}", group, attribute, person, int(generator.random() < chance))
        for group in ("Aru", "Bel")
        for i in range(8)
        for attribute, chance in (("hat", 0.6), ("drum", 0.4), ("boat", 0.3), ("kite", 0.5))
        for person in generator.choice(PEOPLE, 3, replace=False)
    ]
    frame = pd.DataFrame(rows, columns=["image", "identity_group", "attribute", "annotator", "present"])
    return frame.assign(row=range(len(frame)), corner=generator.integers(0, 5, len(frame)) / 10)
