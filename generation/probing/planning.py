"""Planning a run: one pending answer for each request, first counted, then written once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import transaction

from accounts.models import User
from foundation.errors import DomainError
from generation.answerers import answerer_named
from generation.answerers.chat import ChatBackend
from generation.answerers.parameters import BatchParameters
from generation.models import ProbeRun
from generation.probing.probe_sets import ProbeSet, published_probe_sets
from generation.probing.request_plan import PlanPart, parts_of, write
from generation.probing.totals import counts_of
from generation.runs.planning import clean_label, clean_model_id, default_label
from jobs.progress.reporter import Progress, Unwatched
from studies import audit
from studies.models import Study

# A larger number of requests is written by the job, so that no page and no other transaction waits.
AT_ONCE = 5000
_MOST_RUNS = 100
_OF_PROTOCOL = {Study.Protocol.BIASDORA.value: "biasdora-words"}
_MOST_PRICE = 100_000
_MOST_BUDGET = 10_000_000


@dataclass(frozen=True)
class Prices:
    """The prices of a million tokens, and the budget of a run; None keeps the stored value."""

    price_in: Decimal | None = None
    price_out: Decimal | None = None
    budget: Decimal | None = None


@dataclass(frozen=True)
class ProbePlan:
    """The plan of a run: probe set, model and parameters. Empty values are taken from the probe set or the model."""

    study: Study
    probe_set: ProbeSet
    probe_set_name: str
    backend: str
    model_id: str = ""
    model_label: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    runs: int | None = None
    orders: str = ""
    samples_per_request: int = 1
    price_in: Decimal | None = None
    price_out: Decimal | None = None
    budget: Decimal | None = None
    fresh: bool = False
    batches: Mapping[str, Any] = field(default_factory=dict)  # values of `BatchParameters`

    @property
    def prices(self) -> Prices:
        return Prices(self.price_in, self.price_out, self.budget)


def probe_sets_of(study: Study) -> dict[str, ProbeSet]:
    """Return the published sets and the sets already used in a study, by name."""
    sets = published_probe_sets()
    digests = {content.digest for content in sets.values()}
    runs = study.probe_runs.exclude(questions={}).exclude(probe_set_digest__in=digests).order_by("pk")
    for name, digest, questions in runs.values_list("probe_set", "probe_set_digest", "questions"):
        if digest not in digests:
            digests.add(digest)
            sets[name if name not in sets else f"{name} ({digest[:8]})"] = ProbeSet.model_validate(questions)
    return sets


def last_probe_set(study: Study, sets: Mapping[str, ProbeSet]) -> str:
    """Return the name of the set that a study used last, or else of its protocol's set."""
    digests = study.probe_runs.order_by("-pk").values_list("probe_set_digest", flat=True)[:1]
    by_digest = {content.digest: name for name, content in sets.items()}
    return by_digest.get(digests.first() or "", _OF_PROTOCOL.get(study.protocol, "pairs"))


def identity_of(plan: ProbePlan) -> dict[str, Any]:
    """Return the fields that identify a run, checked and with all defaults."""
    chosen = answerer_named(plan.backend)
    model_id = clean_model_id(plan.model_id, needed=chosen.needs_model_id)
    parameters = chosen.clean(plan.parameters)
    sampling = plan.probe_set.sampling.model_dump()
    return {
        "probe_set_digest": plan.probe_set.digest,
        "backend": plan.backend,
        "model_id": model_id,
        "model_label": clean_label(plan.model_label or default_label(plan.backend, model_id)),
        "parameters": {
            name: sampling.get(name) if value is None else value for name, value in parameters.items()
        },
        "orders": plan.orders or plan.probe_set.orders,
    }


def runs_of_plan(plan: ProbePlan) -> int:
    """Return the number of times that each question is asked."""
    runs = plan.probe_set.runs if plan.runs is None else plan.runs
    if not 1 <= runs <= _MOST_RUNS:
        raise _refusal("runs", f"A question can be asked 1 to {_MOST_RUNS} times, not {runs:,}.")
    if not 1 <= plan.samples_per_request <= runs:
        raise _refusal(
            "samples_per_request",
            f"A request can ask for 1 to {runs:,} answers, because each question is asked {runs:,} times.",
        )
    return runs


def batches_of_plan(plan: ProbePlan) -> BatchParameters | None:
    """Return the parameters of batches; None if questions are asked one by one."""
    parameters = BatchParameters.read(plan.batches)
    if not parameters.batch_endpoint:
        return None
    if plan.backend != ChatBackend.name:
        raise _refusal("batch_endpoint", "Only endpoints accept batches. Choose the back-end “chat”.")
    if plan.samples_per_request > 1:
        raise _refusal("samples_per_request", "In a batch, each request has one answer.")
    return parameters


