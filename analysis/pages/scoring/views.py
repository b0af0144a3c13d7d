"""Automated scoring of a study: its scorers, and starting, continuing and removing them."""

from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.models import User
from accounts.rights import Capability, requires
from analysis.models import Scorer
from analysis.pages.scoring.forms import ScorerForm
from analysis.results.probe_tables import SIGNIFICANT
from analysis.results.reports import latest_report
from analysis.scoring import launch, overview
from analysis.scoring.backends.judge import MAX_TOKENS
from analysis.scoring.inputs.pairs import ScoredPair
from analysis.scoring.judge_budget import most_tokens
from analysis.scoring.overview import KINDS_ABOUT_IMAGES
from foundation.errors import NotFound
from studies.access import may, study_for
from studies.models import Study
from studies.study_view import StudyView
from web.form_page import FormPage

_PER_PAGE = 50


@requires(get=Capability.SEE_RESULTS)
def scorers(request: HttpRequest, study: str) -> HttpResponse:
    """List the study's scorers."""
    current_study = study_for(request, study)
    context = {
        "study": current_study,
        "lines": overview.lines_of(current_study),
        "may_change": may(request, current_study, Capability.RUN_MODELS),
        "kinds": [(kind, Scorer.Kind(kind).label) for kind in KINDS_ABOUT_IMAGES],
    }
    return render(request, "analysis/scoring/list.html", context)


@requires(get=Capability.RUN_MODELS, post=Capability.RUN_MODELS)
class NewScorer(StudyView, FormPage[ScorerForm]):
    """Show estimates of a scorer's work, and start a scorer."""

    template_name = "analysis/scoring/new.html"

    def make_form(self, data: Any) -> ScorerForm:
        initial = {key: value for key, value in self.request.GET.items() if key == "kind"}
        return ScorerForm(data, study=self.study, initial=initial)

    def call(self) -> HttpResponse:
        scorer = launch.plan_scorer(study=self.study, by=self.by, **self.form.plan())
        return redirect("jobs:detail", pk=launch.start(scorer=scorer, by=self.by).pk)

    def context(self) -> dict[str, Any]:
        estimates = [
            (Scorer.Kind(kind), overview.estimate(self.study, kind, {})) for kind in KINDS_ABOUT_IMAGES
        ]
        return super().context() | {"estimates": estimates, **association_facts(self.study)}


def association_facts(study: Study) -> dict[str, Any]:
    """Return the number of pairs for a judge in the latest results, and the most tokens of a request."""
    report = latest_report(study)
    stored = report.tables.filter(name=SIGNIFICANT).first() if report else None
    if stored is None:
        return {"pairs": None}
    at = [stored.columns.index(name) for name in ("descriptor", "text")]
    pairs = {ScoredPair(*(row[place] or "" for place in at)) for row in stored.values()}
    longest = max(pairs, key=lambda pair: len(pair.text) + len(pair.descriptor), default=ScoredPair("", ""))
    return {"pairs": len(pairs), "tokens": most_tokens(longest), "tokens_out": MAX_TOKENS}


@requires(get=Capability.SEE_RESULTS)
def scorer(request: HttpRequest, study: str, scorer: int) -> HttpResponse:
    """Show one scorer: its parameters, its progress and the images that failed."""
    current_study = study_for(request, study)
    line = overview.line_of(scorer_of(current_study, scorer))
    page = Paginator(overview.failed_images(line.scorer), _PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": current_study,
        "line": line,
        "page": page,
        "parameters": sorted(line.scorer.parameters.items()),
        "may_change": may(request, current_study, Capability.RUN_MODELS),
        "has_rounded_vectors": launch.has_rounded_vectors(line.scorer),
    }
    return render(request, "analysis/scoring/scorer.html", context)


@requires(post=Capability.RUN_MODELS)
def go_on(request: HttpRequest, study: str, scorer: int) -> HttpResponse:
    """Queue a job for a scorer's missing scores."""
    current_study = study_for(request, study)
    job = launch.start(scorer=scorer_of(current_study, scorer), by=cast("User", request.user))
    return redirect("jobs:detail", pk=job.pk)


@requires(post=Capability.RUN_MODELS)
def score_unrounded(request: HttpRequest, study: str, scorer: int) -> HttpResponse:
    """Queue the same scorer with vectors that are not rounded."""
    current_study = study_for(request, study)
    by = cast("User", request.user)
    unrounded = launch.plan_unrounded(scorer=scorer_of(current_study, scorer), by=by)
    return redirect("jobs:detail", pk=launch.start(scorer=unrounded, by=by).pk)


@requires(get=Capability.RUN_MODELS, post=Capability.RUN_MODELS)
def remove(request: HttpRequest, study: str, scorer: int) -> HttpResponse:
    """Remove a scorer and its scores, after confirmation."""
    current_study = study_for(request, study)
    line = overview.line_of(scorer_of(current_study, scorer))
    if request.method == "POST":
        launch.remove_scorer(scorer=line.scorer, by=cast("User", request.user))
        messages.success(request, f"{line.scorer.model_label} is removed.")
        return redirect("scoring:list", study=current_study.slug)
    return render(request, "analysis/scoring/remove.html", {"study": current_study, "line": line})


def scorer_of(study: Study, pk: int) -> Scorer:
    """Return a scorer of the study; NotFound if the study does not have it."""
    scorer = Scorer.objects.filter(study=study, pk=pk).select_related("study", "job", "encoder").first()
    if scorer is None:
        raise NotFound("scorer_not_found", "This study does not have this scorer.")
    return scorer
