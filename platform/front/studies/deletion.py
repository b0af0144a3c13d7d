"""Deleting a study without labels: its rows and, after the commit, its files."""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from annotation.models import Annotation, Campaign
from annotation.recruitment.models import PanelPlace
from foundation.errors import Conflict, DomainError
from generation.images.deletion import remove_files
from generation.models import Answer, GenerationRequest, Image
from jobs.models import Job
from studies import audit
from studies.models import Study


@dataclass(frozen=True)
class StudyContents:
    """The number of objects that are deleted with a study."""

    images: int
    campaigns: int
    answers_of_models: int
    scorers: int


def contents_of(study: Study) -> StudyContents:
    return StudyContents(
        images=study.images.count(),
        campaigns=study.campaigns.count(),
        answers_of_models=Answer.objects.filter(run__study=study).count(),
        scorers=study.scorers.count(),
    )


def obstacles(study: Study) -> list[str]:
    """Return the reasons, in sentences, why a study cannot be deleted; empty if it can."""
    checks = (
        (
            Annotation.objects.filter(campaign__study=study),
            "The study has labels. Labels are kept, because results and releases depend on them.",
        ),
        (study.releases.all(), "The study has releases. Other people may use and cite the releases."),
        (
            study.campaigns.filter(state__in=[Campaign.State.OPEN, Campaign.State.PAUSED]),
            "A campaign of the study is open. Close the campaign first.",
        ),
        (
            PanelPlace.objects.filter(recruitment__campaign__study=study),
            "People in the study came from a panel. The places of people from a panel are kept until everybody "
            "is paid, and for your records.",
        ),
        (
            Job.objects.filter(study_id=study.pk, state__in=[Job.State.QUEUED, Job.State.RUNNING]),
            "A job of the study is running. Wait until the job ends, or cancel it.",
        ),
    )
    return [sentence for rows, sentence in checks if rows.exists()]


@transaction.atomic
def delete_study(*, study: Study, typed_name: str, by: User | None) -> None:
    """Delete a study and everything in it, except entries of the audit trail.

    Raises Conflict if `obstacles` returns a reason. Locked campaigns prevent the submission of labels meanwhile.
    """
    study = Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
    if " ".join(typed_name.split()) != study.name:
        message = f"Type the name of the study exactly like this: {study.name}"
        raise DomainError("name_differs", message, fields={"name": message})
    list(study.campaigns.select_for_update().values_list("pk", flat=True))
    if reasons := obstacles(study):
        raise Conflict("study_in_use", " ".join(reasons))
    contents = contents_of(study)
    files = list(study.images.exclude(file="").values_list("file", "sha256"))
    audit.record(
        by=by,
        action="study.deleted",
        subject=study,
        study=None,
        name=study.name,
        slug=study.slug,
        images=contents.images,
        campaigns=contents.campaigns,
        answers_of_models=contents.answers_of_models,
    )
    # Delete rows that refer to images and groups first, because the database protects both.
    study.campaigns.all().delete()
    study.probe_runs.all().delete()
    study.scorers.all().delete()
    GenerationRequest.objects.filter(run__study=study).delete()
    study.preregistrations.all().delete()
    Image.objects.filter(study=study).delete()
    study.delete()
    transaction.on_commit(lambda: remove_files(files))
