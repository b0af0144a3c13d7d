"""Each rule of submission separately, on the path of real answers: by the verbs and over HTTP."""

from datetime import timedelta
from itertools import groupby

import pytest
from django.utils import timezone

from accounts import consent_texts, profiles
from accounts.models import Consent
from annotation.assignment import leases, slots
from annotation.assignment.selection import Choice
from annotation.campaigns import lifecycle
from annotation.campaigns.instruments import versions as instruments_versions
from annotation.label_studio.models import LabelStudioBridge, LabelStudioServer
from annotation.models import Annotation, Assignment, Campaign, Enrolment, Task
from annotation.people import withdrawal
from foundation.errors import DomainError
from studies import consent
from studies.models import Study
from tests.annotation.assignment.test_gold_and_repeats import add_gold
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.factories import add_images, new_annotator
from tests.annotation.labelling.production_paths import NONE_OF_THEM, ticking_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna(marking):
    return new_annotator(marking)


@pytest.fixture
def leased(marking, anna, path):
    return path.next_task(marking, anna)


def refused(code, verb, *arguments, **given):
    with pytest.raises(DomainError) as refusal:
        verb(*arguments, **given)
    assert refusal.value.code == code


def never_agree(campaign):
    Consent.objects.all().delete()


def take_consent_back(campaign):
    Consent.objects.update(withdrawn_at=timezone.now())


def withdraw_from_the_study_alone(campaign):
    """Withdraw from this study alone, as if the same text had since been agreed to in another study."""
    for enrolment in campaign.enrolments.all():
        consent.withdraw(annotator=enrolment.annotator, study=campaign.study)
    Consent.objects.update(withdrawn_at=None)


def publish_a_new_text(campaign):
    consent_texts.publish(series="default", body="Another text.", content_notice="A notice.")


def pause_the_person(campaign):
    campaign.enrolments.update(state=Enrolment.State.PAUSED)


def exclude_the_person(campaign):
    campaign.enrolments.update(state=Enrolment.State.EXCLUDED)


REFUSALS = {
    never_agree: "consent_missing",
    take_consent_back: "consent_missing",
    withdraw_from_the_study_alone: "consent_missing",
    publish_a_new_text: "consent_missing",
    pause_the_person: "annotator_paused",
    exclude_the_person: "annotator_excluded",
}


@pytest.mark.parametrize(("happen", "code"), REFUSALS.items())
def test_people_barred_from_labelling_cannot_answer_open_tasks(marking, anna, leased, path, happen, code):
    happen(marking)
    refused(code, path.submit, leased, by=anna)
    refused(code, path.next_task, marking, anna)
    assert not Annotation.objects.exists()
    assert Assignment.objects.get().state == "leased"


@pytest.mark.parametrize(("happen", "code"), REFUSALS.items())
def test_people_barred_from_labelling_cannot_correct_answers(marking, anna, leased, path, happen, code):
    kept = path.submit(leased, by=anna)
    happen(marking)
    refused(code, path.submit, leased, by=anna, answer=ticking_all(leased))
    again = path.submit(leased, by=anna, submission_id=kept.annotation.submission_id)
    assert (again.annotation, again.following, again.why) == (kept.annotation, None, code)


def test_the_task_of_another_cannot_be_answered_skipped_or_corrected(marking, anna, leased, path):
    otto = new_annotator(marking)
    refused("assignment_not_found", path.submit, leased, by=otto)
    refused("assignment_not_found", path.skip, leased, by=otto)
    path.submit(leased, by=anna)
    refused("assignment_not_found", path.submit, leased, by=otto, answer=ticking_all(leased))
    assert Annotation.objects.get().annotator == anna


def test_people_outside_the_campaign_get_no_task(marking, rating, anna, path):
    refused("campaign_not_found", path.next_task, rating, anna)
    stranger = new_annotator(rating)
    refused("campaign_not_found", path.next_task, marking, stranger)


def label_in_label_studio(campaign):
    server = LabelStudioServer.objects.create(study=campaign.study, url="http://127.0.0.1:9")
    LabelStudioBridge.objects.create(campaign=campaign, server=server)
    Campaign.objects.filter(pk=campaign.pk).update(labelled_in="label_studio")


