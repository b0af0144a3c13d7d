"""What was typed before there were codes is kept as words and gets the code it surely has."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from accounts.models import Annotator, AnnotatorProfile
from annotation.models import QuotaRule, Task
from annotation.quota_rules import quotas_of
from annotation.slots import profiles_of
from tests.annotation.engine.test_quota_assignment import next_for, opened, person

pytestmark = pytest.mark.django_db


def run(app, name, function):
    getattr(import_module(f"{app}.migrations.{name}"), function)(apps, connection)


def test_typed_answers_become_codes_and_stay_as_words(study):
    stored = AnnotatorProfile.objects.create(
        annotator=Annotator.objects.create(),
        gender="männlich",
        nationality="Velmari",
        country_of_residence="Guinea",
        region_of_origin="Ostasien",
        languages=["Englisch", "Velmi"],
    )
    imported = AnnotatorProfile.objects.create(
        annotator=Annotator.objects.create(origin="imported"), region_of_origin="Asia"
    )
    run("accounts", "0004_code_answers", "code_answers")
    stored.refresh_from_db()
    imported.refresh_from_db()
    assert (stored.gender, stored.nationality, stored.country_of_residence) == ("man", "velmari", "")
    assert (stored.region_of_origin, stored.languages) == ("030", ["en", "?"])
    assert stored.words["country_of_residence"] == "Guinea"
    assert stored.words["languages"] == ["Englisch", "Velmi"]
    assert (imported.region_of_origin, imported.words) == ("Asia", {})
    run("accounts", "0004_code_answers", "show_words")
    stored.refresh_from_db()
    assert (stored.gender, stored.languages) == ("männlich", ["Englisch", "Velmi"])


def test_rules_name_codes_and_tasks_are_seen_by_them(study, lead):
    campaign = opened(study, lead, "at_least 1 nationality = Kenya", "distinct nationality")
    leased = next_for(campaign, person(campaign, nationality="Kenya"))
    QuotaRule.objects.filter(kind="at_least").update(values=["kenya", "nowhere"])
    Task.objects.filter(pk=leased.task_id).update(quota_mix="2/-/1:000000000000")
    run("annotation", "0026_quota_rules_name_codes", "name_codes")
    assert QuotaRule.objects.get(kind="at_least").values == ["ken"]
    rules = quotas_of(campaign).of_group(leased.task.image.group_id)
    holder = profiles_of([leased.annotator_id])[leased.annotator_id]
    assert Task.objects.get(pk=leased.task_id).quota_mix == rules.mix([rules.member(holder)], 2)
