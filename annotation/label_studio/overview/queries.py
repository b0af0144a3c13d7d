"""The data of leads' pages about a campaign in Label Studio: counted on request, one page of rows at a time."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When
from django.utils import timezone

from accounts.models import Annotator
from annotation.label_studio.base import job_queue
from annotation.label_studio.base.opaque_names import title_of
from annotation.label_studio.models import (
    LabelStudioAnnotation,
    LabelStudioBridge,
    LabelStudioEvent,
    LabelStudioProject,
    LabelStudioServer,
    LabelStudioTask,
    LabelStudioUser,
)
from annotation.label_studio.overview import advice
from annotation.label_studio.push import backlog
from annotation.label_studio.push.image_urls import shows_pictures
from annotation.label_studio.push.layout import Place, places_of
from annotation.models import Campaign, Task
from foundation.errors import NotFound
from jobs.models import Job

State = LabelStudioAnnotation.State
# States without a valid answer.
NO_ANSWER = (State.DELETED, State.SKIPPED)
# The annotator of the answer is not known yet, or has not agreed yet.
WAITING = (State.NEW, State.WAITING, State.CONSENT)
IMAGES_SOON = timedelta(days=2)
_SENT_BY_OTHERS = Q(state=State.FLAGGED) | Q(edit=LabelStudioAnnotation.Edit.OPEN)
TONES: Mapping[str, str] = {
    State.COUNTED: "good",
    State.SURPLUS: "warn",
    State.FLAGGED: "warn",
    State.REFUSED: "bad",
    State.EXCLUDED: "bad",
    State.WAITING: "active",
    State.CONSENT: "active",
}
# Short names for tags and filters; the label of the state explains each.
NAMES: Mapping[str, str] = {
    State.NEW: "to be checked",
    State.COUNTED: "counted",
    State.SURPLUS: "surplus",
    State.FURTHER: "further",
    State.EXCLUDED: "excluded",
    State.WAITING: "waiting",
    State.CONSENT: "waiting for consent",
    State.FLAGGED: "flagged",
    State.REFUSED: "refused",
    State.LEFT_OUT: "left out",
    State.SKIPPED: "skipped",
    State.DELETED: "deleted in Label Studio",
}
# Explanations of each state for a lead who filters by it.
EXPLAINED: Mapping[str, str] = {
    State.COUNTED: "These answers count, like answers given on Stereoscope’s own pages.",
    State.SURPLUS: "The screens of these answers already had all their answers. The additional answers are "
    "stored but do not count.",
    State.FURTHER: "The same person had answered the screen before; the first answer counts.",
    State.EXCLUDED: "You excluded these answers in Stereoscope. Changes in Label Studio do not make these "
    "answers count again.",
    State.NEW: "These answers will be read with the next event or comparison.",
    State.WAITING: "If no reason is shown for an answer, its annotator is not known yet. Say under People who "
    "the annotator is.",
    State.CONSENT: "The annotator has not agreed to the study’s text yet; the answers count once the annotator "
    "has agreed.",
    State.FLAGGED: "Label Studio lets anybody send or change an answer in another person’s name. These "
    "answers were last sent by somebody other than their author. The author’s version counts until you "
    "decide. If the author sent no version, the answer does not count.",
    State.REFUSED: "These are not valid answers to the questions. Stereoscope reads an answer again when it "
    "is corrected in Label Studio.",
    State.LEFT_OUT: "You left out the users who gave these answers.",
    State.SKIPPED: "The annotator skipped the screen in Label Studio.",
    State.DELETED: "These answers were deleted in Label Studio. Answers that had counted stay stored in "
    "Stereoscope but are left out of results.",
}


@dataclass(frozen=True)
class ProjectLine:
    """One project in Label Studio: its annotator or slot, the number of its tasks and of its answers."""

    project: LabelStudioProject
    title: str  # its title in Label Studio
    address: str
    sent: int
    answered: int
    counted: int

    @property
    def pseudonym(self) -> str:
        """Return the pseudonym of the only annotator whose answers count in the project, if there is one."""
        return self.project.annotator.pseudonym if self.project.annotator else ""

    @property
    def is_gone(self) -> bool:
        """Return whether the project no longer exists; its answers stay."""
        return self.project.gone_at is not None


@dataclass(frozen=True)
class BridgeShown:
    """The status of a campaign in Label Studio."""

    bridge: LabelStudioBridge
    projects: list[ProjectLine]
    counts: Mapping[str, int]  # mirrored annotations by state
    tasks: int  # our tasks that are to be labelled
    behind: list[str]  # differences between Label Studio and here, in sentences
    unasked: int  # missing answers for which nobody in Label Studio is asked
    flagged: int  # answers that somebody else sent or changed and that wait for the lead's decision
    held: int  # answers missing in Label Studio that wait for the lead's decision whether they were deleted
    events_waiting: int
    people_waiting: int
    jobs: list[Job] = field(default_factory=list)  # queued or running
    failed: Job | None = None  # the last job, if it failed

    @property
    def what_to_do(self) -> str:
        """Return advice about the current problem; "" if there is none."""
        return advice.what_to_do(self.bridge.problem or self.bridge.server.problem)

    @property
    def active(self) -> bool:
        """Return whether tasks can be sent: the campaign is neither a draft nor closed."""
        return self.bridge.campaign.state in {Campaign.State.OPEN, Campaign.State.PAUSED}

    @property
    def told(self) -> bool:
        """Return whether Label Studio notifies us of answers in every project."""
        return all(line.project.webhook_id is not None for line in self.projects if not line.is_gone)

    @property
    def sent(self) -> int:
        return sum(line.sent for line in self.projects if not line.is_gone)

    @property
    def answered(self) -> int:
        return sum(line.answered for line in self.projects)

    @property
    def counted(self) -> int:
        return self.counts.get(State.COUNTED, 0)

    @property
    def waiting(self) -> int:
        return sum(self.counts.get(state, 0) for state in WAITING)

    @property
    def refused(self) -> int:
        return self.counts.get(State.REFUSED, 0)

    @property
    def by_state(self) -> list[tuple[str, str, int]]:
        """Return (state, its name, number of answers), without states with no answers."""
        return [(state, NAMES[state], n) for state in State.values if (n := self.counts.get(state, 0))]

    @property
    def images(self) -> str:
        """Return the state of the signed addresses of images: none, void, soon or fine."""
        until = self.bridge.images_until
        if until is None or not shows_pictures(self.bridge.campaign):
            return "none"
        now = timezone.now()
        if until <= now:
            return "void"
        return "soon" if until - now < IMAGES_SOON else "fine"


@dataclass(frozen=True)
class PersonLine:
    """A user of Label Studio, and the number of their answers by state."""

    user: LabelStudioUser
    counts: Mapping[str, int]

    @property
    def name(self) -> str:
        return name_of(self.user)

    @property
    def address(self) -> str:
        """Return the user's address in Label Studio, which nobody can choose freely."""
        return self.name.partition(" (")[0]

    @property
    def called(self) -> str:
        """Return the name that the user chose in Label Studio, if any."""
        return self.name.partition(" (")[2].removesuffix(")")

    @property
    def answers(self) -> int:
        return sum(n for state, n in self.counts.items() if state not in NO_ANSWER)

    @property
    def counted(self) -> int:
        return self.counts.get(State.COUNTED, 0)


