"""Whether a campaign's annotators can meet its quotas, and which tasks wait for other people.

Assignment checks whether *anybody* could complete a task; here the question is whether those who were invited
can. Tasks are grouped by mix (`annotation.assignment.quotas`), so the cost depends on the number of mixes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from accounts.models import Annotator
from annotation.assignment import quota_rules, slots
from annotation.assignment.campaign_quotas import CampaignQuotas, quotas_of
from annotation.assignment.quota_rules import in_words, names_of
from annotation.assignment.quotas import AT_LEAST, AT_MOST, Member, Profile, Rule, TaskRules, members_of
from annotation.campaigns import snapshots
from annotation.campaigns.planning import task_plan
from annotation.campaigns.planning.cells import CellPeople, QuotaCell, cells_of, unplaced, with_people
from annotation.campaigns.planning.plan import CampaignPlan
from annotation.kinds.options import Options
from annotation.models import Assignment, Campaign, Enrolment, Task
from studies.models import Study, StudyGroup

_NAMED = 5
_NO_GROUP = "no identity group"
_MIXES_LOOKED_AT = 500
_STEPS = 20_000


@dataclass(frozen=True)
class QuotaReport:
    """The quota rules, and sentences about obstacles."""

    rules: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    stuck: int = 0  # tasks that no participant may continue
    broken: int = 0  # tasks whose annotators changed their profiles so that a rule no longer holds
    impossible: str = ""  # a sentence if nobody can meet the rules
    cells: tuple[CellPeople, ...] = ()  # the people whom the rules ask for, and how many of them take part


def before_opening(campaign: Campaign, plan: CampaignPlan) -> QuotaReport:
    """Return whether a draft's rules can be met, by anybody and by the people invited personally."""
    quotas = quotas_of(campaign)
    if quotas is None:
        return QuotaReport()
    planned_cells = cells_of_plan(campaign.study, quotas.rules, plan)
    cells, of_people = people_of_cells(campaign, planned_cells)
    report = _before_opening(campaign, plan, quotas)
    return replace(report, cells=tuple(cells), sentences=(*report.sentences, *of_people))


def _before_opening(campaign: Campaign, plan: CampaignPlan, quotas: CampaignQuotas) -> QuotaReport:
    annotators_per_task = campaign.annotators_per_task
    group_ids: list[int | None] = [group.group_id for group in plan.groups]
    if not group_ids or any(task.group_id is None for task in plan.tasks):
        group_ids.append(None)
    names = dict(
        StudyGroup.objects.filter(pk__in=[group_id for group_id in group_ids if group_id]).values_list(
            "pk", "name"
        )
    )
    never = [
        names.get(group_id or 0, _NO_GROUP if plan.groups else "")
        for group_id in group_ids
        if not quotas.of_group(group_id).completable([], annotators_per_task)
    ]
    sentences = []
    impossible = ""
    if never:
        impossible = f"Nobody can meet the quotas for the images of {_listed(never)}."
        sentences.append(impossible)
    people = list(_profiles(campaign).values())
    if not people:
        sentences.append(
            "Nobody who takes part has said anything about themselves yet. Quotas depend on these answers."
        )
        return QuotaReport(_words(quotas), tuple(sentences), impossible=impossible)
    lacking: Counter[str] = Counter()
    for group_id in group_ids:
        rules = quotas.of_group(group_id)
        if rules.completable([], annotators_per_task) and not _can_fill(
            rules, [], annotators_per_task, people
        ):
            lacking.update(
                _missing(rules, [], annotators_per_task, people)
                or ["no combination of these people meets every rule"]
            )
    sentences += _lacking_sentences(lacking, len(group_ids), "group" if group_ids != [None] else "task")
    return QuotaReport(_words(quotas), tuple(sentences), impossible=impossible)


def cells_of_campaign(campaign: Campaign) -> list[QuotaCell]:
    """Return the people whom the rules ask for: for a draft by its plan, otherwise by its screens."""
    if campaign.state == Campaign.State.DRAFT:
        return cells_of_plan(campaign.study, quota_rules.stored(campaign), task_plan.plan(campaign))
    tasks = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False)
    screens = dict(tasks.order_by().values_list("image__group").annotate(number=Count("pk")))
    return cells_of(quota_rules.stored(campaign), screens, _groups(campaign.study))


