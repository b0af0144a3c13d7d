"""Automated scoring of a study: what was scored by what, starting and going on."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from analysis.models import Scorer
from analysis.pages.scoring.forms import ScorerForm
from analysis.scoring import launch, overview
from analysis.scoring.parameters import KINDS
from foundation.errors import DomainError, NotFound
from generation.pages.forms import show_refusal
from studies.access import ANALYST, LEAD, holds, study_for
from studies.models import Study

_PER_PAGE = 50


@login_required
@require_safe
def scorers(request: HttpRequest, study: str) -> HttpResponse:
    """List what has been scored."""
    found = study_for(request.user, study, role=ANALYST)
    context = {
        "study": found,
        "lines": overview.lines_of(found),
        "may_change": holds(request.user, found, LEAD),
        "kinds": [(kind, Scorer.Kind(kind).label) for kind in KINDS],
    }
    return render(request, "analysis/scoring/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, study: str) -> HttpResponse:
    """Say what a scorer would do; start it."""
    found = study_for(request.user, study, role=LEAD)
    posted = request.method == "POST"
    asked = {key: value for key, value in request.GET.items() if key == "kind"}
    form = ScorerForm(request.POST if posted else None, study=found, initial=asked)
    if posted and form.is_valid():
        try:
            by = cast("User", request.user)
            scorer = launch.plan_scorer(study=found, by=by, **form.plan())
            return redirect("jobs:detail", pk=launch.start(scorer=scorer, by=by).pk)
        except DomainError as error:
            show_refusal(form, error)
    estimates = [(Scorer.Kind(kind), overview.estimate(found, kind, {})) for kind in KINDS]
    context = {"study": found, "form": form, "estimates": estimates}
    return render(request, "analysis/scoring/new.html", context, status=400 if posted else 200)


@login_required
@require_safe
def scorer(request: HttpRequest, study: str, scorer: int) -> HttpResponse:
    """Show one scorer: what it is, how far it is, what it could not read."""
    found = study_for(request.user, study, role=ANALYST)
    line = overview.line_of(scorer_of(found, scorer))
    page = Paginator(overview.failed_images(line.scorer), _PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": found,
        "line": line,
        "page": page,
        "parameters": sorted(line.scorer.parameters.items()),
        "may_change": holds(request.user, found, LEAD),
        "has_rounded_vectors": launch.has_rounded_vectors(line.scorer),
    }
    return render(request, "analysis/scoring/scorer.html", context)


@login_required
@require_POST
def go_on(request: HttpRequest, study: str, scorer: int) -> HttpResponse:
    """Queue what is missing of a scorer's work."""
    found = study_for(request.user, study, role=LEAD)
    job = launch.start(scorer=scorer_of(found, scorer), by=cast("User", request.user))
    return redirect("jobs:detail", pk=job.pk)


@login_required
@require_POST
def score_unrounded(request: HttpRequest, study: str, scorer: int) -> HttpResponse:
    """Queue the same scorer with vectors that are not rounded."""
    found = study_for(request.user, study, role=LEAD)
    by = cast("User", request.user)
    unrounded = launch.plan_unrounded(scorer=scorer_of(found, scorer), by=by)
    return redirect("jobs:detail", pk=launch.start(scorer=unrounded, by=by).pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, study: str, scorer: int) -> HttpResponse:
    """Ask whether a scorer and what it found shall go, and remove it."""
    found = study_for(request.user, study, role=LEAD)
    line = overview.line_of(scorer_of(found, scorer))
    if request.method == "POST":
        launch.remove_scorer(scorer=line.scorer, by=cast("User", request.user))
        messages.success(request, f"{line.scorer.model_label} is removed.")
        return redirect("scoring:list", study=found.slug)
    return render(request, "analysis/scoring/remove.html", {"study": found, "line": line})


def scorer_of(study: Study, pk: int) -> Scorer:
    """Return a scorer of the study."""
    found = Scorer.objects.filter(study=study, pk=pk).select_related("study", "job", "encoder").first()
    if found is None:
        raise NotFound("scorer_not_found", "There is no such scorer in this study.")
    return found
