"""The pages of resources: all of them, one with its groups, one group with its attributes, and the import."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.errors import DomainError
from accounts.models import User
from catalog import listing
from catalog.access import leads_only, researchers_only
from catalog.forms import ResourceForm, upload_limit
from catalog.geography import read_geography
from catalog.importing import ResourceImportReport, import_resource
from catalog.models import IdentityGroup, Resource

GROUPS_PER_PAGE = 60
PAIRS_PER_PAGE = 100
REJECTED_SHOWN = 100


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
    """Bring a resource in, and say what became of every row."""
    form = ResourceForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            report = _import(form, request.user)
        except DomainError as error:
            form.add_error("name" if "name" in error.fields else "file", error.message)
        else:
            context = {"report": report, "rejected": report.rows.rejected[:REJECTED_SHOWN]}
            return render(request, "catalog/imported.html", context)
    status = 400 if form.errors else 200
    return render(request, "catalog/import.html", {"form": form}, status=status)


def _asked(request: HttpRequest, name: str) -> str:
    # PostgreSQL refuses text with NUL characters, which an address may hold.
    return request.GET.get(name, "").replace("\0", "").strip()[:120]


def _import(form: ResourceForm, user: object) -> ResourceImportReport:
    file, geography = form.cleaned_data["file"], form.cleaned_data["geography"]
    return import_resource(
        file=file,
        file_name=file.name,
        name=form.cleaned_data["name"],
        by=user if isinstance(user, User) else None,
        geography=read_geography(geography, name=geography.name) if geography else None,
        max_bytes=upload_limit(),
    )
