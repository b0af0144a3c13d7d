"""The invented study of most tests, and its people, for fixtures of a test and of a module."""

from accounts.models import User
from catalog.models import Attribute, IdentityGroup, Resource, Stereotype
from studies.models import Study, StudyGroup, StudyMembership


def new_lead() -> User:
    return User.objects.create_user("lena", password="a long password", is_lead=True, display_name="Lena")


def new_analyst() -> User:
    return User.objects.create_user(
        "anton", password="a long password", is_analyst=True, display_name="Anton"
    )


def new_resource() -> Resource:
    """Two invented peoples; each lists four attributes, of which the last has too few raters."""
    resource = Resource.objects.create(
        name="Invented peoples", slug="invented-peoples", has_rater_counts=True, invented=True
    )
    listed = {
        "Velmari": ["tall hat", "blue scarf", "lantern", "kite"],
        "Orsani": ["round glasses", "drum", "umbrella", "tall hat"],
    }
    for name, attributes in listed.items():
        group = IdentityGroup.objects.create(
            resource=resource, name=name, display_name=name, region="North Isles", region_code="X01"
        )
        for index, text in enumerate(attributes):
            attribute, _ = Attribute.objects.get_or_create(text=text)
            Stereotype.objects.create(
                group=group,
                attribute=attribute,
                in_region_stereotype=2 if index < 3 else 1,
                in_region_not=1,
                in_region_unsure=0,
                out_region_stereotype=1 if index < 3 else 0,
                out_region_not=2,
                out_region_unsure=0,
                rating_1=-1,
                rating_2=0,
                rating_3=1,
                offensiveness_stored=0,
            )
    return resource


def new_study(*, lead: User, analyst: User, resource: Resource) -> Study:
    """Make a study of both invented peoples, seen by `lead` and `analyst`."""
    study = Study.objects.create(
        name="Isles", slug="isles", resource=resource, seed=7, created_by=lead, simulated=False
    )
    for group in resource.groups.all():
        StudyGroup.objects.create(
            study=study, group=group, name=group.name, display_name=group.display_name, region=group.region
        )
    StudyMembership.objects.create(study=study, user=lead, role=StudyMembership.Role.LEAD)
    StudyMembership.objects.create(study=study, user=analyst, role=StudyMembership.Role.ANALYST)
    return study