STANDSTILLS = {
    "paused": (lambda campaign: lifecycle.pause(campaign=campaign, by=None), "campaign_not_open"),
    "closed": (lambda campaign: lifecycle.close(campaign=campaign, by=None), "campaign_not_open"),
    "imported": (lambda campaign: Campaign.objects.update(imported=True), "campaign_not_open"),
    "in Label Studio": (label_in_label_studio, "labelled_in_label_studio"),
}


@pytest.mark.parametrize("name", STANDSTILLS)
def test_an_answer_in_time_is_stored_even_if_no_task_follows(marking, anna, leased, path, name):
    stop, code = STANDSTILLS[name]
    stop(marking)
    kept = path.submit(leased, by=anna)
    assert (kept.annotation.status, kept.following, kept.why) == ("accepted", None, code)
    refused(code, path.next_task, marking, anna)


def run_out(leased):
    """Set the end of the lease to an hour ago."""
    ago = timezone.now() - timedelta(hours=1)
    Assignment.objects.filter(pk=leased.pk).update(leased_at=ago, expires_at=ago)


def test_a_late_answer_is_accepted_where_the_place_is_free(marking, leased, anna, path):
    run_out(leased)
    kept = path.submit(leased, by=anna)
    assert kept.annotation.status == "accepted"


def test_a_late_answer_to_a_reassigned_task_is_surplus(marking, anna, leased, path):
    run_out(leased)
    Task.objects.exclude(pk=leased.task_id).update(withdrawn=True)
    for _ in range(2):
        other = new_annotator(marking)
        path.submit(path.next_task(marking, other), by=other)
    kept = path.submit(leased, by=anna)
    assert (kept.annotation.status, kept.shown_status) == ("surplus", "surplus")
    corrected = path.submit(leased, by=anna, answer=ticking_all(leased))
    assert (corrected.annotation.status, corrected.annotation.revision) == ("surplus", 2)
    assert leased.task.annotations.filter(status="accepted").count() == 2
    assert slots_are_counted()


def test_a_late_answer_after_closing_is_surplus_and_frees_its_place(marking, anna, leased, path):
    run_out(leased)
    lifecycle.close(campaign=marking, by=None)
    Assignment.objects.filter(pk=leased.pk).update(state="leased", slot=0)
    Task.objects.filter(pk=leased.task_id).update(held=1)
    assert path.submit(leased, by=anna).annotation.status == "surplus"
    assert slots_are_counted()


def test_answering_a_skipped_task_takes_a_place_again(marking, anna, leased, path):
    path.skip(leased, by=anna)
    assert slots_are_counted()
    kept = path.submit(leased, by=anna)
    assert (kept.annotation.status, Assignment.objects.get(pk=leased.pk).slot) == ("accepted", 0)
    assert slots_are_counted()
    refused("already_submitted", path.skip, leased, by=anna)


def test_an_answer_to_a_task_that_is_no_longer_offered_takes_no_place(marking, anna, leased, path):
    path.skip(leased, by=anna)
    Task.objects.filter(pk=leased.task_id).update(withdrawn=True)
    assert path.submit(leased, by=anna).annotation.status == "surplus"


def test_an_answer_frees_expired_tasks_of_others(marking, anna, path):
    other = new_annotator(marking)
    overdue, leased = path.next_task(marking, other), path.next_task(marking, anna)
    run_out(overdue)
    path.submit(leased, by=anna)
    assert Assignment.objects.get(pk=overdue.pk).state == "expired"
    assert slots_are_counted()


def test_an_open_task_comes_before_a_new_one(marking, anna, path):
    first = path.next_task(marking, anna)
    second = path.submit(first, by=anna).following
    # Two open tasks at once, as a retry between two processes could leave them.
    Annotation.objects.all().delete()
    Assignment.objects.filter(pk=first.pk).update(state="leased", ended_at=None)
    assert path.submit(first, by=anna).following.pk == second.pk
    assert Assignment.objects.filter(state="leased").count() == 1


