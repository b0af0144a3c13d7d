"""The page on which a draft is opened: its checklist, waivers and confirmation."""

from typing import Any

from django import forms
from django.urls import reverse

from accounts.rights import Capability, requires
from annotation.campaigns import feasibility
from annotation.campaigns.planning.estimate import estimate
from annotation.launch.checklist import checklist
from annotation.launch.checks import CHECKS
from annotation.launch.waivers import LONGEST_REASON, waive
from annotation.lead.forms import ConsentForm
from annotation.lead.page_context import CampaignView
from annotation.models import Campaign
from studies.consent import current_text
from web.form_fields import set_choices
from web.form_page import FormPage

# The page on which a failed check can be corrected; addresses of a campaign end with its slug.
_MENDED_AT = {
    "consent": ("studies:consent", False),
    "pay": ("annotation:campaign_edit", True),
    "budget": ("annotation:campaign_edit", True),
    "quotas": ("annotation:campaign_edit", True),
    "people": ("annotation:invitations", True),
    "practice": ("annotation:known_tasks", True),
    "notice": ("studies:consent", False),
    "guidelines": ("annotation:instrument_change", True),
    "languages": ("annotation:languages", True),
    "pilot": ("annotation:campaign_copy", True),
}
# The section of the draft's form with the field.
_SECTIONS = {"pay": "pay", "budget": "pay", "quotas": "annotators"}
# Checks that the study's consent form can correct.
_IN_CONSENT = {"consent", "notice"}


class WaiverForm(forms.Form):
    """Which missing checks are waived, and why."""

    checks = forms.MultipleChoiceField(
        choices=[(check.key, check.title) for check in CHECKS],
        widget=forms.CheckboxSelectMultiple,
        label="Waive",
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="Reason",
        help_text="The reason is kept in the study’s history.",
    )


@requires(get=Capability.RUN_CAMPAIGNS, post=Capability.RUN_CAMPAIGNS)
class CampaignLaunch(CampaignView, FormPage[WaiverForm]):
    """Show the checklist of a draft; a POST waives the chosen points."""

    template_name = "annotation/lead/campaigns/launch.html"
    form_class = WaiverForm
    leads_to = "annotation:campaign_launch"

    def make_form(self, data: Any) -> WaiverForm:
        form = WaiverForm(data)
        missing = [line for line in self.lines if line.state == "missing"]
        set_choices(form, "checks", [(line.key, line.title) for line in missing])
        return form

    def load(self) -> None:
        super().load()
        self.lines = checklist(self.campaign) if self.campaign.state == Campaign.State.DRAFT else []

    def context(self) -> dict[str, Any]:
        return {
            **super().context(),
            "campaign": self.campaign,
            **self._asking(),
            "lines": [(line, self._mended_at(line.key)) for line in self.lines],
            "missing": sum(line.state == "missing" for line in self.lines),
            "consent_form": self._consent_form(),
        }

    def _consent_form(self) -> ConsentForm | None:
        """Return the form of the consent text if a check finds something missing in it."""
        missing = {line.key for line in self.lines if line.state == "missing"}
        return ConsentForm.of(current_text(self.study)) if missing & _IN_CONSENT else None

    def _asking(self) -> dict[str, Any]:
        if self.campaign.state != Campaign.State.DRAFT:
            return {"asking": None}
        asking = estimate(self.campaign)
        return {"asking": asking, "cells": feasibility.before_opening(self.campaign, asking.plan).cells}

    def _mended_at(self, key: str) -> str:
        name, of_campaign = _MENDED_AT[key]
        if of_campaign:
            section = f"#section-{_SECTIONS[key]}" if key in _SECTIONS else ""
            return f"{reverse(name, args=self.place())}{section}"
        return f"{reverse(name, args=self.place()[:1])}?campaign={self.campaign.slug}"

    def call(self) -> str:
        waived = waive(
            campaign=self.campaign,
            checks=self.form.cleaned_data["checks"],
            reason=self.form.cleaned_data["reason"],
            by=self.by,
        )
        return f"Waived: {', '.join(waiver.check_key for waiver in waived)}."
