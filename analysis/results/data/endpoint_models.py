"""The models that an endpoint named, if they changed while one model was asked."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Min

from generation.models import Answer
from generation.probing.execution.ask import served_by
from studies.models import Study

Outcome = Answer.Outcome
_AT_ONCE = 5_000


@dataclass(frozen=True)
class ServedModels:
    """Models whose answers came from several served models, each of which counts as a separate model.

    `names`: the model by answer, for answers of such models alone. `changes`: by model, which served models there
    were, how many answers each gave, and since when, in the order of time.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    changes: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    def name_of(self, answer: int, model: str) -> str:
        """Return the name under which an answer of a model counts."""
        return self.names.get(answer, model)

    def summary(self) -> list[dict[str, Any]]:
        """Return a line for each model that changed."""
        return [{"model": model, "served": list(served)} for model, served in self.changes.items()]


def read_served_models(study: Study) -> ServedModels:
    """Find the models of a study that changed; most have none, which one query over an index finds."""
    counted = (
        Answer.objects.filter(run__study=study, outcome=Outcome.DONE)
        .order_by()
        .values("run__model_label", "served_model", "fingerprint")
        .annotate(answers=Count("pk"), since=Min("finished_at"))
    )
    by_label: dict[str, list[dict[str, Any]]] = {}
    for row in counted:
        if served := served_by(row["served_model"], row["fingerprint"]):
            line = {"name": served, "answers": row["answers"], "since": row["since"].isoformat()}
            by_label.setdefault(row["run__model_label"], []).append(line)
    changes = {
        label: sorted(lines, key=lambda line: (line["since"], line["name"]))
        for label, lines in sorted(by_label.items())
        if len(lines) > 1
    }
    names = {pk: name for label in changes for pk, name in _names(study, label)}
    return ServedModels(names, changes)


def _names(study: Study, label: str) -> Iterator[tuple[int, str]]:
    """Yield the model of each answer. An answer without a name, such as a failure, counts for the last named model."""
    answers = Answer.objects.filter(run__study=study, run__model_label=label).exclude(outcome=Outcome.PENDING)
    columns = ("pk", "served_model", "fingerprint", "finished_at")
    unnamed: list[tuple[int, datetime]] = []
    times: list[tuple[datetime, str]] = []
    for pk, model, fingerprint, at in answers.values_list(*columns).iterator(_AT_ONCE):
        if served := served_by(model, fingerprint):
            times.append((at, served))
            yield pk, _named(label, served)
        else:
            unnamed.append((pk, at))
    times.sort()
    for pk, at in unnamed:
        place = max(0, bisect_right(times, at, key=lambda time: time[0]) - 1)
        yield pk, _named(label, times[place][1])


def _named(label: str, served: str) -> str:
    return f"{label}, served as {served}"
