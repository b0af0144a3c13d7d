"""What is asked of how annotators work: a campaign's quality rules, and what they found."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.answers import replacement
from annotation.campaigns import snapshots
from annotation.lead.forms import show_refusal
from annotation.lead.page_context import PER_PAGE, campaign_context, campaign_for_lead, person
from annotation.lead.quality.rule_form import QualityRuleForm
from annotation.models import Campaign, QualityEvent
from annotation.quality import enforcement, rules
from annotation.quality.sentences import asked, for_lead
from foundation.errors import DomainError
from web.keyset import key_page


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def quality_page(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """The rules, a form for one more, and whom they warned or paused."""
    context = campaign_context(request, study, campaign)
    found: Campaign = context["campaign"]
    form = QualityRuleForm(request.POST or None)
    if request.method == "POST":
        found = campaign_for_lead(request, study, campaign)
        if form.is_valid():
            try:
                rules.set_rule(campaign=found, by=person(request), **form.settings())
            except DomainError as error:
                show_refusal(form, error)
            else:
                messages.success(request, "The rule is set.")
                return redirect("annotation:quality", study, campaign)
    if not snapshots.is_large(found):  # a large one is looked at while its annotators are counted
        enforcement.check(campaign=found, warn_only=True)
    events = QualityEvent.objects.filter(enrolment__campaign=found).select_related("enrolment__annotator")
    page = key_page(request, events, size=PER_PAGE)
    context |= {
        "form": form,
        "rules": [(rule, asked(rule.measure, rule.threshold)) for rule in found.quality_rules.all()],
        "page": page,
        "events": [(event, for_lead(event)) for event in page.object_list],
        "changeable": found.state != Campaign.State.CLOSED and not found.imported,
    }
    return render(request, "annotation/lead/quality/rules.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def rule_remove(request: HttpRequest, study: str, campaign: str, rule: int) -> HttpResponse:
    """Take a rule away; its flags end."""
    found = get_object_or_404(campaign_for_lead(request, study, campaign).quality_rules, pk=rule)
    try:
        rules.remove_rule(rule=found, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The rule is removed. Whoever it paused stays paused.")
    return redirect("annotation:quality", study, campaign)


@login_required
@require_POST
def quality_check(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Hold everybody against the rules now."""
    events = enforcement.check(campaign=campaign_for_lead(request, study, campaign))
    number = len({event.enrolment_id for event in events})
    said = (
        f"{number:,} annotator{'' if number == 1 else 's'} flagged now."
        if number
        else "Nobody new is flagged."
    )
    messages.success(request, said)
    return redirect("annotation:quality", study, campaign)


@login_required
@require_POST
def screens_reopen(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Ask the screens again that hold places of labels which count no more."""
    found = campaign_for_lead(request, study, campaign)
    try:
        freed = replacement.reopen(campaign=found, by=person(request))
    except DomainError as error:
        messages.error(request, error.message)
    else:
        plural = "" if freed.screens == 1 else "s"
        messages.success(request, f"{freed.screens:,} screen{plural} will be asked again.")
    return redirect("annotation:campaign", study, campaign)
