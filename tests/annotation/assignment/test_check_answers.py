"""Answers to gold tasks and repeats, as quality measures read them."""

import uuid

import pytest
from django.utils import timezone

from annotation.answers.validation import Answer
from annotation.assignment import gold_and_repeats
from annotation.campaigns.images import retraction
from annotation.models import Annotation, Assignment, KnownAnswer, Task
from tests.annotation.factories import new_annotator, none_of_them, submit, ticking

pytestmark = pytest.mark.django_db


def answered(task, annotator, answer, status, purpose):
    """Store an answer as the engine does for this purpose."""
    given = Assignment.objects.create(
        task=task,
        annotator=annotator,
        purpose=purpose,
        state="submitted",
        slot=0 if purpose == "label" else None,
        expires_at=timezone.now(),
    )
    kept = Annotation.objects.create(
        submission_id=uuid.uuid4(),
        campaign=task.campaign,
        task=task,
        annotator=annotator,
        assignment=given,
        status=status,
        none_of_the_above=answer.none_of_the_above,
    )
    for shown in task.task_attributes.all():
        attribute = shown.attribute_id
        present = None if answer.rating else attribute in answer.ticked
        kept.judgements.create(attribute_id=attribute, present=present, rating=answer.rating)
    return kept


def gold_like(task, known):
    """Return a gold task that looks like `task`."""
    gold = Task.objects.create(campaign=task.campaign, image=task.image, screen=9, wanted=0, purpose="gold")
    for shown in task.task_attributes.all():
        gold.task_attributes.create(attribute=shown.attribute, position=shown.position)
    for attribute_id, answer in known.items():
        KnownAnswer.objects.create(task=gold, attribute_id=attribute_id, **answer)
    return gold


def test_marks_are_scored_where_an_answer_is_known(marking, django_assert_num_queries):
    anna, bela = new_annotator(marking), new_annotator(marking)
    task = marking.tasks.order_by("pk").first()
    first, second, unknown = task.task_attributes.order_by("position")
    gold = gold_like(task, {first.attribute_id: {"present": True}, second.attribute_id: {"present": True}})
    ticked = ticking(Assignment(task=gold), first.attribute.text, unknown.attribute.text)
    answered(gold, anna, ticked, "gold", "gold")
    answered(gold, bela, none_of_them(Assignment(task=gold)), "gold", "gold")
    with django_assert_num_queries(1):
        rows = set(gold_and_repeats.gold_answers(marking))
    assert rows == {
        (anna.pk, first.attribute_id, gold.pk, True),
        (anna.pk, second.attribute_id, gold.pk, False),
        (bela.pk, first.attribute_id, gold.pk, False),
        (bela.pk, second.attribute_id, gold.pk, False),
    }
    assert {row.annotator_id for row in gold_and_repeats.gold_answers(marking, [bela.pk])} == {bela.pk}
    retraction.retract(image=task.image, by=None, reason="A real person")
    assert list(gold_and_repeats.gold_answers(marking)) == []


def test_a_rating_is_right_when_it_is_among_the_right_ones(rating):
    anna, bela = new_annotator(rating), new_annotator(rating)
    task = rating.tasks.order_by("pk").first()
    asked = task.task_attributes.get().attribute_id
    gold = gold_like(task, {asked: {"ratings": [4, 5]}})
    answered(gold, anna, Answer(rating=4), "gold", "gold")
    answered(gold, bela, Answer(rating=3), "gold", "gold")
    assert list(gold_and_repeats.gold_answers(rating)) == [
        (anna.pk, asked, gold.pk, True),
        (bela.pk, asked, gold.pk, False),
    ]


def test_a_repeat_is_compared_with_the_latest_first_answer(marking, django_assert_num_queries):
    anna, bela = new_annotator(marking), new_annotator(marking)
    task, other = marking.tasks.order_by("pk")[:2]
    text = task.task_attributes.order_by("position").first().attribute.text
    leased = Assignment(task=task)
    first = answered(task, anna, none_of_them(leased), "accepted", "label")
    corrected = ticking(leased, text)
    submit(first.assignment, corrected)
    answered(task, anna, none_of_them(leased), "repeat", "repeat")
    answered(other, anna, none_of_them(Assignment(task=other)), "accepted", "label")
    Assignment.objects.filter(pk=first.assignment_id).update(slot=1)
    answered(task, bela, corrected, "accepted", "label")
    with django_assert_num_queries(1):
        pairs = set(gold_and_repeats.repeat_pairs(marking))
    assert pairs == {
        (anna.pk, task.pk, shown.attribute_id, shown.attribute.text == text, False)
        for shown in task.task_attributes.all()
    }
    assert list(gold_and_repeats.repeat_pairs(marking, [bela.pk])) == []
