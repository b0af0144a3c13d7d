"""Estimates for a run before it is started: requests, tokens, money and time."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count

from foundation.formats import format_duration
from generation.models import Answer, ProbeRun
from generation.probing.budget import PICTURE_TOKENS, price
from generation.probing.planning import (
    ProbePlan,
    batches_of_plan,
    identity_of,
    missing_of,
    runs_of_plan,
    same_run,
)
from generation.probing.request_plan import PlanPart, parts_of
from generation.probing.totals import counts_of

# A token of English prose has about four characters.
_CHARACTERS_PER_TOKEN = 4
_TOKENS_AROUND = 10
_ENOUGH = 20  # number of answers from which tokens and time are measured
_NEWEST = 2000


@dataclass(frozen=True)
class PartCount:
    """The requests of one experiment by kind of question."""

    experiment: str
    kind: str
    requests: int


@dataclass(frozen=True)
class ProbeEstimate:
    """The size of a run, before it is started."""

    answers: int  # of the whole run, including all repeats
    to_ask: int  # answers that are still missing
    requests: int  # requests to send for them; a request may be for several answers
    parts: tuple[PartCount, ...]
    tokens_in: int
    tokens_out: int
    measured: bool  # whether tokens are measured from this model's earlier answers; otherwise they are an upper limit
    seconds: float | None  # None: this model has not answered anything here yet
    cost: Decimal | None = None
    spent: Decimal = Decimal(0)
    budget: Decimal | None = None

    @property
    def beyond_budget(self) -> bool:
        return self.cost is not None and self.budget is not None and self.spent + self.cost > self.budget


def estimate(plan: ProbePlan) -> ProbeEstimate:
    """Calculate the requests that `plan_run` would write, without writing anything."""
    identity, runs = identity_of(plan), runs_of_plan(plan)
    parts = parts_of(plan.study, plan.probe_set, identity["orders"])
    run = None if plan.fresh else same_run(plan.study, identity)
    runs = max(runs, run.runs) if run else runs
    pending = counts_of(run).pending if run else 0
    to_ask = missing_of(run, parts, runs) + pending
    requests = -(-to_ask // plan.samples_per_request)
    tokens_in, tokens_out, seconds = _measured(identity)
    measured = tokens_in is not None and tokens_out is not None
    per_request = tokens_in if tokens_in is not None else _tokens_in(parts)
    per_answer = tokens_out if tokens_out is not None else identity["parameters"]["max_tokens"]
    all_in, all_out = round(per_request * requests), round(per_answer * to_ask)
    batches = batches_of_plan(plan)
    factor = Decimal(str(batches.batch_price_factor)) if batches else Decimal(1)
    priced = run or ProbeRun()
    priced.price_in = priced.price_in if plan.price_in is None else plan.price_in
    priced.price_out = priced.price_out if plan.price_out is None else plan.price_out
    return ProbeEstimate(
        answers=sum(part.requests for part in parts) * runs,
        to_ask=to_ask,
        requests=requests,
        parts=_counts(parts, runs),
        tokens_in=all_in,
        tokens_out=all_out,
        measured=measured,
        seconds=None if seconds is None else seconds * to_ask,
        cost=None if priced.price_in is None else price(priced, all_in, all_out, factor=factor),
        spent=counts_of(run).spent if run else Decimal(0),
        budget=plan.budget if plan.budget is not None or run is None else run.budget,
    )


def estimate_words(estimate: ProbeEstimate) -> str:
    """Return an estimate as lines of text for a terminal."""
    lines = [
        f"{estimate.answers:,} answers, {estimate.to_ask:,} still to ask in {estimate.requests:,} requests."
    ]
    lines += [f"{part.experiment}, {part.kind}: {part.requests:,}." for part in estimate.parts]
    most = "About" if estimate.measured else "At most about"
    lines.append(f"{most} {estimate.tokens_in:,} tokens in and {estimate.tokens_out:,} tokens out.")
    if estimate.seconds is None:
        lines.append("The time is not known, because this model has not answered anything here yet.")
    else:
        lines.append(f"About {format_duration(estimate.seconds)}.")
    if estimate.cost is not None:
        lines.append(f"{most} {estimate.cost:,.2f}; {estimate.spent:,.2f} spent so far.")
    if estimate.beyond_budget:
        lines.append(f"The budget of {estimate.budget:,.2f} does not cover all requests.")
    return "\n".join(lines)


def _counts(parts: Sequence[PlanPart], runs: int) -> tuple[PartCount, ...]:
    counts: dict[tuple[str, str], int] = {}
    for part in parts:
        for question, orders in part.questions:
            key = part.experiment, question.kind
            counts[key] = counts.get(key, 0) + len(part.subjects) * len(part.letters) * len(orders) * runs
    return tuple(PartCount(*key, number) for key, number in counts.items())


def _tokens_in(parts: Sequence[PlanPart]) -> float:
    """Return the mean tokens of a request, from the length of its words and of a picture."""
    total, requests = 0.0, 0
    for part in parts:
        picture = PICTURE_TOKENS if part.subjects and part.subjects[0].image_id else 0
        for question, orders in part.questions:
            number = len(part.subjects) * len(part.letters) * len(orders)
            characters = len(question.system) + len(question.text)
            total += number * (characters / _CHARACTERS_PER_TOKEN + _TOKENS_AROUND + picture)
            requests += number
    return total / requests if requests else 0.0


def _measured(identity: dict[str, Any]) -> tuple[float | None, float | None, float | None]:
    """Return tokens in, tokens out and seconds of an answer, from this model's newest answers to the set."""
    runs = ProbeRun.objects.filter(
        backend=identity["backend"],
        model_id=identity["model_id"],
        probe_set_digest=identity["probe_set_digest"],
    )
    done = Answer.objects.filter(run__in=runs, outcome=Answer.Outcome.DONE, reused_from=None)
    newest = done.order_by("-pk").values("pk")[:_NEWEST]
    means = Answer.objects.filter(pk__in=newest).aggregate(
        number=Count("pk"), tokens_in=Avg("tokens_in"), tokens_out=Avg("tokens_out"), seconds=Avg("seconds")
    )
    if means["number"] < _ENOUGH:
        return None, None, None
    return means["tokens_in"], means["tokens_out"], means["seconds"]
