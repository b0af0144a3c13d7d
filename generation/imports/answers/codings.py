"""Importing the codings of a release into a study that has imported its answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from accounts.models import User
from foundation.errors import DomainError
from foundation.tables.reader import Table
from foundation.tables.report import Rejection, RowsReport
from generation.imports.answers.fields import AnswerImportOptions, is_released
from generation.imports.answers.importer import (
    DEFAULTS,
    AnswerFile,
    answer_key,
    imported_run,
    read_answers,
    read_codings,
    rows_by_run,
    understood,
)
from generation.models import Answer, Coding
from generation.probing.coding import CODES
from generation.probing.codings import UNPARSED
from generation.probing.overrides import VERSION as OVERRIDE_VERSION
from generation.probing.probe_sets import ProbeSet
from studies import audit
from studies.models import Study

_COLUMNS = frozenset({"probe_answer", "coder", "version", "outcome"})
_OPTIONAL = ("annotator", "reason")  # missing in a release without people or reasons
_WITHHELD = "The release withholds the reason."
_LONGEST_NAME, _LONGEST_REASON = 50, 300
_AT_ONCE = 500


@dataclass(frozen=True)
class CodingImportReport:
    """The result of importing codings. Codings by rules are left out, because rules code the answers again."""

    rows: RowsReport
    added: int
    by_rules: int

    def lines(self) -> list[str]:
        return [
            *self.rows.lines(),
            f"{self.added:,} codings by people, models and leads added; {self.by_rules:,} codings by rules left out, "
            "because the rules code the answers again.",
        ]


def import_codings(
    *,
    study: Study,
    answers: AnswerFile,
    codings: AnswerFile,
    probe_sets: Mapping[str, ProbeSet],
    by: User | None,
    options: AnswerImportOptions = DEFAULTS,
) -> CodingImportReport:
    """Import the codings of answers by people, models and leads; importing the same tables again adds nothing.

    `answers` and `codings` are the tables `probe_answers` and `codings` of one release; other tables raise
    `codings_not_released`. Rows about answers that the study does not have are rejected.
    """
    table = read_answers(answers)
    given = read_codings(codings)
    if not is_released(table) or not given.columns.keys() >= _COLUMNS:
        message = "Upload the tables probe_answers and codings from the same release."
        raise DomainError("codings_not_released", message, fields={"codings": message})
    with transaction.atomic():
        # Lock the study: two concurrent imports would both find the same codings missing.
        study = Study.objects.select_for_update().get(pk=study.pk)
        reader = _CodingReader(_answers_by_number(study, table, answers, probe_sets, options))
        for place, row in enumerate(given.rows.tolist()):
            cells = dict.fromkeys(_OPTIONAL, "")
            cells |= {name: str(column[place]).strip() for name, column in given.columns.items()}
            reader.read(int(row), cells, given.name)
        added = _add(reader.codings, study=study, by=by, sha256=given.digest)
    rows = RowsReport(
        kind="Codings",
        file=given.name,
        read=given.read,
        repaired=0,
        repairs={},
        rejected=tuple(reader.rejected),
    )
    return CodingImportReport(rows, added, reader.by_rules)


def _add(codings: Sequence[Coding], *, study: Study, by: User | None, sha256: str) -> int:
    """Store the codings that the study does not have yet; return their number."""
    kept = Coding.objects.filter(answer__run__study=study)
    before = kept.count()
    Coding.objects.bulk_create(codings, batch_size=_AT_ONCE, ignore_conflicts=True)
    added = kept.count() - before
    if added:
        audit.record(
            by=by, action="codings.imported", subject=study, study=study, codings=added, sha256=sha256
        )
    return added


def _answers_by_number(
    study: Study,
    table: Table,
    file: AnswerFile,
    probe_sets: Mapping[str, ProbeSet],
    options: AnswerImportOptions,
) -> dict[str, int]:
    """Map the number of each answer to a choice in the release to its key in the study."""
    read = understood(study, table, file, probe_sets, options)
    number_of = dict(zip(table.rows.tolist(), table.columns["probe_answer"], strict=True))
    by_number: dict[str, int] = {}
    for identity, rows in rows_by_run(read.rows).items():
        run = imported_run(study, probe_sets[identity.probe_set].digest, identity)
        if run is None:
            continue
        choices = run.answers.filter(outcome=Answer.Outcome.DONE).exclude(order=Answer.Order.NONE)
        columns = ("experiment", "question", "scenario", "image", "descriptor", "letter", "order", "repeat")
        present = {tuple(values): pk for pk, *values in choices.values_list("pk", *columns)}
        for row in rows:
            if (answer := present.get(answer_key(row))) is not None:
                by_number[str(number_of[row.row]).strip()] = answer
    return by_number


class _CodingReader:
    """Reads rows in order. The source of a coding numbers the codings of an answer by the same coder."""

    def __init__(self, answers: Mapping[str, int]) -> None:
        self._answers = answers
        self._numbers: Counter[tuple[int, str, str]] = Counter()
        self.codings: list[Coding] = []
        self.rejected: list[Rejection] = []
        self.by_rules = 0

    def read(self, row: int, cells: Mapping[str, str], file: str) -> None:
        if cells["coder"] == Coding.Coder.RULES:
            self.by_rules += 1
            return
        try:
            self.codings.append(self._coding(cells))
        except ValueError as error:
            self.rejected.append(Rejection(file, row, str(error)))

    def _coding(self, cells: Mapping[str, str]) -> Coding:
        coder, outcome = cells["coder"], cells["outcome"]
        answer = self._answers.get(cells["probe_answer"])
        if answer is None:
            raise ValueError("the study has no such answer to a choice: import the answers first")
        code: int | None = next((sign for name, sign in CODES.items() if name == outcome), None)
        if code is None and not (coder == Coding.Coder.MODEL and outcome == UNPARSED):
            raise ValueError(f"outcome is “{outcome[:40]}”, not one of {', '.join(CODES)}")
        facts: dict[str, Any] = {"reason": cells["reason"][:_LONGEST_REASON], "version": cells["version"]}
        if coder == Coding.Coder.PERSON:
            facts["version"] = cells["annotator"]
        elif coder == Coding.Coder.OVERRIDE:
            facts["version"] = OVERRIDE_VERSION
            facts["reason"] = facts["reason"] or _WITHHELD
        elif coder != Coding.Coder.MODEL:
            raise ValueError(f"coder is “{coder[:40]}”")
        if not 0 < len(facts["version"]) <= _LONGEST_NAME + 70 or len(cells["annotator"]) > _LONGEST_NAME:
            raise ValueError("the name of the coder is missing or has more than 50 characters")
        if coder != Coding.Coder.MODEL:
            self._numbers[answer, coder, facts["version"]] += 1
            number = self._numbers[answer, coder, facts["version"]]
            # Codings of an answer have distinct sources.
            facts["source"] = f"{cells['annotator'] or 'imported'} {number}"
        return Coding(
            answer_id=answer, coder=coder, outcome=outcome, code=code, sure=outcome != UNPARSED, **facts
        )
