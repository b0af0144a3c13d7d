"""A campaign's life: draft → open ⇄ paused → closed, and closed → open when a lead reopens it.

Each change of state is a conditional UPDATE, so two people who press at once cannot both be right.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from annotation.assignment import quota_rules
from annotation.campaigns.planning import sampling
from annotation.kinds import standard_rules
from annotation.kinds.defaults import DEFAULTS
from annotation.kinds.options import CHANGEABLE, Options
from annotation.label_studio.base import invalidate
from annotation.models import Campaign, Instrument
from foundation.errors import Conflict, DomainError
from studies import audit, consent
from studies.models import Study
from studies.protocol.freeze import freeze

State = Campaign.State
# Words that stand where a campaign's slug would: …/campaigns/new/.
_TAKEN_BY_PAGES = frozenset({"new"})
_NUMBERS = {
    "annotators_per_task": (1, 100),
    "attributes_per_screen": (1, 5),
    "lease_minutes": (1, 7 * 24 * 60),
}


@transaction.atomic
def create(
    *,
    study: Study,
    name: str,
    kind: str,
    by: User | None,
    annotators_per_task: int = 3,
    attributes_per_screen: int = 5,
    boxes_required: bool = True,
    lease_minutes: int = 30,
    options: Mapping[str, Any] | None = None,
    guidelines: str | None = None,
    quotas: Sequence[object] = (),
) -> Campaign:
    """Make a draft. Its seed follows from the study's, so a study repeated from its seed asks the same.

    `quotas` are rules as `annotation.assignment.quota_rules` reads them: lines or objects.
    """
    if kind not in Campaign.Kind.values:
        kinds = ", ".join(Campaign.Kind.values)
        raise DomainError("kind_unknown", f"Choose a kind of campaign: {kinds}.", fields={"kind": "unknown"})
    name = _checked_name(name)
    numbers = {
        "annotators_per_task": annotators_per_task,
        "attributes_per_screen": attributes_per_screen,
        "lease_minutes": lease_minutes,
    }
    check_numbers(numbers)
    Options.parse(options, kind=kind, study=study)
    rules = quota_rules.parse(quotas, annotators_per_task=annotators_per_task, kind=kind)
    slug = _free_slug(study, name)
    try:
        with transaction.atomic():
            campaign = Campaign.objects.create(
                study=study,
                slug=slug,
                name=name,
                kind=kind,
                boxes_required=boxes_required,
                seed=_seed(study, slug),
                options=dict(options or {}),
                created_by=by,
                **numbers,
            )
    except IntegrityError:
        raise Conflict(
            "name_taken", f"The study has a campaign “{name}” already.", fields={"name": "taken"}
        ) from None
    quota_rules.store(campaign, rules)
    standard_rules.set_standard_rules(campaign)
    words = DEFAULTS[kind]
    Instrument.objects.create(
        campaign=campaign,
        guidelines=checked_guidelines(guidelines) if guidelines is not None else words.guidelines,
        statement=words.statement,
        labels=words.labels,
    )
    audit.record(by=by, action="campaign.created", subject=campaign, study=study, kind=kind)
    return campaign


@transaction.atomic
def update_draft(*, campaign: Campaign, by: User | None, **changes: Any) -> Campaign:
    """Change any of what `create` was given, but for the study and the kind."""
    known = {"name", "boxes_required", "options", "guidelines", "quotas", *_NUMBERS}
    if unknown := sorted(set(changes) - known):
        raise DomainError(
            "field_unknown",
            f"A campaign has no {', '.join(unknown)} to change.",
            fields=dict.fromkeys(unknown, "unknown"),
        )
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    if campaign.state != State.DRAFT:
        raise _wrong_state(campaign, "changed", "a draft")
    fields = sorted(changes)
    guidelines, quotas = changes.pop("guidelines", None), changes.pop("quotas", None)
    if "name" in changes:
        changes["name"] = _checked_name(changes["name"])
    check_numbers({name: value for name, value in changes.items() if name in _NUMBERS})
    if "options" in changes:
        Options.parse(changes["options"], kind=campaign.kind, study=campaign.study)
        changes["options"] = dict(changes["options"] or {})
    for name, value in changes.items():
        setattr(campaign, name, value)
    # Rules that stay are checked against a new number of annotators, too.
    given = [quota_rules.line(rule) for rule in quota_rules.stored(campaign)] if quotas is None else quotas
    rules = quota_rules.parse(given, annotators_per_task=campaign.annotators_per_task, kind=campaign.kind)
    if changes:
        campaign.save(update_fields=list(changes))
    if quotas is not None:
        quota_rules.store(campaign, rules)
    if guidelines is not None:
        campaign.instruments.update(guidelines=checked_guidelines(guidelines))
    audit.record(by=by, action="campaign.changed", subject=campaign, study=campaign.study, fields=fields)
    return campaign


@transaction.atomic
def change_settings(
    *,
    campaign: Campaign,
    by: User | None,
    options: Mapping[str, Any] | None = None,
    lease_minutes: int | None = None,
    name: str | None = None,
) -> Campaign:
    """Change what may change while people work: the name, the lease, and options of `options.CHANGEABLE`.

    Options that are not given stay; one given as None goes back to its default. Leases that run keep their end.
    """
    if fixed := sorted(set(options or {}) - CHANGEABLE):
        wrong = {f"options.{one}": "This was fixed when the campaign opened." for one in fixed}
        raise DomainError(
            "settings_fixed",
            f"{', '.join(fixed)} cannot change: only {', '.join(sorted(CHANGEABLE))} can.",
            fields=wrong,
        )
    # Answers that are being saved refer to this row; without `no_key` they would wait for this change.
    rows = Campaign.objects.select_for_update(of=("self",), no_key=True).select_related("study")
    campaign = rows.get(pk=campaign.pk)
    if campaign.imported:
        raise _wrong_state(campaign, "changed", "asked here")
    before = {**campaign.options, "name": campaign.name, "lease_minutes": campaign.lease_minutes}
    merged = {
        key: value for key, value in (campaign.options | dict(options or {})).items() if value is not None
    }
    Options.parse(merged, kind=campaign.kind, study=campaign.study)
    campaign.options = merged
    if lease_minutes is not None:
        check_numbers({"lease_minutes": lease_minutes})
        campaign.lease_minutes = lease_minutes
    if name is not None:
        campaign.name = _checked_name(name)
    after = {**campaign.options, "name": campaign.name, "lease_minutes": campaign.lease_minutes}
    changed = sorted(key for key in before | after if before.get(key) != after.get(key))
    if changed:
        campaign.save(update_fields=["options", "name", "lease_minutes"])
        audit.record(
            by=by,
            action="campaign.settings_changed",
            subject=campaign,
            study=campaign.study,
            before={key: before.get(key) for key in changed},
            after={key: after.get(key) for key in changed},
        )
    return campaign


@transaction.atomic
def delete_draft(*, campaign: Campaign, by: User | None) -> None:
    """Delete a draft. Whatever was opened stays for ever."""
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    if campaign.state != State.DRAFT:
        raise _wrong_state(campaign, "deleted", "a draft")
    audit.record(by=by, action="campaign.deleted", subject=campaign, study=campaign.study, name=campaign.name)
    campaign.delete()


@transaction.atomic
def open_(*, campaign: Campaign, by: User | None) -> Campaign:
    """Freeze the study, write the tasks and let annotators in: all of it or nothing."""
    opened = Campaign.objects.filter(pk=campaign.pk, state=State.DRAFT, imported=False).update(
        state=State.OPEN, opened_at=timezone.now()
    )
    campaign = _fresh(campaign)
    if not opened:
        raise _wrong_state(campaign, "opened", "a draft")
    campaign.study = freeze(study=campaign.study, by=by)
    consent.current_text(campaign.study)
    plan = sampling.plan(campaign)
    if not plan.tasks:
        raise DomainError("nothing_to_ask", " ".join(("This campaign has nothing to ask.", *plan.problems)))
    sampling.write(plan, campaign)
    audit.record(
        by=by,
        action="campaign.opened",
        subject=campaign,
        study=campaign.study,
        tasks=plan.screens,
        images=plan.images,
        judgements=plan.judgements,
        problems=list(plan.problems),
    )
    return campaign


def pause(*, campaign: Campaign, by: User | None) -> Campaign:
    """Stop handing out tasks; whoever has one may still submit it."""
    return _move(campaign, by, "paused", {State.OPEN}, State.PAUSED)


def resume(*, campaign: Campaign, by: User | None) -> Campaign:
    """Hand out tasks again after a pause."""
    return _move(campaign, by, "resumed", {State.PAUSED}, State.OPEN)


def close(*, campaign: Campaign, by: User | None) -> Campaign:
    """Hand out nothing any more. A task that somebody has open may be submitted until its lease runs out."""
    return _move(campaign, by, "closed", {State.OPEN, State.PAUSED}, State.CLOSED)


def reopen(*, campaign: Campaign, by: User | None) -> Campaign:
    """Go on with a closed campaign where it stopped."""
    with transaction.atomic():
        campaign = _move(campaign, by, "reopened", {State.CLOSED}, State.OPEN)
        invalidate.reopened(campaign)
        return campaign


@transaction.atomic
def _move(campaign: Campaign, by: User | None, done: str, before: set[str], after: str) -> Campaign:
    closed_at = timezone.now() if after == State.CLOSED else None
    moved = Campaign.objects.filter(pk=campaign.pk, state__in=before, imported=False).update(
        state=after, closed_at=closed_at
    )
    campaign = _fresh(campaign)
    if not moved:
        raise _wrong_state(campaign, done, " or ".join(sorted(before)))
    audit.record(by=by, action=f"campaign.{done}", subject=campaign, study=campaign.study)
    return campaign


def _fresh(campaign: Campaign) -> Campaign:
    return Campaign.objects.select_related("study").get(pk=campaign.pk)


def _wrong_state(campaign: Campaign, done: str, needed: str) -> Conflict:
    if campaign.imported:
        return Conflict(
            "campaign_imported", f"“{campaign.name}” was imported from a file and cannot be {done}."
        )
    return Conflict(
        "wrong_state",
        f"“{campaign.name}” is {campaign.state}; only a campaign that is {needed} can be {done}.",
    )


def _checked_name(name: str) -> str:
    name = " ".join(str(name).split())
    limit = 120
    if not name or len(name) > limit:
        raise DomainError(
            "name_invalid",
            f"Give the campaign a name of 1 to {limit} characters.",
            fields={"name": "invalid"},
        )
    return name


def checked_guidelines(text: str) -> str:
    """Return guidelines as they are stored; raises DomainError `guidelines_empty`."""
    if not text.strip():
        raise DomainError("guidelines_empty", "Annotators need guidelines.", fields={"guidelines": "empty"})
    return text.strip()


def check_numbers(numbers: Mapping[str, object]) -> None:
    """Raise DomainError `numbers_invalid` that names each number out of its range."""
    wrong = {}
    for name, value in numbers.items():
        low, high = _NUMBERS[name]
        if type(value) is not int or not low <= value <= high:
            wrong[name] = f"Give a whole number from {low} to {high}."
    if wrong:
        message = " ".join(f"{name}: {text}" for name, text in wrong.items())
        raise DomainError("numbers_invalid", message, fields=wrong)


def _free_slug(study: Study, name: str) -> str:
    base = slugify(name)[:100] or "campaign"
    used = set(study.campaigns.filter(slug__startswith=base).values_list("slug", flat=True)) | _TAKEN_BY_PAGES
    if base not in used:
        return base
    return next(slug for number in range(2, len(used) + 3) if (slug := f"{base}-{number}") not in used)


def _seed(study: Study, slug: str) -> int:
    digest = hashlib.sha256(f"{study.seed}:{slug}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # 63 bits: a signed column
