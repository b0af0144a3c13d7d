"""Whether the people there are can meet a campaign's quotas, and which tasks wait for somebody who is not there.

Assignment asks whether *anybody* could complete a task; here the question is whether those who were invited
can. Tasks are looked at by mix (`annotation.assignment.quotas`), so a large campaign costs as much as its mixes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from accounts.models import Annotator
from annotation.assignment import slots
from annotation.assignment.quota_rules import CampaignQuotas, in_words, names_of, quotas_of
from annotation.assignment.quotas import AT_LEAST, AT_MOST, Member, Profile, Rule, TaskRules, read
from annotation.campaigns import snapshots
from annotation.campaigns.planning.sampling import Plan
from annotation.models import Assignment, Campaign, Enrolment, Task
from studies.models import StudyGroup

_NAMED = 5
_MIXES_LOOKED_AT = 500
_STEPS = 20_000


@dataclass(frozen=True)
class QuotaReport:
    """What quotas ask, and what stands in their way."""

    rules: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    stuck: int = 0  # tasks that nobody who takes part may go on with
    broken: int = 0  # tasks whose annotators changed what they said, so that a rule no longer holds


def before_opening(campaign: Campaign, plan: Plan) -> QuotaReport:
    """Return whether a draft's rules can be met, by anybody and by those invited by name."""
    quotas = quotas_of(campaign)
    if quotas is None:
        return QuotaReport()
    wanted = campaign.annotators_per_task
    shown: list[int | None] = [group.group_id for group in plan.groups] or [None]
    names = dict(StudyGroup.objects.filter(pk__in=[one for one in shown if one]).values_list("pk", "name"))
    never = [names.get(one or 0, "") for one in shown if not quotas.of_group(one).completable([], wanted)]
    sentences = []
    if never:
        sentences.append(f"No annotators at all can meet the quotas in the images of {_listed(never)}.")
    people = list(_profiles(campaign).values())
    if not people:
        sentences.append("Nobody with a profile takes part yet: quotas are met by what annotators tell.")
        return QuotaReport(_words(quotas), tuple(sentences))
    lacking: Counter[str] = Counter()
    for one in shown:
        rules = quotas.of_group(one)
        if rules.completable([], wanted) and not _can_fill(rules, [], wanted, people):
            lacking.update(_missing(rules, [], wanted, people) or ["no combination of them meets every rule"])
    sentences += _lacking_sentences(lacking, len(shown), "group" if shown != [None] else "task")
    return QuotaReport(_words(quotas), tuple(sentences))


def during(campaign: Campaign) -> QuotaReport:
    """Return which open tasks nobody who takes part can go on with, and who is missing."""
    return _look(campaign, campaign.tasks.filter(withdrawn=False, held__lt=F("wanted")))


def in_the_way(campaign: Campaign) -> tuple[str, ...]:
    """Return the sentences of `during` where tasks cannot be completed; of a large campaign as last counted."""
    counted = snapshots.read(campaign, "quotas")
    return () if counted.pending else tuple(counted.value)


@snapshots.register("quotas")
def _count(campaign: Campaign, _: str) -> list[str]:
    return list(during(campaign).sentences)


def if_extended(campaign: Campaign, wanted: int) -> QuotaReport:
    """Return the same as if each task were asked of `wanted` annotators."""
    return _look(campaign, campaign.tasks.filter(withdrawn=False, purpose=Task.Purpose.LABEL), wanted)


def _look(campaign: Campaign, tasks: QuerySet[Task], asked: int | None = None) -> QuotaReport:
    quotas = quotas_of(campaign)
    if quotas is None:
        return QuotaReport()
    people = _profiles(campaign)
    stuck = broken = 0
    lacking: Counter[str] = Counter()
    tasks = tasks.exclude(quota_mix="").order_by()
    mixes = tasks.values_list("quota_mix", "wanted").annotate(number=Count("pk")).order_by("-number")
    for mix, now, number in mixes[:_MIXES_LOOKED_AT]:
        wanted = asked or now
        rules = quotas.of_mix(mix)
        if rules is None:
            broken += number
            continue
        example = tasks.filter(quota_mix=mix).order_by("pk").first()
        members = read(mix) if not mix.startswith("?") else []
        done = set(_done(example)) if example else set()
        free = [profile for pk, profile in people.items() if pk not in done]
        if not _can_fill(rules, members, wanted, free):
            stuck += number
            for sentence in _missing(rules, members, wanted, free) or ["more annotators"]:
                lacking[sentence] += number
    sentences = []
    if stuck:
        sentences.append(
            f"{stuck:,} task{'s' * (stuck != 1)} cannot be completed by those who take part in the campaign."
        )
    sentences += [
        f"{number:,} of them {'need' if number != 1 else 'needs'} {what}."
        for what, number in lacking.most_common(_NAMED)
    ]
    if broken:
        sentences.append(
            f"{broken:,} task{'s' * (broken != 1)} can never be completed: their rules cannot be met, or "
            "those who answered changed what they say of themselves."
        )
    return QuotaReport(_words(quotas), tuple(sentences), stuck, broken)


