"""What people typed is kept as their words, and has a code where its spelling leaves no doubt.

Imported annotators keep what their file says: its categories are nobody's own words.
"""

from django.db import migrations
from django.db.models import Q

from accounts import codes

_FIELDS = ("gender", "region_of_origin", "nationality", "country_of_residence")


def _own_code(groups, field, text):
    name = " ".join(text.casefold().split())
    if field == "region_of_origin":
        return name if groups.filter(region__iexact=text).exists() else ""
    if field in {"nationality", "country_of_residence"}:
        group = groups.filter(Q(name__iexact=text) | Q(display_name__iexact=text), iso_code="").first()
        return " ".join(group.name.casefold().split())[:80] if group else ""
    return ""


def code_answers(apps, schema_editor):  # noqa: ARG001
    groups = apps.get_model("studies", "StudyGroup").objects.order_by("pk")
    profiles = apps.get_model("accounts", "AnnotatorProfile").objects.exclude(annotator__origin="imported")
    understood = {}

    def code_of(field, text):
        if (field, text) not in understood:
            understood[field, text] = codes.code_of(field, text) or _own_code(groups, field, text)
        return understood[field, text]

    for profile in profiles.order_by("pk").iterator():
        profile.words = {field: text for field in _FIELDS if (text := getattr(profile, field))}
        for field, text in profile.words.items():
            setattr(profile, field, code_of(field, text))
        if profile.languages:
            listed = [str(one) for one in profile.languages]
            profile.words["languages"] = listed
            found = [code_of("languages", one) or codes.UNCODED for one in listed]
            profile.languages = list(dict.fromkeys(found))
        profile.save()


def show_words(apps, schema_editor):  # noqa: ARG001
    for profile in apps.get_model("accounts", "AnnotatorProfile").objects.exclude(words={}).iterator():
        for field, said in profile.words.items():
            setattr(profile, field, said)
        profile.save()


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_answers_as_codes"),
        ("studies", "0002_protocol_mcas"),
    ]

    operations = [migrations.RunPython(code_answers, show_words)]
