"""The choice of the next task."""

from datetime import timedelta

import pytest
from django.db.models import Count, F, Q
from django.utils import timezone

from annotation.annotator.progress import standing
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Assignment, Enrolment, Task
from foundation.errors import Conflict, Forbidden, NotFound
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db


def next_for(annotator, campaign, now=None):
    return leases.next_assignment(campaign=campaign, annotator=annotator, now=now)


def label_everything(campaign, annotator):
    done = []
    while (leased := next_for(annotator, campaign)) is not None:
        submit(leased)
        done.append(leased.task_id)
    return done


def slots_are_counted():
    """Return whether the count on every task equals its assignments with a slot."""
    holding = Count("assignments", filter=Q(assignments__slot__isnull=False))
    return not Task.objects.annotate(truly=holding).exclude(truly=F("held")).exists()


def test_an_annotator_labels_every_task_once_and_then_nothing_is_left(marking):
    anna = new_annotator(marking)
    done = label_everything(marking, anna)
    assert sorted(done) == sorted(marking.tasks.values_list("pk", flat=True))
    assert len(set(done)) == 8


def test_a_campaign_is_full_when_each_task_has_as_many_annotators_as_wanted(marking):
    for _ in range(2):
        assert len(label_everything(marking, new_annotator(marking))) == 8
    assert next_for(new_annotator(marking), marking) is None
    assert slots_are_counted()


def test_asking_again_gives_the_same_task_and_renews_its_lease(marking):
    anna = new_annotator(marking)
    now = timezone.now()
    first = next_for(anna, marking, now)
    again = next_for(anna, marking, now + timedelta(minutes=20))
    assert again.public_id == first.public_id
    assert again.expires_at == now + timedelta(minutes=50)
    assert Assignment.objects.get().expires_at == again.expires_at


def test_screens_of_an_image_follow_each_other(marking):
    anna = new_annotator(marking)
    images = [Task.objects.get(pk=pk).image_id for pk in label_everything(marking, anna)]
    assert images[0::2] == images[1::2]


def test_an_image_that_was_begun_goes_before_tasks_with_fewer_annotations(marking):
    anna, bea = new_annotator(marking), new_annotator(marking)
    first = next_for(anna, marking)
    other = Task.objects.exclude(pk=first.task_id).get(campaign=marking, image=first.task.image)
    Assignment.objects.create(
        task=other, annotator=bea, slot=0, expires_at=timezone.now() + timedelta(minutes=5)
    )
    Task.objects.filter(pk=other.pk).update(held=1)
    submit(first)
    assert next_for(anna, marking).task_id == other.pk


def test_tasks_with_the_fewest_annotations_go_first(rating):
    anna, bea = new_annotator(rating), new_annotator(rating)
    begun = {next_for(anna, rating).task_id}
    for _ in range(5):
        leased = next_for(bea, rating)
        assert leased.task_id not in begun
        begun.add(leased.task_id)
        leases.skip(assignment=leased, annotator=bea)
    assert next_for(bea, rating).task.held == 2


def test_two_annotators_do_not_get_the_tasks_in_the_same_order(rating):
    orders = []
    for _ in range(4):
        annotator, order = new_annotator(rating), []
        while (leased := next_for(annotator, rating)) is not None:
            order.append(leased.task_id)
            leases.skip(assignment=leased, annotator=annotator)
        orders.append(tuple(order))
    assert len(set(orders)) > 1
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(orders[0]))}


def test_a_lease_that_ran_out_frees_the_task_for_somebody_else(marking):
    now = timezone.now()
    for _ in range(2):
        for task in marking.tasks.all():
            Assignment.objects.create(
                task=task,
                annotator=new_annotator(marking),
                slot=task.held,
                leased_at=now,
                expires_at=now + timedelta(minutes=30),
            )
        marking.tasks.update(held=F("held") + 1)
    late = new_annotator(marking)
    assert next_for(late, marking, now + timedelta(minutes=29)) is None
    assert next_for(late, marking, now + timedelta(minutes=30)) is not None
    assert Assignment.objects.filter(state="expired", slot=None).count() == 16
    assert slots_are_counted()


def test_a_task_whose_lease_ran_out_comes_back_to_its_annotator_on_the_same_row(marking):
    anna = new_annotator(marking)
    now = timezone.now()
    Task.objects.exclude(pk=marking.tasks.earliest("pk").pk).delete()
    first = next_for(anna, marking, now)
    again = next_for(anna, marking, now + timedelta(hours=1))
    assert again.pk == first.pk
    assert again.leased_at == now + timedelta(hours=1)
    assert (again.state, again.slot) == ("leased", 0)
    stored = Assignment.objects.get(pk=first.pk)
    assert (stored.leased_at, stored.ended_at) == (again.leased_at, None)


