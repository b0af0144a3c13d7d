"""Summaries of studies and campaigns for their lead, and tasks that need attention."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import (
    Aggregate,
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    TextField,
    Value,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce
from django.urls import reverse

from annotation import integrations
from annotation.campaigns import snapshots
from annotation.kinds.registry import KINDS
from annotation.lead.campaigns.progress import SUBJECT as PROGRESS
from annotation.models import Annotation, Campaign, ImageReport, Notice, Task
from generation.models import Answer, Condition, Image, ProbeRun, PromptTemplate
from generation.prompts.mcas import planned_images
from jobs.models import Job
from studies.models import Study, StudyGroup


@dataclass(frozen=True)
class CampaignLine:
    """A campaign in a list: its state, and the number of accepted answers of those it needs."""

    pk: int
    slug: str
    name: str
    kind: str
    state: str
    imported: bool
    wanted: int | None  # None: a large campaign that was not counted yet
    accepted: int | None
    notice: str  # notices for its leads
    notice_kind: str
    tool: str  # the name of the outside tool it is labelled in, "" for our own pages
    problem: str  # the problem in that tool
    declared: str  # the name of a kind that the study declares for itself

    @property
    def kind_words(self) -> str:
        return KINDS[self.kind].name if self.kind in KINDS else self.declared

    @property
    def finished(self) -> bool:
        return bool(self.wanted) and (self.accepted or 0) >= (self.wanted or 0)

    @property
    def need(self) -> str:
        """Return what the campaign is waiting for, or ""."""
        if self.state == Campaign.State.OPEN and self.finished:
            return f"{self.name} has all its answers and can be closed"
        if self.problem:
            return f"{self.name} in {self.tool}: {self.problem}"
        if self.notice:
            is_stuck = self.notice_kind == Notice.Kind.STUCK
            return f"{self.name}{' is stuck' * is_stuck}: {self.notice}"
        if self.state == Campaign.State.PAUSED:
            return f"{self.name} is paused"
        return f"{self.name} is a draft" if self.state == Campaign.State.DRAFT else ""


@dataclass(frozen=True)
class Need:
    """Something that needs the lead's attention, and the page for it."""

    text: str
    url: str


@dataclass(frozen=True)
class ProbeCounts:
    """The probe runs of a study."""

    models: int = 0  # how many models were asked
    unfinished: int = 0  # runs with questions left that no job is at work on
    active: int = 0  # runs that a job is at work on
    answered: bool = False


@dataclass(frozen=True)
class StudySummary:
    """Counts of one study, enough for its line in the list and its stages."""

    study: Study
    groups: int = 0
    images_wanted: int = 0
    images: int = 0
    active_jobs: Mapping[str, int] = field(default_factory=dict)  # number by kind
    last_job: Job | None = None
    reported: int = 0  # images with an open report
    # Tasks for the lead in outside tools: each sentence with the name of its page.
    in_tools: list[tuple[str, str]] = field(default_factory=list)
    campaigns: list[CampaignLine] = field(default_factory=list)
    probes: ProbeCounts = field(default_factory=ProbeCounts)

    @property
    def jobs_active(self) -> int:
        return sum(self.active_jobs.values())

    def is_at_work(self, *kinds: str) -> bool:
        """Return whether a job of one of these kinds is queued or running."""
        return any(self.active_jobs.get(kind) for kind in kinds)

    def failed(self, *kinds: str) -> Job | None:
        """Return the study's last job if it is of one of these kinds and failed."""
        return self.failed_job if self.failed_job is not None and self.failed_job.kind in kinds else None

    @property
    def automated(self) -> bool:
        """Return whether the protocol is measured by models alone; people may still be asked."""
        return bool(self.study.protocol == Study.Protocol.MCAS)

    @property
    def about_images(self) -> bool:
        """Return whether the protocol begins with images; BiasDora's may do without."""
        return bool(self.study.protocol != Study.Protocol.BIASDORA)

    @property
    def ready_to_probe(self) -> bool:
        """Return whether there is something to ask models about."""
        return bool(self.images if self.about_images else self.groups)

    @property
    def has_imported_labels(self) -> bool:
        return any(campaign.imported for campaign in self.campaigns)

    @property
    def accepted(self) -> int:
        return sum(campaign.accepted or 0 for campaign in self.campaigns)

    @property
    def open_campaigns(self) -> list[CampaignLine]:
        return [campaign for campaign in self.campaigns if campaign.state == Campaign.State.OPEN]

    @property
    def failed_job(self) -> Job | None:
        job = self.last_job
        return job if job is not None and job.state == Job.State.FAILED else None

    def needs(self) -> list[Need]:
        """Return what needs the lead's attention, most urgent first."""
        waiting = []
        if self.failed_job is not None:
            job = self.failed_job
            waiting.append(Need(f"“{job.title}” failed", reverse("jobs:detail", args=[job.pk])))
        if self.reported:
            text = f"{self.reported:,} image{'' if self.reported == 1 else 's'} reported by annotators"
            waiting.append(Need(text, reverse("annotation:image_reports", args=[self.study.slug])))
        waiting += [Need(text, reverse(page, args=[self.study.slug])) for text, page in self.in_tools]
        for campaign in self.campaigns:
            if text := campaign.need:
                address = reverse("annotation:campaign", args=[self.study.slug, campaign.slug])
                waiting.append(Need(text, address))
        if self.study.asks_models:
            return waiting + self._probing_needs()
        if not self.images and not self.jobs_active and self.images_wanted:
            waiting.append(Need("No images yet", reverse("generation:generate", args=[self.study.slug])))
        elif self.images and not self.campaigns and not self.automated:
            waiting.append(
                Need("No campaign yet", reverse("annotation:campaign_new", args=[self.study.slug]))
            )
        return waiting

    def _probing_needs(self) -> list[Need]:
        slug = [self.study.slug]
        if self.probes.unfinished:
            number = self.probes.unfinished
            text = f"{number:,} probe run{' is' if number == 1 else 's are'} not finished"
            return [Need(text, reverse("generation:probes", args=slug))]
        if self.jobs_active or self.probes.models:
            return []
        if self.ready_to_probe:
            return [Need("No model has been asked yet", reverse("generation:probe_new", args=slug))]
        if self.about_images:
            page = "generate" if self.images_wanted else "import_images"
            return [Need("No images yet", reverse(f"generation:{page}", args=slug))]
        return []


