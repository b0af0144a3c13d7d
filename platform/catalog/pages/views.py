"""The pages of resources: all of them, one with its groups, one group with its attributes, and the import."""

from typing import cast

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.models import User
from catalog.imports.uploads import start_import
from catalog.models import IdentityGroup, Resource
from catalog.pages import listing
from catalog.pages.access import researchers_only
from catalog.pages.forms import ResourceForm
from foundation.errors import Forbidden
from web.form_page import FormPage

GROUPS_PER_PAGE = 60
PAIRS_PER_PAGE = 100


@researchers_only
@require_safe
def resource_list(request: HttpRequest) -> HttpResponse:
    """Which stereotypes are there to study."""
    page = Paginator(listing.resources(), GROUPS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "catalog/resource_list.html", {"page": page})


@researchers_only
@require_safe
def resource_detail(request: HttpRequest, resource: str) -> HttpResponse:
    """Which groups a resource names, and how much it says of each."""
    shown = get_object_or_404(Resource, slug=resource)
    chosen = listing.ListingFilter(name=_asked(request, "q"), region=_asked(request, "region"))
    page = Paginator(listing.groups(shown, chosen), GROUPS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"resource": shown, "page": page, "chosen": chosen, "regions": listing.regions(shown)}
    return render(request, "catalog/resource.html", context)


@researchers_only
@require_safe
def group_detail(request: HttpRequest, resource: str, group: int) -> HttpResponse:
    """What a resource lists of one group."""
    identity_group = get_object_or_404(
        IdentityGroup.objects.select_related("resource"), resource__slug=resource, pk=group
    )
    page = Paginator(listing.pairs(identity_group), PAIRS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"group": identity_group, "resource": identity_group.resource, "page": page}
    return render(request, "catalog/group.html", context)


class ResourceImport(FormPage[ResourceForm]):
    """Take a file and let a worker import it; the page of the job says what became of every row."""

    template_name = "catalog/import.html"
    form_class = ResourceForm

    def load(self) -> None:
        if not cast("User", self.request.user).leads:
            raise Forbidden("not_a_lead", "Only leads may import a resource.")

    def call(self) -> HttpResponse:
        job = start_import(by=cast("User", self.request.user), **self.form.cleaned_data)
        return self.redirect_with("The file is uploaded. Every row is being checked.", "jobs:detail", job.pk)


def _asked(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").strip()[:120]
