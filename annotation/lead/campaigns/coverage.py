"""Pages of a campaign's coverage: annotators against groups, and each screen with its annotators."""

from typing import Any

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from annotation.campaigns.coverage import shown_coverage
from annotation.kinds.registry import kind_of
from annotation.lead.page_context import PER_PAGE, campaign_context, page_of
from annotation.models import Annotation, Campaign, Task, TaskAttribute, TaskStimulus
from web.keyset import key_page

ANNOTATORS_PER_PAGE = 25


@requires(get=Capability.SEE_QUALITY)
def coverage_page(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Annotators against groups or answers."""
    context = campaign_context(request, study, campaign)
    study_campaign = context["campaign"]
    people = study_campaign.enrolments.select_related("annotator").order_by("pk")
    page = page_of(request, people, per_page=ANNOTATORS_PER_PAGE)
    matrix, counted_at = shown_coverage(study_campaign, page.object_list)
    context |= {"page": page, "matrix": matrix, "counted_at": counted_at}
    return render(request, "annotation/lead/campaigns/coverage/matrix.html", context)


@requires(get=Capability.SEE_QUALITY)
def screens(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Each screen with who answered it; gold and practice tasks have a separate page."""
    context = campaign_context(request, study, campaign)
    labels = Annotation.objects.filter(is_latest=True, status__in=Annotation.LABELS)
    answers = labels.select_related("annotator").order_by("pk")
    tasks = (
        context["campaign"]
        .tasks.filter(purpose=Task.Purpose.LABEL)
        .select_related("image__group")
        .prefetch_related(Prefetch("annotations", queryset=answers), _shown(context["campaign"]))
    )
    context["page"] = key_page(request, tasks, size=PER_PAGE, order="pk")
    return render(request, "annotation/lead/campaigns/coverage/screens.html", context)


def _shown(campaign: Campaign) -> Prefetch[Any]:
    """Return the relations to prefetch for each task: its attributes, or its stimuli."""
    if kind_of(campaign).about_attributes:
        attributes = TaskAttribute.objects.select_related("attribute").order_by("position")
        return Prefetch("task_attributes", queryset=attributes)
    stimuli = TaskStimulus.objects.select_related("image__group").order_by("position")
    return Prefetch("stimuli", queryset=stimuli)