@dataclass(frozen=True)
class AnswerLine:
    """One annotation, with its place in Label Studio."""

    answer: LabelStudioAnnotation
    address: str
    sender: str  # the last sender, if it is somebody else

    @property
    def state(self) -> str:
        return NAMES[self.answer.state]

    @property
    def tone(self) -> str:
        return TONES.get(self.answer.state, "quiet")

    @property
    def person(self) -> str:
        return PersonLine(self.answer.user, {}).address if self.answer.user else "nobody"

    @property
    def undecided(self) -> bool:
        """Return whether a lead must decide about a version that somebody else sent or changed."""
        return self.answer.state == State.FLAGGED or self.answer.edit == LabelStudioAnnotation.Edit.OPEN

    @property
    def decided(self) -> str:
        """Return a lead's decision about the answer, in words; "" if there is none."""
        edit = LabelStudioAnnotation.Edit
        return "" if self.answer.edit in ("", edit.OPEN) else str(self.answer.get_edit_display())


def bridge_of(campaign: Campaign) -> LabelStudioBridge | None:
    """Return the campaign's bridge, or None."""
    return LabelStudioBridge.objects.select_related("server").filter(campaign=campaign).first()


def bridge_summary(bridge: LabelStudioBridge) -> BridgeShown:
    """Return the counts of a campaign; the number of queries does not depend on its size."""
    campaign = bridge.campaign
    by_project = _states(bridge)
    jobs = list(jobs_of(bridge)[:10])
    places = places_of(bridge, campaign)
    projects = _projects(bridge, places, by_project)
    live = [line.project for line in projects if not line.is_gone]
    tasks = Task.objects.filter(campaign=campaign, purpose=Task.Purpose.LABEL, withdrawn=False)
    noted = LabelStudioAnnotation.objects.filter(project__bridge=bridge).aggregate(
        flagged=Count("pk", filter=_SENT_BY_OTHERS),
        held=Count("pk", filter=Q(missing=LabelStudioAnnotation.Missing.HELD)),
        kept=Count("pk", filter=Q(missing=LabelStudioAnnotation.Missing.KEPT)),
    )
    return BridgeShown(
        bridge=bridge,
        projects=projects,
        counts=sum(by_project.values(), Counter()),
        tasks=tasks.count(),
        behind=backlog.behind(bridge, places, live, tasks, keeps_lost=noted["kept"] > 0),
        unasked=backlog.unasked(bridge, places, live, tasks),
        flagged=noted["flagged"],
        held=noted["held"],
        events_waiting=LabelStudioEvent.objects.filter(bridge=bridge, done_at=None).count(),
        people_waiting=waiting_people(bridge.server).count(),
        jobs=[job for job in jobs if not job.ended],
        failed=jobs[0] if jobs and jobs[0].state == Job.State.FAILED else None,
    )


