"""Shared parts of all pages of results: the study, its latest report, the model shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.rights import Capability, requires, signed_in_user
from analysis.models import Report
from analysis.pages.parameters_form import ParametersForm
from analysis.results import reports
from analysis.results.data.campaign_choice import campaigns_named
from analysis.results.schema import LABELS, MARKING, described, files_of
from annotation.answers.inclusion import counted
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Campaign
from foundation.errors import NotFound
from generation.models import Image
from jobs.models import Job
from studies.access import study_for
from studies.audit.files import recorded_file
from studies.models import Study, StudyGroup

Row = dict[str, Any]
# A download of labels reads all of them in one request; with more labels than this, a release is needed.
MOST_LABELS = 500_000


@dataclass
class ResultsPage:
    """The report behind a page. Each table is read on first use, and only once."""

    request: HttpRequest
    study: Study
    report: Report
    job: Job | None

    @cached_property
    def models(self) -> list[str]:
        """Models whose images people judged, then models with automated measures only."""
        judged = [line["model"] for line in self.report.summary["headline"]]
        return [
            *judged,
            *(model for model in self.report.summary["automated"]["models"] if model not in judged),
        ]

    @cached_property
    def model(self) -> str:
        """The model chosen in the address, or the model with the most judgements."""
        lines = self.report.summary["headline"]
        chosen = self.request.GET.get("model")
        if chosen is None or chosen in self.models:
            fallback = {"model": next(iter(self.models), "")}
            best = max(lines, key=lambda line: line["judgements"], default=fallback)["model"]
            return best if chosen is None else chosen
        raise NotFound("model_not_found", f"There are no results of a model named “{chosen}” in this study.")

    @property
    def has_labels(self) -> bool:
        """Whether people judged or rated anything; if not, only the pages of automated measures have data."""
        counted = self.report.summary["counted"]
        return bool(counted["judgements"] or counted["ratings"] or counted.get("answers"))

    @property
    def probes(self) -> Row | None:
        """The summary of models' answers to probe sets; None if no model was asked."""
        summary: Row | None = self.report.summary.get("probes")
        return summary

    @property
    def words(self) -> Row | None:
        """The summary of words that models answered; None if no model was asked for words."""
        summary: Row | None = self.report.summary.get("words")
        return summary

    @property
    def has_probing(self) -> bool:
        """Whether the results use answers of models."""
        words = self.words or {}
        return self.probes is not None or bool(words.get("words") or words.get("texts"))

    @property
    def questions(self) -> list[Row]:
        """A line for each campaign that asks declared questions."""
        lines: list[Row] = self.report.summary.get("questions", [])
        return lines

    @property
    def only_questions(self) -> bool:
        """Whether there are answers to declared questions, and neither judgements of attributes nor ratings."""
        counted = self.report.summary["counted"]
        return bool(self.questions) and not counted["judgements"] and not counted["ratings"]

    @property
    def headline(self) -> Row | None:
        return next((line for line in self.report.summary["headline"] if line["model"] == self.model), None)

    @cached_property
    def groups(self) -> dict[str, StudyGroup]:
        return {group.name: group for group in self.study.groups.all()}

    @cached_property
    def names(self) -> dict[str, str]:
        return {name: group.display_name for name, group in self.groups.items()}

    @property
    def epsilon(self) -> float | None:
        """ε of θ smoothed; None if the likelihoods of groups cannot be pooled from the tables."""
        notes = self.report.summary["notes"].get("tendency", {})
        if notes.get("none_of_the_above") != "ignore":
            return None
        value: float | None = notes["epsilon"].get(self.model)
        return value

    @property
    def query(self) -> str:
        """The query string of links: the model, if the address has one."""
        return f"?{urlencode({'model': self.model})}" if "model" in self.request.GET else ""

    @property
    def and_model(self) -> str:
        """`query`, to append to other parameters."""
        return f"&{self.query[1:]}" if self.query else ""

    @cached_property
    def files(self) -> list[str]:
        """The tables for download that have rows."""
        return files_with_rows(self.report)

    def file(self, content: str | bytes, name: str, content_type: str) -> HttpResponse:
        """Return a file of these results for download, and record the download."""
        return recorded_file(
            content, by=self.request.user, study=self.study, name=name, content_type=content_type
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return LABELS

    @property
    def too_many_labels(self) -> bool:
        """Whether there are too many labels to download in one request."""
        counted = self.report.summary["counted"]
        return int(counted["judgements"]) + int(counted["ratings"]) > MOST_LABELS

    @property
    def viewer(self) -> str:
        return f"user:{self.request.user.pk}"

    @cached_property
    def campaigns(self) -> list[Campaign]:
        """The campaigns whose answers the report uses."""
        return list(campaigns_named(self.study, self.report.parameters["campaigns"]))

    @property
    def _marking(self) -> list[Campaign]:
        return [campaign for campaign in self.campaigns if kind_of(campaign).marks_attributes]

    @property
    def rating_campaigns(self) -> list[Campaign]:
        """The rating campaigns whose answers the report uses."""
        return [campaign for campaign in self.campaigns if kind_of(campaign).rates_attributes]

    def marks(self, images: Sequence[Image] | QuerySet[Image]) -> QuerySet[Annotation]:
        """Return the annotations of these images that count now, without those withdrawn since the report."""
        return self.marks_where(task__image__in=images)

    def marks_where(self, **holds: Any) -> QuerySet[Annotation]:
        """Return the annotations that match the lookups `holds` and count now."""
        per_campaign = [counted(campaign).filter(**holds) for campaign in self._marking]
        if len(per_campaign) == 1:
            marks = per_campaign[0]
        else:  # as a subquery, because a list of keys could exceed the database's limit of parameters
            none = Annotation.objects.none().values("pk")
            keys = none.union(*(part.order_by().values("pk") for part in per_campaign), all=True)
            marks = Annotation.objects.filter(pk__in=keys)
        left_out = self.report.parameters["without_annotators"]
        person = Q(annotator__pseudonym__in=left_out) | Q(annotator__source_id__in=left_out)
        return marks.exclude(person) if left_out else marks

    @cached_property
    def _read(self) -> dict[str, list[Row]]:
        return {}

    def table(self, name: str) -> list[Row]:
        """Return all rows of one table."""
        if name not in self._read:
            self._read[name] = self.report.rows(name)
        return self._read[name]

    def optional(self, name: str) -> list[Row]:
        """Return all rows of a table, or [] if the report does not have the table."""
        return self.table(name) if self.report.tables.filter(name=name).exists() else []

    def rows(self, name: str) -> list[Row]:
        """Return the rows of one table about the chosen model."""
        return [row for row in self.table(name) if row["model"] == self.model]

    @cached_property
    def _lists(self) -> dict[str, tuple[list[str], list[list[Any]]]]:
        return {}

    def _values(self, name: str) -> tuple[list[str], list[list[Any]]]:
        if name not in self._lists:
            stored = self.report.tables.get(name=name)
            self._lists[name] = stored.columns, stored.values()
        return self._lists[name]

    def distinct(self, name: str, column: str) -> list[str]:
        """Return a column's sorted values for the chosen model, without building up to 50,000 rows."""
        columns, values = self._values(name)
        if column not in columns:  # an empty table may lack columns
            return []
        at, model = columns.index(column), columns.index("model")
        return sorted({row[at] for row in values if row[model] == self.model and row[at] is not None})

    def where(self, name: str, **equal: Any) -> list[Row]:
        """Return the rows about the chosen model with these values, without building other rows."""
        columns, values = self._values(name)
        for column, value in {**equal, "model": self.model}.items():
            at = columns.index(column)
            values = [row for row in values if row[at] == value]
        return [dict(zip(columns, row, strict=True)) for row in values]

    def agreement(self, kind: str, scope: str, measure: str | None = None) -> list[Row]:
        """Return rows of the agreement table."""
        return [
            described(row)
            for row in self.table("agreement")
            if row["campaign_kind"] == kind
            and row["scope"] == scope
            and (measure is None or row["measure"] == measure)
            and (kind != MARKING or row["model"] == self.model)
        ]


def files_with_rows(report: Report) -> list[str]:
    """Return the names of downloadable tables that have rows; the summary says why others are empty."""
    empty = report.summary["empty_tables"]
    stored = report.tables.values_list("name", flat=True)
    return [name for name in files_of(stored) if name not in empty]


def _waiting(study: Study, job: Job | None) -> dict[str, Any]:
    """Return the context of the page before the first report: a running job, a stopped job, or the inputs."""
    if job is not None and job.state in reports.STOPPED:
        latest = reports.latest_report(study)
        form = ParametersForm(study, initial=latest.parameters if latest else {})
        return {"job": None, "stopped": job, "form": form}
    if job is not None:
        return {}
    most = reports.MOST_COUNTED
    counts = (
        (reports.judgements_of, "judgements"),
        (reports.scored_images_of, "images scored by machines"),
        (reports.model_answers_of, "answers of models"),
    )
    numbers = [(count(study, most=most), words) for count, words in counts]
    parts = [
        f"{'at least ' if number == most else ''}{number:,} {words}" for number, words in numbers if number
    ]
    return {"to_measure": " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))}


View = Callable[..., HttpResponse | dict[str, Any]]


def results_page(template: str) -> Callable[[View], Callable[..., HttpResponse]]:
    """Turn a function that takes a ResultsPage and returns context for the template into a view.

    The view needs the right to see results. Without a report, it shows how to get one.
    """

    def decorate(view: View) -> Callable[..., HttpResponse]:
        @wraps(view)
        def page(request: HttpRequest, study: str, **places: Any) -> HttpResponse:
            current_study = study_for(request, study)
            report, job = reports.report_to_show(study=current_study, by=signed_in_user(request))
            is_probing = current_study.asks_models
            shared: dict[str, Any] = {
                "study": current_study,
                "report": report,
                "job": job,
                "is_probing": is_probing,
            }
            if report is None:
                return render(
                    request, "analysis/results/no_report.html", shared | _waiting(current_study, job)
                )
            results = ResultsPage(request, current_study, report, job)
            answer = view(results, **places)
            if isinstance(answer, HttpResponse):
                return answer
            since = reports.judgements_since(report)
            shared |= {"page": results, "since": since, "since_at_least": since == reports.MOST_COUNTED}
            shared["scored_since"] = reports.scored_since(report)
            shared["answered_since"] = reports.answered_since(report)
            return render(request, template, shared | answer)

        return requires(get=Capability.SEE_RESULTS)(page)

    return decorate
