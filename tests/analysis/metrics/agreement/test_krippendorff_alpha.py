"""Krippendorff's α, beside the package, exact arithmetic, and the published worked example."""

import krippendorff as package
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from analysis.metrics import krippendorff_alpha, krippendorff_alpha_sets, pigeonhole_bootstrap
from analysis.metrics.agreement.krippendorff_alpha import measure
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import judgement_tables, judgements, value_counts

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", example C: 12 units, 4 observers, values
# 1–5.
PUBLISHED = np.array(
    [
        [3, 0, 0, 0, 0], [0, 3, 1, 0, 0], [0, 0, 4, 0, 0], [0, 0, 4, 0, 0], [0, 4, 0, 0, 0], [1, 1, 1, 1, 0],
        [0, 0, 0, 4, 0], [3, 1, 0, 0, 0], [0, 4, 0, 0, 0], [0, 0, 0, 0, 3], [2, 0, 0, 0, 0], [0, 0, 1, 0, 0],
    ]
)  # fmt: skip


def value(table: np.ndarray, level: str) -> float | None:
    return krippendorff_alpha(table, level=level, resamples=0).rows()[0]["value"]


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(level: str, alpha: float) -> None:
    assert value(PUBLISHED, level) == pytest.approx(alpha, abs=6e-4)


def test_alpha_by_hand() -> None:
    # Units (2,0) (1,1) (0,2): o_01 = 1·1/(2−1) = 1 each way, n = (3, 3), N = 6.
    # α = 1 − (N − 1)·o_01/(n_0·n_1) = 1 − 5·1/9 = 4/9
    assert value(np.array([[2, 0], [1, 1], [0, 2]]), "nominal") == pytest.approx(4 / 9, abs=1e-15)


