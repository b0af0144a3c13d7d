"""The request that is made most: submit an answer in time, and get the next task, in one short transaction.

This is `submission.submit` followed by `leases.next_assignment` for the plain case, in few statements
written by hand. Whatever is not plain (a retry, a correction, a lease that ran out, a campaign that is paused)
is left to those two: `submit_and_next` returns None and has changed nothing.
"""

# ruff: noqa: S608 -- the queries are put together from constants of this module; values are parameters

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import AnnotatorProfile
from annotation.answers.insert import save
from annotation.answers.references import shown
from annotation.answers.validation import Answer
from annotation.assignment import checks, day_caps, slots
from annotation.assignment.leases import lease
from annotation.assignment.quota_rules import quotas_of
from annotation.assignment.quotas import Profile, profile_of
from annotation.assignment.selection import choices
from annotation.models import Annotation, Assignment, Campaign, Task
from foundation.database.statements import known, rows
from foundation.database.values import moment, moment_value, uuid_value

_TEXT = (
    "COALESCE(s.consent_text_id, (SELECT x.id FROM accounts_consenttext x WHERE x.series = 'default'"
    " ORDER BY x.version DESC LIMIT 1))"
)
_PROFILE = ", ".join(f"p.{field}" for field in AnnotatorProfile.FIELDS)
_PLAIN = f"""
    SELECT a.id, a.annotator_id, a.leased_at, t.id, t.public_id, c.id, c.kind, c.boxes_required,
           c.lease_minutes, c.seed, c.opened_at, c.study_id, c.options, a.purpose,
           (SELECT i.id FROM annotation_instrument i WHERE i.campaign_id = c.id
            AND i.version = COALESCE(CAST(%(version)s AS integer), i.version)
            ORDER BY i.version DESC LIMIT 1),
           EXISTS (SELECT 1 FROM annotation_assignment o JOIN annotation_task u ON u.id = o.task_id
                   WHERE u.campaign_id = c.id AND o.state = 'leased'
                   AND (o.expires_at <= %(now)s OR (o.annotator_id = a.annotator_id AND o.id <> a.id)))
           OR EXISTS (SELECT 1 FROM annotation_practiceround g WHERE g.enrolment_id = e.id)
           AND NOT EXISTS (SELECT 1 FROM annotation_practiceround g WHERE g.enrolment_id = e.id AND g.passed),
           EXISTS (SELECT 1 FROM annotation_qualityrule r WHERE r.campaign_id = c.id AND NOT r.standard),
           {_PROFILE}
    FROM annotation_assignment a
    JOIN accounts_annotator n ON n.id = a.annotator_id
    JOIN annotation_task t ON t.id = a.task_id
    JOIN annotation_campaign c ON c.id = t.campaign_id
    JOIN studies_study s ON s.id = c.study_id
    JOIN annotation_enrolment e ON e.campaign_id = c.id AND e.annotator_id = a.annotator_id
    LEFT JOIN accounts_annotatorprofile p ON p.annotator_id = a.annotator_id
    WHERE a.public_id = %(public_id)s AND n.user_id = %(user)s
      AND a.state = 'leased' AND a.expires_at > %(now)s
      AND e.state = 'active' AND c.state = 'open' AND NOT c.imported
      AND NOT EXISTS (SELECT 1 FROM annotation_labelstudiobridge l WHERE l.campaign_id = c.id)
      AND EXISTS (SELECT 1 FROM accounts_consent k WHERE k.annotator_id = a.annotator_id
                  AND k.withdrawn_at IS NULL AND k.text_id = {_TEXT})
      AND NOT EXISTS (SELECT 1 FROM studies_withdrawal w WHERE w.annotator_id = a.annotator_id
                      AND w.study_id = c.study_id AND w.ended_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM annotation_annotation b WHERE b.submission_id = %(submission)s
                      OR b.assignment_id = a.id)
"""
_STATUS = {"label": "accepted", "gold": "gold", "repeat": "repeat"}
_LOCK = " FOR UPDATE OF e, a"
_LEASED = """
    INSERT INTO annotation_assignment (public_id, task_id, annotator_id, state, slot, leased_at, expires_at)
    SELECT %(public_id)s, %(task)s, %(annotator)s, 'leased', MIN(f.slot), %(now)s, %(expires_at)s
    FROM (SELECT 0 AS slot UNION ALL SELECT g.slot + 1 FROM annotation_assignment g
          WHERE g.task_id = %(task)s AND g.slot IS NOT NULL) f
    WHERE NOT EXISTS (SELECT 1 FROM annotation_assignment h WHERE h.task_id = %(task)s AND h.slot = f.slot)
    ON CONFLICT (task_id, annotator_id, purpose) DO UPDATE SET state = 'leased', slot = excluded.slot,
        leased_at = excluded.leased_at, expires_at = excluded.expires_at, ended_at = NULL
    RETURNING id, public_id, slot
"""


@dataclass(frozen=True)
class Saved:
    """An answer that was saved, and the next task; None where `leases.next_assignment` has to be asked."""

    annotation_id: int
    submission_id: UUID
    campaign: Campaign
    annotator_id: int
    following: Assignment | None
    ruled: bool  # a lead set quality rules for the campaign: see `annotation.quality.enforcement`


