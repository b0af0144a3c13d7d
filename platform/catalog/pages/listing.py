"""Queries for the pages of resources: resources, their groups, and the pairs of a group."""

from dataclasses import dataclass

from django.db.models import Avg, Count, F, Q, QuerySet

from catalog.models import IdentityGroup, Resource, Stereotype
from catalog.raters import MIN_RATERS, enough_raters, rated


@dataclass(frozen=True)
class ListingFilter:
    """A filter of groups, from the query string."""

    name: str = ""
    region: str = ""

    @property
    def active(self) -> bool:
        return bool(self.name or self.region)

    def apply(self, groups: QuerySet[IdentityGroup]) -> QuerySet[IdentityGroup]:
        if self.name:
            groups = groups.filter(Q(name__icontains=self.name) | Q(display_name__icontains=self.name))
        return groups.filter(region=self.region) if self.region else groups


def resources() -> QuerySet[Resource]:
    """Return resources with the number of their groups and pairs."""
    return Resource.objects.annotate(
        group_count=Count("groups", distinct=True), pair_count=Count("groups__stereotypes")
    ).order_by("name")


def regions(resource: Resource) -> list[str]:
    """Return the regions of the resource's groups."""
    with_region = resource.groups.exclude(region="").order_by("region")
    return list(with_region.values_list("region", flat=True).distinct())


def groups(resource: Resource, chosen: ListingFilter) -> QuerySet[IdentityGroup]:
    """Return groups with attribute_count, stereotype_count and the mean offensiveness of rated pairs."""
    return (
        chosen.apply(resource.groups.all())
        .annotate(
            attribute_count=Count("stereotypes"),
            stereotype_count=Count("stereotypes", filter=enough_raters(MIN_RATERS, path="stereotypes__")),
            offensiveness=Avg("stereotypes__offensiveness_stored", filter=rated(path="stereotypes__")),
        )
        .order_by("display_name", "name")
    )


def pairs(group: IdentityGroup) -> QuerySet[Stereotype]:
    """Return the pairs of a group, sorted by descending number of raters who called them a stereotype."""
    return (
        group.stereotypes.select_related("attribute")
        .annotate(offensiveness=Avg("offensiveness_stored", filter=rated()))
        .order_by(
            F("in_region_stereotype").desc(nulls_last=True),
            F("out_region_stereotype").desc(nulls_last=True),
            "attribute__text",
        )
    )
