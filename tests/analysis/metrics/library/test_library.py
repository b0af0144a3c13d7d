"""What holds for all measures: importable alone, documented, clean tables, deterministic, refusing bad
input."""

import doctest
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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
from tests.analysis.metrics.library.invariances import ATTRIBUTES, GROUPED, SCORED, _boxes, _likert, example
from tests.analysis.metrics.library.test_invariances import NOT_MEASURES
from tests.analysis.metrics.tables import ROLES, judgements, marks

ROOT = Path(metrics.__file__).resolve().parents[2]
MODULES = [module.name for module in pkgutil.walk_packages(metrics.__path__, "analysis.metrics.")]
MEASURES = sorted(set(metrics.__all__) - NOT_MEASURES)
RUN = {
    "likelihood": lambda f: metrics.likelihood(f, ROLES, resamples=60),
    "tendency": lambda f: metrics.tendency(f, ROLES, min_stereotypes=0, resamples=60),
    "offensiveness": lambda f: metrics.offensiveness(f, SCORED, resamples=60),
    "krippendorff_alpha": lambda f: metrics.krippendorff_alpha(f, by="attribute", resamples=60),
    "gwet_ac": lambda f: metrics.gwet_ac(f, by="attribute", resamples=60),
    "fleiss_kappa": lambda f: metrics.fleiss_kappa(f, by="identity_group", resamples=60),
    "observed_agreement": lambda f: metrics.observed_agreement(f, by="attribute", resamples=60),
    "consensus": metrics.consensus,
    "visual_attributes": lambda f: metrics.visual_attributes(_likert(f)),
    "box_agreement": lambda f: metrics.box_agreement(_boxes(f), resamples=60),
    "consensus_boxes": lambda f: metrics.consensus_boxes(_boxes(f)),
    "annotator_ids_usable": metrics.annotator_ids_usable,
    "annotator_statistics": lambda f: metrics.annotator_statistics(f, skills=False),
    "compare_annotator_groups": lambda f: metrics.compare_annotator_groups(
        f, ROLES, GROUPED, resamples=60, permutations=60
    ),
    "compare_models": lambda f: metrics.compare_models(
        pd.concat([f.assign(model="a"), f.assign(model="b")]), ROLES, by="identity_group", resamples=60
    ),
    "pigeonhole_bootstrap": lambda f: metrics.pigeonhole_bootstrap(f, resamples=60).summary(),
    "sensitivity": lambda f: metrics.sensitivity(
        f, ROLES, min_stereotypes=0, flagged=["p1"], annotator_groups=GROUPED.assign(field="side")
    ),
    "mcas": lambda f: metrics.mcas(*as_mcas(f), sets=SETS, resamples=60, permutations=60),
    "mcas_categories": lambda f: metrics.mcas_categories(
        metrics.mcas(*as_mcas(f), sets=SETS, resamples=0, permutations=60)
    ),
    "concordance": lambda f: metrics.concordance(as_scores(f), f, resamples=60),
    "salience": lambda f: metrics.salience(
        as_captions(f), ATTRIBUTES, likelihood=metrics.likelihood(f.assign(model="m"), ROLES, resamples=20)
    ),
    "pull": lambda f: metrics.pull(*as_pull(f), resamples=60),
    "answer_means": lambda f: metrics.answer_means(as_answers(f)),
    "position_bias": lambda f: metrics.position_bias(as_comparisons(f)),
    "preference_strengths": lambda f: metrics.preference_strengths(as_comparisons(f)),
    "ranking_strengths": lambda f: metrics.ranking_strengths(as_rankings(f)),
    "kendall_w": lambda f: metrics.kendall_w(as_rankings(f)),
    "krippendorff_alpha_sets": lambda f: metrics.krippendorff_alpha_sets(as_choices(f), resamples=60),
    "point_agreement": lambda f: metrics.point_agreement(as_points(f)),
    "association_scores": lambda f: metrics.association_scores(as_probe(f)),
    "paired_comparison": lambda f: metrics.paired_comparison(as_probe(f)),
    "condition_effects": lambda f: metrics.condition_effects(as_probe(f)),
    "first_option_shares": lambda f: metrics.first_option_shares(as_probe(f)),
    "model_differences": lambda f: metrics.model_differences(as_probe(f)),
    "plan_probe": lambda f: metrics.plan_probe(scenarios=[1, 3]),
    "distinguishing_words": lambda f: metrics.distinguishing_words(as_texts(f)),
    "tfidf_associations": lambda f: metrics.tfidf_associations(as_words(f)),
    "harm_shares": lambda f: metrics.harm_shares(as_associations(f)),
    "association_overlap": lambda f: metrics.association_overlap(as_associations(f), resamples=60),
    "coding_errors": lambda f: metrics.coding_errors(*as_review(f)),
    "judge_agreement": lambda f: metrics.judge_agreement(*as_levels(f), resamples=60),
    "plan_precision": lambda f: metrics.plan_precision(
        likelihood_stereotype=0.05, likelihood_random=0.01, images=3, simulations=10, resamples=50
    ),
}


