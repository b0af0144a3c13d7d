"""The Label Studios of a study: connecting one, seeing whether it answers, changing its token, leaving it."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.label_studio.base import connections
from annotation.label_studio.lead.forms import ConnectForm, TokenForm
from annotation.label_studio.overview import advice
from annotation.label_studio.overview.queries import waiting_people
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import person
from annotation.models import LabelStudioServer, LabelStudioUser
from foundation.errors import DomainError
from studies.access import LEAD, study_for


@sensitive_post_parameters("token")
@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def server_list(request: HttpRequest, study: str) -> HttpResponse:
    """Every Label Studio of the study; a lead connects another here."""
    found = study_for(request.user, study, role=LEAD)
    form = ConnectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            server = connections.connect(study=found, by=person(request), **form.cleaned_data)
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, f"{server.url} is connected.")
            return redirect("annotation:label_studio_server", study, server.pk)
    waiting = Count("users", filter=Q(users__state=LabelStudioUser.State.WAITING), distinct=True)
    servers = found.label_studio_servers.annotate(
        waiting=waiting, campaigns=Count("bridges", distinct=True)
    ).order_by("pk")
    context = {"study": found, "may_change": True, "form": form, "servers": servers}
    return render(
        request, "annotation/label_studio/servers/list.html", context, status=400 if form.errors else 200
    )


@login_required
@require_safe
def server_page(request: HttpRequest, study: str, server: int) -> HttpResponse:
    """Whether it answers, which campaigns are there, and what one can do about it."""
    return _page(request, server_of(request, study, server), TokenForm())


@login_required
@require_POST
def server_check(request: HttpRequest, study: str, server: int) -> HttpResponse:
    """Ask it now whether it is there and takes our token."""
    result = connections.check(server=server_of(request, study, server))
    if result.ok:
        messages.success(request, f"It answers: Label Studio {result.version}.")
    return redirect("annotation:label_studio_server", study, server)


@sensitive_post_parameters("token")
@login_required
@require_POST
def server_token(request: HttpRequest, study: str, server: int) -> HttpResponse:
    """Take another token in place of the one that is kept."""
    found = server_of(request, study, server)
    form = TokenForm(request.POST)
    if form.is_valid():
        try:
            connections.change_token(server=found, token=form.cleaned_data["token"], by=person(request))
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, "The new token works and is kept; the old one is forgotten.")
            return redirect("annotation:label_studio_server", study, server)
    return _page(request, found, form, status=400)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def server_disconnect(request: HttpRequest, study: str, server: int) -> HttpResponse:
    """Say what leaving it does, then do it."""
    found = server_of(request, study, server)
    if request.method == "POST":
        try:
            connections.disconnect(server=found, by=person(request))
        except DomainError as error:
            messages.error(request, error.message)
            return redirect("annotation:label_studio_server", study, server)
        messages.success(request, f"{found.url} is disconnected, and its token is deleted.")
        return redirect("annotation:label_studio", study)
    return render(request, "annotation/label_studio/servers/disconnect.html", _context(found))


def server_of(request: HttpRequest, study: str, server: int) -> LabelStudioServer:
    """Return the server if the person leads its study."""
    found = study_for(request.user, study, role=LEAD)
    mine = get_object_or_404(found.label_studio_servers.select_related("created_by"), pk=server)
    mine.study = found
    return mine


def _context(server: LabelStudioServer, **more: Any) -> dict[str, Any]:
    bridges = server.bridges.select_related("campaign").order_by("-pk")
    return {
        "study": server.study,
        "may_change": True,
        "server": server,
        "host": urlsplit(server.url).netloc,
        "unencrypted": _in_clear(server.url),
        "advice": advice.what_to_do(server.problem),
        "bridges": bridges,
        **more,
    }


def _in_clear(url: str) -> bool:
    """Return whether a token travels readable for others: over http, to anything but a place of our own network."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    ours = {name.lower() for name in settings.LABEL_STUDIO_ALLOWED_HOSTS}
    return parts.scheme == "http" and "." in host and host not in ours


def _page(
    request: HttpRequest, server: LabelStudioServer, form: TokenForm, *, status: int = 200
) -> HttpResponse:
    context = _context(server, form=form, waiting=waiting_people(server).count(), people=server.users.count())
    return render(request, "annotation/label_studio/servers/detail.html", context, status=status)
