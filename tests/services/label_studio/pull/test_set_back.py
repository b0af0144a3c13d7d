"""Label Studio lost many answers at once: labels stay until the lead decides."""

import pytest

from annotation.campaigns import lifecycle
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioTask
from annotation.label_studio.overview.queries import bridge_summary
from annotation.label_studio.pull import problems
from annotation.label_studio.pull.deletions import FEW, confirm_deletions, held_count, keep_labels
from annotation.models import Annotation
from tests.services.label_studio.annotators import hands_of, rated, there
from tests.services.label_studio.pull.test_faults import hands, here, pull, push, tasks
from tests.services.label_studio.study import Arrangement, bridged, four_people, known

__all__ = ["hands", "here"]
pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def labels() -> list[tuple[int, int, str]]:
    latest = Annotation.objects.filter(is_latest=True).order_by("task", "annotator")
    return list(latest.values_list("task", "annotator", "status"))


def answered(here, hands) -> list[int]:
    """Return more than a few answers, all of which count."""
    first, _, third, *empty = tasks(here)
    work = [(task, hand) for task in empty for hand in hands[:3]]
    work += [(task, hand) for task in (first, third) for hand in hands[1:3]]
    made = [hand.answer(task, rated(4)) for task, hand in work]
    assert len(made) > FEW + 2
    return made


def test_many_answers_that_are_gone_take_no_label_along_before_the_lead_says_so(here, hands, lead):
    made = answered(here, hands)
    pull(here)
    before = labels()
    for number in made[2:]:
        hands[0].delete(number)
    pull(here)
    assert labels() == before
    assert (here.problem, held_count(here)) == (problems.MANY_DELETED, len(made) - 2)

    keep_labels(bridge=here, by=lead)
    here.refresh_from_db()
    assert here.problem == ""
    pull(here)
    assert (labels(), here.problem, held_count(here)) == (before, "", 0)

    # Further deletions are few again, and those answers no longer count.
    hands[0].delete(made[0])
    pull(here)
    assert sum(one != other for one, other in zip(labels(), before, strict=True)) == 1
    assert held_count(here) == 0


def test_many_answers_that_the_lead_says_were_deleted_count_no_more(here, hands, lead):
    made = answered(here, hands)
    pull(here)
    counting = sum(status == "accepted" for _, _, status in labels())
    for number in made:
        hands[0].delete(number)
    pull(here)
    assert sum(status == "accepted" for _, _, status in labels()) == counting
    assert confirm_deletions(bridge=here, by=lead) == len(made)
    assert sum(status == "accepted" for _, _, status in labels()) == counting - len(made)
    pull(here)
    assert (here.problem, held_count(here)) == ("", 0)


def test_screens_whose_answers_were_lost_and_are_kept_are_asked_of_nobody_again(here, hands, lead):
    made = answered(here, hands)
    pull(here)
    before = labels()
    sent = set(tasks(here))
    for number in made[2:]:
        hands[0].delete(number)
    # Two screens are lost completely: one needs no further answer, the other lacks two.
    full, lacking = tasks(here)[4], tasks(here)[2]
    made_there = LabelStudioAnnotation.objects.filter(external_task=lacking, deleted_at=None)
    assert made_there.count() == 3
    for one in (full, lacking):
        hands[0].delete_task(one)
    pull(here)
    push(here)  # until the lead decides, nothing lost is asked again, and nothing is removed
    assert labels() == before
    assert set(tasks(here)) == sent - {full, lacking}
    keep_labels(bridge=here, by=lead)
    page = bridge_summary(here)
    assert any("asked again" in sentence for sentence in page.behind)
    push(here)
    assert labels() == before
    # A screen stays while it still has an answer there, which would disappear with the screen.
    rows = LabelStudioAnnotation.objects.filter(deleted_at=None, state="counted")
    there_still = set(rows.filter(missing="").values_list("task", flat=True))
    kept = set(rows.filter(missing="kept").values_list("task", flat=True)) - there_still
    complete = {task.pk for task in here.campaign.tasks.filter(pk__in=kept) if task.held >= task.wanted}
    standing = set(LabelStudioTask.objects.filter(project__bridge=here).values_list("task", flat=True))
    assert complete
    assert standing.isdisjoint(complete)
    assert not any("asked again" in sentence for sentence in bridge_summary(here).behind)
    pull(here)
    assert (labels(), here.problem) == (before, "")


def test_in_a_project_for_each_answer_a_kept_answer_is_not_asked_for_again(
    study, lead, label_studio, settings
):
    """One of two answers was made and lost with its screen; the other is still missing."""
    settings.SITE_URL = "http://127.0.0.1:9"
    draft = lifecycle.create(
        study=study, name="Twice", kind="attribute_likert", by=lead, annotators_per_task=2
    )
    campaign = lifecycle.open_(campaign=draft, by=lead)
    people = four_people([campaign])
    with hands_of(label_studio, label_studio.annotators[:4]) as hands:
        token = label_studio.owner.token
        bridge = bridged(campaign, Arrangement.PER_SLOT, url=label_studio.url, token=token, lead=lead)
        first, second = bridge.projects.order_by("slot")
        mine = list(campaign.tasks.order_by("pk"))
        for hand in hands:
            hand.answer(there(second, mine[0]), rated(1))
        for task in mine:
            hands[0].answer(there(first, task), rated(2))
        pull(bridge)
        known([bridge], hands, people, lead)
        before = labels()
        for task in mine[2:]:
            hands[0].delete_task(there(first, task))
        LabelStudioAnnotation.objects.filter(project=first, task__in=mine[2:]).update(missing="held")
        pull(bridge)
        assert labels() == before
        keep_labels(bridge=bridge, by=lead)
        push(bridge)
        pull(bridge)
    assert labels() == before
    stands = {
        project.pk: set(LabelStudioTask.objects.filter(project=project).values_list("task", flat=True))
        for project in (first, second)
    }
    assert stands[first.pk].isdisjoint({task.pk for task in mine[2:]})
    assert {task.pk for task in mine[2:]} <= stands[second.pk]
