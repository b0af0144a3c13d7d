"""Making labels from the mirror and from decisions here, and from nothing else.

The same annotations count in the end, in whatever order and however often webhooks or comparisons report them.
Each batch of tasks is one transaction. It locks enrolments, assignments, tasks and rows of the mirror, each in the
order of their keys: enrolments first, so that a withdrawal, an exclusion or another settlement comes before or
after the batch; then in the same order as a submission.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone

from annotation.assignment import slots
from annotation.assignment.campaign_quotas import quotas_of
from annotation.assignment.leases import lock_enrolments
from annotation.kinds.registry import kind_of
from annotation.label_studio.labels import versions
from annotation.label_studio.labels.allocation import Places, Plan, allocate, by_task
from annotation.label_studio.labels.convert import Question
from annotation.label_studio.labels.store import write
from annotation.label_studio.labels.verdicts import Part, SettleContext, Verdict, judge, made_by
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioBridge, LabelStudioUser
from annotation.models import Annotation, Assignment, Campaign, Task, TaskAttribute, TaskStimulus
from jobs.progress.reporter import Progress, Unwatched
from studies import consent

State = LabelStudioAnnotation.State
_AT_ONCE = 300


@dataclass
class Settled:
    """The number of annotations of some tasks in each state, and the number of rewritten answers."""

    tasks: int = 0
    written: int = 0
    states: Counter[str] = field(default_factory=Counter)

    @property
    def counted(self) -> int:
        return self.states[State.COUNTED]

    @property
    def surplus(self) -> int:
        return self.states[State.SURPLUS] + self.states[State.FURTHER]

    @property
    def excluded(self) -> int:
        return self.states[State.EXCLUDED] + self.states[State.DELETED]

    @property
    def waiting(self) -> int:
        return self.states[State.WAITING] + self.states[State.CONSENT]

    @property
    def refused(self) -> int:
        return self.states[State.REFUSED]

    @property
    def flagged(self) -> int:
        return self.states[State.FLAGGED]

    @property
    def skipped(self) -> int:
        return self.states[State.SKIPPED]


def settle(
    *, bridge: LabelStudioBridge, task_ids: Collection[int], progress: Progress | None = None
) -> Settled:
    """Make labels from the mirrored answers to these tasks; return the result. A second call changes nothing."""
    progress = progress or Unwatched()
    settled = Settled()
    pks = sorted(set(task_ids))
    progress.start(len(pks))
    for start in range(0, len(pks), _AT_ONCE):
        progress.check_cancelled()
        batch = pks[start : start + _AT_ONCE]
        _settle(bridge, batch, settled)
        progress.advance(len(batch))
    return settled


@transaction.atomic
def _settle(bridge: LabelStudioBridge, pks: Sequence[int], settled: Settled) -> None:
    enrolments = lock_enrolments(bridge.campaign_id)
    parts = _parts(bridge, pks)
    tasks = _tasks(bridge, pks)
    rows = _rows(bridge, [task.pk for task in tasks])
    context = _context(bridge, enrolments, tasks, rows)
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    for row in rows:
        task = row.task_id or 0
        verdicts[task].append(judge(row, context, parts.get(task, {})))
    plans = _plans(tasks, parts, verdicts, context)
    everything = [verdict for task_verdicts in verdicts.values() for verdict in task_verdicts]
    settled.written += write(plans, everything, context)
    settled.tasks += len(tasks)
    settled.states.update(str(verdict.state) for verdict in everything)


def _parts(bridge: LabelStudioBridge, pks: Sequence[int]) -> dict[int, dict[int, Part]]:
    rows = (
        Assignment.objects.select_for_update(of=("self",))
        .filter(task__in=pks, purpose=Assignment.Purpose.LABEL)
        .order_by("pk")
        .values_list("pk", "task_id", "annotator_id", "state", "slot")
    )
    parts = {row[0]: Part(*row) for row in rows}
    latest = Annotation.objects.filter(assignment__in=parts, is_latest=True).values_list(
        "assignment_id", "pk", "revision", "status", "status_reason", "submission_id", "label_studio"
    )
    for assignment, pk, revision, status, reason, submission, row in latest:
        part = parts[assignment or 0]
        part.annotation_id, part.revision, part.submission_id = pk, revision, submission
        part.status, part.reason, part.row = status, reason, row
        part.made_there = made_by(bridge, submission)
    return by_task(parts.values())


def _tasks(bridge: LabelStudioBridge, pks: Sequence[int]) -> list[Task]:
    tasks = Task.objects.select_for_update(of=("self",), no_key=True).select_related("image")
    label_tasks = tasks.filter(pk__in=pks, campaign=bridge.campaign_id, purpose=Task.Purpose.LABEL).order_by(
        "pk"
    )
    return list(label_tasks.only("pk", "campaign_id", "wanted", "held", "quota_mix", "image__group_id"))


def _rows(bridge: LabelStudioBridge, pks: Sequence[int]) -> list[LabelStudioAnnotation]:
    rows = LabelStudioAnnotation.objects.select_for_update(of=("self",), no_key=True)
    return list(rows.filter(task__in=pks, project__bridge=bridge).order_by("pk"))


def _context(
    bridge: LabelStudioBridge,
    enrolments: dict[int, str],
    tasks: Sequence[Task],
    rows: Sequence[LabelStudioAnnotation],
) -> SettleContext:
    campaign = Campaign.objects.select_related("study__consent_text").get(pk=bridge.campaign_id)
    consenting = consent.consenting(campaign.study).filter(enrolments__campaign=campaign)
    attributes: dict[int, dict[str, int]] = defaultdict(dict)
    task_attributes = TaskAttribute.objects.filter(task__in=[task.pk for task in tasks]).order_by(
        "task", "position"
    )
    for task, attribute, text in task_attributes.values_list("task_id", "attribute_id", "attribute__text"):
        attributes[task][text] = attribute
    stimuli = _stimuli(campaign, tasks)
    users = {user.pk: user for user in LabelStudioUser.objects.filter(server=bridge.server_id)}
    changed = [row.pk for row in rows if versions.needs_history(row, users.get(row.user_id or 0))]
    return SettleContext(
        bridge=bridge,
        campaign=campaign,
        projects={project.pk: project for project in bridge.projects.all()},
        users=users,
        history=versions.history_of(changed),
        enrolments=enrolments,
        consenting=frozenset(consenting.values_list("pk", flat=True)),
        questions={task.pk: Question.of(campaign, attributes[task.pk], stimuli[task.pk]) for task in tasks},
        instruments=list(campaign.instruments.order_by("-version").values_list("pk", "created_at")),
        now=timezone.now(),
    )


def _stimuli(campaign: Campaign, tasks: Sequence[Task]) -> dict[int, list[tuple[int, str]]]:
    """Return the stimuli of each task with declared questions: key and text, in the order shown."""
    shown: dict[int, list[tuple[int, str]]] = defaultdict(list)
    if not kind_of(campaign).about_attributes:
        stimuli = TaskStimulus.objects.filter(task__in=[task.pk for task in tasks]).order_by(
            "task", "position"
        )
        for task, stimulus, text in stimuli.values_list("task_id", "pk", "text"):
            shown[task].append((stimulus, text))
    return shown


def _plans(
    tasks: Sequence[Task],
    parts: dict[int, dict[int, Part]],
    verdicts: dict[int, list[Verdict]],
    context: SettleContext,
) -> list[Plan]:
    quotas = quotas_of(context.campaign)
    if quotas:  # which depend on the group that is common to all stimuli of a screen
        for task in tasks:
            task.campaign = context.campaign
        prefetch_related_objects(tasks, "stimuli__image")
    profiles = slots.profiles_of(context.enrolments) if quotas else {}
    return [
        allocate(Places(task, quotas, profiles), parts.get(task.pk, {}), verdicts.get(task.pk, []), context)
        for task in tasks
    ]