def _states(bridge: LabelStudioBridge) -> dict[int, Counter[str]]:
    """Return the number of mirrored annotations of each project in each state."""
    counts_by_project: dict[int, Counter[str]] = defaultdict(Counter)
    rows = LabelStudioAnnotation.objects.filter(project__bridge=bridge).order_by()
    counted = rows.values("project", "state").annotate(n=Count("pk"))
    for project, state, n in counted.values_list("project", "state", "n"):
        counts_by_project[project][state] = n
    return counts_by_project


def _projects(
    bridge: LabelStudioBridge, places: list[Place], by_project: dict[int, Counter[str]]
) -> list[ProjectLine]:
    rows = LabelStudioTask.objects.filter(project__bridge=bridge).order_by()
    sent = dict(rows.values("project").annotate(n=Count("pk")).values_list("project", "n"))
    titles = {(place.slot, place.annotator_id): title_of(bridge, place.number) for place in places}
    return [
        ProjectLine(
            project=place,
            title=titles.get((place.slot, place.annotator_id), title_of(bridge, place.slot)),
            address=f"{bridge.server.url}/projects/{place.external_id}/data",
            sent=sent.get(place.pk, 0),
            answered=sum(n for state, n in by_project[place.pk].items() if state not in NO_ANSWER),
            counted=by_project[place.pk][State.COUNTED],
        )
        for place in bridge.projects.select_related("annotator")
    ]


def jobs_of(bridge: LabelStudioBridge) -> QuerySet[Job]:
    """Return the jobs for this campaign in Label Studio, newest first."""
    return job_queue.jobs_of(bridge, *job_queue.KINDS)