def summaries(studies: Iterable[Study]) -> list[StudySummary]:
    """Return a summary of each study, with a fixed number of queries."""
    studies = list(studies)
    keys = [study.pk for study in studies]
    groups = _counts(StudyGroup.objects.filter(study__in=keys))
    of_studies = Image.objects.filter(study__in=keys)
    images, retracted = _counts(of_studies), _counts(of_studies.filter(retracted_at__isnull=False))
    per_group = _counts(
        PromptTemplate.objects.filter(study__in=keys, condition=Condition.DEFAULT), Sum("images_per_prompt")
    )
    active = _active_jobs(keys)
    last_jobs = {job.study_id: job for job in Job.objects.filter(pk__in=_last_job_of_each(keys))}
    reported = _counts(
        Image.objects.filter(study__in=keys, reports__state=ImageReport.State.OPEN),
        Count("pk", distinct=True),
    )
    waiting = [(tool.study_page, tool.lead_tasks(keys)) for tool in integrations.registered()]
    campaigns = campaign_lines(Campaign.objects.filter(study__in=keys))
    of_phrases = planned_images(studies)
    probes = _probe_counts([study.pk for study in studies if study.asks_models])
    return [
        StudySummary(
            study=study,
            groups=groups.get(study.pk, 0),
            images_wanted=groups.get(study.pk, 0) * per_group.get(study.pk, 0) + of_phrases.get(study.pk, 0),
            images=images.get(study.pk, 0) - retracted.get(study.pk, 0),
            active_jobs=active.get(study.pk, {}),
            last_job=last_jobs.get(study.pk),
            reported=reported.get(study.pk, 0),
            in_tools=[(texts[study.pk], page) for page, texts in waiting if study.pk in texts],
            campaigns=campaigns.get(study.pk, []),
            probes=probes.get(study.pk, ProbeCounts()),
        )
        for study in studies
    ]


