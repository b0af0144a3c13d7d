"""Importing answers as probe runs; all valid rows are added in one transaction."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from foundation.tables.formulas import unguarded
from foundation.tables.reader import Table, read_bytes, read_table
from foundation.tables.report import Rejection, RowsReport
from generation.imports.answers.fields import AnswerImportOptions, is_released, mapped
from generation.imports.answers.inspect_log import inspect_table, is_inspect_log
from generation.imports.answers.probe_sets import named_in
from generation.imports.answers.references import References
from generation.imports.answers.rows import BACKEND, ImportedRow, ImportedRows, RunIdentity, read_rows
from generation.models import Answer, ProbeRun
from generation.models.probes import LONGEST_ANSWER
from generation.probing.probe_sets import ProbeSet
from jobs.progress.reporter import Progress, Unwatched
from studies import audit
from studies.models import Study

DEFAULTS = AnswerImportOptions()
_PIECE = 2000
_LONGEST_NAME = 200
_CODES_IGNORED = "codes in the file are not imported: code the answers with code_answers"


@dataclass(frozen=True)
class AnswerFile:
    """A file of answers, and its columns as field → column."""

    source: Path | BinaryIO
    name: str
    columns: Mapping[str, str]
    stated_alone: bool = False  # whether columns named like fields are ignored


@dataclass(frozen=True)
class AnswerImportReport:
    """The result of an import. `added` counts new answers, `present` answers that the study already had."""

    study: Study
    rows: RowsReport
    runs: tuple[ProbeRun, ...]
    added: int
    present: int

    def lines(self) -> list[str]:
        """Return the report as plain lines for a console."""
        models = ", ".join(run.model_label for run in self.runs)
        return [
            *self.rows.lines(),
            f"{self.added:,} answers added, {self.present:,} were already in the study"
            f"{f': {models}' if models else ''}.",
        ]


def import_answers(
    *,
    study: Study,
    file: AnswerFile,
    probe_sets: Mapping[str, ProbeSet],
    by: User | None,
    options: AnswerImportOptions = DEFAULTS,
    progress: Progress | None = None,
) -> AnswerImportReport:
    """Import the answers of a table or a log of Inspect AI; importing the same file again adds nothing.

    `probe_sets` are the sets with the questions, by name. Raises DomainError if the file or its columns are
    unusable; rows that match nothing in the study are rejected and listed.
    """
    progress = progress or Unwatched()
    progress.step("Reading answers")
    table = read_answers(file)
    read = understood(study, table, file, probe_sets, options)
    progress.check_cancelled()
    with transaction.atomic():
        # Lock the study: two concurrent imports would both find the same answers missing.
        study = Study.objects.select_for_update().get(pk=study.pk)
        writer = _AnswerWriter(study, probe_sets, table, by)
        for identity, rows in rows_by_run(read.rows).items():
            writer.write(identity, rows, progress)
    has_codes = "code" in mapped(table, file.columns, stated_alone=file.stated_alone)
    notes = (_CODES_IGNORED,) if has_codes else ()
    return writer.report(read, notes)


def understood(
    study: Study,
    table: Table,
    file: AnswerFile,
    probe_sets: Mapping[str, ProbeSet],
    options: AnswerImportOptions,
) -> ImportedRows:
    """Return the rows of a table that answer questions of the study, and the rejected rows."""
    columns = mapped(table, file.columns, stated_alone=file.stated_alone)
    references = {
        name: References(study, probe_set, order=options.order)
        for name, probe_set in named_in(table, columns, probe_sets).items()
    }
    return read_rows(table, columns, references, options)


def read_codings(file: AnswerFile) -> Table:
    """Return a released table of codings, without the guards against spreadsheet formulas in its texts."""
    table = read_table(file.source, name=file.name, take_out_unstorable=True)
    if file.name.lower().endswith(".csv"):
        for name in ("reason", "version"):
            if name in table.columns:
                table.columns[name][:] = [unguarded(text) for text in table.columns[name]]
    return table


def read_answers(file: AnswerFile) -> Table:
    """Return a file as a table, without characters that a database cannot store."""
    if is_inspect_log(file.name):
        data = read_bytes(file.source, file.name)
        digest = hashlib.sha256(data).hexdigest()
        return inspect_table(data, name=file.name, digest=digest)
    table = read_table(file.source, name=file.name, take_out_unstorable=True)
    if is_released(table) and file.name.lower().endswith(".csv"):
        table.columns["text"][:] = [unguarded(text) for text in table.columns["text"]]
    return table


def summary_of(report: AnswerImportReport) -> str:
    """Return a summary of the report, for a page that also lists the rows left out."""
    rows = report.rows
    parts = [f"{report.added:,} answers added"]
    parts += [f"{report.present:,} were already in the study"] if report.present else []
    parts += [f"left out: {len(rows.rejected):,}"] if rows.rejected else []
    parts += [f"{how}: {count:,}" for how, count in rows.repairs.items()]
    notes = "".join(f" Note: {note}." for note in rows.notes)
    return f"{rows.read:,} rows read: {', '.join(parts)}.{notes}"


class _AnswerWriter:
    def __init__(
        self, study: Study, probe_sets: Mapping[str, ProbeSet], table: Table, by: User | None
    ) -> None:
        self._study, self._probe_sets, self._table, self._by = study, probe_sets, table, by
        self._runs: list[ProbeRun] = []
        self._added = self._present = 0
        self._contradicted: list[Rejection] = []

    def write(self, identity: RunIdentity, rows: Sequence[ImportedRow], progress: Progress) -> None:
        """Add the answers of one run."""
        run = self._run(identity, rows)
        present = _present(run)
        new = []
        for row in rows:
            stored = present.get(answer_key(row))
            if stored is None:
                new.append(row)
            elif stored == (row.outcome, row.text):
                self._present += 1
            else:
                reason = "the study has another answer to this question already"
                self._contradicted.append(Rejection(self._table.name, row.row, reason))
        now = timezone.now()
        for start in range(0, len(new), _PIECE):
            progress.check_cancelled()
            piece = [self._answer(run, row, now) for row in new[start : start + _PIECE]]
            Answer.objects.bulk_create(piece, batch_size=500)
        self._added += len(new)
        if new:
            audit.record(
                by=self._by,
                action="answers.imported",
                subject=run,
                study=self._study,
                answers=len(new),
                model=run.model_label,
                file=self._table.name[:_LONGEST_NAME],
                sha256=self._table.digest,
            )

    def _run(self, identity: RunIdentity, rows: Sequence[ImportedRow]) -> ProbeRun:
        runs = 1 + max(row.repeat for row in rows)
        both = any(row.subject.order == Answer.Order.REVERSED for row in rows)
        digest = self._probe_sets[identity.probe_set].digest
        run = imported_run(self._study, digest, identity) or self._new_run(identity)
        run.runs = max(run.runs, runs)
        run.orders = ProbeRun.Orders.BOTH if both else run.orders
        run.save()
        self._runs.append(run)
        return run

    def _new_run(self, identity: RunIdentity) -> ProbeRun:
        probe_set = self._probe_sets[identity.probe_set]
        return ProbeRun(
            study=self._study,
            backend=BACKEND,
            probe_set=identity.probe_set[:120],
            probe_set_digest=probe_set.digest,
            questions=probe_set.model_dump(mode="json"),
            model_id=identity.model_id,
            model_label=identity.label,
            model_revision=identity.revision,
            parameters=_parameters(identity),
            seed=self._study.seed,
            runs=1,
            orders=ProbeRun.Orders.PUBLISHED,
            created_by=self._by,
        )

    def _answer(self, run: ProbeRun, row: ImportedRow, now: Any) -> Answer:
        subject = row.subject
        return Answer(
            run=run,
            experiment=subject.experiment,
            question=subject.question,
            scenario=subject.scenario,
            image_id=subject.image_id,
            descriptor_id=subject.descriptor_id,
            letter=subject.letter,
            order=subject.order,
            repeat=row.repeat,
            request_sha256=_request_sha256(run, row),
            outcome=row.outcome,
            text=row.text,
            provenance={
                "file": self._table.name[:_LONGEST_NAME],
                "sha256": self._table.digest,
                "line": row.row,
            },
            finished_at=now,
            **row.facts,
        )

    def report(self, read: ImportedRows, notes: tuple[str, ...]) -> AnswerImportReport:
        rejected = sorted((*read.rejected, *self._contradicted), key=lambda rejection: rejection.row)
        contradicted = {rejection.row for rejection in self._contradicted}
        cut = sum(row.cut and row.row not in contradicted for row in read.rows)
        rows = RowsReport(
            kind="Answers",
            file=self._table.name,
            read=self._table.read,
            repaired=cut,
            repairs={f"text cut after {LONGEST_ANSWER:,} characters": cut} if cut else {},
            rejected=tuple(rejected),
            notes=notes,
        )
        return AnswerImportReport(self._study, rows, tuple(self._runs), self._added, self._present)


def imported_run(study: Study, digest: str, identity: RunIdentity) -> ProbeRun | None:
    """Return the run with a model's imported answers to the probe set with this digest, or None."""
    runs = ProbeRun.objects.filter(
        study=study,
        backend=BACKEND,
        probe_set_digest=digest,
        model_id=identity.model_id,
        model_label=identity.label,
        model_revision=identity.revision,
    )
    # Compared in Python, because SQLite and PostgreSQL differ on the equality of JSON objects.
    return next((run for run in runs if run.parameters == _parameters(identity)), None)


