"""A person's names (user name, address, code, panel ids, notes on links), and their removal from other texts."""

import json
import re
from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.db.models import CharField, JSONField, Model, Q
from django.db.models.functions import Cast

from accounts.models import Annotator
from annotation import integrations
from annotation.models import Invitation
from annotation.recruitment import identities
from annotation.recruitment.models import PanelPerson, PanelPlace
from privacy.inventory import tables

ERASED = "(erased)"
_SHORTEST = 3  # characters; a shorter name occurs in too many other texts
_SHORTEST_NUMBER = 6


class PersonNames:
    """The names of one person, matched as whole words in texts and JSON values."""

    def __init__(self, names: Iterable[str]) -> None:
        self.all = frozenset(filter(_tells, map(str.strip, names)))
        longest_first = sorted(self.all, key=lambda name: (-len(name), name))
        words = "|".join(map(re.escape, longest_first)) or r"(?!)"
        self._pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)

    def are_in(self, value: Any) -> bool:
        """Return whether a text or JSON value contains one of the names."""
        if isinstance(value, dict):
            return any(map(self.are_in, (*value, *value.values())))
        if isinstance(value, list):
            return any(map(self.are_in, value))
        return isinstance(value, str) and self._pattern.search(value) is not None

    def removed_from(self, value: Any) -> Any:
        """Return the value with every name replaced by “(erased)”."""
        if isinstance(value, dict):
            return {self.removed_from(key): self.removed_from(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.removed_from(inner) for inner in value]
        return self._pattern.sub(ERASED, value) if isinstance(value, str) else value

    def written(self) -> set[str]:
        """Return the forms of the names in database columns: unchanged, and escaped as in JSON."""
        return set(self.all) | {json.dumps(name)[1:-1] for name in self.all}


def _tells(name: str) -> bool:
    return len(name) >= (_SHORTEST_NUMBER if name.isdecimal() else _SHORTEST)


def names_of(annotator: Annotator) -> PersonNames:
    """Return all names of a person in any table; call this before erasure."""
    names = [annotator.pseudonym, annotator.source_id]
    if annotator.user is not None:
        names += [annotator.user.username, annotator.user.email, annotator.user.display_name]
    names += own_invitations(annotator).values_list("label", flat=True)
    for tool in integrations.registered():
        names += tool.names_of(annotator)
    return PersonNames([*names, *panel_ids(annotator)])


def panel_ids(annotator: Annotator) -> list[str]:
    """Return the panel ids of a person and their places that are not yet erased."""
    people = PanelPerson.objects.filter(annotator=annotator).exclude(id_sealed="")
    places = PanelPlace.objects.filter(person__annotator=annotator).exclude(submission_sealed="")
    sealed = [
        *people.values_list("id_sealed", flat=True),
        *places.values_list("submission_sealed", flat=True),
    ]
    return list(map(identities.unseal, sealed))


def own_invitations(annotator: Annotator) -> Any:
    """Return links used only by this person: personal links, and links for one person that they opened."""
    opened = Q(limit=1, enrolments__annotator=annotator)
    return Invitation.objects.filter(Q(annotator=annotator) | opened).distinct()


def remove_mentions(names: PersonNames) -> None:
    """Replace the names in the `mentions` fields of all tables."""
    for table in tables():
        for field in table.mentions.split():
            _remove_from(apps.get_model(table.model), field, names)


def _remove_from(model: type[Model], field: str, names: PersonNames) -> None:
    condition = Q()
    for name in names.written():
        condition |= Q(as_text__icontains=name)
    if not condition:
        return
    rows = model._default_manager.annotate(as_text=Cast(field, CharField())).filter(condition)
    for pk, value in list(rows.values_list("pk", field)):
        cleaned = names.removed_from(value)
        if cleaned != value:
            limit = None if isinstance(model._meta.get_field(field), JSONField) else _length(model, field)
            model._default_manager.filter(pk=pk).update(**{field: cleaned[:limit] if limit else cleaned})


def _length(model: type[Model], field: str) -> int | None:
    return getattr(model._meta.get_field(field), "max_length", None)
