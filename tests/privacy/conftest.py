"""A person with data in every place that can hold any, and another whose data must be kept."""

import base64
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.utils import timezone

from accounts import profiles, tokens
from accounts.models import Annotator, ConsentText, MatchedWords, User
from annotation.assignment import leases
from annotation.label_studio.models import LabelStudioServer, LabelStudioUser
from annotation.models import (
    Annotation,
    Campaign,
    CampaignSnapshot,
    Enrolment,
    ImageReport,
    InvitationLetter,
    Mailing,
    Notice,
    PracticeAnswer,
    PracticeRound,
    QualityEvent,
)
from annotation.people import addresses, enrolments, invitations
from annotation.recruitment.models import PanelEvent, PanelPerson, PanelPlace
from annotation.recruitment.prolific import access
from jobs.engine import celery_app
from jobs.models import Job
from studies import audit, consent
from tests.annotation.annotator.conftest import join, marking, pictures, rating
from tests.annotation.factories import submit
from tests.annotation.recruitment.conftest import panel, recruit, recruitment
from tests.jobs.brokers import own_redis

__all__ = ["join", "marking", "panel", "pictures", "rating", "recruit", "recruitment"]

USERNAME, NAME, ADDRESS = "quillfeather", "Zsófia Quillfeather", "zsofia@quillfeather.example"
PANEL_ID, SUBMISSION = "5f3a0c77b1d2e4a6c8f00112", "6a0b1c2d3e4f5a6b7c8d9e0f"
BROWSER, IP, NOTE, OWN_WORDS = "Quillbrowser/7.3", "203.0.113.77", "Frau Quillfeather, Raum 12", "quillish"
IN_LABEL_STUDIO = "zquill in Label Studio"


@dataclass
class Person:
    """Somebody in the marking campaign, and the words that identify them."""

    annotator: Annotator
    client: Client
    words: list[str] = field(default_factory=list)

    @property
    def answers(self) -> Any:
        return Annotation.objects.filter(annotator=self.annotator.pk)


def promise(campaign: Campaign, labels: str) -> None:
    """Set what the study's consent text, and so the given consents, promise for erased people."""
    text = consent.current_text(campaign.study)
    ConsentText.objects.filter(pk=text.pk).update(labels_when_erased=labels)


@pytest.fixture
def person(marking, recruitment, lead, lead_client, study) -> Person:
    """Somebody with a row in every table that can hold one about them."""
    browser = {"HTTP_USER_AGENT": BROWSER, "REMOTE_ADDR": IP}
    invitations.invite_each(campaign=marking, by=lead, labels=[NOTE])
    kept = lead_client.session
    kept["kept"] = {"note": NOTE}
    kept.save()
    invitation, token = invitations.invite(campaign=marking, by=lead, label=NOTE)
    InvitationLetter.objects.create(
        invitation=invitation,
        mailing=Mailing.objects.create(campaign=marking, language="en", message=f"Dear {NAME},"),
        state=InvitationLetter.State.SENT,
        sent_at=timezone.now(),
        address_sealed=addresses.seal(ADDRESS),
        link_sealed=addresses.seal(token),
        address_hash=addresses.hashes(ADDRESS)[0],
    )
    client = Client(**browser)
    client.post(f"/annotate/i/{token}/")
    enrolment = Enrolment.objects.filter(campaign=marking).latest("pk")
    annotator = enrolment.annotator
    User.objects.filter(pk=annotator.user_id).update(username=USERNAME, email=ADDRESS, display_name=NAME)
    annotator.user.refresh_from_db()
    consent.give(annotator=annotator, text=consent.current_text(study))
    profiles.describe(annotator=annotator, gender=OWN_WORDS, languages=[OWN_WORDS])
    MatchedWords.objects.create(field="gender", words=profiles.words_key(OWN_WORDS), code="woman")
    for _ in range(2):
        answer = submit(leases.next_assignment(campaign=marking, annotator=annotator))
        Annotation.objects.filter(pk=answer.pk).update(justification=f"Says {NAME}")
    leases.next_assignment(campaign=marking, annotator=annotator)
    _mention_at_work(enrolment, lead)
    _sign_in(annotator.user)
    _come_by_a_panel(recruitment, annotator, enrolment)
    server = LabelStudioServer.objects.create(
        study=study, url="https://ls.example", token="sealed", created_by=lead
    )
    LabelStudioUser.objects.create(
        server=server, external_id=77, name=IN_LABEL_STUDIO, state="mapped", annotator=annotator
    )
    words = [USERNAME, NAME, ADDRESS, PANEL_ID, SUBMISSION, BROWSER, IP, NOTE, OWN_WORDS, IN_LABEL_STUDIO]
    enrolment.refresh_from_db()
    words += [annotator.pseudonym, enrolment.joined_print, enrolment.joined_device]
    assert all(words)
    return Person(annotator, client, words)


