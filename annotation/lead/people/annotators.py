"""Pages of a campaign's annotators: list, pause, resume and exclude."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.rights import Capability, requires
from annotation.answers.freed_slots import effect_of_excluding
from annotation.lead.forms import EnrolmentFilter, EnrolmentForm, ExclusionForm
from annotation.lead.page_context import CampaignView, campaign_context, page_of
from annotation.lead.people.annotator_lines import shown_lines
from annotation.models import Enrolment
from annotation.people import enrolments
from annotation.people.doubles import suspected_doubles
from annotation.quality.sentences import facts
from web.form_page import FormPage

_MOVES: dict[str, tuple[Callable[..., Enrolment], str]] = {
    "pause": (enrolments.pause, "{} is paused."),
    "resume": (enrolments.resume, "{} is resumed."),
    "exclude": (enrolments.exclude, "{} is excluded: this annotator’s labels no longer count."),
}


@requires(get=Capability.SEE_QUALITY)
def annotator_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """List the annotators with their numbers, and suspected doubles."""
    context = campaign_context(request, study, campaign)
    study_campaign = context["campaign"]
    form = EnrolmentFilter(request.GET)
    form.is_valid()
    rows = study_campaign.enrolments.select_related("annotator", "invitation").order_by("pk")
    if state := form.cleaned_data.get("state"):
        rows = rows.filter(state=state)
    if pseudonym := form.cleaned_data.get("q"):
        rows = rows.filter(annotator__pseudonym__icontains=pseudonym)
    page = page_of(request, rows)
    lines, counted_at, pending = shown_lines(study_campaign, page.object_list)
    context |= {
        "page": page,
        "form": form,
        "lines": lines,
        "counted_at": counted_at,
        "pending": pending,
        "doubles": suspected_doubles(study_campaign),
        "filtered": bool(state or pseudonym),
    }
    return render(request, "annotation/lead/people/annotators.html", context)


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class EnrolmentMove(CampaignView, FormPage[EnrolmentForm]):
    """Ask for a reason, then pause, resume or exclude."""

    template_name = "annotation/lead/people/enrolment.html"
    leads_to = "annotation:annotators"

    def load(self) -> None:
        self.move = self.kwargs["move"]
        if self.move not in _MOVES:
            raise Http404("This step does not exist.")
        super().load()
        enrolled = self.campaign.enrolments.select_related("annotator")
        self.enrolment = get_object_or_404(enrolled, pk=self.kwargs["enrolment"])
        self.enrolment.campaign = self.campaign

    def make_form(self, data: Any) -> EnrolmentForm:
        return (ExclusionForm if self.move == "exclude" else EnrolmentForm)(data)

    def call(self) -> str:
        verb, message = _MOVES[self.move]
        verb(enrolment=self.enrolment, by=self.by, **self.form.cleaned_data)
        return message.format(self.enrolment.annotator.pseudonym)

    def context(self) -> dict[str, Any]:
        (line,), counted_at, _ = shown_lines(self.campaign, [self.enrolment])
        context = {"enrolment": self.enrolment, "move": self.move, "line": line, "counted_at": counted_at}
        context["quality_facts"] = facts(self.campaign, line.quality)
        if self.move == "exclude":
            context["effect"] = effect_of_excluding(self.enrolment)
        return super().context() | context
