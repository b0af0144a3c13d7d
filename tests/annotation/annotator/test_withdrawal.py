"""A withdrawal is from a study: no later consent text makes the labels count again."""

import json
import uuid

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from analysis.results import reports
from analysis.results.parameters import parameters_of
from annotation.answers.inclusion import counted
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Task
from annotation.people import withdrawal
from studies import consent
from studies.models import AuditEntry, Study, Withdrawal
from tests.annotation.assignment.test_leases import label_everything
from tests.annotation.factories import new_annotator, submit

OWN = {"body": "Our own text.", "content_notice": "Careful.", "support": ""}


def at(name, campaign):
    return reverse(f"annotate:{name}", args=[campaign.pk])


def publish(lead_client, study, **words):
    answer = lead_client.post(reverse("studies:consent", args=[study.slug]), OWN | words)
    assert answer.status_code == 302


def agree(client, campaign):
    text = client.get(at("consent", campaign)).context["text"]
    client.post(at("consent", campaign), {"text": text.pk})


def next_status(client, campaign):
    return client.post(
        f"/api/v1/campaigns/{campaign.pk}/next", {}, content_type="application/json"
    ).status_code


@pytest.fixture
def labelled(join, marking):
    """The client of a person who answered two tasks of a campaign that does not replace withdrawn labels."""
    marking.options = {**marking.options, "reopen_withdrawn": False}
    marking.save(update_fields=["options"])
    client = join(marking)
    for _ in range(2):
        submit(leases.next_assignment(campaign=marking, annotator=client.enrolment.annotator))
    return client


def test_the_first_own_text_of_a_study_brings_no_withdrawn_label_back(labelled, marking, lead_client):
    labelled.post(at("withdraw", marking))
    assert counted(marking).count() == 0
    publish(lead_client, marking.study)
    marking = type(marking).objects.get(pk=marking.pk)
    assert counted(marking).count() == 0
    assert next_status(labelled, marking) == 403
    agree(labelled, marking)
    assert counted(marking).count() == 2
    assert next_status(labelled, marking) == 200


def test_the_analysis_and_the_release_leave_the_withdrawn_out_after_a_new_text(
    labelled, marking, lead_client, tmp_path
):
    label_everything(marking, new_annotator(marking))
    labelled.post(at("withdraw", marking))
    publish(lead_client, marking.study)
    call_command("analyze", study="Isles", output=tmp_path / "results", resamples=200)
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    others = Annotation.objects.exclude(annotator=labelled.enrolment.annotator)
    assert summary["counted"]["judgements"] == sum(one.judgements.count() for one in others)
    call_command("release", study="Isles", output=tmp_path / "release")
    manifest = json.loads(next((tmp_path / "release").rglob("release.json")).read_text())
    assert [one["not_counted"]["withdrawn"] for one in manifest["campaigns"]] == [2]


def test_withdrawal_is_possible_without_consent_to_the_latest_text(labelled, marking, lead_client):
    publish(lead_client, marking.study)
    page = labelled.get(at("consent", marking)).content.decode()
    assert at("withdraw", marking) in page
    labelled.post(at("withdraw", marking))
    assert counted(type(marking).objects.get(pk=marking.pk)).count() == 0
    assert AuditEntry.objects.filter(action="consent.withdrawn").count() == 1


def test_the_page_shows_the_time_of_withdrawal_even_above_a_newer_text(labelled, marking, lead_client):
    labelled.post(at("withdraw", marking))
    publish(lead_client, marking.study)
    assert "You withdrew your consent" in labelled.get(at("consent", marking)).content.decode()


def test_a_withdrawal_covers_every_study_of_the_same_consent_and_agreeing_again_only_one(
    labelled, marking, lead
):
    annotator = labelled.enrolment.annotator
    other = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    second = lifecycle.create(study=other, name="Lakes", kind="attribute_likert", by=lead)
    Enrolment.objects.create(campaign=second, annotator=annotator)
    assert consent.has_consented(annotator, other)
    labelled.post(at("withdraw", marking))
    assert consent.withdrawn_from(other).contains(annotator)
    agree(labelled, marking)
    assert not consent.withdrawn_from(marking.study).contains(annotator)
    assert consent.withdrawn_from(other).contains(annotator)
    assert not consent.has_consented(annotator, other)