@dataclass(frozen=True)
class _Plain:
    """What has to be known of an open assignment."""

    assignment_id: int
    annotator_id: int
    leased_at: datetime
    task: Task
    purpose: str
    instrument_id: int | None
    ruled: bool  # quality rules are to be looked at
    # Leases that ran out, another open one of the annotator, or practice not passed: the next task is not plain.
    elsewhere: bool
    profile: Profile


def submit_and_next(
    *,
    user_id: int,
    public_id: UUID,
    submission_id: UUID,
    parse: Callable[[Task], Answer],
    active_seconds: float | None,
    instrument_version: int | None = None,
    now: datetime | None = None,
) -> Saved | None:
    """Save an answer and lease the next task; None, with nothing done, unless all of it is plain."""
    now = now or timezone.now()
    try:
        with transaction.atomic():
            plain = _plain(user_id, public_id, submission_id, instrument_version, now)
            if plain is None:
                return None
            annotation_id = _save(plain, submission_id, parse(plain.task), active_seconds, now)
            following = None if plain.elsewhere else _lease_next(plain, now)
    except IntegrityError:
        if Annotation.objects.filter(submission_id=submission_id).exists():
            return None  # the same id was used at the same moment: `submission.submit` says what that means
        raise
    return Saved(
        annotation_id, submission_id, plain.task.campaign, plain.annotator_id, following, plain.ruled
    )


def _plain(
    user_id: int, public_id: UUID, submission_id: UUID, version: int | None, now: datetime
) -> _Plain | None:
    lock = _LOCK if connection.features.has_select_for_update_of else ""
    asked = {
        "public_id": uuid_value(public_id),
        "user": user_id,
        "submission": uuid_value(submission_id),
        "version": version,
        "now": moment_value(now),
    }
    found = rows(_PLAIN + lock, asked)
    if not found:
        return None
    row = found[0]
    if version is not None and row[14] is None:
        return None  # no such version: `submission.submit` says so
    said = dict(zip(AnnotatorProfile.FIELDS, row[17:], strict=True))
    said["languages"] = _json(said["languages"])
    campaign = known(
        Campaign,
        id=row[5],
        kind=row[6],
        boxes_required=bool(row[7]),
        lease_minutes=row[8],
        seed=row[9],
        opened_at=moment(row[10]),
        study_id=row[11],
        options=_json(row[12]),
        state=Campaign.State.OPEN,
    )
    task = known(Task, id=row[3], public_id=UUID(str(row[4])), campaign_id=campaign.pk)
    task.campaign = campaign
    return _Plain(
        assignment_id=row[0],
        annotator_id=row[1],
        leased_at=moment(row[2]),
        task=task,
        purpose=row[13],
        instrument_id=row[14],
        elsewhere=bool(row[15]),
        ruled=bool(row[16]),
        profile=profile_of(said),
    )


def _json(stored: Any) -> Any:
    return json.loads(stored) if isinstance(stored, str) else stored  # a JSON column as it is stored


def _save(
    plain: _Plain, submission_id: UUID, answer: Answer, active_seconds: float | None, now: datetime
) -> int:
    elapsed = max(0.0, (now - plain.leased_at).total_seconds())
    values = {
        "id": plain.assignment_id,
        "now": moment_value(now),
        "submission": uuid_value(submission_id),
        "campaign": plain.task.campaign_id,
        "task": plain.task.pk,
        "annotator": plain.annotator_id,
        "instrument": plain.instrument_id,
        "latest": True,
        "status": _STATUS[plain.purpose],
        "none": answer.none_of_the_above,
        "justification": answer.justification,
        "seconds": None if active_seconds is None else min(active_seconds, elapsed),
    }
    return save(values, asked=[one.attribute_id for one in shown(plain.task)], answer=answer)


def _lease_next(plain: _Plain, now: datetime) -> Assignment | None:
    campaign = plain.task.campaign
    annotator, expires_at = plain.annotator_id, now + timedelta(minutes=campaign.lease_minutes)
    today = day_caps.today(campaign, annotator, now=now)
    if today.enough:
        return None
    quotas = quotas_of(campaign)
    turn = checks.turn_of(plain.task.pk, plain.purpose)
    for choice in choices(campaign, annotator, quotas, plain.profile, turn=turn, calm=today.calm):
        joined = quotas.joined(choice.mix, plain.profile) if quotas else choice.mix
        if joined is None:
            return None
        drawn = () if choice.goes_on else checks.drawn(campaign, annotator, turn)
        check = checks.fitting(drawn, campaign, annotator, turn=turn, calm=today.calm)
        if check is not None:
            return lease(check.task_id, annotator, purpose=check.purpose, now=now, expires_at=expires_at)
        if not slots.hold(choice, joined):
            return None
        asked = {
            "public_id": uuid_value(uuid.uuid4()),
            "task": choice.task_id,
            "annotator": annotator,
        }
        asked |= {"now": moment_value(now), "expires_at": moment_value(expires_at)}
        pk, public_id, slot = rows(_LEASED, asked)[0]
        return Assignment(
            pk=pk,
            public_id=UUID(str(public_id)),
            task_id=choice.task_id,
            annotator_id=annotator,
            state=Assignment.State.LEASED,
            slot=slot,
            leased_at=now,
            expires_at=expires_at,
        )
    return None
