"""The pages of resources: all of them, one with its groups, one group with its attributes, and the import."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from catalog.imports.uploads import start_import
from catalog.models import IdentityGroup, Resource
from catalog.pages import listing
from catalog.pages.access import leads_only, researchers_only
from catalog.pages.forms import ResourceForm
from foundation.errors import DomainError

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
    chosen = listing.GroupFilter(name=_asked(request, "q"), region=_asked(request, "region"))
    page = Paginator(listing.groups(shown, chosen), GROUPS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"resource": shown, "page": page, "chosen": chosen, "regions": listing.regions(shown)}
    return render(request, "catalog/resource.html", context)


@researchers_only
@require_safe
def group_detail(request: HttpRequest, resource: str, group: int) -> HttpResponse:
    """What a resource lists of one group."""
    shown = get_object_or_404(
        IdentityGroup.objects.select_related("resource"), resource__slug=resource, pk=group
    )
    page = Paginator(listing.pairs(shown), PAIRS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "catalog/group.html", {"group": shown, "resource": shown.resource, "page": page})


@leads_only
@require_http_methods(["GET", "HEAD", "POST"])
def resource_import(request: HttpRequest) -> HttpResponse:
    """Take a file and let a worker import it; the page of the job says what became of every row."""
    form = ResourceForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            job = start_import(by=cast("User", request.user), **form.cleaned_data)
        except DomainError as error:
            form.add_error("geography" if "geography" in error.fields else "file", error.message)
        else:
            messages.success(request, "The file is uploaded. Every row is being checked.")
            return redirect("jobs:detail", pk=job.pk)
    status = 400 if form.errors else 200
    return render(request, "catalog/import.html", {"form": form}, status=status)


def _asked(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").strip()[:120]
