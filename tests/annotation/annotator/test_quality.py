"""The message to an annotator whom a quality rule warns or pauses: the measure and its value, politely."""

import json
import uuid

import pytest
from django.utils.translation import override

from annotation.annotator.payload import task_payload
from annotation.models import Assignment, QualityEvent
from annotation.people import enrolments
from annotation.quality import enforcement, rules
from annotation.quality.sentences import for_annotator
from studies import consent

pytestmark = pytest.mark.django_db


def rule(campaign, lead, action):
    return rules.set_rule(
        campaign=campaign,
        measure="straight_lining",
        threshold=0.9,
        minimum=2,
        action=action,
        by=lead,
    )


def answer(client, campaign):
    """Submit 'none of the above' to the open task, as the page's script does."""
    client.get(f"/annotate/{campaign.pk}/")
    leased = Assignment.objects.get(annotator=client.enrolment.annotator, state="leased")
    body = {"submission_id": str(uuid.uuid4()), "answer": {"none_of_the_above": True}, "active_seconds": 3}
    sent = client.post(
        f"/api/v1/assignments/{leased.public_id}/submit", json.dumps(body), content_type="application/json"
    )
    assert sent.status_code == 200
    return sent.json()


def test_a_warning_comes_with_the_answer_and_stays_until_it_is_read(join, marking, lead, monkeypatch):
    monkeypatch.setattr(enforcement, "EVERY", 2)
    client = join(marking)
    rule(marking, lead, "warn")
    assert answer(client, marking)["warning"] == ""
    said = answer(client, marking)
    assert said["warning"] == (
        "You gave the same answer in 100 % of tasks. At most 90 % is expected. Number of tasks measured: 2."
    )
    assert said["next"] is not None
    for _ in range(2):
        page = client.get(f"/annotate/{marking.pk}/").content.decode()
        assert "A note on your work" in page
        assert said["warning"] in page
    assert client.post(f"/annotate/{marking.pk}/warning/read/").status_code == 302
    assert QualityEvent.objects.get().seen_at is not None
    page = client.get(f"/annotate/{marking.pk}/").content.decode()
    assert said["warning"] not in page
    assert 'id="warning" class="notice warn" role="status" hidden' in page


def test_a_pause_states_reason_requirement_and_contact(join, marking, lead, monkeypatch):
    monkeypatch.setattr(enforcement, "EVERY", 2)
    client = join(marking)
    rule(marking, lead, "pause")
    answer(client, marking)
    said = answer(client, marking)
    assert (said["next"], said["why"]) == (None, "annotator_paused")
    assert not Assignment.objects.filter(state="leased").exists()
    page = client.get(f"/annotate/{marking.pk}/done/").content.decode()
    assert "Your part is paused" in page
    assert "You gave the same answer in 100 % of tasks. At most 90 % is expected." in page
    assert "Ask the person who invited you" in page
    assert consent.current_text(marking.study).support.split(";")[0] in page
    german = client.get(f"/annotate/{marking.pk}/done/", headers={"accept-language": "de"}).content.decode()
    assert "Bei 100 % der Aufgaben gaben Sie ein und dieselbe Antwort." in german
    client.enrolment.refresh_from_db()
    enrolments.resume(enrolment=client.enrolment, by=lead, reason="We talked")
    assert client.get(f"/annotate/{marking.pk}/").status_code == 200


def test_warnings_and_pauses_work_without_scripts(join, marking, lead, monkeypatch):
    monkeypatch.setattr(enforcement, "EVERY", 2)
    client = join(marking)
    rule(marking, lead, "pause")
    answer(client, marking)
    leased = Assignment.objects.get(annotator=client.enrolment.annotator, state="leased")
    version = task_payload(leased)["instrument"]["version"]
    form = {"submission_id": uuid.uuid4(), "none_of_the_above": "1", "instrument_version": version}
    client.post(f"/annotate/{marking.pk}/answer/{leased.public_id}/", form)
    client.enrolment.refresh_from_db()
    assert client.enrolment.state == "paused"


def test_nobody_reads_the_warnings_of_another(join, marking, rating, lead):
    one, other = join(marking), join(marking)
    QualityEvent.objects.create(
        enrolment=one.enrolment, measure="agreement", action="warn", value=0.2, threshold=0.5, rests_on=9
    )
    words = for_annotator(QualityEvent.objects.get())
    assert words in one.get(f"/annotate/{marking.pk}/").content.decode()
    assert words not in other.get(f"/annotate/{marking.pk}/").content.decode()
    other.post(f"/annotate/{marking.pk}/warning/read/")
    assert other.post(f"/annotate/{rating.pk}/warning/read/").status_code == 404
    assert QualityEvent.objects.get().seen_at is None


@pytest.mark.parametrize("measure", ["gold_accuracy", "agreement", "self_consistency", "median_seconds"])
def test_each_measure_is_described_in_both_languages(measure):
    event = QualityEvent(measure=measure, action="warn", value=0.695, threshold=0.7, rests_on=12)
    english = for_annotator(event)
    with override("de"):
        german = for_annotator(event)
    shown = "0.7 seconds" if measure == "median_seconds" else "69.5 %"
    assert shown in english
    assert shown.replace(".", ",").replace("seconds", "Sekunden") in german
    assert "Erwartet werden mindestens" in german
