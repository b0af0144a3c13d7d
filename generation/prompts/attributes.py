"""Selection of the attributes in a condition's prompts, by group."""

import random
from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter

from django.db.models import QuerySet

from catalog.models import Attribute, Stereotype
from generation.models import Condition
from studies.models import Study, StudyAssociation, StudyGroup
from studies.protocol.attribute_roles import stereotypes_of


def attributes_by_group(study: Study, condition: str) -> dict[int, list[Attribute]]:
    """Return attributes by key of study group: its stereotypes, or as many that are not associated with it.

    For `non_stereotypical`, they are drawn from the other groups' stereotypes with the study's seed. The first run
    that names attributes freezes the study, so that the draw does not change.
    """
    return attributes_by_condition(study, [condition])[condition]


def attributes_by_condition(study: Study, conditions: Iterable[str]) -> dict[str, dict[int, list[Attribute]]]:
    """Return the result of `attributes_by_group` for several conditions, with one set of queries."""
    requested = set(conditions)
    if not requested:
        return {}
    listed, stereotypical = _associations(study)
    everyones = set().union(*stereotypical.values()) if stereotypical else set()
    attributes = Attribute.objects.in_bulk(everyones)
    in_order = sorted(attributes, key=lambda pk: attributes[pk].text)
    by_condition: dict[str, dict[int, list[Attribute]]] = {condition: {} for condition in requested}
    for group in StudyGroup.objects.filter(study=study):
        stereotypes = stereotypical[group.pk]
        for condition in requested:
            chosen = stereotypes
            if condition == Condition.NON_STEREOTYPICAL:
                associated = listed[group.pk]
                strangers = [pk for pk in in_order if pk not in associated]
                # By name instead of key, so that a copy of the study draws the same.
                generator = random.Random(f"{study.seed}:non_stereotypical:{group.name}")
                chosen = set(generator.sample(strangers, min(len(stereotypes), len(strangers))))
            by_condition[condition][group.pk] = sorted(
                (attributes[pk] for pk in chosen), key=attrgetter("text")
            )
    return by_condition


def _associations(study: Study) -> tuple[defaultdict[int, set[int]], defaultdict[int, set[int]]]:
    """Return (all listed, stereotypes only) by study group, from the frozen copy if there is one."""
    if study.frozen_at is not None:
        frozen = StudyAssociation.objects.filter(study=study)
        return _sets(frozen), _sets(stereotypes_of(study, frozen))
    catalog = Stereotype.objects.filter(group__study_groups__study=study)
    study_group_of = {group.group_id: group.pk for group in study.groups.all()}
    listed = _sets(catalog)
    counted = _sets(stereotypes_of(study, catalog))
    return (
        defaultdict(set, {study_group_of[group]: attribute_ids for group, attribute_ids in listed.items()}),
        defaultdict(set, {study_group_of[group]: attribute_ids for group, attribute_ids in counted.items()}),
    )


def _sets(pairs: QuerySet[Stereotype] | QuerySet[StudyAssociation]) -> defaultdict[int, set[int]]:
    sets: defaultdict[int, set[int]] = defaultdict(set)
    for group, attribute in pairs.values_list("group_id", "attribute_id"):
        sets[group].add(attribute)
    return sets
