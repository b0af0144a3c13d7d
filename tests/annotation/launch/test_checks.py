"""Each check passes on a ready draft, and names the missing part otherwise."""

from typing import Any

import pytest

from accounts import profiles
from accounts.consent_texts import DEFAULT_BODY
from annotation.campaigns import lifecycle
from annotation.campaigns.instruments.languages import translations
from annotation.launch.checklist import checklist
from annotation.launch.checks import KEYS
from annotation.models import Annotation, Campaign, Task
from studies.consent import publish_consent
from studies.models import StudyAssociation
from tests.annotation.campaigns.instruments.languages.conftest import filled, put
from tests.annotation.factories import new_annotator
from tests.annotation.launch.conftest import TEXTS


def missing(campaign: Campaign) -> dict[str, str]:
    fresh = Campaign.objects.select_related("study").get(pk=campaign.pk)
    return {line.key: line.sentence for line in checklist(fresh) if line.state == "missing"}


def change(campaign: Campaign, lead, **options: Any) -> None:
    lifecycle.update_draft(campaign=campaign, by=lead, options=campaign.options | options)


def publish(study, lead, **texts: str) -> None:
    publish_consent(study=study, by=lead, **{**TEXTS, **texts})


def test_a_draft_that_is_ready_passes_every_check(ready):
    assert [line.key for line in checklist(ready)] == list(KEYS)
    assert missing(ready) == {}


def test_the_stock_text_does_not_count_as_the_studys_consent_text(ready, study):
    study.consent_text = None
    study.save()
    assert "default consent text" in missing(ready)["consent"]


@pytest.mark.parametrize("body", ["The Harbour Institute asks you.", "Written in 2026 by 12 people."])
def test_a_consent_text_names_somebody_to_write_to(ready, study, lead, body):
    publish(study, lead, body=body)
    assert "gives no e-mail address" in missing(ready)["consent"]


@pytest.mark.parametrize(
    "contact", ["Call +49 30 1234567.", "See https://harbour.example/people", "a@b.example"]
)
def test_a_telephone_number_or_an_address_is_a_contact(ready, study, lead, contact):
    publish(study, lead, body="The Harbour Institute asks you.", support=contact)
    assert "consent" not in missing(ready)


def test_a_consent_text_names_the_institution(ready, study, lead):
    publish(study, lead, body=f"{DEFAULT_BODY}\n\nOur institute answers at office@harbour.example.")
    assert "does not name the institution" in missing(ready)["consent"]
    publish(study, lead, body=f"{DEFAULT_BODY}\n\nDas Institut für Bilder antwortet: office@harbour.example.")
    assert "consent" not in missing(ready)


def test_pay_is_set_or_said_to_be_none(ready, lead):
    change(ready, lead, pay_amount=None)
    assert "does not say what people are paid" in missing(ready)["pay"]
    change(ready, lead, pay_amount=None, pay="You are not paid for this.")
    assert "pay" not in missing(ready)


def test_pay_needs_a_budget_that_covers_it(ready, lead):
    change(ready, lead, pay_budget=None)
    sentence = missing(ready)["budget"]
    # Nine answers at 12: three screens for three people each.
    assert "No budget is set" in sentence
    assert "108.00 EUR" in sentence
    change(ready, lead, pay_budget=107.99)
    assert "more than the budget of 107.99" in missing(ready)["budget"]
    change(ready, lead, pay_budget=108.0)
    assert "budget" not in missing(ready)


def test_quotas_that_nobody_can_meet_are_reported(ready, study, lead):
    lifecycle.update_draft(campaign=ready, by=lead, quotas=["at_least 1 region_of_origin = group.region"])
    assert "quotas" not in missing(ready)
    study.groups.filter(name="Velmari").update(region="")
    assert "Nobody can meet the quotas" in missing(ready)["quotas"]


def test_people_missing_for_quotas_are_reported_until_they_are_invited(ready, lead):
    assert "people" not in missing(ready)
    lifecycle.update_draft(campaign=ready, by=lead, quotas=["at_least 1 gender = woman"])
    assert missing(ready)["people"].startswith("Gender: woman: 1 person needed, 0 take part, 1 is missing.")
    annotator = new_annotator(ready)
    assert "people" in missing(ready)
    profiles.describe(annotator=annotator, gender="woman")
    assert "people" not in missing(ready)


def test_only_the_first_of_many_missing_kinds_of_people_are_named(ready, lead):
    countries = ("Kenya", "Peru", "Chile", "Norway", "Japan", "Nepal")
    quotas = [f"at_least 1 nationality = {country}" for country in countries]
    lifecycle.update_draft(campaign=ready, by=lead, annotators_per_task=6, quotas=quotas)
    sentence = missing(ready)["people"]
    assert "Norway" in sentence
    assert "Nepal" not in sentence
    assert "2 more kinds of people are missing." in sentence


def test_without_practice_or_gold_nothing_shows_understanding(ready):
    Task.objects.filter(campaign=ready).delete()
    assert "no practice" in missing(ready)["practice"]


def test_offensive_stereotypes_need_a_notice_that_warns(ready, study, lead):
    publish(study, lead, content_notice="Pictures.")
    assert "notice" not in missing(ready)
    assert StudyAssociation.objects.filter(study=study).update(offensiveness_stored=1.0)
    assert "the content notice does not warn of them" in missing(ready)["notice"]


def test_a_language_is_translated_as_a_whole_or_left_on_purpose(ready, lead):
    assert "languages" not in missing(ready)
    translations.add_language(campaign=ready, language="de", by=lead)
    sentence = missing(ready)["languages"]
    assert sentence.startswith("German: of ")
    assert "not translated" in sentence
    put(ready, filled(ready, "de"))
    assert "languages" not in missing(ready)
    lifecycle.update_draft(campaign=ready, by=lead, guidelines="Look closely.")
    assert "1 changed since translation" in missing(ready)["languages"]
    translations.leave_untranslated(campaign=ready, language="de", reason="One word.", by=lead)
    assert "languages" not in missing(ready)


def test_a_missing_pilot_is_reported(ready, pilot):
    Annotation.objects.filter(campaign=pilot).update(is_latest=False)
    assert "This study has had no pilot" in missing(ready)["pilot"]


def test_a_simulated_study_has_nothing_to_check(ready, study):
    study.simulated = True
    study.save()
    ready.study.simulated = True
    assert checklist(ready) == []