def same_run(study: Study, identity: Mapping[str, Any]) -> ProbeRun | None:
    """Return the study's newest run with the same questions to the same model, if there is one."""
    wanted = {name: value for name, value in identity.items() if name != "parameters"}
    runs = ProbeRun.objects.filter(study=study, **wanted).order_by("-pk")
    # Compared here: SQLite and PostgreSQL disagree on when two JSON objects are equal.
    return next((run for run in runs if run.parameters == identity["parameters"]), None)


@transaction.atomic
def plan_run(*, plan: ProbePlan, by: User | None) -> ProbeRun:
    """Write all requests; for the same model and parameters, only missing ones.

    A fresh run asks everything again. The latest prices and budget apply. A large number of requests is written by the
    job that sends them: see `finish_planning`.
    """
    identity, runs, batches = identity_of(plan), runs_of_plan(plan), batches_of_plan(plan)
    # The study's row is the lock: two simultaneous plans would find the same requests missing.
    study = Study.objects.select_for_update().get(pk=plan.study.pk)
    parts = parts_of(study, plan.probe_set, identity["orders"])
    run = None if plan.fresh else same_run(study, identity)
    if run is None:
        run = ProbeRun.objects.create(
            study=study,
            probe_set=plan.probe_set_name[:120],
            questions=plan.probe_set.model_dump(mode="json"),
            seed=study.seed,
            runs=runs,
            samples_per_request=plan.samples_per_request,
            fresh=plan.fresh,
            created_by=by,
            **identity,
        )
    run.runs = max(run.runs, runs)
    run.samples_per_request = plan.samples_per_request
    run.batch_parameters = batches.model_dump() if batches else {}
    _set_prices(run, plan.prices)
    missing = missing_of(run, parts)
    run.to_write = missing > AT_ONCE
    run.save()
    if not run.to_write and missing:
        write(run, parts, Unwatched())
    if missing:
        audit.record(
            by=by,
            action="probe.planned",
            subject=run,
            study=study,
            requests=missing,
            model=run.model_label,
            probe_set=run.probe_set,
        )
    return run


@transaction.atomic
def change_prices(*, run: ProbeRun, prices: Prices, by: User | None) -> ProbeRun:
    """Change prices or the budget. A running job reads them within seconds."""
    run = ProbeRun.objects.select_for_update(of=("self",)).select_related("study").get(pk=run.pk)
    _set_prices(run, prices)
    run.save(update_fields=["price_in", "price_out", "budget"])
    audit.record(
        by=by,
        action="probe.prices_changed",
        subject=run,
        study=run.study,
        model=run.model_label,
        probe_set=run.probe_set,
        budget=None if run.budget is None else str(run.budget),
    )
    return run


def finish_planning(*, run: ProbeRun, progress: Progress) -> None:
    """Write the requests that `plan_run` left to the job; after a kill it continues."""
    if not run.to_write:
        return
    progress.step("Planning the questions")
    parts = parts_of(run.study, ProbeSet.model_validate(run.questions), run.orders)
    progress.start(sum(part.requests for part in parts) * run.runs)
    write(run, parts, progress)
    run.to_write = False
    run.save(update_fields=["to_write"])


def missing_of(run: ProbeRun | None, parts: list[PlanPart], runs: int | None = None) -> int:
    """Return the number of answers that are not written yet."""
    wanted = sum(part.requests for part in parts) * (runs or (run.runs if run else 0))
    if run is None:
        return wanted
    # Questions about images that were retracted later are no longer asked and do not count here.
    retracted = run.answers.filter(image__retracted_at__isnull=False).count()
    return max(0, wanted - counts_of(run).total + retracted)


def _set_prices(run: ProbeRun, prices: Prices) -> None:
    for name, value, limit in (
        ("price_in", prices.price_in, _MOST_PRICE),
        ("price_out", prices.price_out, _MOST_PRICE),
        ("budget", prices.budget, _MOST_BUDGET),
    ):
        if value is not None and not 0 <= value <= limit:
            words = name.replace("_", " ")
            raise _refusal(name, f"The {words} must be from 0 to {limit:,}.")
        if value is not None:
            setattr(run, name, value)
    if (run.price_in is None) != (run.price_out is None):
        raise _refusal(
            "price_out", "Enter both prices: for a million input tokens and for a million output tokens."
        )
    if prices.budget is not None and not (run.price_in or run.price_out):
        raise _refusal("price_in", "A budget needs the prices of tokens.")


def _refusal(name: str, message: str) -> DomainError:
    return DomainError(f"{name}_invalid", message, fields={name: message})
