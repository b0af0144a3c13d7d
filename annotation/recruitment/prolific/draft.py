"""A recruitment at Prolific: drafted, published by a person, paused, resumed and stopped."""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from annotation.models import Campaign
from annotation.recruitment import recruitments
from annotation.recruitment.models import Recruitment
from annotation.recruitment.prolific import access, estimate
from annotation.recruitment.prolific.client import CompletionCode, StudyDraft
from annotation.recruitment.prolific.connection import SHORT
from annotation.recruitment.prolific.errors import ProlificError
from annotation.recruitment.prolific.results import RemoteStudy
from foundation.errors import Conflict, DomainError
from studies import audit, consent

# Prolific's action for each change of a recruitment's state, and the resulting state of the study.
_ACTIONS = {
    "publish": ("PUBLISH", "ACTIVE"),
    "open": ("START", "ACTIVE"),
    "pause": ("PAUSE", "PAUSED"),
    "close": ("STOP", "COMPLETED"),
}


@dataclass(frozen=True)
class Announcement:
    """The text that people read at Prolific before they take a place."""

    title: str
    description: str


def create(*, recruitment: Recruitment, announcement: Announcement, link: str, by: User) -> Recruitment:
    """Create the draft at Prolific. It costs nothing, and nobody sees it before it is published."""
    _check(announcement)
    if recruitment.remote_study:
        raise Conflict("recruitment_drafted", "The draft already exists at Prolific.")
    text = consent.current_text(recruitment.campaign.study)
    draft = StudyDraft(
        name=announcement.title,
        description=announcement.description,
        internal_name=f"{recruitment.campaign.name}: {recruitment.name}"[:200],
        link=link,
        places=recruitment.places,
        minutes=recruitment.minutes,
        reward=recruitment.reward,
        codes=_codes(recruitment),
        content_warning=text.content_notice[:2000],
        metadata={"stereoscope": str(recruitment.public_id)},
        signed_links=recruitment.provider.signs_links,
    )
    with access.client_of(recruitment.provider, patience=SHORT) as client:
        study = client.create_study(draft)
        price = client.cost(recruitment.places, recruitment.reward)
    with transaction.atomic():
        locked = Recruitment.objects.select_for_update().get(pk=recruitment.pk)
        if locked.remote_study:
            raise Conflict("recruitment_drafted", "The draft already exists at Prolific.")
        _keep(recruitment, study, price)
        _record(by, "drafted", recruitment)
    return recruitment


def _codes(recruitment: Recruitment) -> tuple[CompletionCode, ...]:
    """Return the codes that people enter, and the code for a fixed screen-out payment."""
    codes = (
        CompletionCode(recruitment.completed_code, "COMPLETED", "MANUALLY_REVIEW"),
        CompletionCode(recruitment.declined_code, "NO_CONSENT", "REQUEST_RETURN"),
        CompletionCode(recruitment.screened_out_code, "OTHER", "MANUALLY_REVIEW"),
    )
    if recruitment.screen_out_reward is None:
        return codes  # people for whom there was nothing to do are approved like the others
    fixed = CompletionCode(
        recruitment.screen_out_code,
        "FIXED_SCREENOUT",
        "FIXED_SCREEN_OUT_PAYMENT",
        reward=recruitment.screen_out_reward,
        slots=recruitment.places,
        actor="researcher",
    )
    return (*codes, fixed)


def publish(*, recruitment: Recruitment, by: User) -> Recruitment:
    """Publish the draft: people can take places from now on, and the workspace reserves their pay.

    Raises Conflict if it would cost more than the balance, or than the campaign's budget.
    """
    if not recruitment.remote_study:
        raise Conflict("recruitment_not_drafted", "Create the draft at Prolific first.")
    if recruitment.campaign.state != Campaign.State.OPEN:
        raise Conflict(
            "campaign_not_open", "Open the campaign first: people arrive as soon as the draft is published."
        )
    with access.client_of(recruitment.provider, patience=SHORT) as client:
        study = client.study(recruitment.remote_study)
    price = recruitment.remote_cost
    # Already published before an interruption: its pay is reserved, so the balance must not be checked again.
    if study.status == "UNPUBLISHED":
        current = estimate.ask(recruitment)
        if sentence := estimate.refusal(recruitment, current):
            raise Conflict("recruitment_refused", sentence)
        price = current.remote_cost.units
        study = _transition(recruitment, "publish")
    with transaction.atomic():
        _keep(recruitment, study, price)
        return recruitments.move(recruitment=recruitment, to="open", by=by)


def move(*, recruitment: Recruitment, to: str, by: User) -> Recruitment:
    """Pause, open again or close a recruitment here and at Prolific."""
    if to == "open" and recruitment.state == Recruitment.State.DRAFT:
        raise Conflict("recruitment_not_published", "Publish the recruitment first.")
    if recruitment.remote_study and recruitment.state != Recruitment.State.DRAFT:
        _keep(recruitment, _transition(recruitment, to), recruitment.remote_cost)
    return recruitments.move(recruitment=recruitment, to=to, by=by)


def _transition(recruitment: Recruitment, to: str) -> RemoteStudy:
    """Change the state of the study at Prolific; nothing happens if it is already in that state."""
    action, after = _ACTIONS[to]
    with access.client_of(recruitment.provider, patience=SHORT) as client:
        try:
            return client.transition_study(recruitment.remote_study, action)
        except ProlificError as error:
            # No answer, or a refusal because it was done before: its state tells.
            if error.done is False and error.code != "prolific_refused":
                raise
            study = client.study(recruitment.remote_study)
            states = {after, "AWAITING REVIEW"} if to == "close" else {after}
            if study.status not in states:
                raise
            return study


def _keep(recruitment: Recruitment, study: RemoteStudy, price: int | None) -> None:
    recruitment.remote_study, recruitment.remote_state = study.id, study.status[:20]
    recruitment.remote_cost = price
    recruitment.save(update_fields=["remote_study", "remote_state", "remote_cost"])


def _check(announcement: Announcement) -> None:
    wrong = {}
    if not 1 <= len(announcement.title.strip()) <= 120:
        wrong["title"] = "Give a title of at most 120 characters."
    if not 1 <= len(announcement.description.strip()) <= 5_000:
        wrong["description"] = "Describe the work in at most 5,000 characters."
    if wrong:
        raise DomainError("announcement_invalid", " ".join(wrong.values()), fields=wrong)


def _record(by: User, what: str, recruitment: Recruitment) -> None:
    audit.record(
        by=by,
        action=f"recruitment.{what}",
        subject=recruitment,
        study=recruitment.campaign.study,
        name=recruitment.name,
        campaign=recruitment.campaign.name,
    )
