"""Planning."""

import numpy as np
import pytest

from analysis.metrics import likelihood, plan_precision
from analysis.metrics.marking.simulate_studies import (
    Assumptions,
    Design,
    draw_annotators,
    draw_marks,
    latent_rates,
)
from benchmarks.analysis.power import analysed, planned
from tests.analysis.metrics.library.invariances import example
from tests.analysis.metrics.tables import ROLES

RATES = {"likelihood_stereotype": 0.3, "likelihood_random": 0.1, "simulations": 60, "resamples": 100}


def widths(**options) -> list[float]:
    return [r["half_width"] for r in plan_precision(**{**RATES, **options}).rows() if r["measure"] == "theta"]


def marks(design: Design, assumed: Assumptions) -> np.ndarray:
    generator = np.random.default_rng(0)
    skew = assumed.annotator_sd * generator.standard_normal(design.annotators)
    who = draw_annotators(design, generator)
    rates = [latent_rates(mean, assumed) for mean in (assumed.stereotype, assumed.random)]
    return draw_marks(design, rates, skew[who], generator)[0]


def test_simulated_answers_have_the_assumed_rates_and_agreement() -> None:
    # α of a large simulated group without annotator effects is the assumed intraclass correlation.
    from analysis.metrics import krippendorff_alpha

    answers = marks(Design(4_000, 3, 3, 1, 1, 1), Assumptions(0.3, 0.1, 0.4, 0.0))
    assert answers.mean(axis=(0, 1)) == pytest.approx([0.3, 0.1], abs=0.02)
    marked = answers[:, :, 0].sum(axis=1).astype(int)
    counts = np.stack([3 - marked, marked], axis=1)
    assert krippendorff_alpha(counts, resamples=0).rows()[0]["value"] == pytest.approx(0.4, abs=0.03)


def test_annotators_who_differ_keep_the_mean() -> None:
    # Without the scale √(1 + τ²) the rate 0.3 would move to Φ(−0.524/1.28) = 0.34.
    answers = marks(Design(3_000, 2_000, 3, 1, 1, 1), Assumptions(0.3, 0.1, 0.05, 0.8))
    assert answers.mean(axis=(0, 1)) == pytest.approx([0.3, 0.1], abs=0.02)


def test_people_who_judge_a_task_are_different() -> None:
    who = draw_annotators(Design(200, 4, 3, 1, 1, 2), np.random.default_rng(0))
    assert all(len(set(task)) == 3 for task in who.reshape(-1, 3).tolist())
    assert np.bincount(who.ravel()).tolist() == pytest.approx([300] * 4, abs=45)


def test_power_is_that_of_studies_simulated_and_analysed_one_by_one() -> None:
    """The same model in another way: SciPy's distributions, long tables, and `tendency` itself."""
    design, assumed = Design(12, 8, 3, 2, 2, 1), Assumptions(0.5, 0.25, 0.3, 0.4)
    row = planned(design, assumed).loc["theta"]
    generator = np.random.default_rng(1)
    studies = [analysed(design, assumed, resamples=300, generator=generator)["theta"] for _ in range(150)]
    assert row["power_se"] < 0.01
    assert row["power"] == pytest.approx(
        np.mean([excludes for excludes, _ in studies]), abs=4 * np.sqrt(0.25 / 150)
    )
    assert row["half_width"] == pytest.approx(np.nanmedian([half for _, half in studies]), rel=0.15)


def test_a_design_gives_the_same_figures_whatever_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan_precision(**RATES).rows()
    monkeypatch.setattr("analysis.metrics.marking.simulate_studies._THREADS", 1)
    assert plan_precision(**RATES).rows() == before


def test_more_images_and_more_groups_narrow_intervals() -> None:
    few, some, many = widths(images=[10, 20, 60])
    assert few > some > many
    rows = plan_precision(**RATES, groups=[2, 12]).rows()
    pooled = [r["half_width"] for r in rows if r["measure"] == "theta_pooled"]
    assert pooled[0] > 1.5 * pooled[1]


def test_power_is_the_error_rate_without_an_effect_and_high_with_a_large_one() -> None:
    nothing = plan_precision(**{**RATES, "likelihood_random": 0.3}, images=30).rows()
    assert next(r["power"] for r in nothing if r["measure"] == "theta") < 0.12
    large = plan_precision(**{**RATES, "likelihood_stereotype": 0.6}, images=30).rows()
    assert next(r["power"] for r in large if r["measure"] == "theta") > 0.95


def test_pilot_gives_the_rates() -> None:
    assumed = plan_precision(pilot=example(), roles=ROLES, simulations=10, resamples=50).notes["assumed"]
    rows = likelihood(example(), ROLES, resamples=20).rows()
    by = {
        (g, role): np.mean([r["likelihood"] for r in rows if (r["identity_group"], r["role"]) == (g, role)])
        for g in ("Aru", "Bel")
        for role in ("stereotype", "random")
    }
    assert assumed.stereotype == pytest.approx((by["Aru", "stereotype"] + by["Bel", "stereotype"]) / 2)
    assert assumed.random == pytest.approx((by["Aru", "random"] + by["Bel", "random"]) / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood_stereotype": None}, "likelihood_stereotype: pass a value or a pilot"),
        (
            {"likelihood_random": 0.0},
            "likelihood_random: expected a number above 0 and below 1, got 0.0",
        ),
        ({"annotators": 2}, "annotators_per_task: must be at most the number of annotators, 2, got 3"),
        ({"images": [15, 1]}, "images: expected a whole number of at least 2, got 1"),
    ],
)
def test_impossible_plans_are_refused_by_name(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_precision(**{**RATES, **options})