def test_a_task_whose_lease_ran_out_is_still_to_come(marking):
    anna = new_annotator(marking)
    for _ in range(marking.tasks.count() - 1):
        submit(next_for(anna, marking))
    leases.expire(campaign=marking, now=next_for(anna, marking).expires_at)
    found = standing(Enrolment.objects.get(annotator=anna))
    assert (found.state, found.left) == ("ready", 1)


def test_a_skipped_task_is_never_offered_to_the_same_annotator_again(marking):
    anna = new_annotator(marking)
    skipped = next_for(anna, marking)
    leases.skip(assignment=skipped, annotator=anna)
    leases.skip(assignment=skipped, annotator=anna)
    assert skipped.task_id not in label_everything(marking, anna)
    assert skipped.task_id in label_everything(marking, new_annotator(marking))
    assert slots_are_counted()


def test_a_submitted_task_cannot_be_skipped(marking):
    anna = new_annotator(marking)
    leased = next_for(anna, marking)
    submit(leased)
    with pytest.raises(Conflict, match="can no longer be skipped"):
        leases.skip(assignment=leased, annotator=anna)


def test_a_task_with_a_surplus_answer_cannot_be_skipped(marking, lead):
    anna = new_annotator(marking)
    leased = next_for(anna, marking)
    lifecycle.close(campaign=marking, by=lead)
    assert submit(leased, now=leased.expires_at).status == "surplus"
    with pytest.raises(Conflict, match="can no longer be skipped"):
        leases.skip(assignment=leased, annotator=anna)
    assert Assignment.objects.get(pk=leased.pk).state == "surplus"


def test_nobody_can_skip_the_task_of_another(marking):
    leased = next_for(new_annotator(marking), marking)
    with pytest.raises(NotFound):
        leases.skip(assignment=leased, annotator=new_annotator(marking))


def test_releasing_frees_open_tasks(marking):
    anna = new_annotator(marking)
    next_for(anna, marking)
    assert leases.release(annotator=anna, campaign=marking) == 1
    assert leases.release(annotator=anna, campaign=marking) == 0
    assert slots_are_counted()
    assert not marking.tasks.filter(held__gt=0).exists()


def test_work_in_two_campaigns_is_kept_apart(marking, rating):
    anna = new_annotator(marking)
    Enrolment.objects.create(campaign=rating, annotator=anna)
    marked, rated = next_for(anna, marking), next_for(anna, rating)
    assert (marked.task.campaign, rated.task.campaign) == (marking, rating)
    assert leases.release(annotator=anna, campaign=marking) == 1
    states = dict(Assignment.objects.values_list("pk", "state"))
    assert states == {marked.pk: "expired", rated.pk: "leased"}
    assert slots_are_counted()


def test_a_withdrawn_task_is_not_offered(marking):
    marking.tasks.update(withdrawn=True)
    assert next_for(new_annotator(marking), marking) is None


@pytest.mark.parametrize(
    ("state", "code"), [("paused", "annotator_paused"), ("excluded", "annotator_excluded")]
)
def test_a_paused_or_excluded_annotator_gets_nothing(marking, state, code):
    anna = new_annotator(marking)
    Enrolment.objects.filter(annotator=anna).update(state=state)
    with pytest.raises(Forbidden) as refusal:
        next_for(anna, marking)
    assert refusal.value.code == code


def test_nobody_gets_a_task_without_consent(marking):
    anna = new_annotator(marking)
    anna.consents.all().delete()
    with pytest.raises(Forbidden) as refusal:
        next_for(anna, marking)
    assert refusal.value.code == "consent_missing"


def test_nobody_gets_a_task_of_a_campaign_they_do_not_take_part_in(marking, annotator):
    with pytest.raises(Forbidden) as refusal:
        next_for(annotator, marking)
    assert refusal.value.code == "not_enrolled"


def test_a_paused_campaign_gives_out_nothing(marking, lead):
    anna = new_annotator(marking)
    lifecycle.pause(campaign=marking, by=lead)
    with pytest.raises(Conflict) as refusal:
        next_for(anna, marking)
    assert refusal.value.code == "campaign_not_open"
    lifecycle.resume(campaign=marking, by=lead)
    assert next_for(anna, marking) is not None


def test_the_number_of_queries_does_not_grow_with_the_campaign(marking, django_assert_max_num_queries):
    counts = []
    for size in (30, 3000):
        image = marking.tasks.first().image_id
        Task.objects.bulk_create(Task(campaign=marking, image_id=image, screen=9) for _ in range(size))
        anna = new_annotator(marking)
        submit(next_for(anna, marking))
        with django_assert_max_num_queries(18) as queries:
            assert next_for(anna, marking) is not None
        counts.append(len(queries))
    assert counts[0] == counts[1]
