"""O(g)."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import offensiveness, pigeonhole_bootstrap
from tests.analysis.metrics import oracles
from tests.analysis.metrics.tables import judgement_tables, judgements, marks

COLUMNS = ["identity_group", "attribute", "role", "offensiveness_stored", "rating_1", "rating_2", "rating_3"]
NO = float("nan")


def associations(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=COLUMNS)


LISTED = associations(
    ("Aru", "hat", "stereotype", 2.0, 1, 2, 3),
    ("Aru", "drum", "stereotype", -1.0, -1, -1, -1),
    ("Aru", "flute", "stereotype", 0.0, NO, NO, NO),
    ("Aru", "boat", "random", 4.0, 4, 4, 4),
)
FRAME = judgements(
    *marks("Aru", "hat", 12, 6),
    *marks("Aru", "drum", 12, 3),
    *marks("Aru", "flute", 12, 3),
    *marks("Aru", "boat", 12, 9),
)


@pytest.mark.parametrize(
    ("source", "not_offensive", "mean"),
    # O(hat) = 2, O(drum) = −1 or 0, O(flute) unrated (stored 0, no rating), boat is no stereotype
    [("stored", -1, 0.5), ("stored", 0, 1.0), ("ratings", -1, 0.5), ("ratings", 0, 1.0)],
)
def test_offensiveness_weighs_marked_stereotypes_by_how_often_they_show(
    source: str, not_offensive: int, mean: float
) -> None:
    # L(stereo) = (6 + 3 + 3)/36 = 1/3
    row = offensiveness(FRAME, LISTED, source=source, not_offensive=not_offensive, resamples=50).rows()[0]
    assert row["offensiveness_unscaled"] == pytest.approx(mean)
    assert row["offensiveness"] == pytest.approx(mean / 3)
    assert (row["marked_stereotypes"], row["unrated_stereotypes"]) == (3, 1)


def test_single_not_offensive_rating_becomes_zero_only_where_ratings_are_the_source() -> None:
    # Ratings −1, 2, 2: mean 1 as they are, 4/3 with 0 for −1. The stored mean 1 is not −1 and stays.
    listed = associations(("Aru", "hat", "stereotype", 1.0, -1, 2, 2))
    frame = judgements(*marks("Aru", "hat", 6, 6))
    by = {
        s: offensiveness(frame, listed, source=s, not_offensive=0, resamples=20).rows()[0]
        for s in ("stored", "ratings")
    }
    assert by["stored"]["offensiveness_unscaled"] == 1
    assert by["ratings"]["offensiveness_unscaled"] == pytest.approx(4 / 3)


def test_stored_mean_between_minus_one_and_zero_stays() -> None:
    # Ratings −1, −1, 1: the stored mean −1/3 is no −1; from the ratings it is (0 + 0 + 1)/3.
    listed = associations(("Aru", "hat", "stereotype", -1 / 3, -1, -1, 1))
    frame = judgements(*marks("Aru", "hat", 6, 6))
    for source, mean in (("stored", -1 / 3), ("ratings", 1 / 3)):
        row = offensiveness(frame, listed, source=source, not_offensive=0, resamples=20).rows()[0]
        assert row["offensiveness_unscaled"] == pytest.approx(mean)


def test_rows_whose_stored_mean_is_not_that_of_their_ratings_are_counted() -> None:
    listed = associations(
        ("Aru", "hat", "stereotype", 2.5, 1, 2, 3), ("Aru", "drum", "stereotype", 2.0, 1, 2, 3)
    )
    assert offensiveness(FRAME, listed, resamples=20).notes["disagreeing_rows"] == 1


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (marks("Aru", "boat", 6, 2), "not_shown"),
        (marks("Aru", "hat", 6, 0), "none_marked"),
        (marks("Aru", "flute", 6, 2), "not_rated"),
    ],
)
def test_offensiveness_is_null_with_its_reason(rows: list[tuple], reason: str) -> None:
    row = offensiveness(judgements(*rows), LISTED, resamples=20).rows()[0]
    assert (row["offensiveness"], row["reason"]) == (None, reason)


def test_normalised_runs_from_zero_to_one_and_is_null_when_all_are_equal() -> None:
    listed = associations(
        *[(g, "hat", "stereotype", o, o, o, o) for g, o in (("Aru", 1.0), ("Bel", 2.0), ("Cir", 4.0))]
    )
    frame = judgements(*[row for g in ("Aru", "Bel", "Cir") for row in marks(g, "hat", 6, 3)])
    # O = 0.5, 1, 2 → (O − 0.5)/1.5
    rows = offensiveness(frame, listed, resamples=20).rows()
    assert [r["offensiveness_normalised"] for r in rows] == pytest.approx([0, 1 / 3, 1])
    same = offensiveness(frame, listed.assign(offensiveness_stored=1.0), resamples=20).rows()
    assert [(r["offensiveness_normalised"], r["normalised_reason"]) for r in same] == [(None, "constant")] * 3


def test_association_listed_twice_differently_is_refused() -> None:
    twice = associations(
        ("Aru", "hat", "stereotype", 1.0, 1, 1, 1), ("Aru", "hat", "stereotype", 2.0, 2, 2, 2)
    )
    with pytest.raises(ValueError, match=r"associations: \('Aru', 'hat'\) is listed twice"):
        offensiveness(FRAME, twice)


@settings(max_examples=20, deadline=None)
@given(
    judgement_tables(people=True), st.lists(st.sampled_from([None, -1.0, 1.0, 2.5]), min_size=12, max_size=12)
)
def test_offensiveness_and_its_interval_equal_resamples_taken_one_by_one(
    frame: pd.DataFrame, scores: list[float | None]
) -> None:
    pairs = [(g, a) for g in ("Aru", "Bel", "Cir") for a in ("hat", "drum", "boat", "kite")]
    score = {pair: s for pair, s in zip(pairs, scores, strict=True) if s is not None}
    listed = associations(
        *[
            (*p, "stereotype" if i % 3 else "random", score.get(p, 0.0), *[score.get(p, NO)] * 3)
            for i, p in enumerate(pairs)
        ]
    )
    shared = pigeonhole_bootstrap(frame, resamples=60, seed=2)
    data = shared.judgements
    images = [(data.group_names[g], name) for g, name in zip(data.image_group, data.image_names, strict=True)]
    kinds = oracles.stereotypes(listed)

    def by_hand(counts: dict) -> dict[str, float | None]:
        means = oracles.role_means(counts, listed)
        result: dict[str, float | None] = {}
        for (_, group), (stereo, _) in means.items():
            marked = [
                score[(g, a)]
                for (_, g, a), (_, k) in counts.items()
                if g == group and k > 0 and (g, a) in kinds and (g, a) in score
            ]
            result[group] = stereo * sum(marked) / len(marked) if marked and stereo is not None else None
        return result

    point = by_hand(oracles.cell_counts(frame))
    draws: dict[str, list[float | None]] = {group: [] for group in point}
    for b in range(60):
        annotators = (
            dict(zip(data.annotator_names, map(float, shared.annotator_weights[:, b]), strict=True))
            if shared.annotators_resampled
            else None
        )
        weights = dict(zip(images, map(float, shared.image_weights[:, b]), strict=True))
        for group, value in by_hand(oracles.cell_counts(frame, weights, annotators)).items():
            draws[group].append(value)
    for row in offensiveness(frame, listed, resampling=shared).rows():
        group = row["identity_group"]
        assert row["offensiveness"] == (None if point[group] is None else pytest.approx(point[group]))
        if row["ci_low"] is not None:
            kept = [v for v in draws[group] if v is not None]
            assert row["ci_low"] == pytest.approx(oracles.quantile(kept, 0.025), rel=1e-5, abs=1e-9)
            assert row["ci_high"] == pytest.approx(oracles.quantile(kept, 0.975), rel=1e-5, abs=1e-9)
        elif point[group] is not None:
            kept = [v for v in draws[group] if v is not None]
            zero = bool(kept) and np.isclose(oracles.quantile(kept, 0.025), oracles.quantile(kept, 0.975))
            assert row["reason"] == "too_sparse" or (row["reason"] == "zero_width" and zero)
