"""Coding of judgements for any column types, sizes and order of rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import annotator_ids_usable, krippendorff_alpha
from analysis.metrics.data import judgements as module
from analysis.metrics.data import rows
from analysis.metrics.data.annotator_ids import ids_stand_for_people
from analysis.metrics.data.judgements import Judgements
from tests.analysis.metrics.tables import judgement_tables


def named(data: Judgements) -> list[tuple]:
    """The rows of coded judgements with their names."""
    cell, image = data.unit_cell[data.row_unit], data.unit_image[data.row_unit]
    return list(
        zip(
            data.model_names[data.cell_model[cell]],
            data.group_names[data.cell_group[cell]],
            data.cell_attribute_names()[cell],
            data.image_names[image],
            data.annotator_names[data.row_annotator],
            map(int, data.row_present),
            strict=True,
        )
    )


def as_rows(frame: pd.DataFrame) -> list[tuple]:
    columns = ["model", "identity_group", "attribute", "image", "annotator", "present"]
    return list(frame[columns].itertuples(index=False, name=None))


@pytest.fixture(params=["counted", "sorted", "without packing"])
def _way(request, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables small enough to count, numbers too large to count, and too long to pack."""
    if request.param != "counted":
        monkeypatch.setattr(module, "MARKED_AT_ONCE", 0)
    if request.param == "without packing":
        monkeypatch.setattr(rows, "BITS", 3)


def check(frame: pd.DataFrame) -> Judgements:
    data = Judgements.of(frame)
    assert sorted(named(data)) == sorted(as_rows(frame))
    order = list(zip(data.row_unit, data.row_annotator, data.row_campaign, data.row_present, strict=True))
    assert order == sorted(order)
    units = list(zip(data.unit_cell, data.unit_image, strict=True))
    assert units == sorted(set(units))
    cells = list(zip(data.cell_model, data.cell_group, data.cell_attribute, strict=True))
    assert cells == sorted(set(cells))
    assert list(data.image_stratum) == sorted(data.image_stratum)
    assert list(data.unit_shown) == np.bincount(data.row_unit).tolist()
    assert list(data.unit_marked) == np.bincount(data.row_unit, weights=data.row_present).tolist()
    return data


@pytest.mark.usefixtures("_way")
@settings(max_examples=40, deadline=None)
@given(judgement_tables(models=True))
def test_rows_and_units_are_those_of_the_table(frame: pd.DataFrame) -> None:
    check(frame)


@pytest.mark.usefixtures("_way")
@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.sampled_from([-7, 0, 1, 2, 3, 10**12]) for _ in range(4)], st.booleans()),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from(["int64", "float", "uint64", "category", "Int64", "object"]),
)
def test_numbers_of_any_size_and_kind_are_names(rows: list[tuple], dtype: str) -> None:
    names = ["image", "identity_group", "attribute", "annotator"]
    frame = pd.DataFrame(rows, columns=[*names, "present"]).assign(model="m")
    if dtype == "uint64":
        frame[names] = frame[names].clip(lower=0)
    check(frame.astype(dict.fromkeys(names, dtype)).astype({"present": int}))


@pytest.mark.usefixtures("_way")
@settings(max_examples=60, deadline=None)
@given(judgement_tables(), st.booleans(), st.booleans())
def test_detection_of_people_does_not_depend_on_order(
    frame: pd.DataFrame, campaigns: bool, unit_by_unit: bool
) -> None:
    if campaigns:
        frame = frame.assign(campaign=["first", "second"] * (len(frame) // 2) + ["first"] * (len(frame) % 2))
    if unit_by_unit:
        frame = frame.sort_values(["image", "attribute"], kind="stable")
    usable = annotator_ids_usable(frame).usable
    assert ids_stand_for_people(Judgements.of(frame)) == usable
    repeated = frame.duplicated(
        ["image", "identity_group", "attribute", "annotator", *(["campaign"] if campaigns else [])]
    ).sum()
    images = frame.groupby("annotator")["image"].nunique()
    single = 2 * (images == 1).sum() > len(images) and frame["image"].nunique() > 1
    assert usable == (repeated <= 0.05 * len(frame) and not single)


def test_more_answers_of_a_unit_than_are_compared_in_place_are_put_in_order() -> None:
    many = pd.DataFrame(
        [(i, "Aru", "hat", p, 1) for i in range(3) for p in range(30)],
        columns=["image", "identity_group", "attribute", "annotator", "present"],
    )
    assert krippendorff_alpha(many, resamples=0).rows()[0]["annotators"] == 30
    twice = pd.concat([many, many[:9]], ignore_index=True)  # 9 of 99 judgements are repeats
    assert krippendorff_alpha(twice, resamples=0).rows()[0]["annotators"] is None


def test_one_file_in_two_groups_is_two_images() -> None:
    frame = pd.DataFrame(
        [("i", group, "hat", p, 1) for group in ("Aru", "Bel") for p in "pq"],
        columns=["image", "identity_group", "attribute", "annotator", "present"],
    )
    data = check(frame.assign(model=""))
    assert len(data.image_group) == 2
