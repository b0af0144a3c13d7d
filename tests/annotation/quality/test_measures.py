"""Six quality measures of annotators, compared with hand calculations and with the library."""

import random

import pandas as pd
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.metrics.annotators.mark_statistics import annotator_statistics
from analysis.metrics.annotators.rating_statistics import rater_statistics
from annotation.answers.inclusion import counted
from annotation.answers.validation import Answer
from annotation.assignment import gold_and_repeats
from annotation.models import Assignment, Judgement
from annotation.people import enrolments, withdrawal
from annotation.quality.measures import qualities, quality_of
from tests.annotation.assignment.test_check_answers import answered, gold_like
from tests.annotation.assignment.test_leases import next_for
from tests.annotation.factories import new_annotator, none_of_them, submit, ticking

pytestmark = pytest.mark.django_db


def values(campaign, annotator):
    return {name: (found.value, found.rests_on) for name, found in quality_of(campaign, annotator.pk).items()}


def label(task, annotator, answer, slot, *, seconds=None):
    kept = answered(task, annotator, answer, "accepted", "repeat")
    Assignment.objects.filter(pk=kept.assignment_id).update(purpose="label", slot=slot)
    kept.active_seconds = seconds
    kept.save(update_fields=["active_seconds"])
    return kept


def texts(task):
    return list(task.task_attributes.order_by("position").values_list("attribute__text", flat=True))


def test_measures_of_marking_equal_counts_by_hand(marking):
    anna, bela = new_annotator(marking), new_annotator(marking)
    first, second = marking.tasks.order_by("pk")[:2]
    a, b, c = texts(first)
    # First screen: anna ticks a and b, bela b and c: they agree about b only, 1 of 3.
    label(first, anna, ticking(Assignment(task=first), a, b), 0, seconds=4)
    label(first, bela, ticking(Assignment(task=first), b, c), 1, seconds=40)
    # Second: only anna answers, with none of them; nobody shares the screen.
    label(second, anna, none_of_them(Assignment(task=second)), 0, seconds=10)
    # Gold: a and b are there, c unknown; anna ticks a only: 1 of 2, on 1 screen.
    known = dict.fromkeys(first.task_attributes.order_by("position").values_list("attribute", flat=True)[:2])
    gold = gold_like(first, {attribute: {"present": True} for attribute in known})
    answered(gold, anna, ticking(Assignment(task=gold), a), "gold", "gold")
    # On a repeat of the first screen, she ticks a and c: she differs about b and c, so 1 of 3 agree.
    answered(first, anna, ticking(Assignment(task=first), a, c), "repeat", "repeat")
    assert values(marking, anna) == {
        "gold_accuracy": (0.5, 1),
        "agreement": (pytest.approx(1 / 3), 1),
        "self_consistency": (pytest.approx(1 / 3), 1),
        "median_seconds": (7.0, 2),
        "straight_lining": (0.5, 2),
        "variety": (None, 0),
    }
    assert values(marking, bela) == {
        "gold_accuracy": (None, 0),
        "agreement": (pytest.approx(1 / 3), 1),
        "self_consistency": (None, 0),
        "median_seconds": (40.0, 1),
        "straight_lining": (1.0, 1),
        "variety": (None, 0),
    }
    reasons = {name: found.reason for name, found in quality_of(marking, bela.pk).items() if found.reason}
    assert reasons == {
        "gold_accuracy": "no_gold_task_answered",
        "self_consistency": "no_repeat_answered",
        "variety": "too_few_other_answers_due",
    }


@pytest.mark.parametrize("always", ["nothing", "everything", "the first"])
def test_always_giving_the_same_answer_is_straight_lining(marking, always):
    anna = new_annotator(marking)
    for task in marking.tasks.order_by("pk")[:6]:
        words = {"nothing": [], "everything": texts(task), "the first": texts(task)[:1]}[always]
        given = ticking(Assignment(task=task), *words) if words else none_of_them(Assignment(task=task))
        label(task, anna, given, 0)
    assert quality_of(marking, anna.pk)["straight_lining"].value == 1


def test_straight_lining_in_ratings_is_the_share_of_the_most_frequent_rating(rating):
    anna = new_annotator(rating)
    for task, given in zip(rating.tasks.order_by("pk"), (5, 5, 5, 1, 4, 2), strict=True):
        label(task, anna, Answer(rating=given), 0)
    assert values(rating, anna)["straight_lining"] == (0.5, 6)


