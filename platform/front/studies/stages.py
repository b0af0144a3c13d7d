"""The stages of a study, each with its state, details and next step."""

from dataclasses import dataclass, replace

from django.urls import reverse

from analysis.scoring.launch import JOB_KIND as SCORE
from annotation.kinds.registry import ANSWER_REVIEW
from annotation.lead.campaigns.overview import StudySummary
from annotation.models import Campaign

_MAKES_IMAGES = ("generate", "import_images")


@dataclass(frozen=True)
class Stage:
    """A stage in the stage bar."""

    name: str
    # done, current (under way), ready (can begin), waiting (for another stage), stuck or skipped
    state: str
    detail: str = ""
    url: str = ""
    action: str = ""

    def without_link(self) -> "Stage":
        """Return the stage without a link, for people who may not open its page."""
        return replace(self, url="", action="")


def stages_of(summary: StudySummary, *, may_change: bool) -> list[Stage]:
    """Return the stages in order, with annotate and score, or with probe and review for questions to models."""
    if summary.study.asks_models:
        return [
            _plan(summary),
            _generate(summary, may_change),
            _probe(summary, may_change),
            _review(summary, may_change),
            _measure_answers(summary),
            _release(summary),
        ]
    return [
        _plan(summary),
        _generate(summary, may_change),
        _annotate(summary, may_change),
        _score(summary, may_change),
        _measure(summary),
        _release(summary),
    ]


def _plan(summary: StudySummary) -> Stage:
    if summary.automated:
        return Stage("Plan", "done", f"{summary.images_wanted:,} images of targets and attribute sets")
    if summary.study.asks_models and not summary.about_images:
        return Stage("Plan", "done" if summary.groups else "ready", _amount(summary.groups, "descriptor"))
    if summary.study.asks_models and not summary.groups:
        return Stage("Plan", "ready", "The identity groups come with the imported images")
    state = "done" if summary.groups else "skipped"
    plan = reverse("planning:plan", args=[summary.study.slug])
    return Stage("Plan", state, _amount(summary.groups, "identity group"), plan, "See the plan")


def _generate(summary: StudySummary, may_change: bool) -> Stage:
    slug = summary.study.slug
    images = reverse("generation:images", args=[slug])
    planned = summary.images_wanted
    failed_job = summary.failed(*_MAKES_IMAGES)
    if failed_job is not None and summary.images < planned:
        return Stage("Generate", "stuck", failed_job.error, images, "See images")
    if not planned and summary.study.asks_models:
        return _found_images(summary, may_change)
    if summary.is_at_work(*_MAKES_IMAGES):
        return Stage("Generate", "current", f"{summary.images:,} of {planned:,} images", images, "Watch")
    if summary.images >= planned and summary.images:
        return Stage("Generate", "done", _amount(summary.images, "image"), images, "See images")
    if not may_change:
        return Stage("Generate", "waiting", _amount(summary.images, "image"))
    state = "ready" if summary.groups or summary.automated else "waiting"
    detail = f"{summary.images:,} of {planned:,} images"
    return Stage("Generate", state, detail, reverse("generation:generate", args=[slug]), "Generate images")


def _found_images(summary: StudySummary, may_change: bool) -> Stage:
    """Return the stage of images in a study that asks models questions and has no prompts for images."""
    images = reverse("generation:images", args=[summary.study.slug])
    if summary.images:
        return Stage("Images", "done", _amount(summary.images, "image"), images, "See images")
    if not summary.about_images:
        return Stage("Images", "skipped", "Questions about words need no images")
    if not may_change:
        return Stage("Images", "waiting", "No images yet")
    url = reverse("generation:import_images", args=[summary.study.slug])
    return Stage("Images", "ready", "No images yet", url, "Import images")


def _annotate(summary: StudySummary, may_change: bool) -> Stage:
    slug = summary.study.slug
    campaigns = summary.campaigns
    new = reverse("annotation:campaign_new", args=[slug])
    campaigns_url = reverse("annotation:campaigns", args=[slug])
    if not campaigns and summary.automated:
        return Stage("Annotate", "skipped", "Measured by models")
    if not campaigns:
        state = "ready" if summary.images and may_change else "waiting"
        return Stage("Annotate", state, "No campaign yet", new if may_change else "", "New campaign")
    live = any(c.state in (Campaign.State.OPEN, Campaign.State.PAUSED) for c in campaigns)
    detail = f"{_amount(summary.accepted, 'screen')} answered in {_amount(len(campaigns), 'campaign')}"
    if live and not _finished(summary):
        return Stage("Annotate", "current", detail, campaigns_url, "See campaigns")
    state = "done" if _finished(summary) and summary.accepted else "ready" if may_change else "waiting"
    return Stage("Annotate", state, detail, campaigns_url, "See campaigns")


