"""The vocabulary in which a table declares what it stores about annotators."""

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
    """What erasing a person does with their rows."""

    DELETE = "deleted"
    WITH_ANSWERS = "deleted, or kept under a nameless code, as the consent text says"
    REDACT = "emptied of what names the person"
    KEEP = "kept"
    NOTHING = "stores nothing about annotators"


@dataclass(frozen=True)
class PersonalTable:
    """A table: its fields that are about annotators, its other fields, and what erasing does.

    `person` is the lookup that leads from a row to the annotator, "" where rows are found in another way. `blank`
    says what fields of rows that stay are set to. Fields under `mentions` name people only by chance, such as the
    title of a job: they are searched for the person's names.
    """

    model: str
    erasing: Erasing
    other: str = ""
    about: str = ""
    mentions: str = ""
    person: str = ""
    reason: str = ""
    blank: Mapping[str, Any] = field(default_factory=dict)
    hidden: str = ""  # fields that the person's own copy leaves out: secrets, and what is about somebody else

    @property
    def fields(self) -> list[str]:
        return [*self.about.split(), *self.mentions.split(), *self.other.split()]

    def rows_of(self, annotator: Annotator) -> QuerySet[Any]:
        """Return the rows about a person; none where the table has no lookup that leads to them."""
        model: type[Model] = apps.get_model(self.model)
        rows = model._default_manager.all()
        return rows.filter(**{self.person: annotator.pk}) if self.person else rows.none()


def nothing(model: str, other: str, *, mentions: str = "") -> PersonalTable:
    """Declare a table that stores nothing about annotators, except names that occur by chance."""
    return PersonalTable(model, Erasing.NOTHING, other=other, mentions=mentions)


@dataclass(frozen=True)
class TableWords:
    """What annotators read of a table: the name of its file, its title, and the columns that their page shows.

    Without columns the page says how many rows there are; the file has them all.
    """

    model: str
    file: str
    title: Text
    columns: Mapping[str, Text] = field(default_factory=dict)