def test_consent_given_again_after_a_withdrawal_is_in_the_audit_trail(labelled, marking):
    renewed = AuditEntry.objects.filter(action="consent.renewed")
    assert not renewed.exists()
    labelled.post(at("withdraw", marking))
    agree(labelled, marking)
    entry = renewed.get()
    assert (entry.study, entry.actor) == (marking.study, None)
    assert entry.details == {"pseudonym": labelled.enrolment.annotator.pseudonym}


def test_consent_given_for_the_first_time_is_no_renewal(join, marking):
    newcomer = join(marking, ready=False)
    agree(newcomer, marking)
    assert consent.has_consented(newcomer.enrolment.annotator, marking.study)
    assert not AuditEntry.objects.filter(action="consent.renewed").exists()


def test_consent_is_requested_again_in_a_study_joined_after_a_withdrawal(labelled, marking):
    labelled.post(at("withdraw", marking))
    assert not consent.has_consented(
        labelled.enrolment.annotator, Study.objects.create(name="Lakes", slug="lakes", seed=1)
    )


def test_agreeing_elsewhere_lets_no_open_task_of_the_study_be_submitted(join, marking):
    client = join(marking)
    annotator = client.enrolment.annotator
    leased = leases.next_assignment(campaign=marking, annotator=annotator)
    consent.withdraw(annotator=annotator, study=marking.study)
    consent.give(annotator=annotator, text=consent.current_text(marking.study))
    none = {"ticked": [], "boxes": [], "none_of_the_above": True}
    answer = client.post(
        f"/api/v1/assignments/{leased.public_id}/submit",
        {"submission_id": str(uuid.uuid4()), "answer": none},
        content_type="application/json",
    )
    assert answer.json()["error"]["code"] == "consent_missing"
    assert not Annotation.objects.exists()


def test_results_are_recomputed_after_renewed_consent(labelled, marking, lead):
    labelled.post(at("withdraw", marking))
    parameters = parameters_of(marking.study, resamples=200)
    without = reports.compute_report(study=marking.study, parameters=parameters, by=lead)
    assert without.summary["counted"]["judgements"] == 0
    agree(labelled, marking)
    fresh, _ = reports.report_to_show(study=marking.study, by=lead)
    assert fresh.summary["counted"]["judgements"] > 0


def test_people_who_neither_agreed_nor_answered_cannot_withdraw(join, marking):
    client = join(marking, ready=False)
    assert "nothing to withdraw" in client.get(at("withdraw", marking)).content.decode()
    client.post(at("withdraw", marking))
    assert not Withdrawal.objects.exists()


def test_nobody_withdraws_from_a_study_in_which_they_neither_agreed_nor_answered(marking):
    anna = new_annotator(marking)
    submit(leases.next_assignment(campaign=marking, annotator=anna))
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    consent.publish_consent(study=lakes, body="Ours.", content_notice="Careful.", by=None)
    assert withdrawal.is_possible(annotator=anna, study=marking.study)
    assert not withdrawal.is_possible(annotator=anna, study=lakes)
    assert not withdrawal.withdraw(annotator=anna, study=lakes)
    assert consent.has_consented(anna, marking.study)


def test_a_withdrawal_leaves_the_part_in_a_study_with_a_text_of_its_own(marking, lead):
    anna = new_annotator(marking)
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    theirs = consent.publish_consent(study=lakes, body="Theirs.", content_notice="Careful.", by=None)
    consent.give(annotator=anna, text=theirs, study=lakes)
    elsewhere = Campaign.objects.create(
        study=lakes, slug="lakes", name="Lakes", kind=marking.kind, seed=1, created_by=lead
    )
    Enrolment.objects.create(campaign=elsewhere, annotator=anna)
    leased = Assignment.objects.create(
        task=Task.objects.create(campaign=elsewhere, held=1),
        annotator=anna,
        slot=0,
        expires_at=timezone.now(),
    )
    assert withdrawal.withdraw(annotator=anna, study=marking.study)
    assert list(Withdrawal.objects.values_list("study", flat=True)) == [marking.study_id]
    leased.refresh_from_db()
    assert (leased.state, leased.slot) == ("leased", 0)
