"""Consent: versions, agreement, withdrawal."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from accounts import consent_texts
from accounts.consent_texts import ErasurePromise
from accounts.models import Annotator, Consent, ConsentText
from foundation.errors import DomainError
from foundation.languages import TRANSLATIONS, built_in
from studies import consent
from studies.models import AuditEntry, Study
from tests.foundation.database.postgres import on_postgres
from tests.foundation.database.waiting import Waiting


def test_a_study_without_its_own_text_uses_the_default_which_is_written_once(study):
    first = consent.current_text(study)
    assert (first.series, first.version) == ("default", 1)
    assert first.body
    assert first.content_notice
    assert first.support
    assert consent.current_text(study) == first
    assert ConsentText.objects.filter(translates=None).count() == 1


def test_the_built_in_text_is_read_and_agreed_to_in_every_language(study):
    text = consent.current_text(study)
    person = Annotator.objects.create()
    for language in TRANSLATIONS:
        read = consent.text_for(study, language)
        assert (read.language, read.translates) == (language, text)
        assert read.body == built_in(text.body, language)
    given = consent.give(annotator=person, text=consent.text_for(study, "hi"), study=study)
    assert (given.text, given.translation.language) == (text, "hi")
    assert consent.has_consented(person, study)


def test_a_text_of_a_study_is_not_taken_for_the_built_in_one(study):
    consent.publish_consent(study=study, body="Ours.", content_notice="Careful.", by=None)
    study.refresh_from_db()
    assert consent.text_for(study, "es").body == "Ours."


def test_translations_that_are_missing_are_written_once(study):
    text = consent.current_text(study)
    text.translations.filter(language="es").delete()
    consent_texts.translate_built_in()
    consent_texts.translate_built_in()
    assert sorted(text.translations.values_list("language", flat=True)) == sorted(TRANSLATIONS)


def test_a_study_with_its_own_text_uses_it(study):
    study.consent_text = consent_texts.publish(series="isles", body="Ours.", content_notice="Careful.")
    assert consent.current_text(study).series == "isles"


def test_publishing_gives_the_next_version_and_leaves_the_earlier_one(study):
    first = consent_texts.default_text()
    second = consent_texts.publish(series="default", body="New.", content_notice="Careful.")
    assert second.version == 2
    first.refresh_from_db()
    assert first.body == consent_texts.DEFAULT_BODY
    assert consent.current_text(study) == second


def test_a_text_without_content_notice_is_refused_by_name(db):
    with pytest.raises(DomainError) as caught:
        consent_texts.publish(series="isles", body="Ours.", content_notice=" ")
    assert caught.value.fields == {"content_notice": "empty"}
    assert not ConsentText.objects.exists()


def test_agreement_to_an_older_version_is_not_agreement_to_the_current_one(study, annotator):
    consent.give(annotator=annotator, text=consent.current_text(study))
    assert consent.has_consented(annotator, study)
    consent_texts.publish(series="default", body="New.", content_notice="Careful.")
    assert not consent.has_consented(annotator, study)


def test_agreeing_twice_is_one_consent(study, annotator):
    text = consent.current_text(study)
    assert consent.give(annotator=annotator, text=text) == consent.give(annotator=annotator, text=text)
    assert Consent.objects.count() == 1


def test_withdrawing_takes_back_every_version_and_twice_is_the_same_as_once(study, annotator):
    consent.give(annotator=annotator, text=consent.current_text(study))
    consent_texts.publish(series="default", body="New.", content_notice="Careful.")
    consent.give(annotator=annotator, text=consent.current_text(study))
    assert consent.withdraw(annotator=annotator, study=study)
    moments = set(Consent.objects.values_list("withdrawn_at", flat=True))
    assert None not in moments
    assert not consent.withdraw(annotator=annotator, study=study)
    assert set(Consent.objects.values_list("withdrawn_at", flat=True)) == moments
    assert not consent.has_consented(annotator, study)


def test_withdrawing_leaves_other_people_and_other_texts_alone(study, annotator):
    other = Annotator.objects.create()
    own = consent_texts.publish(series="elsewhere", body="Theirs.", content_notice="Careful.")
    text = consent.current_text(study)
    for person in (annotator, other):
        consent.give(annotator=person, text=text)
    consent.give(annotator=annotator, text=own)
    consent.withdraw(annotator=annotator, study=study)
    assert list(consent.withdrawn_from(study)) == [annotator]
    assert consent.has_consented(other, study)
    assert Consent.objects.get(annotator=annotator, text=own).withdrawn_at is None


def test_agreeing_again_renews_a_withdrawn_consent(study, annotator):
    text = consent.current_text(study)
    consent.give(annotator=annotator, text=text)
    consent.withdraw(annotator=annotator, study=study)
    long_ago = timezone.now() - timedelta(days=30)
    Consent.objects.update(given_at=long_ago)
    renewed = consent.give(annotator=annotator, text=text, study=study)
    assert renewed.given_at > long_ago
    assert consent.has_consented(annotator, study)
    assert not consent.withdrawn_from(study).exists()


def test_agreeing_in_another_study_ends_no_withdrawal_from_this_one(study, annotator):
    text = consent.current_text(study)
    consent.give(annotator=annotator, text=text)
    consent.withdraw(annotator=annotator, study=study)
    other = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    consent.give(annotator=annotator, text=text, study=other)
    assert consent.has_consented(annotator, other)
    assert not consent.has_consented(annotator, study)
    assert list(consent.withdrawn_from(study)) == [annotator]


def test_withdrawing_before_agreeing_to_a_studys_own_text_withdraws_consent_to_the_built_in_one(
    study, annotator
):
    other = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    consent.give(annotator=annotator, text=consent.current_text(study), study=study)
    consent.publish_consent(study=study, body="Ours.", content_notice="Careful.", by=None)
    assert consent.has_consented(annotator, other)
    consent.withdraw(annotator=annotator, study=study)
    assert not consent.has_consented(annotator, other)


def test_withdrawing_without_consent_to_a_text_of_the_study_leaves_those_of_other_studies(study, annotator):
    other = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    theirs = consent.publish_consent(study=other, body="Theirs.", content_notice="Careful.", by=None)
    consent.give(annotator=annotator, text=theirs, study=other)
    assert consent.withdraw(annotator=annotator, study=study)
    assert consent.has_consented(annotator, other)


def test_no_part_in_a_study_rests_on_a_consent_that_was_withdrawn(study, annotator):
    text = consent.current_text(study)
    given = consent.give(annotator=annotator, text=text, study=study)
    assert list(consent.rests_on(annotator, study)) == [given]
    consent.withdraw(annotator=annotator, study=study)
    assert not consent.rests_on(annotator, study).exists()
    assert not consent.of_series(annotator, study).exists()


def test_agreeing_again_does_not_end_the_withdrawal_of_another_person(study, annotator):
    text = consent.current_text(study)
    other = Annotator.objects.create()
    for person in (annotator, other):
        consent.give(annotator=person, text=text, study=study)
        consent.withdraw(annotator=person, study=study)
    consent.give(annotator=annotator, text=text, study=study)
    assert list(consent.withdrawn_from(study)) == [other]
    assert consent.withdrawal_of(other, study) is not None


def test_texts_and_translations_that_are_published_are_in_the_audit_trail(study, lead):
    texts = {"body": "Ours.", "content_notice": "Careful.", "by": lead}
    text = consent.publish_consent(study=study, **texts)
    translation = consent.publish_translation(study=study, language="es", **texts | {"body": "Nuestro."})
    published, translated = AuditEntry.objects.filter(study=study, actor=lead).order_by("pk")
    assert (published.action, published.subject) == ("consent.published", f"consenttext:{text.pk}")
    assert published.details == {"version": 1}
    assert (translated.action, translated.subject) == ("consent.translated", f"consenttext:{translation.pk}")
    assert translated.details == {"language": "es", "version": translation.version, "of_version": 1}


def test_a_text_that_is_not_changed_is_not_published_again(study, lead):
    text = consent.publish_consent(study=study, body="Ours.", content_notice="Careful.", by=lead)
    assert consent.publish_consent(study=study, body="Ours. ", content_notice="Careful.", by=lead) == text
    assert AuditEntry.objects.filter(action="consent.published").count() == 1


def test_a_short_first_line_is_the_heading_of_its_paragraph():
    body = "We ask for help.\nReally.\n\nWhat you do\nYou look.\nThen you say.\n\n\nThat is all."
    assert [(part.heading, part.text) for part in consent_texts.parts(body)] == [
        ("", "We ask for help.\nReally."),
        ("What you do", "You look.\nThen you say."),
        ("", "That is all."),
    ]


def test_the_default_text_reads_in_headed_parts():
    assert [part.heading for part in consent_texts.parts(consent_texts.DEFAULT_BODY)] == [
        "",
        "What you do",
        "What we keep",
        "What may be published",
        "You decide",
    ]


@pytest.mark.skipif(not on_postgres(), reason="SQLite locks all rows")
@pytest.mark.django_db(transaction=True)
def test_agreeing_while_a_withdrawal_is_being_stored_comes_after_it(study, annotator):
    text = consent.current_text(study)
    consent.give(annotator=annotator, text=text, study=study)
    agreeing = Waiting(lambda: consent.give(annotator=annotator, text=text, study=study))
    with transaction.atomic():
        consent.withdraw(annotator=annotator, study=study)
        agreeing.begin()
    assert agreeing.result().withdrawn_at is None
    assert consent.has_consented(annotator, study)


def test_a_translation_promises_what_its_text_promises(study):
    promise = ErasurePromise("sever", by_self=True)
    consent.publish_consent(study=study, body="Ours.", content_notice="Careful.", promise=promise, by=None)
    consent.publish_translation(
        study=study, language="de", body="Unserer.", content_notice="Vorsicht.", by=None
    )
    shown = consent.text_for(study, "de")
    assert shown.body == "Unserer."
    assert ErasurePromise.of(shown) == promise