def _words(quotas: CampaignQuotas) -> tuple[str, ...]:
    return tuple(in_words(rule) for rule in quotas.rules)


def _profiles(campaign: Campaign) -> dict[int, Profile]:
    """Return the profiles of who takes part, and of who holds a personal link and has not come yet."""
    active = Enrolment.objects.filter(campaign=campaign, state=Enrolment.State.ACTIVE)
    invited = campaign.invitations.filter(annotator__isnull=False, revoked_at=None)
    ended = Enrolment.objects.filter(campaign=campaign, annotator=OuterRef("pk")).exclude(
        state=Enrolment.State.ACTIVE
    )
    asked = Q(pk__in=active.values("annotator")) | Q(pk__in=invited.values("annotator"))
    people = Annotator.objects.filter(asked, ~Exists(ended))
    return slots.profiles_of(people.values_list("pk", flat=True))


def _done(task: Task) -> Iterable[int]:
    """Return who cannot be given the task: those who hold it, answered it or skipped it."""
    given = Assignment.objects.filter(task=task).exclude(state=Assignment.State.EXPIRED)
    return given.values_list("annotator_id", flat=True)


def _can_fill(rules: TaskRules, members: Sequence[Member], wanted: int, people: Sequence[Profile]) -> bool:
    """Return whether some of `people`, each at most once, complete a task held by `members`."""
    alike = Counter(rules.member(profile) for profile in people)
    budget = [_STEPS]

    def fill(held: list[Member], start: int, kinds: list[Member]) -> bool:
        if len(held) == wanted:
            return True
        budget[0] -= 1
        if budget[0] < 0:
            return True  # too many ways to look at all: no warning rather than a wrong one
        for place in range(start, len(kinds)):
            kind = kinds[place]
            used = sum(one == kind for one in held[len(members) :])
            if used < alike[kind]:
                joined = [*held, kind]
                if rules.completable(joined, wanted) and fill(joined, place, kinds):
                    return True
        return False

    return fill(list(members), 0, list(alike))


def _missing(
    rules: TaskRules, members: Sequence[Member], wanted: int, people: Sequence[Profile]
) -> list[str]:
    """Return who would have to come, rule by rule that the people there cannot meet."""
    found = []
    for rule in rules.rules:
        place = rules.counting.index(rule) if rule in rules.counting else None
        held = 0 if place is None else sum(member.counted[place] for member in members)
        if rule.kind == AT_LEAST:
            there = sum(rule.met_by(profile) for profile in people)
            if held + there < rule.k:
                found.append(_who(rule, rule.k - held - there))
        elif rule.kind == AT_MOST:
            others = sum(not rule.met_by(profile) for profile in people)
            short = wanted - len(members) - others - max(0, rule.k - held)
            if short > 0:
                found.append(_who(rule, short, other=True))
        elif not members and not _can_fill(TaskRules((rule,)), [], wanted, people):
            found.append(f"people with other answers for {rule.field}")
    return found


def _who(rule: Rule, number: int, *, other: bool = False) -> str:
    values = names_of(rule) or "that of the group"
    named = rule.negated != other
    people = "one more person" if number == 1 else f"{number} more people"
    return f"{people} with {rule.field} {'other than ' if named else ''}{values}"


def _lacking_sentences(lacking: Counter[str], shown: int, what: str) -> list[str]:
    return [
        f"With those invited, quotas cannot be met for {number:,} of {shown:,} {what}{'s' * (shown != 1)}: {missing}."
        for missing, number in lacking.most_common(_NAMED)
    ]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(filter(None, names[:_NAMED])) + more if any(names) else "this campaign"
