"""Links to a lead's usual next steps after an import."""

from urllib.parse import urlencode

from django.urls import reverse

from catalog.models import Resource
from jobs.models import Job
from studies.models import Study
from web.navigation import NextPage


def after_resource(resource: Resource) -> list[NextPage]:
    return [_new_study(resource.slug)]


def after_import_of_resource(job: Job) -> list[NextPage]:
    slug = job.result.get("resource")
    return [_new_study(slug)] if slug else []


def after_import_of_images(job: Job) -> list[NextPage]:
    """Return the next step for images in the study's protocol."""
    study = Study.objects.filter(pk=job.study_id).first() if job.study_id else None
    if study is None:
        return []
    label, page = {
        Study.Protocol.VISAGE: ("New campaign with these images", "annotation:campaign_new"),
        Study.Protocol.MCAS: ("Score these images", "scoring:list"),
    }.get(Study.Protocol(study.protocol), ("Probe a model with these images", "generation:probe_new"))
    return [NextPage(label, reverse(page, args=[study.slug]))]


def _new_study(resource: str) -> NextPage:
    return NextPage(
        "New study with this resource", f"{reverse('studies:new')}?{urlencode({'resource': resource})}"
    )
