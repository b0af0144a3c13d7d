"""Classes to declare what a table stores about annotators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.apps import apps
from django.db.models import Model, QuerySet
from django.utils.functional import Promise

from accounts.models import Annotator

Text = str | Promise


class Erasing(Enum):
    """The effect of erasing a person on their rows."""

    DELETE = "deleted"
    WITH_ANSWERS = "deleted, or kept under a nameless code, as the consent text says"
    REDACT = "kept without the data that name the person"
    KEEP = "kept"
    NOTHING = "stores nothing about annotators"


@dataclass(frozen=True)
class PersonalTable:
    """A table: its fields that are about annotators, its other fields, and what erasing does.

    `person` is the lookup from a row to the annotator, or "" if rows are found in another way. `blank` has the values
    to which fields of remaining rows are set. Fields in `mentions`, such as the title of a job, name people only by
    chance and are searched for the person's names.
    """

    model: str
    erasing: Erasing
    other: str = ""
    about: str = ""
    mentions: str = ""
    person: str = ""
    reason: str = ""
    blank: Mapping[str, Any] = field(default_factory=dict)
    hidden: str = ""  # fields left out of the person's own copy: secrets, and data about others

    @property
    def fields(self) -> list[str]:
        return [*self.about.split(), *self.mentions.split(), *self.other.split()]

    def rows_of(self, annotator: Annotator) -> QuerySet[Any]:
        """Return the rows about a person; none if the table has no `person` lookup."""
        model: type[Model] = apps.get_model(self.model)
        rows = model._default_manager.all()
        return rows.filter(**{self.person: annotator.pk}) if self.person else rows.none()


def nothing(model: str, other: str, *, mentions: str = "") -> PersonalTable:
    """Declare a table that stores nothing about annotators, except names that occur by chance."""
    return PersonalTable(model, Erasing.NOTHING, other=other, mentions=mentions)


@dataclass(frozen=True)
class TableWords:
    """Words for annotators about a table: the name of its file, its title, and the columns on their page.

    Without columns, the page shows only the number of rows; the file has all columns.
    """

    model: str
    file: str
    title: Text
    columns: Mapping[str, Text] = field(default_factory=dict)
