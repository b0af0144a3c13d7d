"""The pages of resources: list, resource, group, and import."""

from typing import cast

from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.models import User
from accounts.rights import Capability, person_may, requires
from catalog.imports.uploads import start_import
from catalog.models import IdentityGroup, Resource, Stereotype
from catalog.pages import listing
from catalog.pages.forms import ResourceForm
from web.form_page import FormPage
from web.navigation import next_steps

GROUPS_PER_PAGE = 60
PAIRS_PER_PAGE = 100
RESOURCE = "resource"  # key under which other apps register next steps


@requires(get=Capability.SEE_RESOURCES)
def resource_list(request: HttpRequest) -> HttpResponse:
    """List all resources."""
    page = Paginator(listing.resources(), GROUPS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "catalog/resource_list.html", {"page": page})


@requires(get=Capability.SEE_RESOURCES)
def resource_detail(request: HttpRequest, resource: str) -> HttpResponse:
    """Show a resource with its groups and their counts."""
    has_pairs = Exists(Stereotype.objects.filter(group__resource=OuterRef("pk")))
    shown = get_object_or_404(Resource.objects.annotate(has_pairs=has_pairs), slug=resource)
    chosen = listing.ListingFilter(name=_asked(request, "q"), region=_asked(request, "region"))
    page = Paginator(listing.groups(shown, chosen), GROUPS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"resource": shown, "page": page, "chosen": chosen, "regions": listing.regions(shown)}
    if vars(shown)["has_pairs"] and person_may(request.user, Capability.CREATE_STUDIES):
        context["next_steps"] = next_steps(RESOURCE, shown)
    return render(request, "catalog/resource.html", context)


@requires(get=Capability.SEE_RESOURCES)
def group_detail(request: HttpRequest, resource: str, group: int) -> HttpResponse:
    """Show the pairs of a group."""
    identity_group = get_object_or_404(
        IdentityGroup.objects.select_related("resource"), resource__slug=resource, pk=group
    )
    page = Paginator(listing.pairs(identity_group), PAIRS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"group": identity_group, "resource": identity_group.resource, "page": page}
    return render(request, "catalog/group.html", context)


@requires(get=Capability.CREATE_STUDIES, post=Capability.CREATE_STUDIES)
class ResourceImport(FormPage[ResourceForm]):
    """Accept a file and queue its import; the job's page reports on every row."""

    template_name = "catalog/import.html"
    form_class = ResourceForm

    def call(self) -> HttpResponse:
        job = start_import(by=cast("User", self.request.user), **self.form.cleaned_data)
        return self.redirect_with("The file is uploaded. Every row is being checked.", "jobs:detail", job.pk)


def _asked(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").strip()[:120]
