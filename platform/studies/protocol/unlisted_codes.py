"""Codes for peoples and regions that no list of the world's countries has, such as those a resource invented."""

from django.db.models import Q

from studies.models import StudyGroup

_LONGEST = 80


def code_of(field: str, text: str) -> str:
    """Return the code of a people or region that some study depicts and no list knows, "" for any other name."""
    name = own_code(text)
    if not name or len(name) > _LONGEST:
        return ""
    if field == "region_of_origin":
        return name if StudyGroup.objects.filter(region__iexact=text).exists() else ""
    if field in {"nationality", "country_of_residence"}:
        unplaced = StudyGroup.objects.filter(iso_code="")
        group = unplaced.filter(Q(name__iexact=text) | Q(display_name__iexact=text)).order_by("pk").first()
        return own_code(group.name)[:_LONGEST] if group else ""
    return ""


def own_code(name: str) -> str:
    """Return the code of what is in no list: its name, whatever case and spaces."""
    return " ".join(name.casefold().split())