def sparse() -> pd.DataFrame:
    """Everything that leaves something undefined: never marked, always marked, one image, one annotator, one
    role."""
    frame = judgements(
        *marks("Aru", "hat", 6, 0),
        *marks("Aru", "boat", 6, 0),
        *marks("Bel", "boat", 4, 4, images=1),
        *marks("Cir", "kite", 1, 1),
    )
    return frame.assign(row=range(len(frame)), corner=0.1)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    "frame", [example(), sparse(), example()[:0], example()[:1]], ids=["full", "sparse", "empty", "one"]
)
def test_table_values_are_finite_numbers_or_null(name: str, frame: pd.DataFrame) -> None:
    result = RUN[name](frame)
    tables = [result.to_frame(), *[v for v in vars(result).values() if isinstance(v, pd.DataFrame)]]
    for table in tables:
        for column in table:
            values = table[column].dropna()
            assert not isinstance(table[column].dtype, np.dtype), f"{column} cannot hold null apart from NaN"
            if pd.api.types.is_float_dtype(values.dtype):
                assert np.isfinite(values.to_numpy(dtype=float)).all(), column
        cells = set(table.to_csv(index=False, header=False).lower().replace("\n", ",").split(","))
        assert not cells & {"nan", "inf", "-inf", "none", "<na>"}
    json.dumps(result.rows(), allow_nan=False)


@pytest.mark.parametrize("name", MEASURES)
def test_every_null_has_its_reason(name: str) -> None:
    table = RUN[name](sparse()).to_frame()
    if "reason" not in table or name == "annotator_statistics":
        return  # its nulls are questions nobody asked: no times, no gold tasks
    estimate = {"likelihood": "likelihood", "tendency": "theta", "offensiveness": "offensiveness"}.get(
        name, "value"
    )
    for column in (
        estimate,
        "ci_low",
        "ci_high",
        "theta_low",
        "theta_high",
        "half_width",
        "share",
        "difference",
        "pull",
        "mcas",
        "effect_size",
        "p_value",
        "precision",
        "precision_low",
        "auc",
        "brier",
        "spearman",
        "mean",
        "sd",
    ):
        if column in table:
            assert table.loc[table[column].isna(), "reason"].notna().all(), column


@pytest.mark.parametrize("name", MEASURES)
def test_the_same_seed_gives_the_same_table(name: str) -> None:
    pd.testing.assert_frame_equal(RUN[name](example()).to_frame(), RUN[name](example()).to_frame())


def test_results_cannot_be_changed() -> None:
    result = metrics.likelihood(example(), ROLES, resamples=20)
    mine = result.to_frame()
    mine.loc[0, "likelihood"] = 0.5
    assert result.to_frame().loc[0, "likelihood"] != 0.5
    with pytest.raises(AttributeError):
        result.used = 3  # type: ignore[misc]


def test_import_needs_the_repository_root_and_no_django() -> None:
    program = (
        "import sys; sys.path[:0] = [sys.argv[1]]; import analysis.metrics; print('django' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-I", "-c", program, str(ROOT)], capture_output=True, text=True, check=True, cwd="/"
    ).stdout
    assert printed.strip() == "False"


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_documented(name: str) -> None:
    assert f"`{name}(" in (ROOT / "docs" / "use" / "reference" / "metrics.md").read_text(encoding="utf-8")
    assert getattr(metrics, name).__doc__


# Names of categories, which stand in columns of results.
NOT_REASONS = {
    *("ANNOTATOR_GROUP", "IN_GROUP", "IN_REGION", "NONE_OTHERWISE", "NON_STEREOTYPICAL"),
    *("OUTSIDE", "OUT_GROUP", "OUT_REGION", "SAME_REGION", "WITHOUT_FLAGGED"),
}


def test_every_reason_is_documented() -> None:
    text = (ROOT / "docs" / "use" / "reference" / "metrics.md").read_text(encoding="utf-8")
    for module in MODULES:
        for constant, value in vars(importlib.import_module(module)).items():
            is_name = (
                constant.isupper() and isinstance(value, str) and re.fullmatch(r"[a-z]+(_[a-z]+)+", value)
            )
            if is_name and constant not in NOT_REASONS:
                assert f"`{value}`" in text, f"{module}.{constant}"


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_are_right(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="annotator"), "judgements: column 'annotator' is missing"),
        (lambda f: f.assign(present=2), "judgements: column 'present' must contain 0 or 1, got 2"),
        (
            lambda f: f.assign(attribute=[None, *f["attribute"][1:]]),
            "judgements: column 'attribute' is empty in 1 rows",
        ),
        (lambda f: f.to_dict(), "judgements: expected a DataFrame, got dict"),
    ],
)
def test_wrong_tables_are_refused_by_name(change, message: str) -> None:
    for measure in (metrics.likelihood, metrics.tendency, metrics.compare_models):
        with pytest.raises(ValueError, match=message):
            measure(change(example()), ROLES)


@pytest.mark.parametrize("dtype", ["object", "category", "string", "codes"])
def test_names_may_be_text_categories_or_codes(dtype: str) -> None:
    frame, roles = example(), ROLES
    if dtype == "codes":
        groups, attributes = {"Aru": 7, "Bel": 3}, {"hat": 1, "drum": 2, "boat": 3, "kite": 4}
        frame = frame.replace({"identity_group": groups, "attribute": attributes}).infer_objects()
        roles = roles.replace({"identity_group": groups, "attribute": attributes}).infer_objects()
        expected = sorted(metrics.tendency(example(), ROLES, resamples=20).table["theta"])
        assert sorted(metrics.tendency(frame, roles, resamples=20).table["theta"]) == expected
        return
    columns = ["image", "identity_group", "attribute", "annotator"]
    changed = frame.assign(**{column: frame[column].astype(dtype) for column in columns})
    pd.testing.assert_frame_equal(
        metrics.tendency(changed, roles, resamples=40).to_frame(),
        metrics.tendency(frame, roles, resamples=40).to_frame(),
    )
