"""A Label Studio that lost many answers at once: labels stay until the lead says what it was."""

import pytest

from annotation.bridge import findings
from annotation.bridge.missing import FEW, confirm_deletions, held, keep_labels
from annotation.models import Annotation
from tests.services.label_studio.hands import rated
from tests.services.label_studio.test_faults import hands, here, pull, tasks

__all__ = ["hands", "here"]
pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def labels() -> list[tuple[int, int, str]]:
    latest = Annotation.objects.filter(is_latest=True).order_by("task", "annotator")
    return list(latest.values_list("task", "annotator", "status"))


def answered(here, hands) -> list[int]:
    """More than a few, each of them counted."""
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
    assert (here.problem, held(here)) == (findings.MANY_DELETED, len(made) - 2)

    keep_labels(bridge=here, by=lead)
    here.refresh_from_db()
    assert here.problem == ""
    pull(here)
    assert (labels(), here.problem, held(here)) == (before, "", 0)

    # What is deleted from now on is a few again, and counts no more.
    hands[0].delete(made[0])
    pull(here)
    assert sum(one != other for one, other in zip(labels(), before, strict=True)) == 1
    assert held(here) == 0


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
    assert (here.problem, held(here)) == ("", 0)
