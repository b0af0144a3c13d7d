"""Users of a Label Studio are identified by the lead or by themselves, never by guessing."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Annotator, User
from annotation.label_studio.base import job_queue
from annotation.label_studio.client.encryption import seal
from annotation.label_studio.labels import edits
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioProject,
    LabelStudioServer,
    LabelStudioTask,
    LabelStudioUser,
)
from annotation.label_studio.people import identity
from annotation.label_studio.pull.mirror import mirror
from annotation.models import Annotation, Campaign, Enrolment
from annotation.people import invitations, withdrawal
from foundation.errors import Conflict, NotFound
from jobs.models import Job
from jobs.run.execution import execute
from studies import consent
from studies.models import AuditEntry, Study
from tests.annotation.conftest import rating
from tests.annotation.factories import new_annotator
from tests.services.label_studio.annotators import rated

__all__ = ["rating"]
State = LabelStudioAnnotation.State
User_ = LabelStudioUser.State


@pytest.fixture
def bridge(rating, study) -> LabelStudioBridge:
    """A bridge with one project of all screens; two users answered the first."""
    server = LabelStudioServer.objects.create(
        study=study, url="https://label.example.org", token=seal("token")
    )
    bridge = LabelStudioBridge.objects.create(
        campaign=rating,
        server=server,
        arrangement="shared",
        address_secret=seal("a"),
        header_secret=seal("b"),
    )
    project = LabelStudioProject.objects.create(
        bridge=bridge, external_id=1, instrument=rating.instruments.first()
    )
    for place, task in enumerate(rating.tasks.order_by("pk"), start=1):
        LabelStudioTask.objects.create(project=project, task=task, external_id=place)
    mirror(project=project, annotations=[annotation(21, 1, 7), annotation(22, 1, 8), annotation(23, 2, 7)])
    return bridge


def annotation(number: int, task: int, user: int, **more):
    made = f"2026-01-05T09:00:{number:02}Z"
    return {
        "id": number,
        "task": task,
        "completed_by": user,
        "updated_by": user,
        "created_username": f"Kim Example kim{user}@example.org, {user}",
        "created_at": made,
        "updated_at": made,
        "was_cancelled": False,
        "lead_time": 3.0,
        "result": rated(2),
        **more,
    }


@pytest.fixture
def user(bridge) -> LabelStudioUser:
    return LabelStudioUser.objects.get(external_id=7)


def accepted(annotator: Annotator) -> int:
    return Annotation.objects.filter(
        annotator=annotator, is_latest=True, status=Annotation.Status.ACCEPTED
    ).count()


def do_jobs() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED).order_by("pk"):
        execute(job.pk)


def states(user: LabelStudioUser) -> set[str]:
    return set(user.annotations.values_list("state", flat=True))


def test_users_do_not_count_until_the_lead_identifies_them(bridge, user, lead, rating):
    annotator = new_annotator(rating)
    assert not Annotation.objects.exists()
    identity.confirm(user=user, annotator=annotator, by=lead)
    user.refresh_from_db()
    assert (user.state, user.annotator, user.decided_by) == (User_.MAPPED, annotator, lead)
    assert accepted(annotator) == 2
    entry = AuditEntry.objects.get(action="label_studio_user.mapped")
    assert entry.details["pseudonym"] == annotator.pseudonym
    assert "Kim" not in str(entry.details)


def test_an_annotator_of_another_campaign_who_agreed_is_enrolled(bridge, user, lead, study):
    other = Campaign.objects.create(study=study, slug="other", name="Other", kind="attribute_likert", seed=1)
    annotator = new_annotator(other)
    identity.confirm(user=user, annotator=annotator, by=lead)
    assert Enrolment.objects.filter(campaign=bridge.campaign, annotator=annotator).exists()
    assert accepted(annotator) == 2


def test_answers_wait_until_their_annotator_agrees(bridge, user, lead, rating, study):
    annotator = Annotator.objects.create(user=User.objects.create_user("someone", password="a long password"))
    Enrolment.objects.create(campaign=rating, annotator=annotator)
    identity.confirm(user=user, annotator=annotator, by=lead)
    assert (accepted(annotator), states(user)) == (0, {State.CONSENT})
    withdrawal.agree(annotator=annotator, text=consent.current_text(study), study=study)
    do_jobs()
    assert accepted(annotator) == 2


def test_annotators_outside_the_study_or_already_mapped_are_refused(bridge, user, lead, rating, annotator):
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    elsewhere = Campaign.objects.create(study=lakes, slug="lakes", name="Lakes", kind=rating.kind, seed=1)
    for campaigns in ([], [elsewhere]):
        for campaign in campaigns:
            Enrolment.objects.create(campaign=campaign, annotator=annotator)
        with pytest.raises(NotFound, match="takes part"):
            identity.confirm(user=user, annotator=annotator, by=lead)
    mine = new_annotator(rating)
    identity.confirm(user=user, annotator=mine, by=lead)
    with pytest.raises(Conflict, match="Undo"):
        identity.confirm(user=user, annotator=mine, by=lead)
    with pytest.raises(Conflict, match="already"):
        identity.confirm(user=LabelStudioUser.objects.get(external_id=8), annotator=mine, by=lead)


def test_after_undoing_answers_wait_and_another_annotator_can_be_chosen(bridge, user, lead, rating):
    first, second = new_annotator(rating), new_annotator(rating)
    identity.confirm(user=user, annotator=first, by=lead)
    identity.undo(user=user, by=lead)
    user.refresh_from_db()
    assert (user.state, user.annotator, accepted(first)) == (User_.WAITING, None, 0)
    assert states(user) == {State.WAITING}
    identity.undo(user=user, by=lead)  # repeating it changes nothing
    identity.confirm(user=user, annotator=second, by=lead)
    assert (accepted(first), accepted(second)) == (0, 2)
    assert not bridge.campaign.tasks.filter(held__gt=1).exists()


def test_ignored_users_do_not_count_and_can_return(bridge, user, lead, rating):
    identity.ignore(user=user, by=lead)
    assert states(user) == {State.LEFT_OUT}
    with pytest.raises(Conflict):
        identity.confirm(user=user, annotator=new_annotator(rating), by=lead)
    identity.undo(user=user, by=lead)
    assert states(user) == {State.WAITING}


def test_an_erased_user_has_no_name_here(bridge, user, lead, rating):
    annotator = new_annotator(rating)
    assert "Kim" in user.name
    identity.confirm(user=user, annotator=annotator, by=lead)
    identity.erase(user=user, by=lead)
    user.refresh_from_db()
    assert (user.name, user.state, accepted(annotator)) == ("", User_.IGNORED, 0)
    mirror(project=bridge.projects.get(), annotations=[annotation(24, 3, 7)])
    user.refresh_from_db()
    assert user.name == ""


def test_the_person_who_uses_the_link_made_for_a_user_is_that_user(bridge, user, lead, rating, study):
    _, token = identity.invite(user=user, campaign=rating, by=lead)
    enrolment = invitations.accept(token=token, user=None)
    user.refresh_from_db()
    assert (user.state, user.annotator) == (User_.MAPPED, enrolment.annotator)
    do_jobs()
    assert states(user) == {State.CONSENT}
    withdrawal.agree(annotator=enrolment.annotator, text=consent.current_text(study), study=study)
    do_jobs()
    assert accepted(enrolment.annotator) == 2


def test_an_annotator_of_the_campaign_may_use_such_a_link_too(bridge, user, lead, rating):
    annotator = new_annotator(rating)
    _, token = identity.invite(user=user, campaign=rating, by=lead)
    invitations.accept(token=token, user=annotator.user)
    do_jobs()
    user.refresh_from_db()
    assert (user.annotator, accepted(annotator)) == (annotator, 2)


@pytest.mark.parametrize("over", [{"revoked_at": timezone.now}, {"expires_at": timezone.now}])
def test_an_expired_link_maps_nobody(bridge, user, lead, rating, over):
    annotator = new_annotator(rating)
    invitation, token = identity.invite(user=user, campaign=rating, by=lead)
    for name, now in over.items():
        setattr(invitation, name, now() - timedelta(seconds=1))
        invitation.save()
    invitations.accept(token=token, user=annotator.user)
    user.refresh_from_db()
    assert user.state == User_.WAITING


def test_a_second_link_ends_the_first_and_so_does_a_decision(bridge, user, lead, rating):
    first, _ = identity.invite(user=user, campaign=rating, by=lead)
    second, _ = identity.invite(user=user, campaign=rating, by=lead)
    identity.ignore(user=user, by=lead)
    for invitation in (first, second):
        invitation.refresh_from_db()
        assert invitation.revoked_at is not None


def test_an_answer_in_anothers_name_counts_where_the_lead_allows_it(bridge, user, lead, rating):
    annotator = new_annotator(rating)
    project = bridge.projects.get()
    mirror(project=project, annotations=[annotation(24, 3, 7, updated_by=8)])
    identity.confirm(user=user, annotator=annotator, by=lead)
    flagged = LabelStudioAnnotation.objects.get(external_id=24)
    assert (flagged.state, accepted(annotator)) == (State.FLAGGED, 2)
    assert edits.take(mirrored=flagged, by=lead).state == State.COUNTED
    assert accepted(annotator) == 3
    assert edits.undo(mirrored=flagged, by=lead).state == State.FLAGGED
    assert accepted(annotator) == 2


def test_many_answers_are_counted_by_a_job(bridge, user, lead, rating, monkeypatch):
    monkeypatch.setattr(identity, "MOST_AT_ONCE", 1)
    annotator = new_annotator(rating)
    identity.confirm(user=user, annotator=annotator, by=lead)
    assert accepted(annotator) == 0
    job = Job.objects.get(kind=job_queue.SETTLE)
    assert job.arguments == {"bridge": bridge.pk, "user": user.pk}
    do_jobs()
    assert accepted(annotator) == 2
