"""What a run comes to before it is started: images, time and cost."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from generation.backends import backend_named
from generation.models import Condition, GenerationRequest, GenerationRun
from generation.planning import PlannedRequest, clean_model_id, known_requests, requests_of, same_run
from generation.prompt_sets import PromptSet
from generation.prompt_sets.applying import templates_of
from generation.running import spent
from studies.models import Study

Outcome = GenerationRequest.Outcome
# The newest images say best how fast a model is now.
_NEWEST = 200
_MODELS = 5


@dataclass(frozen=True)
class OfCondition:
    """The images of one condition; with attributes, how many each group has of them."""

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
    """How many images a run comes to, before anything is started."""

    images: int
    prompts: int
    groups: int
    conditions: tuple[OfCondition, ...]
    new: int  # of them not yet asked of this model with these parameters
    pending: int  # of the run, asked but not made
    samples: tuple[str, ...]  # some of the sentences the model will be given
    seconds_per_image: float | None  # measured; None when the model made none here yet
    same_settings: bool  # whether they were measured with these parameters
    price: Decimal | None = None
    budget: Decimal | None = None
    spent: Decimal = Decimal(0)

    @property
    def to_make(self) -> int:
        return self.new + self.pending

    @property
    def by_condition(self) -> dict[str, int]:
        return {one.name: one.images for one in self.conditions}

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
    prompt_set: PromptSet | None = None,
    price: Decimal | None = None,
    budget: Decimal | None = None,
) -> Estimate:
    """Count what `plan_run` would ask for; write nothing."""
    chosen = backend_named(backend)
    model_id = clean_model_id(model_id, needed=chosen.needs_model_id)
    names = list(study.groups.values_list("name", flat=True))
    cleaned = chosen.clean(parameters or {}, groups=names)
    requests = list(requests_of(study, templates_of(study, prompt_set)))
    run = same_run(study, backend, model_id, cleaned)
    known = known_requests(run) if run else set()
    distinct = dict.fromkeys(request.prompt for request in requests)
    seconds, same = seconds_per_image(backend, model_id, cleaned)
    return Estimate(
        images=len(requests),
        prompts=len(distinct),
        groups=len({request.group.pk for request in requests if request.group}),
        conditions=_conditions(requests),
        new=sum(request.key not in known for request in requests),
        pending=run.requests.filter(outcome=Outcome.PENDING).count() if run else 0,
        samples=_spread(list(distinct), 6),
        seconds_per_image=seconds,
        same_settings=same,
        price=run.price if price is None and run else price,
        budget=run.budget if budget is None and run else budget,
        spent=spent(run) if run else Decimal(0),
    )


def estimate_words(found: Estimate) -> str:
    """Say an estimate in lines, for a terminal."""
    lines = [f"{found.images:,} images of {found.prompts:,} prompts, {found.to_make:,} still to make."]
    for one in found.conditions:
        attributes = ""
        if one.most_attributes:
            attributes = f", {one.fewest_attributes:,} to {one.most_attributes:,} attributes a group"
        lines.append(f"{one.name}: {one.images:,} images of {one.prompts:,} prompts{attributes}.")
    if found.seconds is None:
        lines.append("How long it takes is not known: this model has made no image here yet.")
    else:
        lines.append(
            f"About {duration_words(found.seconds)}, at {found.seconds_per_image:.3g} seconds an image."
        )
    if found.cost is not None:
        lines.append(f"About {found.cost:,.2f} at {found.price} an image; {found.spent:,.2f} spent so far.")
    if found.beyond_budget:
        lines.append(f"The budget of {found.budget:,.2f} does not cover all of it.")
    return "\n".join(lines)


def duration_words(seconds: float) -> str:
    """Say how long something takes, as exactly as one can know it."""
    for limit, size, unit in ((90, 1, "second"), (5400, 60, "minute"), (129_600, 3600, "hour")):
        if seconds < limit:
            number = max(1, round(seconds / size))
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{seconds / 86_400:.1f} days"


def seconds_per_image(
    backend: str, model_id: str, parameters: Mapping[str, Any] | None = None
) -> tuple[float | None, bool]:
    """Return what an image of this model took here, and whether that was with these very parameters."""
    # Compared here: SQLite and PostgreSQL disagree on when two JSON objects are equal.
    runs = list(GenerationRun.objects.filter(backend=backend, model_id=model_id).only("parameters"))
    same = [run for run in runs if run.parameters == parameters]
    for chosen in (same, runs):
        made = GenerationRequest.objects.filter(run__in=chosen, outcome=Outcome.DONE, seconds__isnull=False)
        newest = made.order_by("-finished_at").values_list("seconds", flat=True)[:_NEWEST]
        times = [seconds for seconds in newest if seconds is not None]
        if times:
            return sum(times) / len(times), chosen is same
    return None, False


def _conditions(requests: Iterable[PlannedRequest]) -> tuple[OfCondition, ...]:
    images: Counter[str] = Counter()
    prompts: dict[str, set[str]] = {}
    attributes: dict[str, dict[int, set[int]]] = {}
    for request in requests:
        condition = request.template.condition
        images[condition] += 1
        prompts.setdefault(condition, set()).add(request.prompt)
        groups = attributes.setdefault(condition, {})
        if request.group and request.attribute:
            groups.setdefault(request.group.pk, set()).add(request.attribute.pk)
    found = []
    for condition, number in images.items():
        numbers = [len(of_group) for of_group in attributes[condition].values()] or [0]
        found.append(OfCondition(condition, number, len(prompts[condition]), min(numbers), max(numbers)))
    return tuple(found)


def _spread(sentences: list[str], most: int) -> tuple[str, ...]:
    step = max(1, len(sentences) // most)
    return tuple(sentences[::step][:most])


def measured_models() -> list[tuple[str, float]]:
    """Return (model, seconds an image) of the models that made images here, the last used ones first."""
    found: dict[str, float] = {}
    runs = GenerationRun.objects.order_by("-pk").values_list("backend", "model_id", "model_label")
    for backend, model_id, label in runs.distinct()[:_MODELS]:
        seconds, _ = seconds_per_image(backend, model_id)
        if seconds is not None:
            found.setdefault(label, seconds)
    return list(found.items())
