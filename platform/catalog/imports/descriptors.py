"""Importing descriptors into a resource: groups of people with forms and one or more dimensions."""

import difflib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from accounts.models import User
from catalog.imports.descriptor_rows import DescriptorRow, read_rows
from catalog.imports.resources import free_slug, resource_name
from catalog.models import IdentityGroup, Resource
from catalog.word_forms import PLURAL, SINGULAR, plurals_in_use

logger = logging.getLogger(__name__)

_BATCH = 500
_RANKS = 5  # the most plurals in use for one name
_CLOSE = 0.93  # matches “gifted incompetance people” and “Gifted incompetence people”


@dataclass(eq=False)
class Descriptor:
    """A descriptor with its forms and dimensions."""

    name: str
    forms: dict[str, str] = field(default_factory=dict)
    dimensions: list[str] = field(default_factory=list)

    def add(self, forms: dict[str, str], dimension: str) -> None:
        """Add a dimension and missing forms; existing forms keep their spelling."""
        self.forms = {**forms, **self.forms}
        if dimension not in self.dimensions:
            self.dimensions.append(dimension)


@dataclass(frozen=True)
class DescriptorReport:
    """The result of an import of descriptors."""

    resource: Resource
    rows: int
    repaired: int
    created: int
    changed: int
    descriptors: int
    dimensions: int
    without_singular: tuple[str, ...]
    without_plural: int

    def lines(self) -> list[str]:
        """Return the report as plain lines for a console."""
        size = f"{self.descriptors:,} descriptors in {self.dimensions:,} dimensions"
        lines = [
            f"{self.rows:,} rows read, {self.repaired:,} of them repaired.",
            f"{self.resource.name}: {size}; {self.created:,} new, {self.changed:,} changed.",
        ]
        if self.without_singular:
            lines.append(f"  with a plural form only: {', '.join(self.without_singular)}")
        if self.without_plural:
            lines.append(f"  plural formed by rule: {self.without_plural:,}")
        return lines


@transaction.atomic
def import_descriptors(
    *, files: Sequence[Path], name: str, by: User | None, invented: bool = False
) -> DescriptorReport:
    """Add the descriptors of files to the resource `name`, which is created if it does not exist.

    A descriptor is identified by its singular, ignoring case. Existing descriptors are not removed or respelled;
    importing the same files again changes nothing. Raises DomainError, naming file and row, for invalid files.
    """
    name = resource_name(name)
    rows = [row for path in files for row in read_rows(path)]
    resource = Resource.objects.select_for_update().filter(name=name).first()
    if resource is None:
        resource = Resource.objects.create(name=name, slug=free_slug(name), invented=invented)
    groups = {group.name: group for group in resource.groups.order_by("pk")}
    descriptors = merged(
        rows, [Descriptor(group.name, dict(group.forms), list(group.dimensions)) for group in groups.values()]
    )
    created, changed = _store(resource, groups, descriptors)
    report = DescriptorReport(
        resource=resource,
        rows=len(rows),
        repaired=sum(1 for row in rows if row.repair),
        created=created,
        changed=changed,
        descriptors=len(descriptors),
        dimensions=len({dimension for descriptor in descriptors for dimension in descriptor.dimensions}),
        without_singular=tuple(
            descriptor.name for descriptor in descriptors if SINGULAR not in descriptor.forms
        ),
        without_plural=sum(1 for descriptor in descriptors if PLURAL not in descriptor.forms),
    )
    # Resources belong to no study and have no audit trail.
    logger.info("descriptors of %r imported by %s: %s", name, by, report.lines()[1])
    return report


def merged(rows: Iterable[DescriptorRow], existing: Iterable[Descriptor] = ()) -> list[Descriptor]:
    """Return the existing descriptors with those of the rows added.

    Forms in a row belong together, as do rows with the same dimension and `key`. A plural without a singular is
    assigned to the descriptor whose plural it is by rule; if there is none, it becomes a separate descriptor.
    """
    descriptors = list(existing)
    by_name = {descriptor.name.casefold(): descriptor for descriptor in descriptors}
    plurals: list[tuple[str, str]] = []
    for forms, dimension in _joined(rows):
        if SINGULAR not in forms:
            plurals.append((forms[PLURAL], dimension))
            continue
        key = forms[SINGULAR].casefold()
        if key not in by_name:
            by_name[key] = Descriptor(forms[SINGULAR])
            descriptors.append(by_name[key])
        by_name[key].add(forms, dimension)
    _add_plurals(descriptors, plurals)
    return descriptors


