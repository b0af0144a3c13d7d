"""What annotators read, version by version, and writing the next one."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.campaigns.instruments import versions
from annotation.kinds.defaults import RATING_LABELS
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import campaign_context, campaign_for_lead, page_of, person
from annotation.models import Campaign, Instrument
from foundation.errors import DomainError

VERSIONS_PER_PAGE = 20


class InstrumentForm(forms.Form):
    """What annotators read; a rating has labels for its five answers."""

    statement = forms.CharField(max_length=300, label="What is asked", help_text="Shown above the answers.")
    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14}),
        help_text="Shown beside every task. It must not tell what you expect to find.",
    )

    def __init__(self, *args: Any, campaign: Campaign, now: Instrument, **kwargs: Any) -> None:
        kwargs["initial"] = {
            "statement": now.statement,
            "guidelines": now.guidelines,
            **{f"label_{key}": text for key, text in now.labels.items()},
        }
        super().__init__(*args, **kwargs)
        if campaign.kind == Campaign.Kind.ATTRIBUTE_LIKERT:
            for key in RATING_LABELS:
                self.fields[f"label_{key}"] = forms.CharField(max_length=60, label=f"Answer {key}")

    def words(self) -> dict[str, Any]:
        """Return the arguments of `versions.revise`."""
        values = self.cleaned_data
        labels = {key: values[f"label_{key}"] for key in RATING_LABELS if f"label_{key}" in values}
        return {
            "statement": values["statement"],
            "guidelines": values["guidelines"].replace("\r\n", "\n"),
            "labels": labels or None,
        }


@login_required
@require_safe
def instrument_versions(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """What is read now, and what changed when and by whom."""
    context = campaign_context(request, study, campaign)
    found = context["campaign"]
    context |= {
        "now": versions.current(found),
        "page": page_of(request, versions.versions(found), per_page=VERSIONS_PER_PAGE),
    }
    return render(request, "annotation/lead/campaigns/instruments/versions.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def instrument_change(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Write other words: in a draft in place, in an open campaign as the next version."""
    found = campaign_for_lead(request, study, campaign)
    now = versions.current(found)
    form = InstrumentForm(request.POST if request.method == "POST" else None, campaign=found, now=now)
    if request.method == "POST" and form.is_valid():
        try:
            after = versions.revise(campaign=found, by=person(request), **form.words())
        except DomainError as error:
            show_refusal(form, error)
        else:
            said = f"Version {after.version} is what annotators read from their next task on."
            messages.success(request, said if after.version != now.version else "Saved.")
            return redirect("annotation:instrument", study, campaign)
    context = campaign_context(request, study, campaign, form=form, now=now)
    return render(
        request,
        "annotation/lead/campaigns/instruments/form.html",
        context,
        status=400 if form.errors else 200,
    )