def cells_of_plan(study: Study, rules: Sequence[Rule], plan: CampaignPlan) -> list[QuotaCell]:
    """Return the people whom rules ask for on the screens of a plan."""
    return cells_of(rules, Counter(task.group_id for task in plan.tasks), _groups(study))


def _groups(study: Study) -> dict[int, StudyGroup]:
    return {group.pk: group for group in study.groups.all()}


def people_of_cells(campaign: Campaign, cells: Iterable[QuotaCell]) -> tuple[list[CellPeople], list[str]]:
    """Return the needed and present numbers of each cell, and sentences about people who count toward no rule."""
    people = list(_profiles(campaign).values())
    per_person = Options.of(campaign).screens_per_person
    return with_people(cells, people, per_person), unplaced(quota_rules.stored(campaign), people)


def people_of_draft(
    campaign: Campaign, rules: Sequence[Rule], plan: CampaignPlan, *, people_of: Campaign | None
) -> list[CellPeople]:
    """Return the needed and present numbers of each cell for unsaved rules; an unsaved draft has no participants."""
    people = list(_profiles(people_of).values()) if rules and people_of is not None else []
    cells = cells_of_plan(campaign.study, rules, plan)
    return with_people(cells, people, Options.of(campaign).screens_per_person)


def shown_people(campaign: Campaign) -> tuple[list[CellPeople], list[str]]:
    """Return the cells of an opened campaign, and sentences about people in none; for a large one from the last
    count."""
    if quotas_of(campaign) is None:
        return [], []
    counted = snapshots.read(campaign, "quota_cells")
    if counted.pending:
        return [], []
    return [CellPeople(*cell) for cell in counted.value["cells"]], list(counted.value["sentences"])


@snapshots.register("quota_cells")
def _count_cells(campaign: Campaign, _: str) -> dict[str, Any]:
    cells, of_people = people_of_cells(campaign, cells_of_campaign(campaign))
    return {
        "cells": [[cell.name, cell.answers, cell.needed, cell.counted] for cell in cells],
        "sentences": of_people,
    }


def during(campaign: Campaign) -> QuotaReport:
    """Return how many open tasks no participant can continue, and who is missing."""
    return _report(campaign, campaign.tasks.filter(withdrawn=False, held__lt=F("wanted")))


def obstacles(campaign: Campaign) -> tuple[str, ...]:
    """Return the sentences of `during`; for a large campaign as last counted."""
    counted = snapshots.read(campaign, "quotas")
    return () if counted.pending else tuple(counted.value)


@snapshots.register("quotas")
def _count(campaign: Campaign, _: str) -> list[str]:
    return list(during(campaign).sentences)


def if_extended(campaign: Campaign, annotators_per_task: int) -> QuotaReport:
    """Return the same as if each task needed `annotators_per_task` annotators."""
    return _report(
        campaign, campaign.tasks.filter(withdrawn=False, purpose=Task.Purpose.LABEL), annotators_per_task
    )


def _report(campaign: Campaign, tasks: QuerySet[Task], annotators_per_task: int | None = None) -> QuotaReport:
    quotas = quotas_of(campaign)
    if quotas is None:
        return QuotaReport()
    people = _profiles(campaign)
    stuck = broken = 0
    lacking: Counter[str] = Counter()
    tasks = tasks.exclude(quota_mix="").order_by()
    mixes = tasks.values_list("quota_mix", "wanted").annotate(number=Count("pk")).order_by("-number")
    for mix, now, number in mixes[:_MIXES_LOOKED_AT]:
        place_count = annotators_per_task or now
        rules = quotas.of_mix(mix)
        if rules is None:
            broken += number
            continue
        example = tasks.filter(quota_mix=mix).order_by("pk").first()
        members = members_of(mix) if not mix.startswith("?") else []
        excluded_ids = set(_done(example)) if example else set()
        free = [profile for pk, profile in people.items() if pk not in excluded_ids]
        if not _can_fill(rules, members, place_count, free):
            stuck += number
            for sentence in _missing(rules, members, place_count, free) or ["more annotators"]:
                lacking[sentence] += number
    sentences = []
    if stuck:
        sentences.append(
            f"{stuck:,} task{'s' * (stuck != 1)} cannot be completed by the people who take part now."
        )
    sentences += [
        f"{number:,} of these tasks {'need' if number != 1 else 'needs'} {need}."
        for need, number in lacking.most_common(_NAMED)
    ]
    if broken:
        sentences.append(
            f"{broken:,} task{'s' * (broken != 1)} can never be completed. The rules of these tasks cannot "
            "be met, or people who answered have changed what they say about themselves."
        )
    return QuotaReport(_words(quotas), tuple(sentences), stuck, broken)


