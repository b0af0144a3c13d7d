"""Shared parts of the pages of models' answers: the experiments and models chosen in the address."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from analysis.pages.results_page import ResultsPage
from analysis.results.summaries.probing.parts import parts_explained
from analysis.results.summaries.probing.probe_rows import ProbeTableRows
from analysis.results.summaries.questions.estimate_tables import QuestionPart
from foundation.errors import NotFound


@dataclass(frozen=True)
class ProbeSection:
    """An experiment with its parts; `query` is the query string for its plots' files."""

    name: str
    parts: Sequence[QuestionPart]
    query: str


@dataclass(frozen=True)
class ProbingPage:
    """A page of models' answers with the choices in its address: `experiment` and `answers_of` (a model)."""

    results: ResultsPage

    @property
    def summary(self) -> dict[str, Any]:
        return self.results.probes or {"experiments": [], "models": []}

    @cached_property
    def experiment(self) -> str:
        return self._chosen("experiment", self.summary["experiments"])

    @cached_property
    def model(self) -> str:
        return self._chosen("answers_of", self.summary["models"])

    @property
    def rows(self) -> ProbeTableRows:
        return ProbeTableRows(self._table, self.results.names, self.experiment, self.model)

    def sections(self, parts: Callable[[ProbeTableRows], list[QuestionPart]]) -> list[ProbeSection]:
        """Return a section for each experiment shown; only the first explains the parts."""
        shown = [name for name in self.summary["experiments"] if self.experiment in ("", name)]
        return [
            ProbeSection(
                name,
                parts_explained(parts(self.rows.about(name)), explained=name == shown[0]),
                self.query(experiment=name),
            )
            for name in shown
        ]

    def query(self, **chosen: str) -> str:
        values = {"experiment": self.experiment, "answers_of": self.model} | chosen
        values = {name: value for name, value in values.items() if value}
        return f"?{urlencode(values)}" if values else ""

    def _chosen(self, name: str, values: Sequence[str]) -> str:
        value = self.results.request.GET.get(name, "")
        if value and value not in values:
            raise NotFound(f"{name}_not_found", f"There are no answers of models for “{value}”.")
        return value

    def _table(self, name: str) -> list[dict[str, Any]]:
        return self.results.table(name) if self.results.probes else []