def campaign_lines(campaigns: QuerySet[Campaign]) -> dict[int, list[CampaignLine]]:
    """Return the campaigns of each study, newest first; the numbers of large ones are from the last count."""
    keys = list(campaigns.order_by().values_list("pk", flat=True))
    large = snapshots.large(keys)
    amounts = _amounts(set(keys) - large) | _amounts_of_large(large)
    notices = Notice.objects.filter(campaign=OuterRef("pk"), resolved_at=None).exclude(
        kind=Notice.Kind.FINISHED
    )
    rows = Campaign.objects.filter(pk__in=keys).order_by("-pk")
    rows = rows.annotate(
        notice=Coalesce(Subquery(notices.values("details")[:1]), Value("")),
        notice_kind=Coalesce(Subquery(notices.values("kind")[:1]), Value("")),
        declared=Coalesce(KeyTextTransform("name", "declaration"), Value(""), output_field=TextField()),
    )
    lines_by_study: dict[int, list[CampaignLine]] = defaultdict(list)
    fields = ("pk", "slug", "name", "kind", "state", "imported", "notice", "notice_kind", "declared")
    values_of_rows = list(rows.values_list("study_id", "labelled_in", *fields))
    problems: dict[int, str] = {}
    for tool in integrations.registered():
        if campaign_ids := [pk for _, slug, pk, *_ in values_of_rows if slug == tool.slug]:
            problems |= tool.problems(campaign_ids)
    for study, labelled_in, *values in values_of_rows:
        wanted_count, accepted = amounts.get(values[0], (None, None))
        line = CampaignLine(
            **dict(zip(fields, values, strict=True)),
            wanted=wanted_count,
            accepted=accepted,
            tool=integrations.tool_name(labelled_in),
            problem=problems.get(values[0], ""),
        )
        lines_by_study[study].append(line)
    return dict(lines_by_study)


def _amounts(campaigns: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return how many answers each campaign needs, and how many it has."""
    tasks = Task.objects.filter(campaign__in=campaigns, withdrawn=False).order_by()
    wanted_counts = dict(tasks.values("campaign").annotate(n=Sum("wanted")).values_list("campaign", "n"))
    answers = Annotation.objects.filter(
        campaign__in=campaigns, status=Annotation.Status.ACCEPTED, is_latest=True, task__withdrawn=False
    )
    accepted = dict(
        answers.order_by().values("campaign").annotate(n=Count("pk")).values_list("campaign", "n")
    )
    return {pk: (wanted_counts.get(pk, 0), accepted.get(pk, 0)) for pk in campaigns}


def _amounts_of_large(campaigns: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return the same for large campaigns that were counted before."""
    amounts = {}
    for campaign in Campaign.objects.filter(pk__in=campaigns).select_related("study"):
        counted = snapshots.read(campaign, PROGRESS)
        if not counted.pending:
            progress = counted.value["progress"]
            amounts[campaign.pk] = (progress["slots"], progress["accepted"])
    return amounts


def _probe_counts(studies: list[int]) -> dict[int, ProbeCounts]:
    """Return the probe runs of these studies; one query, or none if no study asks models."""
    if not studies:
        return {}
    answers = Answer.objects.filter(run=OuterRef("pk"))
    is_left = Q(to_write=True) | Exists(answers.filter(outcome=Answer.Outcome.PENDING))
    runs = ProbeRun.objects.filter(study__in=studies).annotate(
        is_left=ExpressionWrapper(is_left, BooleanField()),
        is_answered=Exists(answers.filter(outcome=Answer.Outcome.DONE)),
    )
    active = {Job.State.QUEUED, Job.State.RUNNING}
    by_study: dict[int, list[tuple[str, bool, bool, bool]]] = defaultdict(list)
    columns = ("study", "model_label", "job__state", "is_left", "is_answered")
    for study, model, state, is_left_to_ask, is_answered in runs.order_by().values_list(*columns):
        by_study[study].append((model, state in active, is_left_to_ask, is_answered))
    return {
        study: ProbeCounts(
            models=len({model for model, *_ in rows}),
            unfinished=sum(left and not active for _, active, left, _ in rows),
            active=sum(active for _, active, _, _ in rows),
            answered=any(answered for *_, answered in rows),
        )
        for study, rows in by_study.items()
    }


def _counts(rows: QuerySet[Any], aggregate: Aggregate | None = None) -> dict[int, int]:
    counted = rows.order_by().values("study").annotate(n=aggregate or Count("pk"))
    return dict(counted.values_list("study", "n"))


def _active_jobs(studies: list[int]) -> dict[int, dict[str, int]]:
    """Return how many jobs of each kind wait or run for each study."""
    jobs = Job.objects.filter(study_id__in=studies, state__in=[Job.State.QUEUED, Job.State.RUNNING])
    rows = jobs.order_by().values_list("study_id", "kind").annotate(n=Count("pk"))
    by_study: dict[int, dict[str, int]] = defaultdict(dict)
    for study, kind, number in rows:
        if study is not None:
            by_study[study][kind] = number
    return by_study


def _last_job_of_each(studies: list[int]) -> list[int]:
    latest = Job.objects.filter(study_id=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    rows = Study.objects.filter(pk__in=studies).annotate(last_job=Subquery(latest)).order_by()
    return [pk for pk in rows.values_list("last_job", flat=True) if pk is not None]