def _mention_at_work(enrolment: Enrolment, lead: User) -> None:
    """Name the person in texts that leads and jobs write."""
    campaign, annotator = enrolment.campaign, enrolment.annotator
    enrolments.pause(enrolment=enrolment, by=lead, reason=f"{NAME} is on holiday")
    enrolments.resume(enrolment=enrolment, by=lead, reason="is back")
    Enrolment.objects.filter(pk=enrolment.pk).update(reason=f"ask {NAME}")
    image = campaign.tasks.exclude(image=None).first().image
    ImageReport.objects.create(
        image=image, annotator=annotator, campaign=campaign, reason="other", details=NAME
    )
    practice = PracticeRound.objects.create(enrolment=enrolment, number=1)
    PracticeAnswer.objects.create(
        round=practice, task=campaign.tasks.first(), answer={"text": NAME}, correct=0, scored=1
    )
    QualityEvent.objects.create(
        enrolment=enrolment, measure="variety", action="warn", value=0.1, threshold=0.5, rests_on=9
    )
    CampaignSnapshot.objects.create(
        campaign=campaign,
        subject="people",
        argument="",
        value={"code": annotator.pseudonym},
        counted_at=timezone.now(),
        format=1,
        seconds=0.1,
    )
    Notice.objects.create(campaign=campaign, kind="stuck", details=f"{NAME} was last here on Monday")
    audit.record(
        by=lead, action="member.added", subject=annotator.user, study=campaign.study, username=USERNAME
    )
    audit.record(by=annotator.user, action="people.read", subject=campaign, study=campaign.study, of=ADDRESS)
    LogEntry.objects.create(
        user=lead,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(annotator.user_id),
        object_repr=NAME,
        action_flag=CHANGE,
        change_message=f"Changed {ADDRESS}",
    )
    job = Job.objects.create(
        kind="test", title=f"Write to {NAME}", arguments={"to": [ADDRESS]}, queue="default", state="succeeded",
        result={"told": USERNAME}, started_at=timezone.now(), finished_at=timezone.now(),
    )  # fmt: skip
    job.lines.create(at=timezone.now(), text=f"wrote to {ADDRESS}")


def _sign_in(user: User) -> None:
    tokens.issue(user=user, name=f"{NAME}’s laptop", scopes=["annotate"])
    known = EmailAddress.objects.create(user=user, email=ADDRESS, verified=True, primary=True)
    EmailConfirmation.objects.create(email_address=known, sent=timezone.now(), key="key")
    link = SocialAccount.objects.create(user=user, provider="oidc", uid=USERNAME)
    SocialToken.objects.create(account=link, token=USERNAME)
    Authenticator.objects.create(user=user, type="webauthn", data={"name": f"{NAME}’s key"})
    UserSession.objects.create(user=user, ip=IP, session_key="anywhere", user_agent=BROWSER)
    found = {"user_agent": BROWSER, "ip_address": IP, "username": USERNAME.upper(), "http_accept": "*/*"}
    AccessAttempt.objects.create(
        **found, failures_since_start=1, path_info="/", get_data="", post_data=f"username={USERNAME}"
    )
    AccessFailureLog.objects.create(**found, path_info="/")
    AccessLog.objects.create(**found, path_info="/")


def _come_by_a_panel(recruitment: Any, annotator: Annotator, enrolment: Enrolment) -> None:
    from annotation.recruitment import identities

    known = PanelPerson.objects.create(
        provider=recruitment.provider,
        annotator=annotator,
        id_hash=identities.hashes(PANEL_ID)[0],
        id_sealed=identities.seal(PANEL_ID),
    )
    PanelPlace.objects.create(
        recruitment=recruitment,
        person=known,
        enrolment=enrolment,
        submission_hash=identities.hashes(SUBMISSION)[0],
        submission_sealed=identities.seal(SUBMISSION),
        state="left",
        ended_at=timezone.now(),
        outcome="rejected",
        decided_at=timezone.now(),
        reason=f"{NAME} did not answer",
    )
    body = base64.b64encode(f'{{"participant_id": "{PANEL_ID}"}}'.encode()).decode()
    PanelEvent.objects.create(
        provider=recruitment.provider,
        event_id=uuid.uuid4().hex,
        body_sealed=access.seal(body),
        happened_at=timezone.now(),
        signed_at=timezone.now(),
    )


@pytest.fixture
def redis(settings, tmp_path_factory, monkeypatch) -> Iterator[str]:
    """A Redis that keeps the cache and carries messages to workers."""
    with own_redis(tmp_path_factory.mktemp("redis")) as server:
        settings.CACHES = {
            "default": settings.CACHES["default"]
            | {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": server.url}
        }
        settings.TASKS = {
            "default": settings.TASKS["default"] | {"BACKEND": "jobs.engine.celery_backend.CeleryBackend"}
        }
        monkeypatch.setattr(celery_app.app.conf, "broker_url", server.url)
        yield server.url
        celery_app.app._after_fork()  # drops its connections


@pytest.fixture
def files(settings, tmp_path) -> Path:
    """All files that the server writes."""
    return tmp_path
