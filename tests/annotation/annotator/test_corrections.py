"""Answers of the last half hour can be viewed and corrected; older ones cannot."""

import uuid
from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Enrolment
from foundation.errors import DomainError
from tests.annotation.factories import submit


@pytest.fixture
def answered(join, rating):
    """Somebody who rated three words with 5, 4 and 2, one after the other."""
    client = join(rating)
    client.given = []
    for value in ("5", "4", "2"):
        payload = client.get(reverse("annotate:task", args=[rating.pk])).context["payload"]
        _post(client, rating, payload["assignment"], value)
        client.given.append(payload["assignment"])
    return client


def _post(client, campaign, assignment, value, submission_id=None):
    address = reverse("annotate:answer", args=[campaign.pk, assignment])
    data = {"submission_id": submission_id or str(uuid.uuid4()), "rating": value, "revising": "1"}
    return client.post(address, data)


def shown(client, rating, *args):
    return client.get(reverse("annotate:previous", args=[rating.pk, *args]))


def test_annotators_step_back_and_forward_through_their_answers(answered, rating):
    last = shown(answered, rating)
    assert last.context["payload"]["assignment"] == answered.given[2]
    assert last.context["revising"]["later"] is None
    before = shown(answered, rating, last.context["revising"]["earlier"])
    assert before.context["payload"]["assignment"] == answered.given[1]
    assert next(one for one in before.context["screen"].choices if one.checked).value == "4"
    assert str(before.context["revising"]["later"]) == answered.given[2]


def test_an_earlier_answer_is_corrected_as_a_new_revision(answered, rating):
    assert _post(answered, rating, answered.given[0], "1").status_code == 302
    latest = Annotation.objects.get(assignment__public_id=answered.given[0], is_latest=True)
    assert (latest.revision, latest.judgements.get().rating) == (2, 1)
    assert len(answered.get(reverse("annotate:answers", args=[rating.pk])).context["answers"]) == 3


def test_the_list_shows_answers_latest_first(answered, rating):
    listed = answered.get(reverse("annotate:answers", args=[rating.pk])).context["answers"]
    assert [one.rating for one in listed] == ["Disagree", "Agree", "Strongly Agree"]
    assert all(len(one.attribute_texts) == 1 for one in listed)


def test_the_list_shows_no_answers_of_another_campaign(answered, rating, marking):
    annotator = answered.enrolment.annotator
    Enrolment.objects.create(campaign=marking, annotator=annotator)
    submit(leases.next_assignment(campaign=marking, annotator=annotator))
    listed = answered.get(reverse("annotate:answers", args=[rating.pk])).context["answers"]
    assert [str(one.public_id) for one in listed] == answered.given[::-1]
    assert shown(answered, rating).context["payload"]["assignment"] == answered.given[2]


def test_answers_cannot_be_corrected_after_half_an_hour(answered, rating):
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        assert shown(answered, rating).url == reverse("annotate:answers", args=[rating.pk])
        page = answered.get(reverse("annotate:answers", args=[rating.pk])).content.decode()
        assert "Nothing can be corrected just now" in page
        assert _post(answered, rating, answered.given[0], "1").status_code == 403
        api = reverse("api:assignment-submit", args=[answered.given[0]])
        body = {"submission_id": str(uuid.uuid4()), "answer": {"rating": 1}}
        refused = answered.post(api, body, content_type="application/json")
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "edit_window_over")
        assert "Previous" in answered.get(reverse("annotate:task", args=[rating.pk])).content.decode()
    assert Annotation.objects.count() == 3


def test_a_retry_of_what_was_saved_in_time_is_no_late_correction(answered, rating):
    kept = Annotation.objects.get(assignment__public_id=answered.given[0])
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        answer = _post(answered, rating, answered.given[0], "5", str(kept.submission_id))
        assert answer.status_code == 302
    assert Annotation.objects.count() == 3


def test_the_campaign_sets_the_edit_window(answered, rating):
    rating.options = {**rating.options, "edit_minutes": 60}
    rating.save()
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        assert _post(answered, rating, answered.given[0], "1").status_code == 302


def test_an_edit_window_longer_than_a_week_is_refused(study, lead):
    with pytest.raises(DomainError) as refused:
        lifecycle.create(
            study=study, name="Long", kind="attribute_likert", by=lead, options={"edit_minutes": 10_081}
        )
    assert list(refused.value.fields) == ["options.edit_minutes"]


def test_nobody_looks_at_the_answers_of_another(answered, join, rating):
    other = join(rating)
    assert shown(other, rating, answered.given[0]).status_code == 302
    assert other.get(reverse("annotate:answers", args=[rating.pk])).context["answers"] == []


def test_an_open_task_is_not_among_the_answers(answered, rating):
    answered.get(reverse("annotate:task", args=[rating.pk]))
    leased = Assignment.objects.get(state="leased")
    assert shown(answered, rating, leased.public_id).status_code == 302
