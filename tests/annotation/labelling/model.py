"""The required outcome of all actions of people and leads in a campaign: a plain model of sets, without a database."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from annotation.assignment.campaign_quotas import CampaignQuotas
from annotation.assignment.quotas import Profile

WANTED = 2  # labels for each task
LEASE = timedelta(minutes=30)
EDITING = timedelta(minutes=30)


class Thing(NamedTuple):
    """A task given to somebody for a purpose. A task is given twice when it is repeated."""

    person: int
    task: int
    purpose: str


class Revision(NamedTuple):
    """One answer to a thing."""

    submission_id: UUID
    ticked: bool


@dataclass
class LabellingModel:
    """A campaign, its people, and their tasks and answers."""

    quotas: CampaignQuotas | None
    profiles: Sequence[Profile]
    tasks: Sequence[int]
    golds: Sequence[int]
    sensitive: frozenset[int]
    gold_share: float
    repeat_share: float
    tasks_a_day: int | None
    sensitive_a_day: int | None
    now: datetime
    state: str = "open"
    parts: list[str] = field(default_factory=list)
    agreed: set[int] = field(default_factory=set)  # to the latest text
    withdrawn: set[int] = field(default_factory=set)
    leases: dict[Thing, datetime] = field(default_factory=dict)  # stored until the lease is released
    accepted: set[Thing] = field(default_factory=set)
    surplus: set[Thing] = field(default_factory=set)
    excluded: set[Thing] = field(default_factory=set)  # excluded with their annotator, or withdrawn
    skipped: set[Thing] = field(default_factory=set)
    checked: set[Thing] = field(default_factory=set)  # answered gold tasks and repeats
    revisions: dict[Thing, list[Revision]] = field(default_factory=dict)
    answered_at: dict[Thing, datetime] = field(default_factory=dict)
    given_at: dict[Thing, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts = ["active"] * len(self.profiles)
        self.agreed = set(range(len(self.profiles)))

    def refusal(self, person: int) -> str:
        """Return the code of the reason that bars somebody from labelling; "" if there is none."""
        if self.parts[person] != "active":
            return f"annotator_{self.parts[person]}"
        return "" if person in self.agreed else "consent_missing"

    def answered(self, thing: Thing) -> bool:
        """Return whether an answer to the thing is stored."""
        return thing in self.revisions

    def holders(self, task: int) -> list[int]:
        """Return the people who hold a place of a task."""
        given = {*self.leases, *self.accepted}
        return [thing.person for thing in given if (thing.task, thing.purpose) == (task, "label")]

    def completable(self, people: Sequence[int]) -> bool:
        """Return whether quotas can still be met for a task held by these people."""
        if self.quotas is None:
            return True
        rules = self.quotas.of_group(None)
        return rules.completable([rules.member(self.profiles[person]) for person in people], WANTED)

    def has_place(self, task: int, person: int) -> bool:
        """Return whether one more person may hold a place of a task."""
        holders = self.holders(task)
        return len(holders) < WANTED and self.completable([*holders, person])

    def had(self, thing: Thing) -> bool:
        """Return whether the thing cannot be given again."""
        return self.answered(thing) or thing in self.skipped or thing in self.leases

    def caps(self, person: int) -> tuple[bool, bool]:
        """Return whether somebody reached the daily caps on tasks and on sensitive tasks."""
        midnight = self.now.replace(hour=0, minute=0)
        today = [thing for thing, at in self.given_at.items() if thing.person == person and at >= midnight]
        given = sum(self.answered(thing) or thing in self.leases for thing in today)
        seen = sum(thing.task in self.sensitive for thing in today)
        return (
            self.tasks_a_day is not None and given >= self.tasks_a_day,
            self.sensitive_a_day is not None and seen >= self.sensitive_a_day,
        )

    def open_for(self, person: int, *, calm: bool) -> set[int]:
        """Return the tasks that somebody may be given; `calm`: without sensitive ones."""
        return {
            task
            for task in self.tasks
            if self.has_place(task, person)
            and not self.had(Thing(person, task, "label"))
            and not (calm and task in self.sensitive)
        }

    def fits(self, thing: Thing, *, calm: bool) -> bool:
        """Return whether a check may be given."""
        if self.had(thing) or (calm and thing.task in self.sensitive):
            return False
        if thing.purpose == "gold":
            return thing.task in self.golds and bool(self.gold_share)
        return bool(self.repeat_share) and self.answered(Thing(thing.person, thing.task, "label"))

    def capped(self, person: int) -> bool:
        """Return whether only a daily cap keeps tasks from somebody."""
        enough, calm = self.caps(person)
        capped = enough or (calm and not self.open_for(person, calm=True))
        return capped and bool(self.open_for(person, calm=False))

    def held_by(self, person: int) -> list[Thing]:
        """Return the open things of somebody."""
        return [thing for thing in self.leases if thing.person == person]

    def release(self, person: int) -> None:
        """Free the open things of somebody."""
        self.leases = {thing: end for thing, end in self.leases.items() if thing.person != person}

    def forget_overdue(self) -> None:
        """Free the things not answered in time."""
        self.leases = {thing: end for thing, end in self.leases.items() if end > self.now}

    def give(self, thing: Thing) -> None:
        """Lease a thing, or renew its lease."""
        if thing not in self.leases:
            self.given_at[thing] = self.now
        self.leases[thing] = self.now + LEASE

    def end(self, thing: Thing) -> str:
        """Store a first answer; return its status."""
        alive = thing in self.leases and (self.leases[thing] > self.now or self.state != "closed")
        self.leases.pop(thing, None)
        self.skipped.discard(thing)
        self.answered_at[thing] = self.now
        if thing.purpose != "label":
            self.checked.add(thing)
            return thing.purpose
        free = self.state != "closed" and self.has_place(thing.task, thing.person)
        (self.accepted if alive or free else self.surplus).add(thing)
        return "accepted" if thing in self.accepted else "surplus"

    def status(self, thing: Thing) -> str:
        """Return the status of an answered thing."""
        if thing in self.checked:
            return thing.purpose
        sets = {"accepted": self.accepted, "surplus": self.surplus, "excluded": self.excluded}
        return next(status for status, things in sets.items() if thing in things)

    def put_aside(self, person: int) -> None:
        """Stop counting somebody's labels, and free their places."""
        self.excluded |= {thing for thing in self.accepted if thing.person == person}
        self.accepted -= self.excluded

    def take_back(self, person: int) -> None:
        """Count somebody's labels again where their places are free, unless something still prevents it."""
        if self.parts[person] == "excluded" or person in self.withdrawn:
            return
        for thing in sorted(thing for thing in self.excluded if thing.person == person):
            self.excluded.discard(thing)
            (self.accepted if self.has_place(thing.task, person) else self.surplus).add(thing)
