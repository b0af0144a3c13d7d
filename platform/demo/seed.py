"""The demo study: invented peoples, drawn images, campaigns partly labelled by simulated annotators."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.models import User
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.campaigns import known_tasks, lifecycle
from annotation.kinds.registry import MARKING, RATING
from annotation.models import Campaign, Task
from annotation.people import invitations
from annotation.simulation.simulate import simulate
from catalog.geography import read_geography
from catalog.imports.resources import import_resource
from catalog.models import Resource
from demo import truth
from demo.accounts import add_members, create_accounts
from demo.pairs import seed_pairs
from demo.words import seed_words
from foundation.errors import Conflict, Forbidden
from generation.prompts.creation import create_study_with_prompts
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Progress
from studies.models import Study

RESOURCE = "Invented peoples"
STUDY = "Invented peoples"
DESCRIPTION = (
    "A demonstration. The peoples do not exist, the images are drawn by a program that knows what it drew, "
    "and most labels come from simulated annotators with known error rates, so the truth behind every number "
    "is known."
)
TEMPLATES = (
    "a photo of {a_an} {id} person",
    "a portrait of {a_an} {id} person",
    "{a_an} {id} person at a market",
)
SEED = 20_261_121
# Share of the open campaign's work that simulated annotators leave for a visitor to do.
LEFT_SHARE = 0.15
# Enough for five of each gender they state, the fewest that are compared.
ANNOTATORS = 20
# Checks of the marking campaign, and how often one comes in place of a new screen.
CHECKS, GOLD_SHARE = 6, 0.1


def seed_demo(*, progress: Progress, say: Callable[[str], None], model: str = "") -> Study:
    """Create everything the demo shows; when it is there already, change nothing and return the study.

    Each step is committed by itself and looked for before it is done, so a seeding that was stopped goes on.
    """
    if not settings.DEMO:
        raise Forbidden(
            "not_a_demo",
            "The demo's accounts have published passwords. To create the demo on your own machine, set "
            "STEREOSCOPE_DEMO=1.",
        )
    people = create_accounts()
    study = Study.objects.filter(name=STUDY).first() or _study(people)
    add_members(study=study, people=people)
    say("Drawing images …")
    for settings_of_run in _models(model):
        run(run=plan_run(study=study, by=people["lead"], **settings_of_run), progress=progress)
    say("Simulated annotators rate which attributes can be seen …")
    rating = _campaign(study, people, "Which can be seen", RATING.key, annotators_per_task=4)
    # Three of four: every attribute has ratings enough to be called visual or not, and is left to a visitor.
    simulate(campaign=rating, annotators=3, seed=1, progress=progress)
    say("Simulated annotators mark attributes in images …")
    marking = _campaign(
        study,
        people,
        "Marking",
        MARKING.key,
        annotators_per_task=3,
        options={"visual_source": f"campaign:{rating.slug}", "visual_rule": "majority"},
    )
    _add_checks(marking, people["lead"])
    answers_wanted = sum(marking.tasks.values_list("wanted", flat=True))
    # Answers to gold tasks among them, as `limit` counts too: starting again goes on where it stopped.
    already = marking.annotations.filter(is_latest=True).count()
    todo = round(answers_wanted * (1 - LEFT_SHARE)) - already
    if todo > 0:
        simulate(campaign=marking, annotators=ANNOTATORS, seed=2, limit=todo, progress=progress)
    _invite_visitor(people["annotator"], rating, marking)
    say("Computing results …")
    compute_report(study=study, parameters=parameters_of(study), by=people["lead"], progress=progress)
    seed_pairs(people=people, progress=progress, say=say)
    seed_words(people=people, progress=progress, say=say)
    return study


def _study(people: dict[str, User]) -> Study:
    lead = people["lead"]
    import_resource(
        file=truth.PEOPLES, name=RESOURCE, by=lead, geography=read_geography(truth.GEOGRAPHY), invented=True
    )
    resource = Resource.objects.get(name=RESOURCE)
    with transaction.atomic():
        return create_study_with_prompts(
            templates=TEMPLATES,
            images_per_prompt=3,
            by=lead,
            name=STUDY,
            description=DESCRIPTION,
            resource=resource,
            groups=resource.groups.all(),
            seed=SEED,
            simulated=True,
        )


def _models(model: str) -> list[dict[str, Any]]:
    """Return what draws the images: the model a visitor named, or two sketchers to compare."""
    if model:
        return [{"backend": "diffusers", "model_id": model}]
    return [
        {
            "backend": "sketch",
            "model_label": label,
            "parameters": {
                "probabilities": truth.drawing_probabilities(strength=strength),
                "default_probability": truth.RANDOM_PROBABILITY,
            },
        }
        for label, strength in truth.MODELS.items()
    ]


def _campaign(study: Study, people: dict[str, User], name: str, kind: str, **numbers: Any) -> Campaign:
    campaign = study.campaigns.filter(name=name).first()
    if campaign is None:
        campaign = lifecycle.create(study=study, name=name, kind=kind, by=people["lead"], **numbers)
    if campaign.state == Campaign.State.DRAFT:
        campaign = lifecycle.open_(campaign=campaign, by=people["lead"])
    return campaign


def _add_checks(marking: Campaign, lead: User) -> None:
    """Make checks of some screens, where it is known what was drawn: not with a model's images."""
    if "gold_share" in marking.options:
        return
    drawn_screens = marking.tasks.filter(
        purpose=Task.Purpose.LABEL, screen=0, image__provenance__has_key="drawn"
    )
    screens = list(drawn_screens.select_related("image").order_by("pk"))
    for task in screens[:: max(len(screens) // CHECKS, 1)][:CHECKS]:
        attributes = [one.attribute for one in task.task_attributes.select_related("attribute")]
        image = task.image
        drawn = {one["attribute"] for one in image.provenance["drawn"]} if image is not None else set()
        with suppress(Conflict):  # an earlier seeding, stopped halfway, made it
            known_tasks.add(
                campaign=marking,
                purpose=Task.Purpose.GOLD,
                by=lead,
                content=known_tasks.TaskContent(image=image, attributes=attributes),
                answers={one: one.text in drawn for one in attributes},
                explanations={
                    one: "The attribute was drawn into the picture."
                    for one in attributes
                    if one.text in drawn
                },
            )
    if screens:  # the last step: from here on a lead's changes stay
        lifecycle.change_settings(campaign=marking, by=lead, options={"gold_share": GOLD_SHARE})


def _invite_visitor(visitor: User, *open_campaigns: Campaign) -> None:
    """Enrol the demo's annotator by a personal link, as a lead would."""
    for campaign in open_campaigns:
        if campaign.enrolments.filter(annotator__user=visitor).exists():
            continue
        _, token = invitations.invite(
            campaign=campaign, by=campaign.created_by, label="Demo annotator", annotator=visitor.annotator
        )
        try:
            invitations.accept(token=token, user=visitor, fingerprint="")
        except Conflict:
            continue
