"""Estimates of images, time and cost of a run before its start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Max

from accounts.models import User
from accounts.rights import Capability
from foundation.formats import format_duration
from generation.backends import backend_named
from generation.models import Condition, GenerationRequest, GenerationRun
from generation.prompts.sets import PromptSet
from generation.prompts.sets.apply import templates_of
from generation.runs.planning import clean_label, clean_model_id, default_label, same_run
from generation.runs.request_plan import Missing, TemplatePart, parts_of
from studies.access import studies_where
from studies.models import Study

Outcome = GenerationRequest.Outcome
# The newest images show best how fast a model is now.
_NEWEST = 200
_MODELS = 5
_SAMPLES = 6


@dataclass(frozen=True)
class OfCondition:
    """The number of images and prompts of one condition, and the range of attributes per group."""

    name: str
    images: int
    prompts: int
    fewest_attributes: int
    most_attributes: int

    @property
    def label(self) -> str:
        return Condition(self.name).label.capitalize()


@dataclass(frozen=True)
class Estimate:
    """The number of images of a run, with their time and cost."""

    images: int
    prompts: int
    groups: int
    conditions: tuple[OfCondition, ...]
    new: int  # images not yet requested from this model with these parameters
    pending: int  # images requested by the run but not yet made
    samples: tuple[str, ...]  # some of the prompts
    seconds_per_image: float | None  # measured; None if the model has made no images on this server
    same_settings: bool  # whether the seconds were measured with these parameters
    price: Decimal | None = None
    budget: Decimal | None = None
    spent: Decimal = Decimal(0)

    @property
    def to_make(self) -> int:
        return self.new + self.pending

    @property
    def by_condition(self) -> dict[str, int]:
        return {condition.name: condition.images for condition in self.conditions}

    @property
    def seconds(self) -> float | None:
        return None if self.seconds_per_image is None else self.seconds_per_image * self.to_make

    @property
    def cost(self) -> Decimal | None:
        return None if self.price is None else self.price * self.to_make

    @property
    def beyond_budget(self) -> bool:
        return self.cost is not None and self.budget is not None and self.spent + self.cost > self.budget


def estimate(
    *,
    study: Study,
    backend: str,
    model_id: str = "",
    parameters: Mapping[str, Any] | None = None,
    model_label: str = "",
    prompt_set: PromptSet | None = None,
    price: Decimal | None = None,
    budget: Decimal | None = None,
) -> Estimate:
    """Count the requests that `plan_run` would make, without writing or listing them: there may be 500,000."""
    chosen = backend_named(backend)
    model_id = clean_model_id(model_id, needed=chosen.needs_model_id)
    names = list(study.groups.values_list("name", flat=True))
    cleaned = chosen.clean(parameters or {}, groups=names)
    label = clean_label(model_label or default_label(backend, model_id))
    parts = parts_of(study, templates_of(study, prompt_set))
    run = same_run(study, backend, model_id, cleaned, label=label)
    seconds, same_settings = seconds_per_image(backend, model_id, cleaned)
    return Estimate(
        images=sum(part.images for part in parts),
        prompts=sum(part.prompts for part in parts),
        groups=len({group for part in parts for group in part.groups if group and part.prompts_of(group)}),
        conditions=_conditions(parts),
        new=Missing(run, parts).images,
        pending=run.requests.filter(outcome=Outcome.PENDING).count() if run else 0,
        samples=_samples(parts),
        seconds_per_image=seconds,
        same_settings=same_settings,
        price=run.price if price is None and run else price,
        budget=run.budget if budget is None and run else budget,
        spent=run.spent if run and run.price is not None else Decimal(0),
    )


def estimate_words(estimate: Estimate) -> str:
    """Return an estimate as lines of text for a terminal."""
    lines = [
        f"{estimate.images:,} images of {estimate.prompts:,} prompts, {estimate.to_make:,} still to generate."
    ]
    for condition in estimate.conditions:
        attributes = ""
        if condition.most_attributes:
            attributes = (
                f", {condition.fewest_attributes:,} to {condition.most_attributes:,} attributes a group"
            )
        lines.append(
            f"{condition.name}: {condition.images:,} images of {condition.prompts:,} prompts{attributes}."
        )
    if estimate.seconds is None:
        lines.append("The time is not known, because this model has not generated any images here yet.")
    else:
        lines.append(
            f"About {format_duration(estimate.seconds)}, at {estimate.seconds_per_image:.3g} seconds an image."
        )
    if estimate.cost is not None:
        lines.append(
            f"About {estimate.cost:,.2f} at {estimate.price} an image; {estimate.spent:,.2f} spent so far."
        )
    if estimate.beyond_budget:
        lines.append(f"The budget of {estimate.budget:,.2f} does not cover all requests.")
    return "\n".join(lines)


def seconds_per_image(
    backend: str, model_id: str, parameters: Mapping[str, Any] | None = None
) -> tuple[float | None, bool]:
    """Return the mean seconds per image of this model, or None, and whether they apply to these parameters."""
    # Compared in Python, because SQLite and PostgreSQL differ on the equality of JSON objects.
    made_by = GenerationRun.objects.filter(backend=backend, model_id=model_id).order_by("-pk")
    runs = list(made_by.only("parameters"))
    same_parameters = [run for run in runs if run.parameters == parameters]
    for chosen in (same_parameters, runs):
        times = _newest_times(chosen)
        if times:
            return sum(times) / len(times), chosen is same_parameters
    return None, False


def _newest_times(runs: Sequence[GenerationRun]) -> list[float]:
    """Return the seconds of the newest images of the newest runs, by descending key to use an index."""
    times: list[float] = []
    for run in runs:
        requests = run.requests.filter(outcome=Outcome.DONE, seconds__isnull=False).order_by("-pk")
        newest = requests.values_list("seconds", flat=True)[: _NEWEST - len(times)]
        times += [seconds for seconds in newest if seconds is not None]
        if len(times) >= _NEWEST:
            break
    return times


def _conditions(parts: Sequence[TemplatePart]) -> tuple[OfCondition, ...]:
    by_condition: dict[str, list[TemplatePart]] = {}
    for part in parts:
        if part.images:
            by_condition.setdefault(part.template.condition, []).append(part)
    conditions = []
    for condition, alike in by_condition.items():
        # All prompts of a condition use the same attributes of a group.
        attributes_of = next((part.attributes for part in alike if part.attributes is not None), {})
        numbers = [len(attributes) for attributes in attributes_of.values() if attributes] or [0]
        images, prompts = (sum(getattr(part, field) for part in alike) for field in ("images", "prompts"))
        conditions.append(OfCondition(condition, images, prompts, min(numbers), max(numbers)))
    return tuple(conditions)


def _samples(parts: Sequence[TemplatePart]) -> tuple[str, ...]:
    """Return a few evenly spaced prompts, without rendering the others."""
    distance = max(1, sum(part.prompts for part in parts) // _SAMPLES)
    samples: dict[str, None] = {}
    offset = 0
    for part in parts:
        numbers = range(-offset % distance, part.prompts, distance)
        samples |= dict.fromkeys(part.sentence(number) for number in numbers[:_SAMPLES])
        offset += part.prompts
    return tuple(samples)[:_SAMPLES]


def measured_models(user: User) -> list[tuple[str, float]]:
    """Return (model, seconds per image) of models used in the studies of `user`, the last used first."""
    seconds_by_label: dict[str, float] = {}
    runs = GenerationRun.objects.filter(study__in=studies_where(user, Capability.SEE_IMAGES)).order_by()
    models = runs.values_list("backend", "model_id", "model_label").annotate(last=Max("pk"))
    for backend, model_id, label, _ in models.order_by("-last")[:_MODELS]:
        seconds, _ = seconds_per_image(backend, model_id)
        if seconds is not None:
            seconds_by_label.setdefault(label, seconds)
    return list(seconds_by_label.items())