def candidates(server: LabelStudioServer) -> QuerySet[Annotator]:
    """Return the annotators of the study, with whom a user of its Label Studio may be matched."""
    return Annotator.objects.filter(enrolments__campaign__study=server.study_id).distinct()


def candidate(server: LabelStudioServer, pseudonym: str) -> Annotator:
    """Return the annotator of the study with this pseudonym, in upper or lower case."""
    annotator: Annotator | None = candidates(server).filter(pseudonym__iexact=pseudonym).first()
    if annotator is None:
        message = "Nobody with this pseudonym has joined a campaign of this study."
        raise NotFound("annotator_not_found", message, fields={"annotator": message})
    return annotator


def waiting_people(server: LabelStudioServer) -> QuerySet[LabelStudioUser]:
    return server.users.filter(state=LabelStudioUser.State.WAITING)


def people(server: LabelStudioServer) -> QuerySet[LabelStudioUser]:
    """Return the users of a server; waiting users come first."""
    order = Case(
        When(state=LabelStudioUser.State.WAITING, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return server.users.select_related("annotator", "invitation", "decided_by").order_by(order, "name", "pk")


def person_lines(users: Iterable[LabelStudioUser]) -> list[PersonLine]:
    """Return these users with the numbers of their answers: one query."""
    users = list(users)
    counts_by_user: dict[int, Counter[str]] = defaultdict(Counter)
    rows = LabelStudioAnnotation.objects.filter(user__in=[listed_user.pk for listed_user in users]).order_by()
    for user, state, n in (
        rows.values("user", "state").annotate(n=Count("pk")).values_list("user", "state", "n")
    ):
        if user is not None:
            counts_by_user[user][state] = n
    return [PersonLine(listed_user, counts_by_user[listed_user.pk]) for listed_user in users]


def answers(
    bridge: LabelStudioBridge, *, state: str = "", person: str = ""
) -> QuerySet[LabelStudioAnnotation]:
    """Return answers in Label Studio, the last changed first; `person` is a part of their name here or there."""
    rows = LabelStudioAnnotation.objects.filter(project__bridge=bridge)
    if state == State.FLAGGED:
        rows = sent_by_others(rows)
    elif state:
        rows = rows.filter(state=state)
    if person:
        rows = rows.filter(Q(user__name__icontains=person) | Q(user__annotator__pseudonym__icontains=person))
    return rows.select_related("project__annotator", "user__annotator").order_by("-changed_at", "-pk")


def sent_by_others(rows: QuerySet[LabelStudioAnnotation]) -> QuerySet[LabelStudioAnnotation]:
    """Return answers that somebody else sent or changed and about which a lead has not decided yet."""
    return rows.filter(_SENT_BY_OTHERS)


def answer_lines(bridge: LabelStudioBridge, rows: Iterable[LabelStudioAnnotation]) -> list[AnswerLine]:
    """Return these answers as lines of the list: one query for the names of other senders."""
    rows = list(rows)
    senders = {row.pk: _sender(row) for row in rows}
    numbers = {number for number in senders.values() if number is not None}
    users = bridge.server.users.filter(external_id__in=numbers) if numbers else LabelStudioUser.objects.none()
    names: dict[int | None, str] = {user.external_id: PersonLine(user, {}).address for user in users}
    return [
        AnswerLine(
            answer=row,
            address=f"{bridge.server.url}/projects/{row.project.external_id}/data?task={row.external_task}",
            sender=names.get(sender, f"User {sender}") if (sender := senders[row.pk]) is not None else "",
        )
        for row in rows
    ]


def _sender(answer: LabelStudioAnnotation) -> int | None:
    """Return the last sender, if it is not the named author."""
    if answer.user is None or answer.updated_by == answer.user.external_id:
        return None
    return answer.updated_by


def name_of(user: LabelStudioUser) -> str:
    """Return the name by which a lead recognises a user."""
    return user.name or f"User {user.external_id}"
