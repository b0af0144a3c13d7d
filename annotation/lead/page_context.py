"""Context shared by the pages of a study: access checks, and one page of a list."""

from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from accounts.models import User
from accounts.rights import Capability
from annotation.models import Campaign
from foundation.errors import Forbidden
from studies.access import may, right_of, study_for
from studies.models import Study
from studies.study_view import StudyView

M = TypeVar("M", bound=Model)
PER_PAGE = 50


def person(request: HttpRequest) -> User:
    """Return the signed-in user, in views that require login."""
    if not isinstance(request.user, User):
        raise Forbidden("not_signed_in", "Sign in first.")
    return request.user


def typed(value: str | None) -> str:
    """Return text from an address or a hidden field without NUL, which PostgreSQL refuses."""
    return (value or "").replace("\x00", "").strip()


def study_context(request: HttpRequest, slug: str, **more: Any) -> dict[str, Any]:
    """Return the study for a member's page, and whether the member may change the page's contents.

    The right to change is the right that the address requires for a POST or, without POST, the right to run campaigns.
    """
    study = study_for(request, slug)
    to_change = right_of(request, "POST") or Capability.RUN_CAMPAIGNS
    return {"study": study, "may_change": may(request, study, to_change), **more}


def campaign_context(request: HttpRequest, slug: str, campaign: str, **more: Any) -> dict[str, Any]:
    """Return study and campaign for a member's page."""
    context = study_context(request, slug, **more)
    return {**context, "campaign": campaign_of(context["study"], campaign)}


def campaign_for_lead(request: HttpRequest, slug: str, campaign: str) -> Campaign:
    """Return the campaign if the person leads its study."""
    return campaign_of(study_for(request, slug), campaign)


class CampaignView(StudyView):
    """A view of the campaign in its address."""

    campaign: Campaign

    def load(self) -> None:
        super().load()
        self.campaign = campaign_of(self.study, self.kwargs["campaign"])

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.kwargs["campaign"])

    def context(self) -> dict[str, Any]:
        return super().context() | {"campaign": self.campaign}


def campaign_of(study: Study, slug: str) -> Campaign:
    campaign = get_object_or_404(Campaign, study=study, slug=slug)
    campaign.study = study  # saves a query
    return campaign


def page_of(request: HttpRequest, rows: QuerySet[M] | list[Any], *, per_page: int = PER_PAGE) -> Page[Any]:
    """Return the page the address asks for; a number beyond the end is the last page."""
    return Paginator(rows, per_page).get_page(request.GET.get("page"))
