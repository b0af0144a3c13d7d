"""Boxes: same place, how many, and one box for display."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import box_agreement, consensus_boxes
from analysis.metrics.boxes.geometry import boxes_of, distances
from analysis.metrics.data.arrays import pairs_within
from tests.analysis.metrics import oracles

COLUMNS = ["image", "attribute", "annotator", "judgement", "x0", "y0", "x1", "y1"]


def boxes(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=COLUMNS)


def values(frame: pd.DataFrame, **options) -> dict[str, float | None]:
    return {r["measure"]: r["value"] for r in box_agreement(frame, resamples=0, **options).rows()}


# In image i two annotators overlap by half of each: IoU = 0.5/1.5 = 1/3. In image j they agree exactly.
TWO_IMAGES = boxes(
    ("i", "hat", "p", 1, 0.0, 0.0, 0.4, 1.0),
    ("i", "hat", "q", 2, 0.2, 0.0, 0.6, 1.0),
    ("j", "hat", "p", 3, 0.6, 0.0, 1.0, 1.0),
    ("j", "hat", "q", 4, 0.6, 0.0, 1.0, 1.0),
)


def test_agreement_of_place_by_hand() -> None:
    # Mean IoU (1/3 + 1)/2 = 2/3, distances 2/3 and 0.
    # D_o: 2·(2/3) + 2·0 = 4/3 over 4 drawings = 1/3. Across images: p1–p3, p1–q4: apart, distance 1;
    # q2 (0.2–0.6) touches 0.6: distance 1. D_e = 1. α = 1 − (1/3)/1 = 2/3.
    result = values(TWO_IMAGES)
    assert result["box_mean_iou"] == pytest.approx(2 / 3)
    assert result["box_iou_above_0.25"] == 1
    assert result["box_iou_above_0.5"] == 0.5
    assert result["box_observed_distance"] == pytest.approx(1 / 3)
    assert result["box_expected_distance"] == pytest.approx(1)
    assert result["box_alpha"] == pytest.approx(2 / 3)


def test_corners_in_any_order_and_outside_the_image_are_corrected() -> None:
    moved = TWO_IMAGES.copy()
    moved.loc[0, ["x0", "x1", "y0", "y1"]] = [0.4, -0.3, 1.0, 0.0]
    assert values(moved) == pytest.approx(values(TWO_IMAGES))
    assert box_agreement(moved, resamples=0).notes["clipped_share"] == 0.25


def test_unmatched_box_is_at_distance_one() -> None:
    # p drew one box, q the same and another: (0 + 1)/max(1, 2) = 0.5
    frame = boxes(
        ("i", "hat", "p", 1, 0.0, 0.0, 0.5, 0.5),
        ("i", "hat", "q", 2, 0.0, 0.0, 0.5, 0.5),
        ("i", "hat", "q", 2, 0.6, 0.6, 0.9, 0.9),
    )
    result = values(frame)
    assert result["box_mean_iou"] == pytest.approx(0.5)
    assert result["box_same_number"] == 0
    assert result["box_number_difference"] == 1


def test_one_image_has_no_expected_distance() -> None:
    rows = {r["measure"]: r for r in box_agreement(TWO_IMAGES[:2], resamples=20).rows()}
    assert (rows["box_alpha"]["value"], rows["box_alpha"]["reason"]) == (None, "one_image")
    assert rows["box_mean_iou"]["value"] == pytest.approx(1 / 3)
    assert box_agreement(TWO_IMAGES[:2], resamples=0).dropped["attribute_on_one_image"] == 1


def test_nothing_boxed_twice_is_null() -> None:
    rows = box_agreement(TWO_IMAGES[::2], resamples=20).rows()
    assert {(r["value"], r["reason"]) for r in rows} == {(None, "no_unit_boxed_twice")}


def test_box_without_area_is_left_out_and_counted() -> None:
    more = pd.concat([TWO_IMAGES, boxes(("i", "hat", "r", 5, 1.2, 0.1, 1.5, 0.4))])
    result = box_agreement(more, resamples=0)
    assert result.dropped["box_without_area"] == 1
    assert result.rows()[0]["value"] == pytest.approx(2 / 3)


def test_judgement_with_boxes_of_two_images_is_refused() -> None:
    with pytest.raises(ValueError, match="boxes: judgement 1 has boxes of more than one image"):
        box_agreement(TWO_IMAGES.assign(judgement=1))


def test_distribution_weighs_units_equally() -> None:
    table = box_agreement(TWO_IMAGES, resamples=0).distribution
    shares = dict(zip(table["iou_to"].round(1).tolist(), table["share"].tolist(), strict=True))
    assert shares[0.4] == 0.5  # IoU 1/3
    assert shares[1.0] == 0.5
    assert sum(shares.values()) == pytest.approx(1)


corner = st.integers(0, 6).map(lambda n: n / 6)
drawn = st.lists(
    st.tuples(corner, corner, corner, corner).filter(lambda b: b[0] != b[2] and b[1] != b[3]),
    min_size=1,
    max_size=3,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["hat", "drum"]), drawn), min_size=2, max_size=8)
)
def test_measures_equal_matching_every_way_by_hand(drawings: list[tuple]) -> None:
    rows = [(i, a, f"p{j}", j, *box) for j, (i, a, some) in enumerate(drawings) for box in some]
    frame = boxes(*rows)
    sorted_boxes = {
        j: [(min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])) for b in some]
        for j, (_, _, some) in enumerate(drawings)
    }
    data = boxes_of(frame)
    left, right = pairs_within(data.drawing_unit)
    for distance, a, b in zip(distances(data, left, right), left, right, strict=True):
        ja, jb = data.drawing_judgement[a], data.drawing_judgement[b]
        assert drawings[ja][:2] == drawings[jb][:2]
        assert distance == pytest.approx(oracles.box_distance(sorted_boxes[ja], sorted_boxes[jb]), abs=1e-12)

    units: dict[tuple, list[int]] = {}
    for j, (image, attribute, _) in enumerate(drawings):
        units.setdefault((attribute, image), []).append(j)
    paired = {u: js for u, js in units.items() if len(js) > 1}
    means = {
        u: np.mean([oracles.box_distance(sorted_boxes[x], sorted_boxes[y]) for x in js for y in js if x < y])
        for u, js in paired.items()
    }
    result = values(frame)
    assert result["box_mean_iou"] == (pytest.approx(1 - np.mean(list(means.values()))) if means else None)
    observed = expected = total = 0.0
    for attribute in {a for a, _ in paired}:
        mine = {u: js for u, js in paired.items() if u[0] == attribute}
        across = [
            oracles.box_distance(sorted_boxes[x], sorted_boxes[y])
            for u, js in mine.items() for v, ks in mine.items() if u[1] < v[1] for x in js for y in ks
        ]  # fmt: skip
        if across:
            number = sum(map(len, mine.values()))
            observed += sum(len(js) * means[u] for u, js in mine.items())
            expected += number * float(np.mean(across))
            total += number
    assert result["box_alpha"] == (pytest.approx(1 - observed / expected, abs=1e-9) if expected else None)
    assert result["box_observed_distance"] == (pytest.approx(observed / total) if total else None)


def test_interval_of_mean_iou_resamples_images() -> None:
    # Eight images with IoU 1/3 or 1: the mean of a resample lies on the grid between, 2/3 inside the
    # interval.
    frame = pd.concat(
        [
            TWO_IMAGES.assign(image=TWO_IMAGES["image"] + str(k), judgement=TWO_IMAGES["judgement"] + 10 * k)
            for k in range(4)
        ]
    )
    row = box_agreement(frame, resamples=500, seed=1, annotators="ignore").rows()[0]
    assert 1 / 3 < row["ci_low"] < 2 / 3 < row["ci_high"] < 1


def test_consensus_box_is_the_median_of_matched_boxes() -> None:
    frame = boxes(
        ("i", "hat", "p", 1, 0.0, 0.0, 0.4, 0.4),
        ("i", "hat", "q", 2, 0.1, 0.0, 0.5, 0.4),
        ("i", "hat", "r", 3, 0.2, 0.1, 0.6, 0.5),
        ("i", "hat", "r", 3, 0.8, 0.8, 1.0, 1.0),
    )
    rows = consensus_boxes(frame).rows()
    assert [(r["x0"], r["y0"], r["x1"], r["y1"], r["drawn_by"], r["drawings"]) for r in rows] == [
        (0.1, 0.0, 0.5, 0.4, 3, 3),
        (0.8, 0.8, 1.0, 1.0, 1, 3),
    ]


def many_drawings(images: int) -> pd.DataFrame:
    """Two drawings on each image, none alike."""
    sides = np.random.default_rng(3).uniform(0.2, 0.9, size=(2 * images, 2))
    rows = [
        (f"i{number // 2}", "hat", "pq"[number % 2], number, 0.05, 0.05, x, y)
        for number, (x, y) in enumerate(sides.tolist())
    ]
    return boxes(*rows)


def test_a_sampled_expected_distance_says_so_in_the_notes_and_beside_its_values() -> None:
    # 2 × 160 drawings make 320·319/2 = 51,040 pairs: above the bound. 2 × 158 make 49,770.
    sampled, complete = (box_agreement(many_drawings(n), resamples=0, seed=5) for n in (160, 158))
    said = {row["measure"] for row in sampled.rows() if row["note"] == "sampled_pairs"}
    assert said == {"box_expected_distance", "box_alpha"}
    assert sampled.notes["sampled"]["measures"] == ["box_expected_distance", "box_alpha"]
    assert sampled.notes["sampled"]["pairs"] == 50_000
    assert sampled.notes["sampled"]["seed"] == 5
    assert sampled.notes["sampled"]["attributes"] == {"": ["hat"]}
    assert sampled.attributes["sampled"].tolist() == [True]
    assert {row["note"] for row in complete.rows()} == {None}
    assert "sampled" not in complete.notes
    assert complete.attributes["sampled"].tolist() == [False]
    # It is an estimate: another seed draws other pairs. Without sampling the seed changes nothing.
    assert values(many_drawings(160), seed=6)["box_alpha"] != values(many_drawings(160), seed=5)["box_alpha"]
    assert values(many_drawings(158), seed=6) == values(many_drawings(158), seed=5)
