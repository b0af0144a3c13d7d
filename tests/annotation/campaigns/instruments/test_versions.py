"""Versions of the texts that annotators read."""

import pytest

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.campaigns.instruments import versions
from annotation.kinds.registry import RATING_LABELS
from annotation.models import Instrument
from foundation.errors import DomainError
from studies.models import AuditEntry
from tests.annotation.factories import add_images, new_annotator, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(study, lead):
    add_images(study, 1)
    return lifecycle.create(study=study, name="Marking", kind="stereotype_marking", by=lead)


def test_a_drafts_words_change_in_place(draft, lead):
    versions.revise(campaign=draft, by=lead, guidelines="Look closely.")
    found = Instrument.objects.get()
    assert (found.version, found.guidelines) == (1, "Look closely.")


def test_after_opening_a_change_is_a_new_version_and_annotations_keep_theirs(marking, lead):
    before = new_annotator(marking)
    first = submit(leases.next_assignment(campaign=marking, annotator=before))
    made = versions.revise(campaign=marking, by=lead, guidelines="Look twice.")
    second = submit(leases.next_assignment(campaign=marking, annotator=before))
    assert (made.version, made.guidelines) == (2, "Look twice.")
    assert made.statement == Instrument.objects.get(version=1).statement
    assert (first.instrument.version, second.instrument.version) == (1, 2)
    entry = AuditEntry.objects.get(action="instrument.revised")
    assert (entry.actor, entry.details) == (lead, {"version": 2, "fields": ["guidelines"]})


def test_unchanged_words_make_no_version(marking, lead):
    now = versions.current(marking)
    same = versions.revise(
        campaign=marking, by=lead, guidelines=f" {now.guidelines}\n", statement=now.statement
    )
    assert (same, Instrument.objects.count()) == (now, 1)
    assert not AuditEntry.objects.filter(action="instrument.revised").exists()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"guidelines": " "}, "guidelines"),
        ({"statement": " "}, "statement"),
        ({"statement": "x" * 301}, "statement"),
        ({"statement": "Is {attribute} there?"}, "statement"),
        ({"labels": {"1": "No", "5": "Yes"}}, "labels"),
        ({"labels": {**RATING_LABELS, "6": "More"}}, "labels"),
        ({"labels": {**RATING_LABELS, "4": ""}}, "labels"),
        ({"labels": {**RATING_LABELS, "4": "strongly agree"}}, "labels"),
    ],
)
def test_wrong_words_are_named_and_no_version_is_made(rating, lead, given, field):
    with pytest.raises(DomainError) as refusal:
        versions.revise(campaign=rating, by=lead, **given)
    assert list(refusal.value.fields) == [field]
    assert Instrument.objects.count() == 1


def test_a_statement_keeps_its_placeholder(rating, lead):
    Instrument.objects.update(statement="A picture can show {attribute}.")
    with pytest.raises(DomainError, match=r"keep \{attribute\}"):
        versions.revise(campaign=rating, by=lead, statement="A picture can show it.")
    made = versions.revise(campaign=rating, by=lead, statement="{attribute} can be seen.")
    assert made.version == 2


def test_a_rating_has_five_labels_and_a_marking_none(rating, lead, study):
    made = versions.revise(campaign=rating, by=lead, labels=RATING_LABELS | {"3": "Cannot say"})
    assert made.labels == RATING_LABELS | {"3": "Cannot say"}
    add_images(study, 1)
    draft = lifecycle.create(study=study, name="Marking", kind="stereotype_marking", by=lead)
    with pytest.raises(DomainError, match="no answers to label"):
        versions.revise(campaign=draft, by=lead, labels=RATING_LABELS)


def test_versions_show_author_change_and_number_of_answers(marking, lead):
    annotator = new_annotator(marking)
    submit(leases.next_assignment(campaign=marking, annotator=annotator))
    Instrument.objects.update(guidelines="Look closely.\n\nTick what you see.")
    versions.revise(campaign=marking, by=lead, guidelines="Look very closely.\n\nTick what you see.\n\nRest.")
    new, old = versions.versions(marking)
    assert [(one.instrument.version, one.annotations, one.by) for one in (new, old)] == [
        (2, 0, "Lena"),
        (1, 1, "Lena"),
    ]
    changed, added = new.changes
    assert [(piece.kind, piece.text) for piece in changed.pieces] == [
        ("same", "Look"),
        ("added", "very"),
        ("same", "closely."),
    ]
    assert (changed.kind, added.kind, added.pieces[0].text) == ("changed", "added", "Rest.")
    assert old.changes == ()


def test_a_change_is_shown_until_the_first_answer_under_it(marking, lead):
    annotator = new_annotator(marking)
    assert versions.changed_since(marking, annotator.pk, 1) == ()
    submit(leases.next_assignment(campaign=marking, annotator=annotator))
    versions.revise(campaign=marking, by=lead, statement="What is shown?")
    assert len(versions.changed_since(marking, annotator.pk, 2)) == 1
    assert versions.changed_since(marking, new_annotator(marking).pk, 2) == ()
    submit(leases.next_assignment(campaign=marking, annotator=annotator))
    assert versions.changed_since(marking, annotator.pk, 2) == ()