def _words(quotas: CampaignQuotas) -> tuple[str, ...]:
    return tuple(in_words(rule) for rule in quotas.rules)


def _profiles(campaign: Campaign) -> dict[int, Profile]:
    """Return the profiles of participants, and of people with a personal link who have not joined yet."""
    active = Enrolment.objects.filter(campaign=campaign, state=Enrolment.State.ACTIVE)
    invited = campaign.invitations.filter(annotator__isnull=False, revoked_at=None)
    ended = Enrolment.objects.filter(campaign=campaign, annotator=OuterRef("pk")).exclude(
        state=Enrolment.State.ACTIVE
    )
    takes_part = Q(pk__in=active.values("annotator")) | Q(pk__in=invited.values("annotator"))
    people = Annotator.objects.filter(takes_part, ~Exists(ended))
    return slots.profiles_of(people.values_list("pk", flat=True))


def _done(task: Task) -> Iterable[int]:
    """Return the annotators who have, answered or skipped the task."""
    assignments = Assignment.objects.filter(task=task).exclude(state=Assignment.State.EXPIRED)
    return assignments.values_list("annotator_id", flat=True)


def _can_fill(
    rules: TaskRules, members: Sequence[Member], place_count: int, people: Sequence[Profile]
) -> bool:
    """Return whether some of `people`, each at most once, complete a task held by `members`."""
    alike = Counter(rules.member(profile) for profile in people)
    budget = [_STEPS]

    def fill(joined_members: list[Member], start: int, kinds: list[Member]) -> bool:
        if len(joined_members) == place_count:
            return True
        budget[0] -= 1
        if budget[0] < 0:
            return True  # too many combinations to try: no warning rather than a wrong one
        for place in range(start, len(kinds)):
            kind = kinds[place]
            used = sum(member == kind for member in joined_members[len(members) :])
            if used < alike[kind]:
                joined = [*joined_members, kind]
                if rules.completable(joined, place_count) and fill(joined, place, kinds):
                    return True
        return False

    return fill(list(members), 0, list(alike))


def _missing(
    rules: TaskRules, members: Sequence[Member], place_count: int, people: Sequence[Profile]
) -> list[str]:
    """Return who is missing, for each rule that the people cannot meet."""
    needs = []
    for rule in rules.rules:
        place = rules.counting.index(rule) if rule in rules.counting else None
        held_count = 0 if place is None else sum(member.counted[place] for member in members)
        if rule.kind == AT_LEAST:
            available_count = sum(rule.met_by(profile) for profile in people)
            if held_count + available_count < rule.k:
                needs.append(_who(rule, rule.k - held_count - available_count))
        elif rule.kind == AT_MOST:
            others_count = sum(not rule.met_by(profile) for profile in people)
            short = place_count - len(members) - others_count - max(0, rule.k - held_count)
            if short > 0:
                needs.append(_who(rule, short, invert=True))
        elif not members and not _can_fill(TaskRules((rule,)), [], place_count, people):
            needs.append(f"people with other answers for {rule.field}")
    return needs


def _who(rule: Rule, number: int, *, invert: bool = False) -> str:
    values = names_of(rule) or "the same as the group’s"
    excludes = rule.negated != invert
    people = "one more person" if number == 1 else f"{number} more people"
    return f"{people} with {rule.field} {'other than ' if excludes else ''}{values}"


def _lacking_sentences(lacking: Counter[str], total: int, noun: str) -> list[str]:
    return [
        f"With the people invited so far, quotas cannot be met for {number:,} of {total:,} {noun}{'s' * (total != 1)}: "
        f"{missing}."
        for missing, number in lacking.most_common(_NAMED)
    ]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(filter(None, names[:_NAMED])) + more if any(names) else "this campaign"
