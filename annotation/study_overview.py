"""Where a study stands, from plan to release, and what waits for its lead."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Aggregate, Count, F, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.urls import reverse

from annotation.models import Annotation, Campaign, ImageReport, LabelStudioUser, Notice, Task
from generation.mcas import planned_images
from generation.models import Condition, Image, PromptTemplate
from jobs.models import Job
from studies.models import Study, StudyGroup


@dataclass(frozen=True)
class CampaignLine:
    """A campaign in a list: its state and how much of what was wanted is accepted."""

    pk: int
    slug: str
    name: str
    kind: str
    state: str
    imported: bool
    wanted: int
    accepted: int
    stuck: str  # why, if it is
    elsewhere: bool  # labelled in a Label Studio
    trouble: str  # what is wrong there

    @property
    def kind_words(self) -> str:
        return Campaign.Kind(self.kind).label

    @property
    def finished(self) -> bool:
        return self.wanted > 0 and self.accepted >= self.wanted

    @property
    def need(self) -> str:
        """Return what it waits for, if for anything."""
        if self.state == Campaign.State.OPEN and self.finished:
            return f"{self.name} has all its answers and can be closed"
        if self.trouble:
            return f"{self.name} in Label Studio: {self.trouble}"
        if self.stuck:
            return f"{self.name} is stuck: {self.stuck}"
        if self.state == Campaign.State.PAUSED:
            return f"{self.name} is paused"
        return f"{self.name} is a draft" if self.state == Campaign.State.DRAFT else ""


@dataclass(frozen=True)
class Need:
    """Something that waits for the lead, and where to see to it."""

    text: str
    url: str


@dataclass(frozen=True)
class StudySummary:
    """Counts of one study, enough for its line in the list and its stages."""

    study: Study
    groups: int = 0
    images_wanted: int = 0
    images: int = 0
    jobs_active: int = 0
    last_job: Job | None = None
    reported: int = 0  # images with an open report
    unnamed: int = 0  # users of a Label Studio who wait for the lead to say who they are
    campaigns: list[CampaignLine] = field(default_factory=list)

    @property
    def automated(self) -> bool:
        """Return whether the protocol is measured by models alone; people may still be asked."""
        return bool(self.study.protocol == Study.Protocol.MCAS)

    @property
    def accepted(self) -> int:
        return sum(campaign.accepted for campaign in self.campaigns)

    @property
    def open_campaigns(self) -> list[CampaignLine]:
        return [campaign for campaign in self.campaigns if campaign.state == Campaign.State.OPEN]

    @property
    def failed_job(self) -> Job | None:
        job = self.last_job
        return job if job is not None and job.state == Job.State.FAILED else None

    def needs(self) -> list[Need]:
        """Return what waits for the lead, the most pressing first."""
        found = []
        if self.failed_job is not None:
            job = self.failed_job
            found.append(Need(f"“{job.title}” failed", reverse("jobs:detail", args=[job.pk])))
        if self.reported:
            said = f"{self.reported:,} image{'' if self.reported == 1 else 's'} reported by annotators"
            found.append(Need(said, reverse("annotation:image_reports", args=[self.study.slug])))
        if self.unnamed:
            people = "person waits" if self.unnamed == 1 else "people wait"
            said = f"{self.unnamed:,} {people} in Label Studio for you to say who they are"
            found.append(Need(said, reverse("annotation:label_studio", args=[self.study.slug])))
        for campaign in self.campaigns:
            if said := campaign.need:
                address = reverse("annotation:campaign", args=[self.study.slug, campaign.slug])
                found.append(Need(said, address))
        if not self.images and not self.jobs_active and self.images_wanted:
            found.append(Need("No images yet", reverse("generation:generate", args=[self.study.slug])))
        elif self.images and not self.campaigns and not self.automated:
            found.append(Need("No campaign yet", reverse("annotation:campaign_new", args=[self.study.slug])))
        return found


def summaries(studies: Iterable[Study]) -> list[StudySummary]:
    """Return a summary of each study; the number of queries does not depend on theirs."""
    studies = list(studies)
    keys = [study.pk for study in studies]
    groups = _counts(StudyGroup.objects.filter(study__in=keys))
    images = _counts(Image.objects.filter(study__in=keys, retracted_at=None))
    per_group = _counts(
        PromptTemplate.objects.filter(study__in=keys, condition=Condition.DEFAULT), Sum("images_per_prompt")
    )
    active = dict(
        Job.objects.filter(study_id__in=keys, state__in=[Job.State.QUEUED, Job.State.RUNNING])
        .order_by()
        .values("study_id")
        .annotate(n=Count("pk"))
        .values_list("study_id", "n")
    )
    last_jobs = {job.study_id: job for job in Job.objects.filter(pk__in=_last_job_of_each(keys))}
    reported = _counts(
        Image.objects.filter(study__in=keys, reports__state=ImageReport.State.OPEN),
        Count("pk", distinct=True),
    )
    unnamed = _unnamed(keys)
    campaigns = campaign_lines(Campaign.objects.filter(study__in=keys))
    of_phrases = planned_images(studies)
    return [
        StudySummary(
            study=study,
            groups=groups.get(study.pk, 0),
            images_wanted=groups.get(study.pk, 0) * per_group.get(study.pk, 0) + of_phrases.get(study.pk, 0),
            images=images.get(study.pk, 0),
            jobs_active=active.get(study.pk, 0),
            last_job=last_jobs.get(study.pk),
            reported=reported.get(study.pk, 0),
            unnamed=unnamed.get(study.pk, 0),
            campaigns=campaigns.get(study.pk, []),
        )
        for study in studies
    ]


def campaign_lines(campaigns: QuerySet[Campaign]) -> dict[int, list[CampaignLine]]:
    """Return the campaigns of each study, newest first: one query."""
    wanted = Task.objects.filter(campaign=OuterRef("pk"), withdrawn=False).order_by().values("campaign")
    accepted = (
        Annotation.objects.filter(
            campaign=OuterRef("pk"), status=Annotation.Status.ACCEPTED, is_latest=True, task__withdrawn=False
        )
        .order_by()
        .values("campaign")
    )
    stuck = Notice.objects.filter(campaign=OuterRef("pk"), kind=Notice.Kind.STUCK, resolved_at=None)
    rows = campaigns.order_by("-pk").annotate(
        stuck=Coalesce(Subquery(stuck.values("details")[:1]), Value("")),
        wanted=Coalesce(Subquery(wanted.annotate(n=Sum("wanted")).values("n")), 0),
        accepted=Coalesce(Subquery(accepted.annotate(n=Count("pk")).values("n")), 0),
        elsewhere=Q(label_studio__isnull=False),
        trouble=Coalesce(F("label_studio__problem_text"), Value("")),
    )
    found: dict[int, list[CampaignLine]] = defaultdict(list)
    counted = ("wanted", "accepted", "stuck", "elsewhere", "trouble")
    fields = ("pk", "slug", "name", "kind", "state", "imported", *counted)
    for study, *values in rows.values_list("study_id", *fields):
        found[study].append(CampaignLine(**dict(zip(fields, values, strict=True))))
    return dict(found)


def _counts(rows: QuerySet[Any], what: Aggregate | None = None) -> dict[int, int]:
    counted = rows.order_by().values("study").annotate(n=what or Count("pk"))
    return dict(counted.values_list("study", "n"))


def _unnamed(studies: list[int]) -> dict[int, int]:
    waiting = LabelStudioUser.objects.filter(
        server__study__in=studies, state=LabelStudioUser.State.WAITING
    ).order_by()
    counted = waiting.values("server__study").annotate(n=Count("pk"))
    return dict(counted.values_list("server__study", "n"))


def _last_job_of_each(studies: list[int]) -> Subquery:
    latest = Job.objects.filter(study_id=OuterRef("study_id")).order_by("-pk").values("pk")[:1]
    newest = Job.objects.filter(study_id__in=studies, pk=Subquery(latest))
    return Subquery(newest.order_by().values("pk"))
