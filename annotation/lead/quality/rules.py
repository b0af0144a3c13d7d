"""Pages of a campaign's quality rules and the flags they raised."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from accounts.rights import Capability, requires
from annotation.answers import freed_slots
from annotation.campaigns import snapshots
from annotation.kinds.registry import kind_of
from annotation.lead.page_context import PER_PAGE, CampaignView, campaign_for_lead
from annotation.models import Campaign, QualityEvent, QualityMeasure
from annotation.quality import enforcement, rules
from annotation.quality.measured_answers import measures_of
from annotation.quality.rules import RuleParameters
from annotation.quality.sentences import for_lead, threshold_text
from web.form_fields import set_choices
from web.form_page import Button, FormPage
from web.keyset import key_page


class QualityRuleForm(forms.Form):
    """A threshold as people write it: in percent, or in seconds."""

    measure = RuleParameters.form_field("measure", help_text="", required=True)
    threshold = RuleParameters.form_field("threshold", label="Threshold, in % or seconds", required=True)
    minimum = RuleParameters.form_field("minimum", required=True)
    action = RuleParameters.form_field("action", help_text="", required=True)

    def settings(self) -> dict[str, Any]:
        """Return the arguments of the verb that sets the rule."""
        values = dict(self.cleaned_data)
        if values["measure"] != QualityMeasure.MEDIAN_SECONDS:
            values["threshold"] /= 100
        return values


@requires(get=Capability.SEE_QUALITY, post=Capability.RUN_CAMPAIGNS)
class QualityPage(CampaignView, FormPage[QualityRuleForm]):
    """Show the rules, a form for another, and the warnings and pauses."""

    template_name = "annotation/lead/quality/rules.html"

    def make_form(self, data: Any) -> QualityRuleForm:
        form = QualityRuleForm(data)
        measures = measures_of(kind_of(self.campaign))
        set_choices(form, "measure", [(measure.value, measure.label) for measure in measures])
        return form

    leads_to = "annotation:quality"

    def call(self) -> str:
        rules.set_rule(campaign=self.campaign, by=self.by, **self.form.settings())
        return "The rule is set."

    def context(self) -> dict[str, Any]:
        campaign = self.campaign
        if not snapshots.is_large(campaign):  # a large one is checked when its annotators are counted
            enforcement.check(campaign=campaign, warn_only=True)
        events = QualityEvent.objects.filter(enrolment__campaign=campaign)
        page = key_page(self.request, events.select_related("enrolment__annotator"), size=PER_PAGE)
        return super().context() | {
            "rules": [
                (rule, threshold_text(rule.measure, rule.threshold)) for rule in campaign.quality_rules.all()
            ],
            "page": page,
            "events": [(event, for_lead(event)) for event in page.object_list],
            "changeable": campaign.state != Campaign.State.CLOSED and not campaign.imported,
        }


@requires(post=Capability.RUN_CAMPAIGNS)
class RuleRemove(CampaignView, Button):
    """Remove a rule; its flags end."""

    leads_to = "annotation:quality"

    def load(self) -> None:
        super().load()
        self.rule = get_object_or_404(self.campaign.quality_rules, pk=self.kwargs["rule"])

    def call(self) -> str:
        rules.remove_rule(rule=self.rule, by=self.by)
        return "The rule is removed. Annotators that the rule paused stay paused."


@requires(post=Capability.RUN_CAMPAIGNS)
def quality_check(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Check all annotators against the rules now."""
    events = enforcement.check(campaign=campaign_for_lead(request, study, campaign))
    number = len({event.enrolment_id for event in events})
    message = (
        f"{number:,} annotator{'' if number == 1 else 's'} flagged now."
        if number
        else "No further annotators are flagged."
    )
    messages.success(request, message)
    return redirect("annotation:quality", study, campaign)


@requires(post=Capability.RUN_CAMPAIGNS)
class ScreensReopen(CampaignView, Button):
    """Offer again the screens whose labels no longer count."""

    leads_to = "annotation:campaign"

    def call(self) -> str:
        freed = freed_slots.reopen(campaign=self.campaign, by=self.by)
        return f"{freed.screens:,} screen{'' if freed.screens == 1 else 's'} will be asked again."
