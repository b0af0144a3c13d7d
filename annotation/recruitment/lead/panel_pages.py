"""Pages of panels with an API: token and events of a panel; draft and publication of a recruitment."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.rights import Capability, requires
from annotation.lead.page_context import CampaignView
from annotation.recruitment import background, cost, providers
from annotation.recruitment.lead.forms import AnnouncementForm, PanelTokenForm
from annotation.recruitment.lead.pages import RecruitmentView, link_of, site_of
from annotation.recruitment.models import Provider
from annotation.recruitment.prolific import draft, estimate, subscription
from foundation.errors import Conflict, DomainError
from web.form_page import Button, Confirmation, FormPage


class PanelView(CampaignView):
    """A view of the panel in its address, which has an API."""

    leads_to = "annotation:panel"

    def load(self) -> None:
        super().load()
        self.panel = get_object_or_404(
            Provider.objects.exclude(kind=Provider.Kind.LINKS), study=self.study, pk=self.kwargs["panel"]
        )

    def place(self) -> tuple[Any, ...]:
        return (*super().place(), self.panel.pk)

    def context(self) -> dict[str, Any]:
        return super().context() | {"panel": self.panel, "site": site_of(self.request)}


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
@method_decorator(never_cache, "dispatch")
class PanelToken(PanelView, FormPage[PanelTokenForm]):
    """Show a panel, and give it another token."""

    template_name = "recruitment/lead/panel_api.html"
    form_class = PanelTokenForm
    action = "token"

    def make_form(self, data: Any) -> PanelTokenForm:
        initial = {"workspace": self.panel.workspace, "signs_links": self.panel.signs_links}
        return PanelTokenForm(data, initial=initial)

    def call(self) -> str:
        providers.change_token(provider=self.panel, by=self.by, api=self.form.api())
        return "The token is changed."


@requires(post=Capability.RECRUIT)
class PanelEvents(PanelView, Button):
    """Subscribe to the panel's events."""

    def call(self) -> str:
        subscription.connect(provider=self.panel, site=site_of(self.request), by=self.by)
        return f"This server now receives events from {self.panel}."


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
class RecruitmentDraft(RecruitmentView, FormPage[AnnouncementForm]):
    """Create the draft at the panel."""

    template_name = "recruitment/lead/draft.html"
    form_class = AnnouncementForm
    leads_to = "annotation:recruitment"

    def instead(self) -> HttpResponse | None:
        if not self.recruitment.provider.has_api or self.recruitment.remote_study:
            return redirect("annotation:recruitment", *self.place())
        return None

    def make_form(self, data: Any) -> AnnouncementForm:
        recruitment = self.recruitment
        description = (
            f"You answer at most {recruitment.screens} screens about pictures or texts. This takes about "
            f"{recruitment.minutes} minutes. You can stop at any time."
        )
        return AnnouncementForm(data, initial={"description": description})

    def call(self) -> str:
        draft.create(
            recruitment=self.recruitment,
            announcement=self.form.announcement(),
            link=link_of(self.request, self.recruitment),
            by=self.by,
        )
        return (
            f"The draft has been created at {self.recruitment.provider}. Set the filters of the draft at the "
            "panel, then publish the draft here."
        )

    def context(self) -> dict[str, Any]:
        return super().context() | {"recruitment": self.recruitment}


@requires(get=Capability.RECRUIT, post=Capability.RECRUIT)
@method_decorator(never_cache, "dispatch")
class RecruitmentPublish(RecruitmentView, Confirmation):
    """Publish the draft, after a page with the panel's answers."""

    template_name = "recruitment/lead/publish.html"
    leads_to = "annotation:recruitment"

    def context(self) -> dict[str, Any]:
        recruitment = self.recruitment
        context = super().context() | {
            "recruitment": recruitment,
            "our_cost": cost.total(recruitment, recruitment.places),
        }
        if not recruitment.remote_study:
            return context | {"problem": "Create the draft first."}
        try:
            answers = estimate.ask(recruitment)
        except DomainError as error:
            return context | {"problem": error.message}
        return context | {"estimate": answers, "problem": estimate.refusal(recruitment, answers)}

    def call(self) -> str:
        published = draft.publish(recruitment=self.recruitment, by=self.by)
        return f"“{published}” is published. People can take places now."


@requires(post=Capability.RECRUIT)
class RecruitmentCompare(RecruitmentView, Button):
    """Compare all places with the panel's."""

    leads_to = "annotation:recruitment"

    def call(self) -> str:
        if not self.recruitment.remote_study:
            raise Conflict("recruitment_not_drafted", "Create the draft first.")
        background.compare_now(self.recruitment, by=self.by)
        return "The places are being compared. Load this page again in a moment."
