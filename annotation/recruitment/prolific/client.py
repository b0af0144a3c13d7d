"""Requests to Prolific's API (OpenAPI 3.1 of 2026): no other module uses its paths and fields."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from annotation.recruitment.prolific import errors
from annotation.recruitment.prolific.connection import Patience, ProlificConnection
from annotation.recruitment.prolific.results import (
    BonusBatch,
    HookSubscription,
    RecruitmentTime,
    RemoteStudy,
    RemoteSubmission,
    RewardRates,
    WalletBalance,
)

MOST_APPROVED = 1_000  # at once
MOST_BONUSES = 200
_PAGE = 100
_MOST_PAGES = 1_000
_API = "/api/v1"


@dataclass(frozen=True)
class CompletionCode:
    """A code that a person enters at the end, and its effect."""

    code: str = field(repr=False)
    type: str  # COMPLETED, NO_CONSENT, FIXED_SCREENOUT …
    action: str  # MANUALLY_REVIEW, REQUEST_RETURN, FIXED_SCREEN_OUT_PAYMENT
    # For FIXED_SCREEN_OUT_PAYMENT: the amount (less than the study's reward), and the maximum number of people.
    reward: int = 0
    slots: int = 0
    actor: str = "participant"  # or "researcher": entered by `screen_out`

    def fields(self) -> dict[str, Any]:
        action: dict[str, Any] = {"action": self.action}
        if self.slots:
            action |= {"fixed_screen_out_reward": self.reward, "slots": self.slots}
        if self.action == "REQUEST_RETURN":
            action["return_reason"] = "You did not agree to take part."
        return {"code": self.code, "code_type": self.type, "actor": self.actor, "actions": [action]}


@dataclass(frozen=True)
class StudyDraft:
    """A study as it is created at Prolific; nobody sees it before it is published."""

    name: str
    description: str
    internal_name: str
    link: str = field(repr=False)
    places: int
    minutes: int
    reward: int
    codes: tuple[CompletionCode, ...]
    content_warning: str = ""
    project: str = ""
    filters: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)  # our own id of it
    signed_links: bool = False

    def fields(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "name": self.name,
            "internal_name": self.internal_name,
            "description": self.description,
            "external_study_url": self.link,
            "is_external_study_url_secure": self.signed_links,
            "prolific_id_option": "url_parameters",
            "completion_codes": [code.fields() for code in self.codes],
            "total_available_places": self.places,
            "estimated_completion_time": self.minutes,
            "reward": self.reward,
            "device_compatibility": ["desktop", "tablet", "mobile"],
            "study_labels": ["ai_annotation"],
            "content_warnings": ["sensitive"] if self.content_warning else [],
            "submissions_config": {"max_submissions_per_participant": 1},
            "filters": [dict(chosen) for chosen in self.filters],
            "metadata": dict(self.metadata),
        }
        if self.content_warning:
            body["content_warning_details"] = self.content_warning
        if self.project:
            body["project"] = self.project
        return body


class ProlificClient:
    """Prolific, as the owner of a token. Every failure is a `ProlificError`, which tells whether the request may have
    been executed.

    After a busy answer (429) the request is repeated later; if a gateway fails or there is no answer, only requests
    without a further effect are repeated.
    """

    def __init__(self, base_url: str, token: str, *, patience: Patience | None = None) -> None:
        self._connection = ProlificConnection(base_url, token, patience or Patience())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    # Studies

    def create_study(self, draft: StudyDraft) -> RemoteStudy:
        """Create a draft. Sent once: a second draft would cost nothing, but is unwanted."""
        answer = self._connection.post(f"{_API}/studies/", draft.fields(), repeatable=False)
        return RemoteStudy.of(answer.object())

    def study(self, study: str) -> RemoteStudy:
        return RemoteStudy.of(self._connection.get(f"{_API}/studies/{_part(study)}/").object())

    def transition_study(self, study: str, action: str) -> RemoteStudy:
        """PUBLISH, PAUSE, START or STOP a study. Sent once: its state then shows whether it was done."""
        path = f"{_API}/studies/{_part(study)}/transition/"
        answer = self._connection.post(path, {"action": action}, repeatable=False)
        return RemoteStudy.of(answer.object())

    # Submissions

    def submissions(self, study: str) -> tuple[RemoteSubmission, ...]:
        """Return every submission of a study."""
        submissions: dict[str, RemoteSubmission] = {}
        for page in range(1, _MOST_PAGES + 1):
            answer = self._connection.get(f"{_API}/submissions/", study=study, page=page, page_size=_PAGE)
            rows = _rows(answer.body)
            for row in rows:
                submission = RemoteSubmission.of(row, study=study)
                submissions[submission.id] = submission
            if len(rows) < _PAGE:
                return tuple(submissions.values())
        raise errors.garbage()

    def submission(self, submission: str) -> RemoteSubmission:
        path = f"{_API}/submissions/{_part(submission)}/"
        return RemoteSubmission.of(self._connection.get(path).object())

    def approve(self, submission_ids: Sequence[str]) -> None:
        """Approve at most `MOST_APPROVED` submissions; those that are approved already stay so."""
        if not 1 <= len(submission_ids) <= MOST_APPROVED:
            raise ValueError(f"submission_ids: give 1 to {MOST_APPROVED:,} ids")
        body = {"submission_ids": list(submission_ids)}
        self._connection.post(f"{_API}/submissions/bulk-approve/", body, repeatable=True)

    def reject(self, submission: str, category: str, message: str) -> RemoteSubmission:
        """Reject a submission; the person reads the message, at least 100 characters."""
        return self._transition(
            submission, {"action": "REJECT", "rejection_category": category, "message": message}
        )

    def screen_out(self, submission: str, code: str) -> RemoteSubmission:
        """Pay the fixed reward of a screen-out, by the code that the study has for it."""
        return self._transition(submission, {"action": "COMPLETE", "completion_code": code})

    def _transition(self, submission: str, body: Mapping[str, Any]) -> RemoteSubmission:
        path = f"{_API}/submissions/{_part(submission)}/transition/"
        # Idempotent by Prolific's word.
        return RemoteSubmission.of(self._connection.post(path, body, repeatable=True).object())

    # Bonuses

    def create_bonuses(self, study: str, rows: Iterable[tuple[str, int]]) -> BonusBatch:
        """Set up bonuses, as pairs of submission and amount, at most `MOST_BONUSES`. Nobody is paid by this."""
        lines = [f"{submission},{Decimal(amount).scaleb(-2):.2f}" for submission, amount in rows]
        if not 1 <= len(lines) <= MOST_BONUSES:
            raise ValueError(f"rows: give 1 to {MOST_BONUSES} rows")
        body = {"study_id": study, "csv_bonuses": "\n".join(lines)}
        answer = self._connection.post(f"{_API}/submissions/bonus-payments/", body, repeatable=False)
        return BonusBatch.of(answer.object())

    def pay_bonuses(self, batch_id: str) -> None:
        """Pay a batch. Prolific pays again each time it is asked, so this asks once, whatever comes of it."""
        self._connection.post_once(f"{_API}/bulk-bonus-payments/{_part(batch_id)}/pay/", {})

    def bonuses(self, submission: str) -> tuple[int, ...]:
        """Return the bonuses that were paid on a submission; Prolific takes some minutes to pay them."""
        return self.submission(submission).bonuses

    # Money, people and time

    def cost(self, places: int, reward: int) -> int:
        """Return the cost of a number of places, with fees and tax, in the currency of the account."""
        body = {"reward": reward, "total_available_places": places}
        answer = self._connection.post(f"{_API}/study-cost-calculator/", body, repeatable=True).object()
        total = answer.get("total_cost")
        if isinstance(total, bool) or not isinstance(total, int | float):
            raise errors.garbage()
        return round(total)

    def balance(self, workspace: str) -> WalletBalance:
        path = f"{_API}/workspaces/{_part(workspace)}/balance/"
        return WalletBalance.of(self._connection.get(path).object())

    def eligible(self, workspace: str, filters: Sequence[Mapping[str, Any]] = ()) -> int:
        """Return how many people fit the filters."""
        body = {"workspace_id": workspace, "filters": [dict(chosen) for chosen in filters]}
        answer = self._connection.post(f"{_API}/eligibility-count/", body, repeatable=True).object()
        count = answer.get("count")
        if isinstance(count, bool) or not isinstance(count, int):
            raise errors.garbage()
        return count

    def recruitment_time(self, workspace: str, draft: StudyDraft) -> RecruitmentTime:
        """Return Prolific's estimate of the time until the last person starts."""
        body = {
            "workspace_id": workspace,
            "filters": [dict(chosen) for chosen in draft.filters],
            "reward": draft.reward,
            "study_type": "SINGLE",
            "total_available_places": draft.places,
            "estimated_completion_time": draft.minutes,
        }
        path = f"{_API}/studies/predicted-recruitment-time/"
        return RecruitmentTime.of(self._connection.post(path, body, repeatable=True).object())

    def reward_rates(self, workspace: str, currency: str) -> RewardRates:
        """Return Prolific's recommended hourly pay."""
        path = f"{_API}/reward-recommendations/"
        body = self._connection.get(path, workspace_id=workspace, currency=currency).body
        if not isinstance(body, list) or not body or not isinstance(body[0], dict):
            raise errors.garbage()
        try:
            return RewardRates(
                str(body[0]["currency"]),
                int(body[0]["min_reward_per_hour"]),
                int(body[0]["recommended_reward_per_hour"]),
            )
        except (KeyError, TypeError, ValueError):
            raise errors.garbage() from None

    # Events and keys

    def create_secret(self, workspace: str) -> str:
        """Return a new secret that signs events. The workspace's previous secret is no longer valid."""
        body = {"workspace_id": workspace}
        answer = self._connection.post(f"{_API}/hooks/secrets/", body, repeatable=False).object()
        value = answer.get("value")
        if not isinstance(value, str) or not value:
            raise errors.garbage()
        return value

    def subscribe(self, workspace: str, event_type: str, target_url: str) -> HookSubscription:
        """Subscribe an address to events of one type; they are sent after `confirm` is called."""
        body = {"workspace_id": workspace, "event_type": event_type, "target_url": target_url}
        answer = self._connection.post(f"{_API}/hooks/subscriptions/", body, repeatable=False)
        return HookSubscription.of(answer.object(), secret=answer.headers.get("X-Hook-Secret", ""))

    def confirm(self, subscription: HookSubscription) -> HookSubscription:
        """Confirm a subscription with the secret that came with it."""
        path = f"{_API}/hooks/subscriptions/{_part(subscription.id)}/"
        answer = self._connection.post(path, {"secret": subscription.secret}, repeatable=True)
        return HookSubscription.of(answer.object())

    def subscriptions(self, workspace: str) -> tuple[HookSubscription, ...]:
        """Return the subscriptions of a workspace that Prolific sends."""
        answer = self._connection.get(f"{_API}/hooks/subscriptions/", workspace_id=workspace)
        return tuple(HookSubscription.of(row) for row in _rows(answer.body))

    def unsubscribe(self, subscription: str) -> None:
        self._connection.delete(f"{_API}/hooks/subscriptions/{_part(subscription)}/")

    def signing_keys(self) -> dict[str, Any]:
        """Return the keys (JWKS) by which Prolific signs links."""
        return self._connection.get("/.well-known/study/jwks.json").object()


def _part(text: str) -> str:
    """Return an id as a part of a path, in which it cannot lead elsewhere."""
    if not text or text in {".", ".."}:
        raise ValueError("an id is missing")
    return quote(text, safe="")


def _rows(body: Any) -> list[dict[str, Any]]:
    rows = body.get("results") if isinstance(body, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise errors.garbage()
    return rows