def test_an_overtaken_annotator_gets_no_place_that_is_gone(marking, anna, leased, path, monkeypatch):
    only = marking.tasks.exclude(pk=leased.task_id).earliest("pk")
    Task.objects.exclude(pk__in=[only.pk, leased.task_id]).update(withdrawn=True)
    first, second = new_annotator(marking), new_annotator(marking)
    for other in (first, second):  # Anna's task is full except for her
        Assignment.objects.create(
            task=leased.task, annotator=other, state="skipped", expires_at=timezone.now()
        )
    assert leases.next_assignment(campaign=marking, annotator=first).task == only
    hold, overtaken = slots.hold, []

    def hold_too_late(choice, joined, *, wait):
        if not overtaken:
            overtaken.append(choice)
            assert leases.next_assignment(campaign=marking, annotator=second).task == only
        return hold(choice, joined, wait=wait)

    monkeypatch.setattr(slots, "hold", hold_too_late)
    kept = path.submit(leased, by=anna)
    assert (kept.annotation.status, kept.following, kept.why) == ("accepted", None, "nothing_left")
    assert overtaken
    assert only.assignments.count() == 2
    assert slots_are_counted()


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("change", [{"held": 1}, {"held": 2}, {"withdrawn": True}, {"quota_mix": "other"}])
def test_an_overtaken_annotator_takes_no_place_of_a_changed_task(marking, change, wait):
    task = marking.tasks.earliest("pk")
    choice = Choice(task.pk, task.held, task.quota_mix)
    Task.objects.filter(pk=task.pk).update(**change)
    before = Task.objects.values().get(pk=task.pk)
    assert not slots.hold(choice, "joined", wait=wait)
    assert Task.objects.values().get(pk=task.pk) == before


@pytest.mark.parametrize("wait", [False, True])
def test_an_annotator_overtaken_by_enough_others_takes_no_place(marking, wait):
    task = marking.tasks.earliest("pk")
    Task.objects.filter(pk=task.pk).update(held=task.wanted)
    assert not slots.hold(Choice(task.pk, task.wanted, task.quota_mix), "", wait=wait)


def test_the_version_of_the_guidelines_that_was_seen_is_kept(marking, lead, anna, leased, path):
    instruments_versions.revise(campaign=marking, guidelines="Other words.", by=lead)
    refused("instrument_unknown", path.submit, leased, by=anna, instrument_version=9)
    first = path.submit(leased, by=anna, instrument_version=1)
    latest = path.submit(first.following, by=anna)
    versions = [kept.annotation.instrument.version for kept in (first, latest)]
    assert versions == [1, 2]


def test_time_worked_is_never_more_than_the_time_since_the_lease(marking, anna, leased, path):
    assert path.submit(leased, by=anna).annotation.active_seconds < 3


@pytest.mark.parametrize("ended", [False, True])
def test_ended_withdrawals_and_those_of_other_studies_do_not_prevent_answers(marking, anna, path, ended):
    study = marking.study if ended else Study.objects.create(name="Other", slug="other", seed=1)
    consent.withdraw(annotator=anna, study=study)
    if ended:
        withdrawal.agree(annotator=anna, text=consent.current_text(study), study=study)
    Consent.objects.update(withdrawn_at=None)
    kept = path.submit(path.next_task(marking, anna), by=anna)
    assert kept.following is not None


def test_a_correction_replaces_the_answer_and_is_refused_after_closing(marking, anna, leased, path):
    first = path.submit(leased, by=anna).annotation
    second = path.submit(leased, by=anna, answer=ticking_all(leased)).annotation
    same = path.submit(leased, by=anna, answer=ticking_all(leased)).annotation
    assert (second.revision, second.is_latest, same) == (2, True, second)
    assert Annotation.objects.filter(is_latest=True).get() == second
    assert Annotation.objects.get(pk=first.pk).judgements.filter(present=True).count() == 0
    lifecycle.close(campaign=marking, by=None)
    refused("campaign_closed", path.submit, leased, by=anna, answer=NONE_OF_THEM)


def test_after_the_edit_window_corrections_are_refused_but_retries_answered(marking, anna, leased, path):
    kept = path.submit(leased, by=anna).annotation
    minutes_ago = timezone.now() - timedelta(minutes=30)
    Assignment.objects.filter(pk=leased.pk).update(ended_at=minutes_ago)
    refused("edit_window_over", path.submit, leased, by=anna, answer=ticking_all(leased))
    assert path.submit(leased, by=anna, submission_id=kept.submission_id).annotation == kept
    Assignment.objects.filter(pk=leased.pk).update(ended_at=minutes_ago + timedelta(minutes=1))
    assert path.submit(leased, by=anna, answer=ticking_all(leased)).annotation.revision == 2