def _joined(rows: Iterable[DescriptorRow]) -> list[tuple[dict[str, str], str]]:
    """Return (forms, dimension) of rows; rows with the same dimension and key are joined."""
    by_key: dict[tuple[str, str], dict[str, str]] = {}
    joined: list[tuple[dict[str, str], str]] = []
    for row in rows:
        forms = dict(row.forms)
        if row.key:
            place = (row.dimension, row.key)
            if place in by_key:
                by_key[place].update({**forms, **by_key[place]})
                continue
            by_key[place] = forms
        joined.append((forms, row.dimension))
    return joined


def _add_plurals(descriptors: list[Descriptor], plurals: list[tuple[str, str]]) -> None:
    dimensions: dict[str, list[str]] = defaultdict(list)
    spelling: dict[str, str] = {}
    for plural, dimension in plurals:
        dimensions[_plain(plural)].append(dimension)
        spelling.setdefault(_plain(plural), plural)
    for owner, key in _owners(descriptors, list(dimensions)):
        for dimension in dimensions.pop(key):
            owner.add({PLURAL: spelling[key]}, dimension)
    for key, of_plural in dimensions.items():
        lone = Descriptor(spelling[key])
        descriptors.append(lone)
        for dimension in of_plural:
            lone.add({PLURAL: spelling[key]}, dimension)


def _owners(descriptors: Sequence[Descriptor], keys: list[str]) -> list[tuple[Descriptor, str]]:
    """Return (descriptor, plural) pairs: by an existing plural, by rule, or by similar spelling."""
    free = dict.fromkeys(keys)
    owners: list[tuple[Descriptor, str]] = []

    def take(owner: Descriptor, key: str) -> None:
        if key in free:
            del free[key]
            owners.append((owner, key))

    for descriptor in descriptors:
        if PLURAL in descriptor.forms:
            take(descriptor, _plain(descriptor.forms[PLURAL]))
    owner_ids = {id(owner) for owner, _ in owners}
    unowned = [
        descriptor
        for descriptor in descriptors
        if PLURAL not in descriptor.forms and id(descriptor) not in owner_ids
    ]
    for rank in range(_RANKS):
        for descriptor in list(unowned):
            in_use = [_plain(plural) for plural in plurals_in_use(descriptor.forms[SINGULAR])]
            if rank < len(in_use) and in_use[rank] in free:
                take(descriptor, in_use[rank])
                unowned.remove(descriptor)
    for descriptor in unowned:
        expected = _plain(next(plurals_in_use(descriptor.forms[SINGULAR])))
        for key in difflib.get_close_matches(expected, list(free), n=1, cutoff=_CLOSE):
            take(descriptor, key)
    return owners


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").split())


def _store(
    resource: Resource, groups: dict[str, IdentityGroup], descriptors: Sequence[Descriptor]
) -> tuple[int, int]:
    new, changed = [], []
    for descriptor in descriptors:
        group = groups.get(descriptor.name)
        if group is None:
            new.append(
                IdentityGroup(
                    resource=resource,
                    name=descriptor.name,
                    display_name=descriptor.name,
                    forms=descriptor.forms,
                    dimensions=descriptor.dimensions,
                )
            )
        elif (group.forms, group.dimensions) != (descriptor.forms, descriptor.dimensions):
            group.forms, group.dimensions = descriptor.forms, descriptor.dimensions
            changed.append(group)
    IdentityGroup.objects.bulk_create(new, batch_size=_BATCH)
    IdentityGroup.objects.bulk_update(changed, ["forms", "dimensions"], batch_size=100)
    return len(new), len(changed)
