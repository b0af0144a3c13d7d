"""Models' answers as rows of a release: runs, answers and codings in planned order."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Max, Min, Q, QuerySet
from numpy.typing import NDArray

from analysis.releases.contents import ProbeRunFacts
from analysis.releases.rekey import lead_id
from analysis.releases.tables.annotator_rows import AnnotatorRows
from analysis.releases.tables.image_names import published_name
from analysis.releases.tables.label_columns import Naming
from annotation.answers.questions.scenario_verdicts import Likeness, Scenario, scenario_verdicts
from annotation.models import Annotation
from generation.models import Answer, Coding, Image, ProbeRun
from studies.models import Study

_AT_ONCE = 5_000
_ENDED = ("done", "declined", "failed")
_READ = (
    *("pk", "run", "experiment", "question", "scenario", "image", "image__group__name", "descriptor__name"),
    *("letter", "order", "repeat", "outcome", "text", "finish_reason", "served_model", "fingerprint"),
    *("tokens_in", "tokens_out", "seconds"),
)
_CODED = ("answer", "coder", "version", "source", "created_by", "outcome", "code", "span", "sure", "reason")

Columns = dict[str, list[Any]]


def answers_of(study: Study, using: str) -> QuerySet[Answer]:
    """Return the answers that ended, about images that were not retracted."""
    ended = Answer.objects.using(using).filter(run__study=study.pk, outcome__in=_ENDED)
    return ended.filter(Q(image=None) | Q(image__retracted_at=None)).order_by("run_id", "pk")


def images_not_compared(study: Study, using: str) -> list[int]:
    """Return the images of scenarios that people rejected: results leave out answers about them."""
    verdicts = scenario_verdicts(study, using)
    if verdicts is None:
        return []
    kept = {place for place, found in verdicts.items() if found.verdict == Likeness.KEPT}
    images = Image.objects.using(using).filter(study=study.pk, retracted_at=None).exclude(scenario="")
    places = images.order_by("pk").values_list("pk", "experiment", "scenario", "model_label")
    return [pk for pk, *place in places.iterator() if Scenario(*place) not in kept]


@dataclass(eq=False)
class ProbeRows:
    """Rows of one study in a snapshot. `reasons`: whether people's texts are released."""

    study: Study
    using: str
    key: bytes
    version: int
    reasons: bool
    _codings: int = 0
    _numbers: dict[int, int] = field(default_factory=dict)  # run → its number
    _not_compared: list[int] = field(default_factory=list)
    _names: dict[int, str] = field(default_factory=dict)  # run → name of its probe set here

    def __post_init__(self) -> None:
        self._not_compared = images_not_compared(self.study, self.using)
        self.runs = list(ProbeRun.objects.using(self.using).filter(study=self.study.pk).order_by("pk"))
        digests: dict[str, set[str]] = {}
        for run in self.runs:
            digests.setdefault(run.probe_set, set()).add(run.probe_set_digest)
        for number, run in enumerate(self.runs, start=1):
            self._numbers[run.pk] = number
            alone = len(digests[run.probe_set]) == 1
            self._names[run.pk] = run.probe_set if alone else f"{run.probe_set}-{run.probe_set_digest[:8]}"

    def answers(self) -> QuerySet[Answer]:
        """Return the answers in the release: those that results use."""
        return answers_of(self.study, self.using).exclude(image__in=self._not_compared)

    @property
    def left_out(self) -> int:
        """How many answers are left out because people did not keep the scenario."""
        if not self._not_compared:
            return 0
        return answers_of(self.study, self.using).filter(image__in=self._not_compared).count()

    def probe_sets(self) -> Iterator[tuple[str, str]]:
        """Yield name and content of each probe set, as JSON that can be imported."""
        by_name = {self._names[run.pk]: run.questions for run in self.runs if run.questions}
        for name, questions in sorted(by_name.items()):
            yield name, json.dumps(questions, ensure_ascii=False, indent=2, sort_keys=True) + "\n"

    def run_rows(self) -> tuple[Columns, tuple[ProbeRunFacts, ...]]:
        """Return the columns of `probe_runs`, and each run's facts for the documents."""
        columns: Columns = {}
        facts = []
        for run in self.runs:
            counts = self._counts(run)
            row = {
                "probe_run": self._numbers[run.pk],
                **self._model(run),
                "backend": run.backend,
                "probe_set_digest": run.probe_set_digest,
                "parameters": _published_parameters(run.parameters),
                "repeats": run.runs,
                "orders": run.orders,
                **{outcome: counts[outcome] for outcome in (*_ENDED, "pending")},
            }
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
            facts.append(self._facts(run, counts))
        return columns, tuple(facts)

    def _counts(self, run: ProbeRun) -> Counter[str]:
        answers = self.answers().filter(run=run)
        counts = Counter(answers.order_by().values_list("outcome", flat=True).iterator())
        counts["pending"] = run.answers.using(self.using).filter(outcome=Answer.Outcome.PENDING).count()
        return counts

    def _facts(self, run: ProbeRun, counts: Mapping[str, int]) -> ProbeRunFacts:
        ended = self.answers().filter(run=run)
        moments = ended.order_by().aggregate(first=Min("finished_at"), last=Max("finished_at"))
        return ProbeRunFacts(
            model=run.model_label,
            probe_set=self._names[run.pk],
            backend=run.backend,
            done=counts["done"],
            declined=counts["declined"],
            failed=counts["failed"],
            first_day=_day(moments["first"]),
            last_day=_day(moments["last"]),
        )

    def _model(self, run: ProbeRun) -> dict[str, Any]:
        return {
            "model": run.model_label,
            "model_id": published_name(run.model_id) if run.model_id else None,
            "revision": run.model_revision or None,
            "probe_set": self._names[run.pk],
        }

    def pages(
        self, naming: Naming, annotators: AnnotatorRows, counted: NDArray[np.bool_]
    ) -> Iterator[tuple[Columns, Columns]]:
        """Yield pages of `probe_answers` with their `codings`. `counted`: a flag for each annotation released."""
        models = {run.pk: self._model(run) for run in self.runs}
        rows = self.answers().values_list(*_READ).iterator(chunk_size=_AT_ONCE)
        page: list[dict[str, Any]] = []
        for number, values in enumerate(rows, start=1):
            page.append({**dict(zip(_READ, values, strict=True)), "probe_answer": number})
            if len(page) == _AT_ONCE:
                yield self._answers(page, models, naming), self._coded(page, annotators, counted)
                page = []
        if page:
            yield self._answers(page, models, naming), self._coded(page, annotators, counted)

    def _answers(
        self, page: Sequence[Mapping[str, Any]], models: Mapping[int, Mapping[str, Any]], naming: Naming
    ) -> Columns:
        keys = np.array([-1 if row["image"] is None else row["image"] for row in page], dtype=np.int64)
        images = naming.images.ids.of_keys(keys).to_pylist()
        temperatures = {run.pk: _temperature(run.parameters) for run in self.runs}
        columns: Columns = {
            "probe_answer": [row["probe_answer"] for row in page],
            "probe_run": [self._numbers[row["run"]] for row in page],
            "image": images,
            "identity_group": [row["image__group__name"] or row["descriptor__name"] for row in page],
            "repeat": [row["repeat"] + 1 for row in page],
            "served_model": [published_name(row["served_model"]) or None for row in page],
        }
        for name in ("model", "model_id", "revision", "probe_set"):
            columns[name] = [models[row["run"]][name] for row in page]
        columns["temperature"] = [temperatures[row["run"]] for row in page]
        for name in ("experiment", "question", "outcome", "text", "tokens_in", "tokens_out", "seconds"):
            columns[name] = [row[name] for row in page]
        for name in ("scenario", "letter", "order", "finish_reason", "fingerprint"):
            columns[name] = [row[name] or None for row in page]
        return columns

    def _coded(
        self, page: Sequence[Mapping[str, Any]], annotators: AnnotatorRows, counted: NDArray[np.bool_]
    ) -> Columns:
        number_of = {row["pk"]: row["probe_answer"] for row in page}
        runs = {row["run"] for row in page}
        low, high = min(number_of), max(number_of)
        stored = Coding.objects.using(self.using).filter(
            answer__run__in=runs, answer__gte=low, answer__lte=high
        )
        codings = [dict(zip(_CODED, row, strict=True)) for row in stored.order_by("pk").values_list(*_CODED)]
        codings = [coding for coding in codings if coding["answer"] in number_of]
        people = self._people(codings, annotators, counted)
        rows = []
        for coding in codings:
            by_person = coding["coder"] == Coding.Coder.PERSON
            annotator = people.get(coding["source"]) if by_person else None
            if by_person and annotator is None:
                continue  # their annotation does not count, or is in no release
            rows.append(self._coding(coding, number_of[coding["answer"]], annotator))
        # By id, so that the order does not tell who worked when.
        rows.sort(key=lambda row: (row["probe_answer"], row["coder"], row["annotator"] or ""))
        for row in rows:
            self._codings += 1
            row["coding"] = self._codings
        names = ("coding", "probe_answer", "coder", "version", "annotator", "lead", *_CODED[5:])
        return {name: [row[name] for row in rows] for name in names}

    def _coding(self, coding: Mapping[str, Any], answer: int, annotator: str | None) -> dict[str, Any]:
        overrides = coding["coder"] == Coding.Coder.OVERRIDE and coding["created_by"] is not None
        withheld = coding["coder"] in (Coding.Coder.PERSON, Coding.Coder.OVERRIDE) and not self.reasons
        return {
            "probe_answer": answer,
            "coder": coding["coder"],
            "version": None
            if annotator is not None
            else coding["version"],  # of people, their pseudonym here
            "annotator": annotator,
            "lead": lead_id(coding["created_by"], key=self.key, version=self.version) if overrides else None,
            "outcome": coding["outcome"],
            "code": coding["code"],
            "span": coding["span"] or None,
            "sure": coding["sure"],
            "reason": None if withheld else coding["reason"] or None,
        }

    def _people(
        self, codings: Sequence[Mapping[str, Any]], annotators: AnnotatorRows, counted: NDArray[np.bool_]
    ) -> dict[str, str]:
        """Return the released id of who gave each annotation that is released, by its submission's id."""
        sources = {
            c["source"] for c in codings if c["coder"] == Coding.Coder.PERSON and _is_uuid(c["source"])
        }
        if not sources:
            return {}
        rows = Annotation.objects.using(self.using).filter(
            campaign__study=self.study.pk, submission_id__in=sources
        )
        keys = [
            (str(source), person)
            for pk, source, person in rows.values_list("pk", "submission_id", "annotator")
            if pk < len(counted) and counted[pk]
        ]
        ids = annotators.names.of_keys(np.array([person for _, person in keys], dtype=np.int64)).to_pylist()
        return {source: name for (source, _), name in zip(keys, ids, strict=True) if name is not None}

    def empty_columns(self) -> set[tuple[str, str]]:
        """Return the columns that would be empty: of images if no question was about an image, and of people."""
        codings = Coding.objects.using(self.using).filter(answer__run__study=self.study.pk)
        empty = set()
        if not self.answers().filter(image__isnull=False).exists():
            empty.add(("probe_answers", "image"))
        if not codings.filter(coder=Coding.Coder.PERSON).exists():
            empty.add(("codings", "annotator"))
        return empty


def _published_parameters(parameters: Mapping[str, Any]) -> str:
    published = {
        name: published_name(value) if isinstance(value, str) else value for name, value in parameters.items()
    }
    return json.dumps(published, ensure_ascii=False, sort_keys=True)


def _temperature(parameters: Mapping[str, Any]) -> float | None:
    value = parameters.get("temperature")
    return float(value) if isinstance(value, int | float) else None


def _day(moment: Any) -> date | None:
    return moment.astimezone(UTC).date() if moment is not None else None


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
