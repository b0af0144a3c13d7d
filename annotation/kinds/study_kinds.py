"""Kinds that a study declares in files: reading, checking and storing them in addition to built-in kinds.

A file is the JSON of a `Kind`, at most 200 kB. Everything in it is untrusted: unknown fields are refused, and its texts
are escaped wherever they are shown.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from django.db import transaction
from pydantic import ValidationError

from accounts.models import User
from annotation.kinds.declaration import Kind
from annotation.kinds.problems import Fault, problems_in
from annotation.kinds.registry import KINDS, OWN_KIND
from annotation.models import StudyKind
from foundation.errors import Conflict, DomainError, NotFound
from studies import audit
from studies.models import Study

LARGEST_FILE = 200_000  # bytes
MOST_KINDS = 100
_SHOWN_PROBLEMS = 5


class KindInvalid(DomainError):
    """A refused declaration; `problems` has the fields."""

    def __init__(self, problems: Sequence[Fault]) -> None:
        self.problems = tuple(problems)
        sentences = [problem.sentence() for problem in self.problems[:_SHOWN_PROBLEMS]]
        more = len(self.problems) - len(sentences)
        message = " ".join([*sentences, *([f"There are {more} more problems."] if more else [])])
        by_path = {".".join(map(str, problem.path)): f"{problem.text}." for problem in self.problems}
        super().__init__("kind_invalid", message, fields={**by_path, "file": message})


@dataclass(frozen=True)
class OfferedMeasure:
    """A measure that a kind may declare: the questions it reads, or the reason why there are none."""

    name: str
    title: str
    explanation: str
    reads: tuple[str, ...] = ()
    reason: str = ""


class Measures(Protocol):
    """Gives the measures that a kind may declare; registered by the app that computes them."""

    def problems(self, kind: Kind) -> list[str]: ...

    def explained(self, kind: Kind) -> list[tuple[str, str]]: ...

    def offered(self, kind: Kind) -> list[OfferedMeasure]: ...


_measures: list[Measures] = []


def register_measures(measures: Measures) -> None:
    """Let declarations be checked against these measures."""
    _measures[:] = [measures]


def measures_of(kind: Kind) -> list[tuple[str, str]]:
    """Return the title and the explanation of each measure that a kind declares."""
    return [explained for measures in _measures for explained in measures.explained(kind)]


def measures_for(kind: Kind) -> list[OfferedMeasure]:
    """Return every measure, with the questions that it reads or the reason why there are none."""
    return [offered for measures in _measures for offered in measures.offered(kind)]


def kinds_for(study: Study) -> dict[str, Kind]:
    """Return the kinds that a campaign of the study can be of, by key."""
    own_kinds = {row.key: Kind.model_validate(row.declaration) for row in study.kinds.order_by("key")}
    return KINDS | own_kinds


def kind_for(study: Study, key: str) -> Kind:
    """Return one of `kinds_for`; raises DomainError `kind_unknown`."""
    if key in KINDS:
        return KINDS[key]
    row = study.kinds.filter(key=key).first()
    if row is None:
        keys = ", ".join([*KINDS, *study.kinds.order_by("key").values_list("key", flat=True)])
        raise DomainError("kind_unknown", f"Choose a kind of campaign: {keys}.", fields={"kind": "unknown"})
    return Kind.model_validate(row.declaration)


def as_file(kind: Kind) -> str:
    """Return the file that declares a kind."""
    return json.dumps(kind.model_dump(mode="json", exclude_none=True), indent=2, ensure_ascii=False) + "\n"


def from_file(content: bytes) -> Kind:
    """Return the kind that a file declares; raises KindInvalid with its problems."""
    if len(content) > LARGEST_FILE:
        raise _invalid(f"The file is larger than {LARGEST_FILE // 1000} kB")
    try:
        declared = json.loads(content)
    except (ValueError, RecursionError):
        raise _invalid("The file is not JSON") from None
    try:
        kind = Kind.model_validate(declared, strict=False)
    except ValidationError as error:
        raise KindInvalid(problems_in(error)) from None
    if "\x00" in as_file(kind) or "\\u0000" in as_file(kind) or not _is_encodable(kind):
        raise _invalid("A text contains characters that cannot be stored")
    if problems := _limits(kind):
        raise KindInvalid(problems)
    # Annotators' programs see the same name for all such kinds, because a kind's name might reveal what is measured.
    return kind.model_copy(update={"public_name": OWN_KIND[0]})


def _limits(kind: Kind) -> list[Fault]:
    """Return why a study cannot have a kind that is consistent in itself."""
    if kind.about_attributes:
        text = "Kinds that ask about planned attributes are built in; declare a kind with another unit"
        return [Fault(("unit",), text)]
    problems = []
    if kind.key in KINDS:
        text = f"There is already a built-in kind {kind.key}; choose another key"
        problems.append(Fault(("key",), text))
    if kind.stimuli.medium == "text" and kind.stimuli.most > 1:
        text = "A screen can show only one text: nothing says which of the pasted texts belong together"
        problems.append(Fault(("stimuli", "most"), text))
    problems += [
        Fault(
            ("standard_rules", place, "measure"),
            "Texts are never right or wrong, so there are no gold tasks that a rule could use",
        )
        for place, rule in enumerate(kind.standard_rules)
        if rule.measure == "gold_accuracy" and not kind.knowable
    ]
    return problems + [
        Fault(("measures",), text.rstrip(".")) for measures in _measures for text in measures.problems(kind)
    ]


@transaction.atomic
def add(*, study: Study, content: bytes, by: User | None, replace: bool = True) -> StudyKind:
    """Add the kind that a file declares; with `replace` also in place of the study's kind of the same key.

    Campaigns keep the version of the kind with which they were made.
    """
    kind = from_file(content)
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if not replace and study.kinds.filter(key=kind.key).exists():
        text = f"The study has a kind {kind.key}; choose another key, or edit that kind"
        raise KindInvalid([Fault(("key",), text)])
    if study.kinds.exclude(key=kind.key).count() >= MOST_KINDS:
        raise Conflict("too_many_kinds", f"A study can have {MOST_KINDS} kinds of its own.")
    declaration = kind.model_dump(mode="json")
    row, made = StudyKind.objects.update_or_create(
        study=study, key=kind.key, defaults={"declaration": declaration, "created_by": by}
    )
    audit.record(
        by=by, action="kind.added" if made else "kind.replaced", subject=row, study=study, kind=row.key
    )
    return row


@transaction.atomic
def remove(*, study: Study, key: str, by: User | None) -> None:
    """Remove a kind of the study; its campaigns keep their own copy of it."""
    row = study.kinds.filter(key=key).first()
    if row is None:
        raise NotFound("kind_not_found", "The study has no such kind of its own.")
    audit.record(by=by, action="kind.removed", subject=row, study=study, kind=row.key)
    row.delete()


def _is_encodable(kind: Kind) -> bool:
    try:
        as_file(kind).encode()
    except UnicodeEncodeError:  # half of a character, which JSON can spell
        return False
    return True


def _invalid(text: str) -> KindInvalid:
    return KindInvalid([Fault((), text)])