def busy(campaign, people=4):
    """Let people answer most screens at random, each with different probabilities."""
    generator = random.Random(3)
    annotators = [new_annotator(campaign) for _ in range(people)]
    for task in campaign.tasks.order_by("pk"):
        for slot, person in enumerate(generator.sample(annotators, task.wanted)):
            if campaign.kind == "attribute_likert":
                given = Answer(rating=generator.choice([1, 2, 4, 5]), justification="")
            else:
                ticked = [text for text in texts(task) if generator.random() < 0.5]
                given = (
                    ticking(Assignment(task=task), *ticked) if ticked else none_of_them(Assignment(task=task))
                )
            label(task, person, given, slot, seconds=generator.random() * 20)
            if generator.random() < 0.5 and campaign.kind != "attribute_likert":
                answered(task, person, none_of_them(Assignment(task=task)), "repeat", "repeat")
    return annotators


def test_the_library_gives_the_same_measures_of_marks(marking):
    people = busy(marking)
    gold = gold_like(task := marking.tasks.order_by("pk").first(), {})
    for shown in task.task_attributes.all():
        gold.known_answers.create(attribute=shown.attribute, present=True)
    for person in people[:2]:
        answered(gold, person, ticking(Assignment(task=gold), *texts(task)[:2]), "gold", "gold")
    columns = ("annotation__task__image", "attribute__text", "annotation__annotator", "present")
    rows = Judgement.objects.filter(annotation__in=counted(marking)).values_list(*columns)
    frame = pd.DataFrame(rows, columns=["image", "attribute", "annotator", "present"])
    pairs = pd.DataFrame(gold_and_repeats.repeat_pairs(marking)).merge(
        pd.DataFrame(
            Judgement.objects.values_list("attribute", "attribute__text").distinct(),
            columns=["attribute_id", "attribute"],
        )
    )
    images = dict(marking.tasks.values_list("pk", "image"))
    repeats = pairs.assign(image=pairs["task_id"].map(images), identity_group="one")
    found = annotator_statistics(
        frame.assign(identity_group="one", present=frame["present"].astype(int), model=""),
        seconds=pd.DataFrame(
            counted(marking).values_list("annotator", "active_seconds"), columns=["annotator", "seconds"]
        ),
        gold=pd.DataFrame(
            [(one.annotator_id, 1, int(one.correct)) for one in gold_and_repeats.gold_answers(marking)],
            columns=["annotator", "present", "expected"],
        ),
        repeats=repeats.rename(columns={"annotator_id": "annotator"}).assign(
            present=repeats["second"].astype(int)
        ),
        skills=False,
    ).rows()
    ours = qualities(marking)
    assert len(found) == len(people)
    for row in found:
        mine = ours[int(row["annotator"])]
        assert mine["agreement"].value == pytest.approx(row["agreement_with_others"], abs=1e-12)
        assert mine["median_seconds"].value == pytest.approx(row["median_seconds"], abs=1e-9)
        for name in ("gold_accuracy", "self_consistency"):
            assert mine[name].value == (None if row[name] is None else pytest.approx(row[name], abs=1e-12))
    assert any(row["gold_accuracy"] is not None for row in found)


def test_the_library_gives_the_same_measures_of_ratings(rating):
    busy(rating, people=5)
    columns = ("attribute__text", "annotation__annotator", "rating")
    rows = Judgement.objects.filter(annotation__in=counted(rating)).values_list(*columns)
    found = rater_statistics(pd.DataFrame(rows, columns=["attribute", "annotator", "rating"])).rows()
    ours = qualities(rating)
    for row in found:
        mine = ours[int(row["annotator"])]["agreement"].value
        assert mine == pytest.approx(row["agreement_with_others"], abs=1e-12)


def test_the_number_of_queries_does_not_grow_with_annotators(marking):
    busy(marking)
    taken = []
    for asked in (None, list(marking.enrolments.values_list("annotator", flat=True)[:1])):
        with CaptureQueriesContext(connection) as statements:
            qualities(marking, asked)
        taken.append(len(statements))
    assert taken[0] <= 9
    assert taken[1] <= 8


def test_answers_that_no_longer_count_are_not_measured(marking, lead):
    anna, bela = new_annotator(marking), new_annotator(marking)
    for person in (anna, bela):
        submit(next_for(person, marking))
    enrolment = marking.enrolments.get(annotator=bela)
    shared = quality_of(marking, anna.pk)["agreement"].rests_on
    enrolments.exclude(enrolment=enrolment, by=lead, reason="Careless")
    assert quality_of(marking, anna.pk)["agreement"].rests_on == 0 <= shared
    assert quality_of(marking, bela.pk)["straight_lining"].reason == "no_answer_counts"
    withdrawal.withdraw(annotator=anna, study=marking.study)
    assert {found.reason for found in quality_of(marking, anna.pk).values()} == {"consent_withdrawn"}
