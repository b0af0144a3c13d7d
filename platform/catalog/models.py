"""Resources of known stereotypes: identity groups, attributes and their associations."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Resource(models.Model):
    """A list of stereotypes, published or a lead's own, imported from a file."""

    name = models.CharField(max_length=120, unique=True)
    slug = models.SlugField(max_length=120, unique=True)
    description = models.TextField(blank=True)
    citation = models.TextField(blank=True)
    licence = models.CharField(max_length=120, blank=True)
    # If False, the file has no rater counts, and every listed pair is a stereotype.
    has_rater_counts = models.BooleanField(default=False)
    invented = models.BooleanField(default=False)  # invented peoples, for the demo and for tests
    file_digest = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class IdentityGroup(models.Model):
    """A group of people in one resource; the same name in another resource is another group."""

    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=120)  # as spelled in the resource
    display_name = models.CharField(max_length=120)
    region = models.CharField(max_length=80, blank=True)  # UN M49 sub-region, or the resource's own
    region_code = models.CharField(max_length=8, blank=True)  # M49 code
    iso_code = models.CharField(max_length=10, blank=True)  # ISO 3166-1 alpha-3, or 3166-2 such as US-GA
    # The country coloured on maps, usually iso_code; English, Welsh and British share one.
    map_code = models.CharField(max_length=3, blank=True)
    # For a descriptor: its forms in sentences (singular, plural), and its dimensions.
    forms = models.JSONField(default=dict, blank=True)
    dimensions = models.JSONField(default=list, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["resource", "name"], name="identity_group_name_unique_in_resource"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="identity_group_has_name"),
        ]
        ordering: ClassVar = ["resource", "name"]

    def __str__(self) -> str:
        return self.display_name


class Attribute(models.Model):
    """A word or phrase that may be associated with a group, normalised by `catalog.attributes.normalise`."""

    text = models.CharField(max_length=160, unique=True)

    class Meta:
        constraints: ClassVar = [models.CheckConstraint(condition=~Q(text=""), name="attribute_has_text")]
        ordering: ClassVar = ["text"]

    def __str__(self) -> str:
        return self.text


class Association(models.Model):
    """The counts and ratings of a listed (group, attribute) pair, in the catalog and in a study's frozen copy.

    Offensiveness distinguishes −1 (not offensive), 0, and null (unrated).
    `offensiveness_stored` is the file's own mean, verbatim; it may disagree with the ratings.
    """

    in_region_stereotype = models.PositiveSmallIntegerField(null=True, blank=True)
    in_region_not = models.PositiveSmallIntegerField(null=True, blank=True)
    in_region_unsure = models.PositiveSmallIntegerField(null=True, blank=True)
    out_region_stereotype = models.PositiveSmallIntegerField(null=True, blank=True)
    out_region_not = models.PositiveSmallIntegerField(null=True, blank=True)
    out_region_unsure = models.PositiveSmallIntegerField(null=True, blank=True)
    rating_1 = models.FloatField(null=True, blank=True)
    rating_2 = models.FloatField(null=True, blank=True)
    rating_3 = models.FloatField(null=True, blank=True)
    offensiveness_stored = models.FloatField(null=True, blank=True)

    class Meta:
        abstract = True


class Stereotype(Association):
    """A pair (identity group, attribute) that a resource lists."""

    group = models.ForeignKey(IdentityGroup, on_delete=models.CASCADE, related_name="stereotypes")
    attribute = models.ForeignKey(Attribute, on_delete=models.PROTECT, related_name="stereotypes")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["group", "attribute"], name="stereotype_listed_once"),
            models.CheckConstraint(
                condition=Q(offensiveness_stored__isnull=True) | Q(offensiveness_stored__gte=-1),
                name="stereotype_offensiveness_at_least_minus_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.attribute}"
