"""The Label Studio servers of a study: connecting one, checking it, changing its token, disconnecting it."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts.rights import Capability, requires
from annotation.label_studio.base import connections
from annotation.label_studio.lead.forms import ConnectForm, TokenForm
from annotation.label_studio.models import LabelStudioServer, LabelStudioUser
from annotation.label_studio.overview import advice
from annotation.label_studio.overview.queries import waiting_people
from studies.access import study_for
from studies.study_view import StudyView
from web.form_page import Confirmation, FormPage


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
@method_decorator([sensitive_post_parameters("token"), never_cache], "dispatch")
class ServerListPage(StudyView, FormPage[ConnectForm]):
    """The Label Studio servers of the study; a lead can connect another."""

    template_name = "label_studio/servers/list.html"
    form_class = ConnectForm

    def call(self) -> HttpResponse:
        server = connections.connect(study=self.study, by=self.by, **self.form.cleaned_data)
        message = f"{server.url} is connected."
        return self.redirect_with(message, "annotation:label_studio_server", *self.place(), server.pk)

    def context(self) -> dict[str, Any]:
        waiting = Count("users", filter=Q(users__state=LabelStudioUser.State.WAITING), distinct=True)
        servers = self.study.label_studio_servers.annotate(
            waiting=waiting, campaigns=Count("bridges", distinct=True)
        )
        return super().context() | {"servers": servers.order_by("pk")}


class ServerView(StudyView):
    """A view of the Label Studio server in its address."""

    leads_to = "annotation:label_studio_server"
    server: LabelStudioServer

    def load(self) -> None:
        self.server = server_of(self.request, self.kwargs["study"], self.kwargs["server"])
        self.study = self.server.study

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.kwargs["server"])

    def context(self) -> dict[str, Any]:
        return super().context() | {"server": self.server}


class ServerState(ServerView):
    """A view that shows whether the server answers, and its campaigns."""

    def context(self) -> dict[str, Any]:
        return super().context() | {
            "host": urlsplit(self.server.url).netloc,
            "unencrypted": _in_clear(self.server.url),
            "advice": advice.what_to_do(self.server.problem),
            "bridges": self.server.bridges.select_related("campaign").order_by("-pk"),
        }


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
@method_decorator(sensitive_post_parameters("token"), "dispatch")
class ServerPage(ServerState, FormPage[TokenForm]):
    """The status of the server and possible actions; a new token replaces the stored token."""

    template_name = "label_studio/servers/detail.html"
    form_class = TokenForm

    def call(self) -> str:
        connections.change_token(server=self.server, token=self.form.cleaned_data["token"], by=self.by)
        return "The new token works and is saved. The old token is deleted."

    def context(self) -> dict[str, Any]:
        people = {"waiting": waiting_people(self.server).count(), "people": self.server.users.count()}
        return super().context() | people


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class ServerDisconnect(ServerState, Confirmation):
    """Explain what disconnecting does, then disconnect."""

    template_name = "label_studio/servers/disconnect.html"

    def call(self) -> HttpResponse:
        connections.disconnect(server=self.server, by=self.by)
        message = f"{self.server.url} is disconnected, and its token is deleted."
        return self.redirect_with(message, "annotation:label_studio", self.study.slug)


@requires(post=Capability.CONNECT)
def server_check(request: HttpRequest, study: str, server: int) -> HttpResponse:
    """Check now whether the server answers and accepts our token."""
    result = connections.check(server=server_of(request, study, server))
    if result.ok:
        messages.success(request, f"The connection works: Label Studio {result.version}.")
    return redirect("annotation:label_studio_server", study, server)


def server_of(request: HttpRequest, study: str, server: int) -> LabelStudioServer:
    """Return the server if the person leads its study."""
    study_row = study_for(request, study)
    server_row = get_object_or_404(study_row.label_studio_servers.select_related("created_by"), pk=server)
    server_row.study = study_row
    return server_row


def _in_clear(url: str) -> bool:
    """Return whether others could read the token in transit: over http, to an address outside our own network."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    allowed_hosts = {name.lower() for name in settings.LABEL_STUDIO_ALLOWED_HOSTS}
    return parts.scheme == "http" and "." in host and host not in allowed_hosts
