"""Filtered pages of a run's answers; no page counts or sorts all answers."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from generation.models import Answer, Coding, ProbeRun
from generation.probing.codings import counted_codings
from web.keyset import EDGES, LAST, KeyPage, page_between, read_key

CODES = {"1": 1, "0": 0, "-1": -1}
SURE = {"yes": True, "no": False}
_LONGEST_SEARCH = 200
_WINDOW = 5_000  # answers that one query scans
_SECONDS = 0.15  # time limit for one page
_MORE = 10  # extra answers per query, because the coding that counts may not pass the filter


@dataclass(frozen=True)
class ProbeAnswerFilter:
    """A filter of answers; "" in a field matches all answers."""

    outcome: str = ""
    coded: str = ""
    code: str = ""
    sure: str = ""
    question: str = ""  # experiment.question
    scenario: str = ""
    group: str = ""
    order: str = ""
    text: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "ProbeAnswerFilter":
        """Return the filter of a query string; unknown values are ignored."""
        values = {field.name: query.get(field.name, "").replace("\0", "") for field in fields(cls)}
        for name, possible in (
            ("outcome", Answer.Outcome.values),
            ("code", CODES),
            ("sure", SURE),
            ("order", [order for order in Answer.Order.values if order]),
        ):
            if values[name] not in possible:
                values[name] = ""
        values["text"] = values["text"].strip()[:_LONGEST_SEARCH]
        return cls(**values)

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    @property
    def reads_codings(self) -> bool:
        return bool(self.coded or self.code or self.sure)

    def of(self, answers: QuerySet[Answer]) -> QuerySet[Answer]:
        condition = Q()
        if self.outcome:
            condition &= Q(outcome=self.outcome)
        if self.question:
            experiment, _, question = self.question.partition(".")
            condition &= Q(experiment=experiment, question=question)
        if self.scenario:
            condition &= Q(scenario=self.scenario)
        if self.group:
            condition &= Q(image__group__name=self.group) | Q(descriptor__name=self.group)
        if self.order:
            condition &= Q(order=self.order)
        if self.text:
            condition &= Q(text__icontains=self.text)
        if self.reads_codings:
            condition &= Q(Exists(self._codings()))
        return answers.filter(condition)

    def _codings(self) -> QuerySet[Coding]:
        """Return the codings of an answer that match the filter, including those that do not count; see `passes`."""
        codings = Coding.objects.filter(answer=OuterRef("pk"))
        if self.coded:
            codings = codings.filter(outcome=self.coded)
        if self.code:
            codings = codings.filter(code=CODES[self.code])
        return codings.filter(sure=SURE[self.sure]) if self.sure else codings

    def passes(self, coding: Coding | None) -> bool:
        """Return whether the coding that counts for an answer matches the filter."""
        if not self.reads_codings:
            return True
        return (
            coding is not None
            and self.coded in ("", coding.outcome)
            and (not self.code or coding.code == CODES[self.code])
            and (not self.sure or coding.sure == SURE[self.sure])
        )


@dataclass(frozen=True)
class ProbeAnswerPage:
    """One page of answers; `stopped` is True if time ran out before the page was full."""

    page: KeyPage[Answer]
    stopped: bool = False


def answer_page(
    run: ProbeRun,
    filters: ProbeAnswerFilter,
    *,
    query: QueryDict,
    size: int,
    seconds: float = _SECONDS,
    window: int = _WINDOW,
) -> ProbeAnswerPage:
    """Return the requested page of a run's answers, newest first.

    If few answers match the filter, filling a page would read all answers. The search therefore stops after
    `seconds`; it scans `window` answers per query.
    """
    after, before = (read_key(query, name) for name in EDGES)
    backwards = after is None and (before is not None or LAST in query)
    edge = before if backwards else after
    walk = _Walk(run, filters, backwards=backwards, window=window)
    rows = walk.rows_from(edge, size=size + 1, until=time.monotonic() + seconds)
    more, on_page = len(rows) > size, rows[:size]
    if backwards:
        on_page = on_page[::-1]
    page = page_between(
        query,
        on_page,
        earlier=more if backwards else after is not None,
        later=before is not None if backwards else more,
    )
    if walk.stopped_at is None:
        return ProbeAnswerPage(page)
    beyond = page_between(query, [Answer(pk=walk.stopped_at)], earlier=True, later=True)
    if backwards:
        page.previous = beyond.previous
    else:
        page.next, page.last = beyond.next, beyond.last
    return ProbeAnswerPage(page, stopped=True)


class _Walk:
    """Scans a run's answers by key until it has enough or time runs out."""

    def __init__(self, run: ProbeRun, filters: ProbeAnswerFilter, *, backwards: bool, window: int) -> None:
        answers = run.answers.order_by("pk" if backwards else "-pk")
        # An index finds the answers of one outcome, so only those are scanned.
        self._all = answers.filter(outcome=filters.outcome) if filters.outcome else answers
        self._filters = filters
        self._window = window
        self._beyond, self._until = ("pk__gt", "pk__lte") if backwards else ("pk__lt", "pk__gte")
        self.stopped_at: int | None = None

    def rows_from(self, edge: int | None, *, size: int, until: float) -> list[Answer]:
        """Return up to `size` answers beyond a key. If time runs out, `stopped_at` is the last key scanned."""
        rows: list[Answer] = []
        while True:
            remaining = self._all if edge is None else self._all.filter(**{self._beyond: edge})
            end = remaining.values_list("pk", flat=True)[self._window - 1 : self._window].first()
            window = remaining if end is None else remaining.filter(**{self._until: end})
            matching = self._filters.of(window).select_related("run__study", "image__group", "descriptor")
            rows += self._passing(matching, size - len(rows))
            if end is None or len(rows) >= size:
                return rows
            if time.monotonic() > until:
                self.stopped_at = end
                return rows
            edge = end

    def _passing(self, matching: QuerySet[Answer], wanted: int) -> list[Answer]:
        """Return up to `wanted` answers of a query whose counting coding passes the filter."""
        if not self._filters.reads_codings:
            return list(matching[:wanted])
        passing: list[Answer] = []
        remaining = matching
        while len(passing) < wanted:
            answers = list(remaining[: wanted + _MORE])
            codings = counted_codings(answers)
            passing += [answer for answer in answers if self._filters.passes(codings.get(answer.pk))]
            if len(answers) < wanted + _MORE:
                break
            remaining = matching.filter(**{self._beyond: answers[-1].pk})
        return passing[:wanted]


def choices_of(run: ProbeRun) -> dict[str, list[Any]]:
    """Return the choices of each filter, from the run's questions and the groups of its study."""
    experiments = (run.questions or {}).get("experiments", [])
    scenarios = {scenario for experiment in experiments for scenario in experiment.get("scenarios", [])}
    return {
        "questions": [
            (f"{experiment['name']}.{question['name']}", f"{experiment['name']}: {question['name']}")
            for experiment in experiments
            for question in experiment["questions"]
        ],
        "scenarios": sorted(scenarios),
        "groups": list(run.study.groups.order_by("name").values_list("name", "display_name")),
        "outcomes": Answer.Outcome.choices,
        "orders": [(value, words) for value, words in Answer.Order.choices if value],
    }