def rows_by_run(rows: Iterable[ImportedRow]) -> dict[RunIdentity, list[ImportedRow]]:
    of_run: dict[RunIdentity, list[ImportedRow]] = {}
    for row in rows:
        of_run.setdefault(row.run, []).append(row)
    return of_run


def _parameters(identity: RunIdentity) -> dict[str, Any]:
    stated = {"run": identity.number or None, "temperature": identity.temperature}
    return {name: value for name, value in stated.items() if value is not None}


def answer_key(row: ImportedRow) -> tuple[Any, ...]:
    """Return the values that identify an answer within its run."""
    subject = row.subject
    return (
        subject.experiment,
        subject.question,
        subject.scenario,
        subject.image_id,
        subject.descriptor_id,
        subject.letter,
        subject.order,
        row.repeat,
    )


def _present(run: ProbeRun) -> dict[tuple[Any, ...], tuple[str, str]]:
    columns = ("experiment", "question", "scenario", "image", "descriptor", "letter", "order", "repeat")
    stored = run.answers.values_list(*columns, "outcome", "text").iterator(chunk_size=_PIECE)
    return {row[:8]: (row[8], row[9]) for row in stored}


def _request_sha256(run: ProbeRun, row: ImportedRow) -> str:
    """Return a hash that identifies an imported answer; it never equals that of a sent request, so it is not reused."""
    subject = row.subject
    identity = [
        *(BACKEND, run.model_id, run.model_label, run.model_revision, run.probe_set_digest),
        *(row.run.number, row.run.temperature),
        *(subject.experiment, subject.question, subject.scenario, subject.subject),
        *(subject.letter, subject.order, row.repeat),
    ]
    return hashlib.sha256(json.dumps(identity, ensure_ascii=False).encode()).hexdigest()
