"""The life cycle of a campaign: draft → open ⇄ paused → closed, and closed → open when a lead reopens it.

Each change of state is a conditional UPDATE, so one of two simultaneous requests fails.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from annotation import integrations
from annotation.assignment import quota_rules
from annotation.assignment.quotas import Rule
from annotation.campaigns.design import CampaignDesign, refuse_needless
from annotation.campaigns.instruments.languages import translations
from annotation.campaigns.planning import standard_rules, task_plan
from annotation.kinds.declaration import Kind
from annotation.kinds.options import CHANGEABLE, Options
from annotation.kinds.registry import frozen, kind_of
from annotation.kinds.study_kinds import kind_for
from annotation.models import Campaign, Instrument
from foundation.errors import Conflict, DomainError
from studies import audit, consent
from studies.models import Study
from studies.protocol.freeze import freeze

State = Campaign.State
# Path segments of pages in place of a campaign's slug: …/campaigns/new/.
_TAKEN_BY_PAGES = frozenset({"new"})
_effects_of_closing: list[Callable[[Campaign, User | None], None]] = []


def register_effect_of_closing(effect: Callable[[Campaign, User | None], None]) -> None:
    """Call `effect` in each transaction that closes a campaign, with who closed it: None for a stop rule."""
    _effects_of_closing.append(effect)


@transaction.atomic
def create(*, study: Study, by: User | None, declared: Kind | None = None, **settings: Any) -> Campaign:
    """Create a draft from the settings that `CampaignDesign` declares.

    `declared` is the kind if it is not the study's present kind with this key. Its seed is derived from the study's, so
    a study repeated from its seed asks the same.
    """
    design = CampaignDesign.read(settings)
    kind = declared or kind_for(study, design.kind)
    if declared is None:  # a copy has all columns of its original
        refuse_needless(settings, kind)
    Options.parse(design.options, kind=kind, study=study)
    rules = _quota_rules(design, kind)
    campaign = _insert(study, design, kind, by)
    quota_rules.store(campaign, rules)
    standard_rules.set_standard_rules(campaign)
    words = kind.first_instrument()
    if design.guidelines is not None:
        words["guidelines"] = design.guidelines
    Instrument.objects.create(campaign=campaign, **words)
    audit.record(by=by, action="campaign.created", subject=campaign, study=study, kind=design.kind)
    return campaign


def _insert(study: Study, design: CampaignDesign, kind: Kind, by: User | None) -> Campaign:
    slug = _free_slug(study, design.name)
    try:
        with transaction.atomic():
            return Campaign.objects.create(
                study=study,
                slug=slug,
                seed=_seed(study, slug),
                created_by=by,
                declaration=frozen(kind),
                **design.columns(),
            )
    except IntegrityError:
        raise Conflict(
            "name_taken", f"The study already has a campaign “{design.name}”.", fields={"name": "taken"}
        ) from None


def _quota_rules(design: CampaignDesign, kind: Kind) -> tuple[Rule, ...]:
    return quota_rules.parse(design.quotas, annotators_per_task=design.annotators_per_task, kind=kind)


@transaction.atomic
def update_draft(*, campaign: Campaign, by: User | None, **changes: Any) -> Campaign:
    """Change any of the settings that `CampaignDesign` declares except the kind."""
    if unknown := sorted(changes.keys() - CampaignDesign.model_fields.keys() | changes.keys() & {"kind"}):
        raise DomainError(
            "field_unknown",
            f"A campaign has no {', '.join(unknown)} to change.",
            fields=dict.fromkeys(unknown, "unknown"),
        )
    campaign = Campaign.locked(campaign.pk)
    if campaign.state != State.DRAFT:
        raise _wrong_state(campaign, "changed", "a draft")
    # Existing rules are checked against a new number of annotators, too.
    stored_quotas = [quota_rules.line(rule) for rule in quota_rules.stored(campaign)]
    design = CampaignDesign.of(campaign, **{"quotas": stored_quotas, **changes})
    kind = kind_of(campaign)
    refuse_needless(changes, kind)
    Options.parse(design.options, kind=kind, study=campaign.study)
    rules = _quota_rules(design, kind)
    for name, value in design.columns().items():
        setattr(campaign, name, value)
    campaign.save(update_fields=list(design.columns()))
    if "quotas" in changes:
        quota_rules.store(campaign, rules)
    if design.guidelines is not None:
        campaign.instruments.update(guidelines=design.guidelines)
    audit.record(
        by=by, action="campaign.changed", subject=campaign, study=campaign.study, fields=sorted(changes)
    )
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
    """Change settings that may change while people work: the name, the lease, and the options in `options.CHANGEABLE`.

    Options that are not given do not change; None resets an option to its default. Running leases keep their end.
    """
    _refuse_fixed(options or {})
    campaign = Campaign.locked(campaign.pk)
    if campaign.imported:
        raise _wrong_state(campaign, "changed", "asked here")
    before = {**campaign.options, "name": campaign.name, "lease_minutes": campaign.lease_minutes}
    merged = campaign.options | dict(options or {})
    design = CampaignDesign.of(
        campaign,
        name=campaign.name if name is None else name,
        lease_minutes=campaign.lease_minutes if lease_minutes is None else lease_minutes,
        options={key: value for key, value in merged.items() if value is not None},
    )
    Options.parse(design.options, kind=kind_of(campaign), study=campaign.study)
    after = {**design.options, "name": design.name, "lease_minutes": design.lease_minutes}
    changed = sorted(key for key in before | after if before.get(key) != after.get(key))
    if changed:
        campaign.options, campaign.name = design.options, design.name
        campaign.lease_minutes = design.lease_minutes
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


def _refuse_fixed(options: Mapping[str, Any]) -> None:
    if fixed := sorted(options.keys() - CHANGEABLE):
        raise DomainError(
            "settings_fixed",
            f"{', '.join(fixed)} cannot change: only {', '.join(sorted(CHANGEABLE))} can.",
            fields={
                f"options.{option}": "This option was fixed when the campaign opened." for option in fixed
            },
        )


@transaction.atomic
def delete_draft(*, campaign: Campaign, by: User | None) -> None:
    """Delete a draft. A campaign that was opened can never be deleted."""
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("study").get(pk=campaign.pk)
    if campaign.state != State.DRAFT:
        raise _wrong_state(campaign, "deleted", "a draft")
    audit.record(by=by, action="campaign.deleted", subject=campaign, study=campaign.study, name=campaign.name)
    campaign.delete()


@transaction.atomic
def open_(*, campaign: Campaign, by: User | None) -> Campaign:
    """Freeze the study, create the tasks and admit annotators, in one transaction."""
    opened = Campaign.objects.filter(pk=campaign.pk, state=State.DRAFT, imported=False).update(
        state=State.OPEN, opened_at=timezone.now()
    )
    campaign = _fresh(campaign)
    if not opened:
        raise _wrong_state(campaign, "opened", "a draft")
    campaign.study = freeze(study=campaign.study, by=by)
    consent.current_text(campaign.study)
    plan = task_plan.plan(campaign)
    if not plan.tasks:
        raise DomainError("nothing_to_ask", " ".join(("This campaign has nothing to ask.", *plan.problems)))
    task_plan.write(plan, campaign)
    if campaign.languages.exists():
        translations.settle(campaign, by=by)
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


def pause(*, campaign: Campaign, by: User | None, rule: str = "") -> Campaign:
    """Stop giving out tasks; open ones may still be submitted. `rule` is the stop rule that did it, if any."""
    return _move(campaign, by, "paused", {State.OPEN}, State.PAUSED, rule)


def resume(*, campaign: Campaign, by: User | None) -> Campaign:
    """Hand out tasks again after a pause."""
    return _move(campaign, by, "resumed", {State.PAUSED}, State.OPEN)


def close(*, campaign: Campaign, by: User | None, rule: str = "") -> Campaign:
    """Stop giving out tasks permanently. Open tasks may be submitted until their leases expire; `rule` as in
    `pause`."""
    with transaction.atomic():
        campaign = _move(campaign, by, "closed", {State.OPEN, State.PAUSED}, State.CLOSED, rule)
        for effect in _effects_of_closing:
            effect(campaign, by)
        return campaign


def reopen(*, campaign: Campaign, by: User | None) -> Campaign:
    """Open a closed campaign again."""
    with transaction.atomic():
        campaign = _move(campaign, by, "reopened", {State.CLOSED}, State.OPEN)
        for tool in integrations.registered():
            tool.campaign_reopened(campaign)
        return campaign


@transaction.atomic
def _move(
    campaign: Campaign, by: User | None, action: str, before: set[str], after: str, rule: str = ""
) -> Campaign:
    closed_at = timezone.now() if after == State.CLOSED else None
    moved = Campaign.objects.filter(pk=campaign.pk, state__in=before, imported=False).update(
        state=after, closed_at=closed_at
    )
    campaign = _fresh(campaign)
    if not moved:
        raise _wrong_state(campaign, action, " or ".join(sorted(before)))
    details = {"rule": rule} if rule else {}
    audit.record(by=by, action=f"campaign.{action}", subject=campaign, study=campaign.study, **details)
    return campaign


def _fresh(campaign: Campaign) -> Campaign:
    return Campaign.objects.select_related("study").get(pk=campaign.pk)


def _wrong_state(campaign: Campaign, action: str, needed: str) -> Conflict:
    if campaign.imported:
        return Conflict(
            "campaign_imported", f"“{campaign.name}” was imported from a file and cannot be {action}."
        )
    return Conflict(
        "wrong_state",
        f"“{campaign.name}” is {campaign.state}; only a campaign that is {needed} can be {action}.",
    )


def _free_slug(study: Study, name: str) -> str:
    base = slugify(name)[:100] or "campaign"
    used = set(study.campaigns.filter(slug__startswith=base).values_list("slug", flat=True)) | _TAKEN_BY_PAGES
    if base not in used:
        return base
    return next(slug for number in range(2, len(used) + 3) if (slug := f"{base}-{number}") not in used)


def _seed(study: Study, slug: str) -> int:
    digest = hashlib.sha256(f"{study.seed}:{slug}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # 63 bits: a signed column
