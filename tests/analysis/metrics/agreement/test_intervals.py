"""Intervals of agreement: over annotators and images, or over images alone where ids are not people."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

from analysis.metrics import (
    box_agreement,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    observed_agreement,
    pigeonhole_bootstrap,
)
from analysis.metrics.agreement.gwet_ac import weight_matrix
from benchmarks.analysis.coverage.agreement import Study, boxes, coverage, marks, ratings, truth_of_marks
from tests.analysis.metrics import oracles
from tests.analysis.metrics.agreement import jackknife_oracle

EIGHT = Study(1.2, 8, 600)
SAME = [[1.0, 0.0], [0.0, 1.0]]
MEASURES = {
    "alpha": (krippendorff_alpha, lambda rated: _number(oracles.krippendorff_alpha(rated, "nominal"))),
    "ac1": (gwet_ac, lambda rated: oracles.coefficient(rated, SAME, "ac")),
    "kappa": (fleiss_kappa, lambda rated: oracles.coefficient(rated, SAME, "kappa")),
    "observed": (observed_agreement, lambda rated: _observed(rated, SAME)),
}


def _number(value):
    return None if value is None else float(value)


def _observed(rated, weights):
    shares = [oracles.agreeing_share(unit, weights) for unit in rated if len(unit) > 1]
    return sum(shares) / len(shares) if shares else None


def by_unit(rows) -> list[list[int]]:
    units: dict[object, list[int]] = {}
    for row in rows:
        units.setdefault(row["unit"], []).append(row["value"])
    return list(units.values())


def study(seed: int, *, campaigns: bool = False) -> pd.DataFrame:
    """Two groups of images, two attributes, six people who judged most of them, some in two campaigns."""
    generator = np.random.default_rng(seed)
    lean = generator.normal(0, 1.5, 6)
    rows = [
        (f"{group}{i}", group, attribute, f"p{p}", int(generator.random() < 1 / (1 + np.exp(-lean[p]))), c)
        for group, images in (("Aru", 3), ("Bel", 2), ("Cir", 1))
        for i in range(images)
        for attribute in ("hat", "drum")
        for p in range(6)
        for c in (("one", "two") if campaigns and p < 2 and i < 2 else ("one",))
        if generator.random() < 0.8
    ]
    columns = ["image", "identity_group", "attribute", "annotator", "present", "campaign"]
    return pd.DataFrame(rows, columns=columns)


def as_rows(frame: pd.DataFrame) -> list[dict]:
    return [
        {
            "unit": (r.image, r.attribute),
            "image": r.image,
            "stratum": r.identity_group,
            "annotator": r.annotator,
            "value": r.present,
        }
        for r in frame.itertuples()
    ]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("by", ["all", "identity_group", "attribute"])
@pytest.mark.parametrize(("seed", "campaigns"), [(0, False), (1, False), (2, True)])
def test_each_end_equals_leaving_out_one_by_one(measure: str, by: str, seed: int, campaigns: bool) -> None:
    frame = study(seed, campaigns=campaigns)
    compute, plain = MEASURES[measure]
    for row in compute(frame, by=by, resamples=1).rows():
        mine = frame if by == "all" else frame[frame[by] == row["scope_value"]]
        rows = as_rows(mine)
        # Units rated once count toward the agreement expected by chance alone, so κ may be far below −1.
        least = {"observed": 0, "kappa": -np.inf}.get(measure, -1)
        expected = jackknife_oracle.interval(rows, lambda held: plain(by_unit(held)))
        if isinstance(expected, str):
            assert (row["ci_low"], row["ci_high"], row["reason"]) == (None, None, expected)
        else:
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(np.clip(expected, least, 1), abs=1e-9)


@pytest.mark.parametrize("kind", ["alpha", "ac2"])
def test_intervals_of_ratings_leave_out_raters_and_attributes(kind: str) -> None:
    frame = ratings(Study(1.0, 5, 7), np.random.default_rng(4))
    weights = weight_matrix((1, 2, 3, 4, 5), "quadratic").tolist()
    compute, plain = {
        "alpha": (
            partial(krippendorff_alpha, level="ordinal", unsure="middle"),
            lambda rated: _number(oracles.krippendorff_alpha(rated, "ordinal")),
        ),
        "ac2": (
            partial(gwet_ac, kind="ac2", unsure="middle"),
            lambda rated: oracles.coefficient([[v - 1 for v in u] for u in rated], weights, "ac"),
        ),
    }[kind]
    result = compute(frame, resamples=1)
    rows = [
        {
            "unit": r.attribute,
            "image": r.attribute,
            "stratum": "",
            "annotator": r.annotator,
            "value": r.rating,
        }
        for r in frame.itertuples()
    ]
    expected = jackknife_oracle.interval(rows, lambda held: plain(by_unit(held)))
    row = result.rows()[0]
    # AC2 is least where nobody agrees and chance would agree most: five points equally frequent, −p / (1 − p).
    by_chance = np.mean(weights)
    least = {"alpha": -1, "ac2": -by_chance / (1 - by_chance)}[kind]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(np.clip(expected, least, 1), abs=1e-9)
    assert row["resampled"] == "annotators and attributes"


def test_intervals_of_boxes_leave_out_drawers_and_images() -> None:
    generator = np.random.default_rng(3)
    frame = pd.concat(
        [boxes(Study(0.1, 5, 6, 3), generator).assign(attribute=name) for name in ("hat", "drum")]
    ).reset_index(drop=True)
    frame["judgement"] = np.arange(len(frame))
    twice = frame.sample(12, random_state=1)  # second boxes of some drawings
    frame = pd.concat([frame, twice.assign(x0=0.0, y0=0.0)], ignore_index=True)
    rows = [
        {
            "unit": (r.image, r.attribute),
            "image": r.image,
            "stratum": "",
            "annotator": r.annotator,
            "row": r.Index,
        }
        for r in frame.itertuples()
    ]

    @cache
    def values(held: tuple[int, ...]) -> dict[str, float | None]:
        found = box_agreement(frame.loc[list(held)], resamples=0).rows()
        return {row["measure"]: row["value"] for row in found}

    for row in box_agreement(frame, resamples=1).rows():
        name = row["measure"]
        least = -np.inf if name == "box_alpha" else 0
        most = np.inf if name == "box_number_difference" else 1
        expected = jackknife_oracle.interval(
            rows, lambda held, name=name: values(tuple(r["row"] for r in held))[name]
        )
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(np.clip(expected, least, most), abs=1e-9)
        assert row["resampled"] == "annotators and images"


# 8 annotators × 600 images: α of new studies varies with an sd about three times that of new images alone.
def test_intervals_are_as_wide_as_alpha_varies_between_studies() -> None:
    generator = np.random.default_rng(0)
    values = [krippendorff_alpha(marks(EIGHT, generator), resamples=0).rows()[0]["value"] for _ in range(60)]
    found = [krippendorff_alpha(marks(EIGHT, generator), resamples=1).rows()[0] for _ in range(15)]
    half = np.mean([(row["ci_high"] - row["ci_low"]) / 2 for row in found])
    assert 1.8 < half / np.std(values, ddof=1) < 4


# An interval over images alone covers 0.6 here. The seeds are fixed, so the outcome is too.
def test_intervals_of_few_annotators_cover_the_population_value() -> None:
    assert coverage("alpha", EIGHT, 40)["nominal"] >= 0.9


def test_truth_is_that_of_a_large_study() -> None:
    large = marks(Study(1.2, 400, 2_000), np.random.default_rng(1))
    truth = truth_of_marks(1.2)
    for name, measure in (
        ("nominal", krippendorff_alpha),
        ("ac1", gwet_ac),
        ("observed", observed_agreement),
    ):
        assert measure(large, resamples=0).rows()[0]["value"] == pytest.approx(truth[name], abs=0.02)


def ends(frame: pd.DataFrame, measure=krippendorff_alpha) -> list[float]:
    row = measure(frame, resamples=1).rows()[0]
    return [row["ci_low"], row["ci_high"]]


@pytest.mark.parametrize("measure", [krippendorff_alpha, gwet_ac, fleiss_kappa, observed_agreement])
def test_intervals_do_not_depend_on_names_or_order(measure) -> None:
    frame = study(5)
    expected = ends(frame, measure)
    names = {f"p{p}": f"q{(p * 5 + 2) % 6}" for p in range(6)}
    assert ends(frame.assign(annotator=frame["annotator"].map(names)), measure) == pytest.approx(expected)
    assert ends(frame.sample(frac=1, random_state=2), measure) == pytest.approx(expected)
    assert ends(frame.assign(present=1 - frame["present"]), measure) == pytest.approx(expected)
    assert ends(frame.assign(image="x" + frame["image"]), measure) == pytest.approx(expected)


def test_results_name_the_method_and_what_was_resampled() -> None:
    result = krippendorff_alpha(study(0), resamples=1)
    assert (
        result.method == "krippendorff_alpha_nominal; two-way jackknife of annotators and images, t quantile"
    )
    assert result.notes["resampled"] == ["annotators", "images"]
    assert result.rows()[0]["resampled"] == "annotators and images"
    without = krippendorff_alpha(study(0), resamples=0)
    assert (without.method, without.rows()[0]["resampled"]) == ("krippendorff_alpha_nominal", None)


@pytest.mark.parametrize("measure", [krippendorff_alpha, gwet_ac, fleiss_kappa, observed_agreement])
def test_screens_in_place_of_people_leave_images_alone(measure) -> None:
    frame = study(0)
    screens = frame.assign(annotator=frame["annotator"] + frame["image"], campaign="one")
    found = measure(screens, resamples=80, seed=3)
    chosen = measure(frame, resampling=pigeonhole_bootstrap(frame, resamples=80, seed=3, annotators="ignore"))
    for result in (found, chosen):
        assert result.notes["resampled"] == ["images"]
        assert result.method.endswith("; bootstrap of images, percentile")
        assert result.rows()[0]["resampled"] == "images"
    columns = ["value", "ci_low", "ci_high", "reason"]
    pd.testing.assert_frame_equal(found.to_frame()[columns], chosen.to_frame()[columns])


def test_screens_that_drew_boxes_leave_images_alone() -> None:
    frame = boxes(Study(0.05, 5, 8, 3), np.random.default_rng(0))
    screens = frame.assign(annotator=frame["annotator"] * 100 + frame["image"])
    found = box_agreement(screens, resamples=60, seed=1)
    chosen = box_agreement(frame, resamples=60, seed=1, annotators="ignore")
    assert found.notes["resampled"] == chosen.notes["resampled"] == ["images"]
    assert found.method == "Hungarian matching on IoU; bootstrap of images, percentile"
    columns = ["measure", "value", "ci_low", "ci_high", "reason"]
    pd.testing.assert_frame_equal(found.to_frame()[columns], chosen.to_frame()[columns])


def test_counts_without_annotators_resample_units() -> None:
    result = krippendorff_alpha(np.array([[2, 0], [1, 1], [0, 2], [2, 0], [0, 3]] * 6), resamples=100)
    assert result.notes["resampled"] == ["units"]
    assert result.rows()[0]["ci_low"] is not None


@pytest.mark.parametrize("measure", [krippendorff_alpha, gwet_ac, fleiss_kappa, observed_agreement])
def test_two_annotators_have_no_interval(measure) -> None:
    row = measure(marks(Study(0.4, 2, 60), np.random.default_rng(0))).rows()[0]
    assert row["value"] is not None
    assert (row["ci_low"], row["ci_high"], row["reason"]) == (None, None, "too_few_annotators")


def test_annotators_whose_answers_nobody_shares_do_not_count() -> None:
    frame = marks(Study(0.4, 2, 60), np.random.default_rng(0))
    alone = frame[frame["annotator"] == 0].assign(annotator=9, image=lambda f: f["image"] + 1_000)
    row = krippendorff_alpha(pd.concat([frame, alone])).rows()[0]
    assert (row["annotators"], row["reason"]) == (3, "too_few_annotators")


def test_too_few_drawers_have_no_interval() -> None:
    rows = box_agreement(boxes(Study(0.05, 2, 20), np.random.default_rng(0))).rows()
    assert {(row["ci_low"], row["reason"]) for row in rows} == {(None, "too_few_annotators")}


def test_all_ratings_equal_have_no_alpha_and_no_interval() -> None:
    row = krippendorff_alpha(study(0).assign(present=1)).rows()[0]
    assert (row["value"], row["ci_low"], row["ci_high"], row["reason"]) == (None, None, None, "no_variation")


def test_observed_agreement_without_any_disagreement_has_no_width() -> None:
    row = observed_agreement(study(0).assign(present=1)).rows()[0]
    assert (row["value"], row["ci_low"], row["reason"]) == (1, None, "zero_width")


def test_alpha_that_rests_on_one_image_has_no_interval() -> None:
    frame = study(0)
    only = frame.assign(present=(frame["image"] == "Aru0") & (frame["annotator"] < "p3"))
    row = krippendorff_alpha(only.astype({"present": int})).rows()[0]
    assert (row["ci_low"], row["reason"]) == (None, "too_sparse")
    assert row["resamples_undefined"] == 1


def crossed(value: list[object], once: list[object], columns: list[str]) -> pd.DataFrame:
    """Twelve units on which two of three people disagree, and units that one person alone rated."""
    twice = [(f"u{u}", f"p{(u + p) % 3}", value[p]) for u in range(12) for p in range(2)]
    alone = [(f"s{u}", f"p{u % 3}", one) for u, one in enumerate(once)]
    return pd.DataFrame(twice + alone, columns=columns)


@pytest.mark.parametrize("weights", ["quadratic", "linear", "ordinal"])
def test_the_interval_of_ac2_holds_a_value_below_minus_one(weights):
    rated = crossed([1, 5], [2, 4] * 6, ["attribute", "annotator", "rating"])
    (row,) = gwet_ac(rated, kind="ac2", weights=weights, resamples=10).rows()
    assert row["value"] < -1
    assert row["ci_low"] <= row["value"] <= row["ci_high"]


def test_the_interval_of_kappa_holds_a_value_far_below_minus_one():
    marked = crossed([True, False], [False] * 90, ["image", "annotator", "present"])
    (row,) = fleiss_kappa(marked.assign(identity_group="Aru", attribute="hat"), resamples=10).rows()
    assert row["value"] < -3
    assert row["ci_low"] <= row["value"] <= row["ci_high"]