def test_interval_alpha_by_hand() -> None:
    # Units (1, 3), (3, 3), (1, 2), values 1 to 3: squared differences 4, 0, 1; D_o = (2·4 + 0 + 2·1)/6 = 10/6.
    # Of the six ratings 1, 3, 3, 3, 1, 2 all ordered pairs: 1–3: 2·2·3·4 = 48, 1–2: 2·2·1·1 = 4,
    # 2–3: 2·1·3·1 = 6; D_e = 58/30. α = 1 − (10/6)/(58/30) = 8/58.
    assert value(np.array([[1, 0, 1], [0, 0, 2], [1, 1, 0]]), "interval") == pytest.approx(8 / 58, abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(value_counts(4, most=4))
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_equals_exact_pairs_and_the_package(level: str, counts: list[list[int]]) -> None:
    table = np.array(counts)
    exact = oracles.krippendorff_alpha(oracles.ratings(counts), level)
    ours = value(table, level)
    assert ours == (None if exact is None else pytest.approx(float(exact), abs=1e-12))
    if exact is not None:
        theirs = package.alpha(value_counts=table, value_domain=np.arange(4), level_of_measurement=level)
        assert ours == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(value_counts(3))
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_coincidence_counts_of_the_resampling_path_equal_the_package(
    level: str, counts: list[list[int]]
) -> None:
    table = np.array(counts)
    path = measure(level, (0, 1, 2))
    ours = path.value(path.features(table.astype(float)).sum(axis=0)[:, None])[0]
    if np.isnan(ours):
        assert oracles.krippendorff_alpha(oracles.ratings(counts), level) is None
    else:
        theirs = package.alpha(value_counts=table, value_domain=np.arange(3), level_of_measurement=level)
        assert ours == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(judgement_tables())
@pytest.mark.parametrize("by", ["all", "identity_group", "attribute"])
def test_each_scope_and_its_interval_equal_repeating_images_one_by_one(by: str, frame: pd.DataFrame) -> None:
    shared = pigeonhole_bootstrap(frame, resamples=50, seed=5, annotators="ignore")
    data = shared.judgements
    images = [(data.group_names[g], name) for g, name in zip(data.image_group, data.image_names, strict=True)]
    units = oracles.units(frame)
    scoped = {"all": lambda k: "", "identity_group": lambda k: k[1], "attribute": lambda k: k[3]}[by]
    for row in krippendorff_alpha(frame, by=by, resampling=shared).rows():
        mine = {k: v for k, v in units.items() if scoped(k) == row["scope_value"]}
        exact = oracles.krippendorff_alpha(list(mine.values()), "nominal")
        assert row["value"] == (None if exact is None else pytest.approx(float(exact), abs=1e-12))
        assert row["units"] == len(mine)
        assert row["judgements"] == sum(map(len, mine.values()))
        if exact is None:
            assert row["reason"] == (
                "no_variation" if any(len(v) > 1 for v in mine.values()) else "no_unit_rated_twice"
            )
            continue
        draws = []
        for b in range(50):
            times = dict(zip(images, shared.image_weights[:, b], strict=True))
            drawn = [v for k, v in mine.items() for _ in range(times[(k[1], k[2])])]
            draws.append(oracles.krippendorff_alpha(drawn, "nominal"))
        kept = [float(v) for v in draws if v is not None]
        assert row["resamples_undefined"] == 50 - len(kept)
        if row["ci_low"] is not None:
            assert row["ci_low"] == pytest.approx(oracles.quantile(kept, 0.025), abs=1e-9)
            assert row["ci_high"] == pytest.approx(oracles.quantile(kept, 0.975), abs=1e-9)
        else:
            assert row["reason"] in ("too_sparse", "zero_width")
            assert (len(kept) < 47.5) == (row["reason"] == "too_sparse")


LIKERT = pd.DataFrame(
    [
        ("hat", "p", 5), ("hat", "q", 4), ("hat", "r", 5),
        ("drum", "p", 3), ("drum", "q", 2), ("drum", "r", 2),
        ("kind", "p", 1), ("kind", "q", 3), ("kind", "r", 1),
    ],
    columns=["attribute", "annotator", "rating"],
)  # fmt: skip


@pytest.mark.parametrize(
    ("unsure", "level", "domain"),
    [
        ("missing", "ordinal", [1, 2, 4, 5]),
        ("middle", "ordinal", [1, 2, 3, 4, 5]),
        ("category", "nominal", [1, 2, 3, 4, 5]),
        ("missing", "interval", [1, 2, 4, 5]),
        ("middle", "interval", [1, 2, 3, 4, 5]),
    ],
)
def test_unsure_may_be_missing_the_middle_or_a_category(unsure: str, level: str, domain: list[int]) -> None:
    rated = LIKERT.groupby("attribute")["rating"]
    counts = [[sum(ratings == v) for v in domain] for _, ratings in rated]
    theirs = package.alpha(value_counts=np.array(counts), value_domain=domain, level_of_measurement=level)
    row = krippendorff_alpha(LIKERT, unsure=unsure, level=level, resamples=100).rows()[0]
    assert row["value"] == pytest.approx(theirs, abs=1e-12)
    assert (row["units"], row["annotators"]) == (3, 3)


def test_several_answers_of_one_id_all_count() -> None:
    # One id answers yes, no, yes about one unit; another id answers no twice about a second: (1,2) and (2,0).
    frame = judgements(("i", "Aru", "hat", "p", 1), ("i", "Aru", "hat", "p", 0), ("i", "Aru", "hat", "p", 1),
                       ("j", "Aru", "hat", "q", 0), ("j", "Aru", "hat", "q", 0))  # fmt: skip
    row = krippendorff_alpha(frame, resamples=0).rows()[0]
    assert row["value"] == pytest.approx(value(np.array([[1, 2], [2, 0]]), "nominal"))
    assert row["annotators"] is None  # such ids are not people
    assert row["judgements"] == 5


def test_unsure_as_category_has_no_order() -> None:
    with pytest.raises(ValueError, match="unsure: 'category'"):
        krippendorff_alpha(LIKERT, unsure="category", level="ordinal")


def test_rating_outside_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="ratings: rating must be a whole number from 1 to 5, got 6"):
        krippendorff_alpha(LIKERT.assign(rating=[5, 4, 5, 3, 2, 6, 1, 3, 1]))


def coded(seed: int, codes: tuple[object, ...]) -> pd.DataFrame:
    """Answers of six people about twenty images, mostly equal to the first person's."""
    generator = np.random.default_rng(seed)
    rows = [
        (f"i{image}", f"p{person}", codes[(truth + (generator.random() < 0.4)) % len(codes)])
        for image, truth in enumerate(generator.integers(0, len(codes), 20))
        for person in generator.choice(6, 3, replace=False)
    ]
    return pd.DataFrame(rows, columns=["image", "annotator", "code"])


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_coded_answers_are_a_likert_table_by_another_name(level: str) -> None:
    answers = coded(1, (1, 2, 4, 5))
    likert = answers.rename(columns={"image": "attribute", "code": "rating"})
    columns = ["value", "ci_low", "ci_high", "units", "annotators"]
    ours = krippendorff_alpha(answers, level=level).table
    pd.testing.assert_frame_equal(ours[columns], krippendorff_alpha(likert, level=level).table[columns])
    assert ours["resampled"].iloc[0] == "annotators and images"


def test_names_are_as_far_apart_as_sets_of_one() -> None:
    answers = coded(2, ("both", "first", "neither"))
    sets = answers.assign(labels=[[code] for code in answers["code"]])
    columns = ["value", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(
        krippendorff_alpha(answers).table[columns],
        krippendorff_alpha_sets(sets).table[columns],
        rtol=1e-9,
    )
    with pytest.raises(ValueError, match="codes must be numbers for level='ordinal', got 'both'"):
        krippendorff_alpha(answers, level="ordinal")
