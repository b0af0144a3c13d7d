"""Releases of a study: a preview of the next, the privacy check, past versions and their files."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.models import User
from accounts.rights import Capability, requires, signed_in_user
from analysis.models import Release
from analysis.pages.releases.forms import KForm, ReleaseForm
from analysis.releases import build_job, versions
from analysis.releases.contents import PrivacyReport
from analysis.releases.documents.words import FIELD_WORDS, KEPT_WORDS
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.preview import preview
from analysis.releases.storage.zips import REMOVED, open_archive
from analysis.releases.storage.zips import remove_files as remove_kept_files
from analysis.releases.storage.zips import set_aside as set_release_aside
from analysis.releases.tables.columns import ALL_DESCRIPTIONS, ALL_TABLES
from foundation.errors import DomainError
from studies.access import may, study_for
from studies.audit.files import ZIP, recorded_stream
from studies.models import Study

_PER_PAGE = 20
_FILES_PER_PAGE = 50
_KEPT = ("annotations", "annotators", "images", "profiles")  # large, and used only for building
_TRIED = "tried_%s"  # the page has the same field twice


@requires(get=Capability.SEE_RELEASES)
def releases(request: HttpRequest, study: str) -> HttpResponse:
    """Show the contents of a release built now, the result of its privacy check, and existing releases."""
    current_study = study_for(request, study)
    tried = KForm(request.GET, auto_id=_TRIED) if "k" in request.GET else KForm(auto_id=_TRIED)
    return render(request, "analysis/releases/list.html", _context(request, current_study, tried, form=None))


@requires(post=Capability.RELEASE)
def build(request: HttpRequest, study: str) -> HttpResponse:
    """Queue the building of a release."""
    current_study = study_for(request, study)
    form = ReleaseForm(request.POST)
    try:
        parameters = form.parameters()
        build_job.request(study=current_study, parameters=parameters, by=signed_in_user(request))
    except DomainError as error:
        if not form.errors:
            form.add_error(None, error.message)
        context = _context(request, current_study, KForm(request.POST, auto_id=_TRIED), form=form)
        return render(request, "analysis/releases/list.html", context, status=400)
    messages.info(request, "The release is being built. This page follows the progress.")
    return redirect("releases:list", study=current_study.slug)


@requires(get=Capability.SEE_RELEASES)
def release(request: HttpRequest, study: str, version: int) -> HttpResponse:
    """Show one release: its numbers, its changes, and the digest of every file."""
    current_study = study_for(request, study)
    release = versions.release_of(current_study, version)
    checksums = Paginator(versions.checksums_of(release), _FILES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": current_study,
        "release": release,
        "title": f"Release {release.version}",
        "may_change": may(request, current_study, Capability.RELEASE),
        "removed_on": release.facts.get(REMOVED),
        "first": release.facts["changes"]["previous"] is None,
        "facts": versions.facts_of(release),
        "rows": [
            (name, release.facts["rows"][name], ALL_DESCRIPTIONS[name])
            for name in ALL_TABLES
            if name in release.facts["rows"]
        ],
        "changes": versions.changes_of(release),
        "checksums": checksums,
    }
    return render(request, "analysis/releases/release.html", context)


@requires(get=Capability.SEE_RELEASES)
def download(request: HttpRequest, study: str, version: int) -> FileResponse:
    """Download the files of a release as a zip."""
    release = versions.release_of(study_for(request, study), version)
    return archive_response(release, by=request.user)


@requires(get=Capability.RELEASE, post=Capability.RELEASE)
def remove_files(request: HttpRequest, study: str, version: int) -> HttpResponse:
    """Delete the stored files of a release, after confirmation."""
    current_study = study_for(request, study)
    release = versions.release_of(current_study, version)
    if request.method == "POST":
        remove_kept_files(release=release, by=signed_in_user(request))
        messages.success(request, f"The files of release {release.version} are removed.")
        return redirect("releases:release", study=current_study.slug, version=release.version)
    context = {"study": current_study, "release": release, "title": f"Release {release.version}"}
    return render(request, "analysis/releases/remove_files.html", context)


@requires(get=Capability.RELEASE, post=Capability.RELEASE)
def set_aside(request: HttpRequest, study: str, version: int) -> HttpResponse:
    """Record that nobody obtained a release, so that later releases are not checked against it."""
    current_study = study_for(request, study)
    release = versions.release_of(current_study, version)
    if request.method == "POST":
        set_release_aside(release=release, by=signed_in_user(request))
        messages.success(request, f"Release {release.version} is set aside.")
        return redirect("releases:release", study=current_study.slug, version=release.version)
    context = {"study": current_study, "release": release, "title": f"Release {release.version}"}
    return render(request, "analysis/releases/set_aside.html", context)


def archive_response(release: Release, *, by: User | AnonymousUser) -> FileResponse:
    """Stream the stored zip and record the download in the audit trail."""
    file = open_archive(release)
    return recorded_stream(
        file,
        by=by,
        study=release.study,
        name=f"release {release.version}",
        content_type=ZIP,
        saved_as=f"{release.study.slug}-v{release.version}.zip",
    )


def _context(request: HttpRequest, study: Study, tried: KForm, *, form: ReleaseForm | None) -> dict[str, Any]:
    rows = Release.objects.filter(study=study).select_related("built_by").defer(*_KEPT)
    latest = rows.first()
    leave_out = tried.is_bound and "leave_out_people" in tried.data
    k = tried.chosen(otherwise=latest.parameters["k"] if latest else ReleaseParameters.default("k"))
    contents = preview(study, k=k, leave_out_people=leave_out)
    report = contents.check.coarsened.report if contents.check else None
    job = build_job.running_job(study)
    return {
        "study": study,
        "may_change": may(request, study, Capability.RELEASE),
        "build_job": job,
        "failed_job": None if job else versions.failed_build(study),
        "preview": contents,
        "preview_rows": [(name, number, ALL_DESCRIPTIONS[name]) for name, number in contents.rows.items()],
        "k": k,
        "latest": latest,
        "tried": tried if tried.is_bound else KForm(initial={"k": k}, auto_id=_TRIED),
        "checked": contents.check,
        "check": report,
        "check_rows": _check_rows(report),
        "form": form or ReleaseForm.beginning(latest.parameters if latest else None, k=k),
        "page": Paginator(rows, _PER_PAGE).get_page(request.GET.get("page")),
    }


def _check_rows(check: PrivacyReport | None) -> list[dict[str, Any]]:
    return [
        {
            "field": FIELD_WORDS.get(field_privacy.field, field_privacy.field),
            "stated": field_privacy.stated,
            "kept": KEPT_WORDS.get(field_privacy.kept, field_privacy.kept),
            "released": field_privacy.released,
            "why": field_privacy.why,
        }
        for field_privacy in (check.fields if check else ())
    ]
