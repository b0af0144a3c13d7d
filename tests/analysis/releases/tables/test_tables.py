"""Profiles and soft labels as they stand in a release."""

import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.models import Annotator, AnnotatorProfile
from analysis.releases.tables import soft_labels
from annotation.models import Annotation
from tests.analysis.releases.conftest import rows


@pytest.mark.django_db
def test_profiles_that_enough_people_share_are_released(marked, released):
    for person, country in (("p", "Kenya"), ("q", "Ghana"), ("r", "Kenya")):
        AnnotatorProfile.objects.create(
            annotator=marked.annotators[person], gender="Woman", nationality=country, languages=["Orsani"]
        )
    _, folder = released(marked.study, k=3)
    stated = [(row["gender"], row["nationality"], row["languages"]) for row in rows(folder, "annotators")]
    assert stated == [("Woman", "Sub-Saharan Africa", "Orsani")] * 3
    report = json.loads((folder / "privacy.json").read_text())
    assert (report["smallest"], report["people"], report["suppressed"]) == (3, 3, 0)


@pytest.mark.django_db
def test_profiles_that_too_few_people_share_are_withheld(marked, released):
    for annotator in marked.annotators.values():
        AnnotatorProfile.objects.create(annotator=annotator, gender="Woman")
    _, folder = released(marked.study, k=4)
    assert {row["gender"] for row in rows(folder, "annotators")} == {None}


@pytest.mark.django_db
def test_a_profile_that_changes_makes_a_new_version(marked, released):
    for annotator in marked.annotators.values():
        AnnotatorProfile.objects.create(annotator=annotator, gender="Woman")
    first, _ = released(marked.study, k=2)
    AnnotatorProfile.objects.update(gender="Man")
    second, _ = released(marked.study, k=2)
    assert (first.version, second.version) == (1, 2)


@pytest.mark.django_db
def test_people_whose_labels_do_not_count_are_not_part_of_k(marked, released):
    for annotator in marked.annotators.values():
        AnnotatorProfile.objects.create(annotator=annotator, gender="Woman")
    Annotation.objects.filter(annotator=marked.annotators["r"]).update(status="excluded")
    _, folder = released(marked.study, k=3)
    assert [row["gender"] for row in rows(folder, "annotators")] == [None, None]


@pytest.mark.django_db
def test_origins_state_the_source_of_labels(marked, released):
    Annotator.objects.filter(pk=marked.annotators["p"].pk).update(origin="imported")
    _, folder = released(marked.study)
    origins = Counter(row["origin"] for row in rows(folder, "annotators"))
    assert origins == {"imported": 1, "person": 2}


@pytest.mark.django_db
@pytest.mark.parametrize("annotations", [1, 3, 7])
def test_soft_labels_do_not_depend_on_the_size_of_blocks(marked, released, monkeypatch, annotations):
    _, here = released(marked.study)
    monkeypatch.setattr(soft_labels, "_ANNOTATIONS_AT_ONCE", annotations)
    monkeypatch.setattr(soft_labels, "_AT_ONCE", 2)
    _, there = released(marked.study)
    assert rows(here, "soft_labels") == rows(there, "soft_labels")
    # Every judgement and every rating is in one of them.
    total = sum(row["n"] for row in rows(there, "soft_labels"))
    assert total == len(rows(there, "judgements")) + len(rows(there, "ratings"))


answers = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 1)), max_size=40)


@pytest.mark.database_free
@settings(deadline=None)
@given(answers)
def test_counts_equal_those_of_a_loop(given_answers):
    expected: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for image, attribute, present in given_answers:
        expected[image, attribute][0] += 1
        expected[image, attribute][1] += present
    found = soft_labels._counted(np.array(given_answers, dtype=soft_labels._ANSWER))
    assert list(zip(*(column.tolist() for column in found), strict=True)) == [
        (*pair, *counts) for pair, counts in sorted(expected.items())
    ]
