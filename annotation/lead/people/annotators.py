"""Who works in a campaign, and pausing, excluding or letting them go on."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.answers.replacement import effect_of_excluding
from annotation.lead.forms import EnrolmentFilter, EnrolmentForm, ExclusionForm, show_refusal
from annotation.lead.page_context import campaign_context, campaign_for_lead, page_of, person
from annotation.lead.people.annotator_lines import shown_lines
from annotation.models import Enrolment
from annotation.people import enrolments
from annotation.people.invitations import suspected_doubles
from annotation.quality.sentences import facts
from foundation.errors import DomainError

_MOVES: dict[str, tuple[Callable[..., Enrolment], str]] = {
    "pause": (enrolments.pause, "{} is paused."),
    "resume": (enrolments.resume, "{} may go on."),
    "exclude": (enrolments.exclude, "{} is excluded: these labels count no more."),
}


@login_required
@require_safe
def annotator_list(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Who works, how much and how fast, and who may be one person twice."""
    context = campaign_context(request, study, campaign)
    found = context["campaign"]
    form = EnrolmentFilter(request.GET)
    form.is_valid()
    rows = found.enrolments.select_related("annotator", "invitation").order_by("pk")
    if state := form.cleaned_data.get("state"):
        rows = rows.filter(state=state)
    if pseudonym := form.cleaned_data.get("q"):
        rows = rows.filter(annotator__pseudonym__icontains=pseudonym)
    page = page_of(request, rows)
    lines, counted_at, pending = shown_lines(found, page.object_list)
    context |= {
        "page": page,
        "form": form,
        "lines": lines,
        "counted_at": counted_at,
        "pending": pending,
        "doubles": suspected_doubles(found),
        "filtered": bool(state or pseudonym),
    }
    return render(request, "annotation/lead/people/annotators.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def enrolment_move(
    request: HttpRequest, study: str, campaign: str, enrolment: int, move: str
) -> HttpResponse:
    """Ask for a reason, then do it."""
    if move not in _MOVES:
        raise Http404("There is no such step.")
    found = campaign_for_lead(request, study, campaign)
    enrolled = get_object_or_404(found.enrolments.select_related("annotator"), pk=enrolment)
    enrolled.campaign = found
    form = (ExclusionForm if move == "exclude" else EnrolmentForm)(request.POST or None)
    if request.method == "POST" and form.is_valid():
        verb, said = _MOVES[move]
        try:
            verb(enrolment=enrolled, by=person(request), **form.cleaned_data)
        except DomainError as error:
            show_refusal(form, error)
        else:
            messages.success(request, said.format(enrolled.annotator.pseudonym))
            return redirect("annotation:annotators", study, campaign)
    context = campaign_context(request, study, campaign)
    (line,), counted_at, _ = shown_lines(found, [enrolled])
    context |= {"enrolment": enrolled, "form": form, "move": move, "line": line, "counted_at": counted_at}
    context["quality_facts"] = facts(line.quality)
    if move == "exclude":
        context["effect"] = effect_of_excluding(enrolled)
    status = 400 if form.errors else 200
    return render(request, "annotation/lead/people/enrolment.html", context, status=status)
