"""Codes for peoples and regions that are not in lists of countries, such as invented ones."""

from django.db.models import Q

from studies.models import StudyGroup

_LONGEST = 80


def code_of(field: str, text: str) -> str:
    """Return the code of an unlisted people or region that a study depicts, or "" for other names."""
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
    """Return the code of an unlisted name: the name in lower case with single spaces."""
    return " ".join(name.casefold().split())