def _probe(summary: StudySummary, may_change: bool) -> Stage:
    slug, probes = summary.study.slug, summary.probes
    runs = reverse("generation:probes", args=[slug])
    asked = f"{_amount(probes.models, 'model')} asked"
    if probes.active:
        return Stage("Probe", "current", "Questions are being asked", runs, "Watch")
    if probes.unfinished:
        return Stage(
            "Probe", "stuck", f"{_amount(probes.unfinished, 'run')} not finished", runs, "See probes"
        )
    if probes.models:
        return Stage("Probe", "done", asked, runs, "See probes")
    if not summary.ready_to_probe or not may_change:
        return Stage("Probe", "waiting", "No model has been asked yet")
    new = reverse("generation:probe_new", args=[slug])
    return Stage("Probe", "ready", "No model has been asked yet", new, "Probe a model")


def _review(summary: StudySummary, may_change: bool) -> Stage:
    """Return the optional stage in which people check images, code answers or rate associations."""
    if summary.campaigns:
        return replace(_annotate(summary, may_change), name="Review")
    if not summary.probes.answered:
        return Stage("Review", "waiting", "Needs answers of models first")
    new = f"{reverse('annotation:campaign_new', args=[summary.study.slug])}?kind={ANSWER_REVIEW.key}"
    return Stage(
        "Review", "waiting", "Nobody has reviewed answers yet", new if may_change else "", "Review answers"
    )


def _measure_answers(summary: StudySummary) -> Stage:
    if not summary.probes.answered:
        return Stage("Measure", "waiting", "Needs answers of models first")
    going_on = summary.probes.active or summary.probes.unfinished
    return _results(summary, "overview", going_on=bool(going_on))


def _results(summary: StudySummary, page: str, *, going_on: bool) -> Stage:
    """Return the stage of results; `going_on` tells whether more data are expected."""
    url = reverse(f"analysis:{page}", args=[summary.study.slug])
    if not summary.study.reports.exists():
        return Stage("Measure", "ready", "Results can be computed", url, "Go to results")
    if going_on:
        return Stage("Measure", "current", "Results so far", url, "See results")
    return Stage("Measure", "done", "Results computed", url, "See results")


def _score(summary: StudySummary, may_change: bool) -> Stage:
    scoring = reverse("scoring:list", args=[summary.study.slug])
    scorers = summary.study.scorers.count()
    if scorers:
        is_stuck = summary.failed(SCORE) is not None
        state = "current" if summary.is_at_work(SCORE) else "stuck" if is_stuck else "done"
        return Stage("Score", state, _amount(scorers, "scorer"), scoring, "See scorers")
    if not summary.images or not may_change:
        return Stage("Score", "waiting", "No images scored by models yet")
    return Stage("Score", "waiting", "No images scored by models yet", scoring, "Score automatically")


def _measure(summary: StudySummary) -> Stage:
    if summary.automated:
        if not summary.study.scorers.exists():
            return Stage("Measure", "waiting", "Needs scores first")
        return _results(summary, "mcas", going_on=summary.is_at_work(SCORE))
    if not summary.accepted:
        return Stage("Measure", "waiting", "Needs answers first")
    return _results(summary, "overview", going_on=not _finished(summary))


def _release(summary: StudySummary) -> Stage:
    if not summary.accepted and not summary.probes.answered:
        return Stage("Release", "waiting", "Needs answers first")
    url = reverse("releases:list", args=[summary.study.slug])
    built = summary.study.releases.count()
    if built:
        return Stage("Release", "done", _amount(built, "release"), url, "See releases")
    content = "answers of models" if summary.study.asks_models else "labels"
    return Stage("Release", "ready", f"The {content}, as a dataset for others", url, "Go to releases")


def _finished(summary: StudySummary) -> bool:
    """Return whether no campaign accepts answers any more."""
    return all(c.finished or c.imported or c.state == Campaign.State.CLOSED for c in summary.campaigns)


def _amount(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