def test_a_submission_id_serves_for_one_task_of_one_person(marking, anna, leased, path):
    first = path.submit(leased, by=anna)
    used = first.annotation.submission_id
    otto = new_annotator(marking)
    refused("submission_id_taken", path.submit, first.following, by=anna, submission_id=used)
    other = path.next_task(marking, otto)
    refused("submission_id_taken", path.submit, other, by=otto, submission_id=used)
    assert Annotation.objects.count() == 1


@pytest.fixture
def open_campaign(study, lead):
    """Return a function that opens a marking campaign with options and quotas."""

    def open_one(*, options=None, quotas=(), attributes_per_screen=3):
        add_images(study, 2)
        draft = lifecycle.create(
            study=study,
            name="Special",
            kind="stereotype_marking",
            by=lead,
            annotators_per_task=2,
            attributes_per_screen=attributes_per_screen,
            options=options or {},
            quotas=list(quotas),
        )
        return lifecycle.open_(campaign=draft, by=lead)

    return open_one


def answer_until_nothing_follows(path, campaign, annotator):
    """Answer everything; return the answered tasks, and the reason why none follows."""
    answered, leased = [], path.next_task(campaign, annotator)
    while leased is not None:
        answered.append(leased)
        sent = path.submit(leased, by=annotator)
        leased = sent.following
    return answered, sent.why


def test_checks_are_mixed_in_never_between_two_screens_and_count_as_what_they_are(open_campaign, path):
    shares = {"gold_share": 0.3, "repeat_share": 0.3, "repeat_after": 1}
    campaign = open_campaign(options=shares)
    add_gold(campaign, 4)
    answered, why = answer_until_nothing_follows(path, campaign, new_annotator(campaign))
    assert why == "nothing_left"
    purposes = [leased.purpose for leased in answered]
    assert purposes.count("label") == campaign.tasks.filter(purpose="label").count()
    assert {"gold", "repeat"} < set(purposes)
    statuses = {"label": "accepted", "gold": "gold", "repeat": "repeat"}
    kept = {one.assignment_id: one.status for one in Annotation.objects.all()}
    assert [kept[leased.pk] for leased in answered] == [statuses[purpose] for purpose in purposes]
    images = [leased.task.image_id if leased.purpose == "label" else None for leased in answered]
    runs = [image for image, _ in groupby(images) if image is not None]
    assert len(runs) == len(set(runs))


def test_the_daily_cap_ends_the_day(open_campaign, path):
    campaign = open_campaign(options={"tasks_per_day": 3})
    answered, why = answer_until_nothing_follows(path, campaign, new_annotator(campaign))
    assert (len(answered), why) == (3, "enough_for_today")


def test_no_sensitive_task_follows_after_the_daily_cap(open_campaign, path):
    shares = {"gold_share": 0.5, "repeat_share": 0.0}
    campaign = open_campaign(options={"sensitive_per_day": 1, **shares})
    add_gold(campaign, 4)
    Task.objects.filter(screen=0).update(sensitive=True)
    Task.objects.filter(purpose="gold").update(sensitive=True)
    answered, why = answer_until_nothing_follows(path, campaign, new_annotator(campaign))
    assert sum(leased.task.sensitive for leased in answered) == 1
    assert why == "enough_for_today"


def test_quotas_apply_to_the_task_after_an_answer(open_campaign, path):
    campaign = open_campaign(quotas=["at_most 1 gender = man"])
    men, woman = [new_annotator(campaign) for _ in range(2)], new_annotator(campaign)
    for annotator in men:
        profiles.describe(annotator=annotator, gender="man")
    leased = {annotator: path.next_task(campaign, annotator) for annotator in men}
    while any(leased.values()):
        for annotator, task in leased.items():
            leased[annotator] = task and path.submit(task, by=annotator).following
    labels = Annotation.objects.values_list("task", flat=True)
    assert len(labels) == len(set(labels)) == 8
    assert len(answer_until_nothing_follows(path, campaign, woman)[0]) == 8
    assert len(set(campaign.tasks.values_list("quota_mix", flat=True))) == 1
    assert slots_are_counted()
