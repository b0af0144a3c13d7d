"""Agreement of points, compared with all pairs one by one and with small tables by hand."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import point_agreement
from tests.analysis.metrics.agreement.jackknife_oracle import interval

pytestmark = pytest.mark.database_free

ANY, SHARE = "points_any_near", "points_share_near"


def drawn(images: int, annotators: int, each: int, seed: int) -> pd.DataFrame:
    """On every image some annotators place one to three points around one of two places."""
    generator = np.random.default_rng(seed)
    rows = []
    for image in range(images):
        centres = generator.uniform(0.1, 0.9, (2, 2))
        for annotator in generator.choice(annotators, each, replace=False):
            for _ in range(generator.integers(1, 4)):
                x, y = np.clip(centres[generator.integers(2)] + generator.normal(0, 0.03, 2), 0, 1)
                rows.append((f"i{image}", f"p{annotator}", x, y))
    frame = pd.DataFrame(rows, columns=["image", "annotator", "x", "y"])
    return frame.assign(width=640, height=480)


def pair_by_pair(rows: Sequence[dict[str, Any]], measure: str, within: float) -> float | None:
    """Compute the definition with loops."""
    units: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        person = units.setdefault(row["image"], {}).setdefault(row["annotator"], [])
        person.append((row["x"] * row["width"], row["y"] * row["height"]))
    reach = within * np.hypot(640, 480)
    means = []
    for drawings in units.values():
        values = []
        for one, other in combinations(drawings.values(), 2):
            near = np.array([[np.hypot(a[0] - b[0], a[1] - b[1]) <= reach for b in other] for a in one])
            matched = near.any(axis=1).sum() + near.any(axis=0).sum()
            values.append(near.any() if measure == ANY else matched / (len(one) + len(other)))
        if values:
            means.append(np.mean(values))
    return float(np.mean(means)) if means else None


def values(table: pd.DataFrame, **options: Any) -> dict[str, float]:
    result = point_agreement(table, **options).table
    return dict(zip(result["measure"], result["value"], strict=True))


@settings(max_examples=25, deadline=None)
@given(images=st.integers(1, 8), each=st.integers(2, 5), within=st.floats(0, 0.3), seed=st.integers(0, 999))
def test_agreement_is_that_of_all_pairs_one_by_one(images, each, within, seed):
    table = drawn(images, 6, each, seed)
    rows = table.to_dict("records")
    expected = {measure: pair_by_pair(rows, measure, within) for measure in (ANY, SHARE)}
    assert values(table, within=within) == pytest.approx(expected, abs=1e-12)


def test_distance_is_a_share_of_the_diagonal():
    # 300 × 400 pixels: the diagonal is 500. 0.1 of the width is 30 pixels, 0.1 of the height 40.
    table = pd.DataFrame({"image": "i", "annotator": ["p", "q"], "x": [0.5, 0.6], "y": [0.5, 0.6]})
    table = table.assign(width=300, height=400)
    assert values(table, within=0.1) == {ANY: 1, SHARE: 1}
    assert values(table, within=0.0999) == {ANY: 0, SHARE: 0}


def test_points_of_both_count_toward_the_share():
    # p has three points, of which one is near the only one of q: (1 + 1) / (3 + 1).
    table = pd.DataFrame(
        {"image": "i", "annotator": ["p", "p", "p", "q"], "x": [0.1, 0.5, 0.9, 0.11], "y": 0.5}
    )
    assert values(table.assign(width=100, height=100)) == {ANY: 1, SHARE: 0.5}


def test_attributes_and_models_are_apart():
    table = drawn(4, 5, 3, 0)
    twice = pd.concat([table.assign(model="a"), drawn(4, 5, 3, 1).assign(model="b")])
    result = point_agreement(twice).table
    assert result[result["model"] == "a"]["value"].tolist() == list(values(table).values())
    apart = pd.DataFrame(
        {"image": "i", "annotator": ["p", "q"], "attribute": ["hat", "drum"], "x": 0.5, "y": 0.5}
    )
    result = point_agreement(apart.assign(width=100, height=100))
    assert result.table["reason"].tolist() == ["no_unit_pointed_twice"] * 2
    assert result.dropped == {"outside_image": 0, "pointed_by_one": 2}


def test_points_outside_the_image_are_left_out_and_counted():
    table = drawn(5, 5, 3, 2)
    beside = table.iloc[:1].assign(x=1.2)
    result = point_agreement(pd.concat([table, beside]))
    assert result.dropped["outside_image"] == 1
    assert result.table["value"].tolist() == list(values(table).values())


@pytest.mark.parametrize("measure", [ANY, SHARE])
def test_the_interval_leaves_out_annotators_and_images_in_turn(measure):
    table = drawn(25, 8, 4, 6)
    result = point_agreement(table).table.set_index("measure").loc[measure]
    rows = table.assign(unit=table["image"], stratum="").to_dict("records")
    # The oracle counts annotators by rows of a unit: every unit here has several.
    expected = interval(rows, lambda kept: pair_by_pair(kept, measure, 0.05))
    assert [result["ci_low"], result["ci_high"]] == pytest.approx(np.clip(expected, 0, 1), abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 0}, "column 'width' must be above 0, got 0"),
        ({"x": "left"}, "column 'x' must contain numbers, got 'left'"),
        ({"annotator": None}, "column 'annotator' is empty"),
    ],
)
def test_wrong_rows_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        point_agreement(drawn(2, 3, 2, 0).assign(**changes))


def test_a_distance_beyond_the_diagonal_is_refused():
    with pytest.raises(ValueError, match="within: expected a number between 0 and 1, got 5"):
        point_agreement(drawn(2, 3, 2, 0), within=5)
