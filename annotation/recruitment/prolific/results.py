"""Prolific's answers as frozen objects. Amounts are in the smallest unit of the currency, as in Prolific's API.

`repr` leaves out ids and secrets, so that no log or traceback contains them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from django.utils.dateparse import parse_datetime

from annotation.recruitment.prolific import errors


class Status:
    """The states of a submission at Prolific."""

    RESERVED = "RESERVED"
    ACTIVE = "ACTIVE"
    AWAITING_REVIEW = "AWAITING REVIEW"
    APPROVED = "APPROVED"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED"
    SCREENED_OUT = "SCREENED OUT"
    RETURNED = "RETURNED"
    TIMED_OUT = "TIMED-OUT"
    REJECTED = "REJECTED"

    WORKING = frozenset({RESERVED, ACTIVE})
    PAID = frozenset({APPROVED, PARTIALLY_APPROVED, SCREENED_OUT})
    GONE = frozenset({RETURNED, TIMED_OUT})
    ALL = WORKING | PAID | GONE | {AWAITING_REVIEW, REJECTED}


@dataclass(frozen=True)
class RemoteStudy:
    """A study at Prolific: one recruitment here."""

    id: str = field(repr=False)
    status: str
    places: int
    reward: int

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        return cls(
            _text(body, "id"),
            _text(body, "status"),
            _number(body, "total_available_places"),
            _number(body, "reward"),
        )


@dataclass(frozen=True)
class RemoteSubmission:
    """Somebody's place in a study at Prolific."""

    id: str = field(repr=False)
    participant: str = field(repr=False)
    study: str = field(repr=False)
    status: str
    code: str = field(default="", repr=False)  # that the person entered
    started_at: datetime | None = None
    completed_at: datetime | None = None
    bonuses: tuple[int, ...] = ()

    @classmethod
    def of(cls, body: Mapping[str, Any], *, study: str = "") -> Self:
        """Read a submission, from its own address or from a study's list."""
        return cls(
            id=_text(body, "id"),
            participant=str(body.get("participant") or body.get("participant_id") or ""),
            study=str(body.get("study_id") or study),
            status=_text(body, "status"),
            code=str(body.get("entered_code") or body.get("study_code") or ""),
            started_at=_moment(body.get("started_at")),
            completed_at=_moment(body.get("completed_at")),
            bonuses=tuple(round(amount) for amount in body.get("bonus_payments") or ()),
        )


@dataclass(frozen=True)
class BonusBatch:
    """Bonuses that are set up but not paid yet: the amounts, and Prolific's fee."""

    id: str = field(repr=False)
    amount: int
    fees: int
    vat: int
    total: int

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        return cls(
            _text(body, "id"),
            *(round(float(body.get(name) or 0)) for name in ("amount", "fees", "vat", "total_amount")),
        )


@dataclass(frozen=True)
class WalletBalance:
    """The money of a workspace."""

    currency: str
    total: int
    available: int  # without what running studies may still cost

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        return cls(
            _text(body, "currency_code"), _number(body, "total_balance"), _number(body, "available_balance")
        )


@dataclass(frozen=True)
class RecruitmentTime:
    """Prolific's estimate of the time until the last person starts; None if it is unknown."""

    hours: float | None
    words: str

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self:
        hours = body.get("precise_recruitment_time_hours")
        return cls(None if hours is None else float(hours), str(body.get("display_string") or ""))


@dataclass(frozen=True)
class RewardRates:
    """Prolific's recommended hourly pay."""

    currency: str
    least: int
    good: int


@dataclass(frozen=True)
class HookSubscription:
    """A kind of event that Prolific sends to an address of ours."""

    id: str = field(repr=False)
    event_type: str
    target_url: str
    enabled: bool
    secret: str = field(default="", repr=False)  # for the confirmation, given once

    @classmethod
    def of(cls, body: Mapping[str, Any], *, secret: str = "") -> Self:
        return cls(
            _text(body, "id"),
            _text(body, "event_type"),
            _text(body, "target_url"),
            bool(body.get("is_enabled", True)),
            secret,
        )


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value or len(value) > 2000:
        raise errors.garbage()
    return value


def _number(body: Mapping[str, Any], name: str) -> int:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise errors.garbage()
    return round(value)


def _moment(value: object) -> datetime | None:
    try:
        return parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None
