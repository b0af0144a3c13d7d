"""Pages of the versions of texts for annotators, and of writing the next version."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires
from annotation.campaigns.instruments import versions
from annotation.kinds.registry import RATING_LABELS, kind_of
from annotation.lead.page_context import CampaignView, campaign_context, page_of
from annotation.models import Campaign, Instrument
from web.form_page import FormPage

VERSIONS_PER_PAGE = 20


class InstrumentForm(forms.Form):
    """The texts for annotators; a rating has labels for its five answers."""

    statement = forms.CharField(
        max_length=300, label="What is asked", help_text="This text is shown above the answers."
    )
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14}),
        help_text="The guidelines are shown beside every task. The guidelines must not say what you expect "
        "to find.",
    )

    def __init__(self, *args: Any, campaign: Campaign, now: Instrument, **kwargs: Any) -> None:
        kwargs["initial"] = {
            "statement": now.statement,
            "guidelines": now.guidelines,
            **{f"label_{key}": text for key, text in now.labels.items()},
        }
        super().__init__(*args, **kwargs)
        if not kind_of(campaign).about_attributes:  # the question belongs to the kind
            del self.fields["statement"]
        if kind_of(campaign).rates_attributes:
            for key in RATING_LABELS:
                self.fields[f"label_{key}"] = forms.CharField(max_length=60, label=f"Answer {key}")

    def words(self) -> dict[str, Any]:
        """Return the arguments of `versions.revise`."""
        values = self.cleaned_data
        labels = {key: values[f"label_{key}"] for key in RATING_LABELS if f"label_{key}" in values}
        return {
            "statement": values.get("statement"),
            "guidelines": values["guidelines"].replace("\r\n", "\n"),
            "labels": labels or None,
        }


@requires(get=Capability.SEE_CAMPAIGNS)
def instrument_versions(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Show the current version, and when and by whom earlier versions were made."""
    context = campaign_context(request, study, campaign)
    study_campaign = context["campaign"]
    context |= {
        "now": versions.current(study_campaign),
        "page": page_of(request, versions.versions(study_campaign), per_page=VERSIONS_PER_PAGE),
    }
    return render(request, "annotation/lead/campaigns/instruments/versions.html", context)


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class InstrumentChange(CampaignView, FormPage[InstrumentForm]):
    """Change the texts: in place in a draft, as the next version once opened."""

    template_name = "annotation/lead/campaigns/instruments/form.html"
    leads_to = "annotation:instrument"

    def load(self) -> None:
        super().load()
        self.now = versions.current(self.campaign)

    def make_form(self, data: Any) -> InstrumentForm:
        return InstrumentForm(data, campaign=self.campaign, now=self.now)

    def call(self) -> str:
        after = versions.revise(campaign=self.campaign, by=self.by, **self.form.words())
        if after.version == self.now.version:
            return "Saved."
        return f"Annotators read version {after.version} from their next task on."

    def context(self) -> dict[str, Any]:
        return super().context() | {"now": self.now}
