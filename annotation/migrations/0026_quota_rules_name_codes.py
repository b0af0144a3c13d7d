"""Quota rules name codes, and tasks are seen by the codes of those who hold them.

A value that has no code leaves its rule, since nobody counts for it; the only one of a rule stays.
"""

from collections import defaultdict

from django.db import migrations
from django.db.models import Q

from accounts import codes

_FIELDS = ("gender", "region_of_origin", "nationality", "country_of_residence", "age_band", "languages")


def name_codes(apps, schema_editor):  # noqa: ARG001
    rules = apps.get_model("annotation", "QuotaRule").objects
    if not rules.exists():
        return
    groups = apps.get_model("studies", "StudyGroup").objects
    for rule in rules.filter(field__in=codes.CODED).order_by("pk"):
        named = {
            value: codes.code_of(rule.field, value) or codes.canonical(rule.field, value)
            for value in rule.values
        }
        own = {value for value, code in named.items() if not code and _is_own(groups, value)}
        rule.values = sorted({code.casefold() for code in named.values() if code} | own) or rule.values
        rule.save(update_fields=["values"])
    _see_tasks_again(apps)


def _is_own(groups, name):
    """Whether a study depicts a people or region of this name, which then is its code."""
    return groups.filter(Q(name__iexact=name) | Q(region__iexact=name)).exists()


def _see_tasks_again(apps):
    """Write the mixes of tasks with quotas again.

    How a mix is written is known to the code alone. The rows are read as they are at this migration: columns that
    later ones add, of studies too, are not there yet.
    """
    from annotation.quota_rules import read
    from annotation.quotas import closed_mix, profile_of
    from annotation.slots import mix_of

    get = apps.get_model
    seen = get("annotation", "Task").objects.exclude(quota_mix="")
    campaigns = get("annotation", "Campaign").objects.filter(pk__in=seen.values("campaign"))
    for campaign in campaigns.select_related("study").order_by("pk"):
        quotas = read(campaign)
        if quotas is None:
            continue
        holding = get("annotation", "Assignment").objects.filter(task__campaign=campaign, slot__isnull=False)
        profiles = {
            annotator: profile_of(dict(zip(_FIELDS, values, strict=True)))
            for annotator, *values in get("accounts", "AnnotatorProfile")
            .objects.filter(annotator__in=holding.values("annotator"))
            .values_list("annotator", *_FIELDS)
        }
        holders = defaultdict(list)
        for task, annotator in holding.order_by("pk").values_list("task", "annotator"):
            holders[task].append(profiles.get(annotator, {}))
        for task in seen.filter(campaign=campaign).select_related("image").order_by("pk").iterator():
            mix = mix_of(quotas, task, holders[task.pk]) or closed_mix(task.wanted)
            if mix != task.quota_mix:
                get("annotation", "Task").objects.filter(pk=task.pk).update(quota_mix=mix)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0025_standard_rules_for_campaigns"),
        ("accounts", "0004_code_answers"),
    ]

    operations = [migrations.RunPython(name_codes, migrations.RunPython.noop)]
