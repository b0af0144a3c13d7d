"""A campaign in Label Studio: beginning, status, actions and ending."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.rights import Capability, requires
from annotation.kinds.registry import kind_of
from annotation.label_studio.base import job_queue
from annotation.label_studio.format.questions.limits import unsupported
from annotation.label_studio.lead.forms import BeginForm, CleanupForm, RenewForm
from annotation.label_studio.models import LabelStudioBridge
from annotation.label_studio.overview import arrangements
from annotation.label_studio.overview.queries import bridge_of, bridge_summary
from annotation.label_studio.pull import cleanup, deletions
from annotation.label_studio.push import image_access, lifecycle
from annotation.lead.page_context import CampaignView, campaign_for_lead
from annotation.models import Campaign
from jobs.models import Job
from web.form_page import Button, Confirmation, FormPage

_WORK: dict[str, tuple[Callable[..., Job], str]] = {
    "push": (job_queue.start_push, "Missing tasks are being sent."),
    "reconcile": (
        job_queue.start_reconcile,
        "Everything in Label Studio is being compared with the data in Stereoscope.",
    ),
    "replace": (
        job_queue.start_addresses,
        "Every screen in Label Studio gets a new address for its image. The old addresses stop working.",
    ),
}

_MISSING: dict[str, tuple[Callable[..., int], str]] = {
    "deleted": (
        deletions.confirm_deletions,
        "The answers count as deleted: their labels are left out of results, and their places are free.",
    ),
    "kept": (
        deletions.keep_labels,
        "The labels are kept. Push again, so that nobody is asked for these labels a second time.",
    ),
}


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class BridgePage(CampaignView, FormPage[BeginForm]):
    """The campaign's status in Label Studio, or the form to begin."""

    template_name = "label_studio/campaigns/begin.html"
    leads_to = "annotation:campaign_label_studio"

    def instead(self) -> HttpResponse | None:
        bridge = bridge_of(self.campaign)
        if bridge is None:
            return None
        bridge.campaign = self.campaign
        return _page(self.request, bridge, RenewForm())

    def make_form(self, data: Any) -> BeginForm:
        return BeginForm(data, campaign=self.campaign)

    def call(self) -> str:
        lifecycle.begin_and_push(campaign=self.campaign, by=self.by, **self.form.cleaned_data)
        return "The campaign is now labelled in Label Studio."

    def context(self) -> dict[str, Any]:
        kind = kind_of(self.campaign)
        return super().context() | {
            "offered": arrangements.offered(self.campaign),
            "kind": kind,
            "not_possible": unsupported(kind),
        }


@requires(get=Capability.CONNECT)
def bridge_live(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Return the part of the page that is kept up to date."""
    bridge = bridge_for_lead(request, study, campaign)
    answer = render(request, "label_studio/campaigns/_live.html", _shown(bridge))
    answer["Cache-Control"] = "no-store"
    return answer


@requires(get=Capability.CONNECT)
def bridge_missing(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """List the answers that are no longer in Label Studio, and explain the two possible decisions."""
    bridge = bridge_for_lead(request, study, campaign)
    context = _context(bridge.campaign) | {"bridge": bridge, "held": deletions.held_count(bridge)}
    return render(request, "label_studio/campaigns/deletions.html", context)


class BridgeView(CampaignView):
    """A view of a campaign that is labelled in Label Studio."""

    leads_to = "annotation:campaign_label_studio"
    bridge: LabelStudioBridge

    def load(self) -> None:
        self.bridge = bridge_for_lead(self.request, self.kwargs["study"], self.kwargs["campaign"])
        self.campaign, self.study = self.bridge.campaign, self.bridge.campaign.study


@requires(post=Capability.CONNECT)
class BridgeStart(BridgeView, Button):
    """Start work that takes longer than a page request."""

    def call(self) -> str:
        start, message = _WORK[self.kwargs["work"]]
        start(bridge=self.bridge, by=self.by)
        return message


@requires(post=Capability.CONNECT)
class BridgeRenew(BridgeView, Button):
    """Extend the validity of images' addresses."""

    def call(self) -> str | HttpResponse:
        form = RenewForm(self.request.POST)
        if not form.is_valid():
            return _page(self.request, self.bridge, form, status=400)
        image_access.renew(bridge=self.bridge, days=form.cleaned_data["days"], by=self.by)
        return "The addresses are extended."


@requires(post=Capability.CONNECT)
class BridgeMissingDecide(BridgeView, Button):
    """Treat missing answers as deleted, or keep their labels."""

    def call(self) -> str:
        verb, message = _MISSING[self.kwargs["decision"]]
        verb(bridge=self.bridge, by=self.by)
        return message


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class BridgeCleanupPage(BridgeView, Confirmation):
    """List the answers that do not count and their annotators, and delete them in Label Studio after confirmation."""

    template_name = "label_studio/campaigns/cleanup.html"

    def load(self) -> None:
        super().load()
        self.lines = cleanup.lines_of(self.bridge)
        self.form = CleanupForm(self.request.POST or None, lines=self.lines)

    def call(self) -> str | HttpResponse:
        if not self.form.is_valid():
            return render(self.request, self.template_name, self.context(), status=400)
        cleanup.start(bridge=self.bridge, kinds=self.form.cleaned_data["kinds"], by=self.by)
        return "The answers are being deleted."

    def context(self) -> dict[str, Any]:
        shown = {"bridge": self.bridge, "lines": self.lines, "form": self.form, "kinds": cleanup.KINDS}
        return super().context() | shown


@requires(get=Capability.CONNECT, post=Capability.CONNECT)
class BridgeEnd(BridgeView, Confirmation):
    """Explain what ending does, then end."""

    template_name = "label_studio/campaigns/end.html"
    leads_to = "annotation:campaign"

    def call(self) -> str:
        lifecycle.end(bridge=self.bridge, by=self.by)
        return "The campaign is labelled on Stereoscope’s own pages again."

    def context(self) -> dict[str, Any]:
        return _shown(self.bridge)


def bridge_for_lead(request: HttpRequest, study: str, campaign: str) -> LabelStudioBridge:
    """Return the campaign's bridge if it has one and the person leads its study."""
    campaign_row = campaign_for_lead(request, study, campaign)
    bridge = get_object_or_404(LabelStudioBridge.objects.select_related("server"), campaign=campaign_row)
    bridge.campaign = campaign_row
    return bridge


def _context(campaign: Campaign) -> dict[str, Any]:
    return {"study": campaign.study, "campaign": campaign, "may_change": True}


def _shown(bridge: LabelStudioBridge) -> dict[str, Any]:
    return _context(bridge.campaign) | {
        "bridge": bridge,
        "shown": bridge_summary(bridge),
        "arrangement": arrangements.in_words(bridge),
        "minutes": settings.LABEL_STUDIO_RECONCILE_MINUTES,
    }


def _page(
    request: HttpRequest, bridge: LabelStudioBridge, form: RenewForm, *, status: int = 200
) -> HttpResponse:
    context = _shown(bridge) | {"form": form}
    return render(request, "label_studio/campaigns/detail.html", context, status=status)
