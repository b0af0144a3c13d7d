"""Translations of a campaign: the contents of the file, the effect of an upload, and the offered languages."""

import io

import pytest
from django.urls import reverse

from annotation.campaigns import lifecycle
from annotation.campaigns.clone import clone
from annotation.campaigns.instruments import versions
from annotation.campaigns.instruments.languages import translations
from annotation.campaigns.instruments.languages.progress import language_states
from annotation.models import Campaign
from foundation.errors import Conflict, DomainError
from foundation.languages import DRAFT_TRANSLATION
from studies import consent
from studies.models import AuditEntry
from tests.annotation.campaigns.instruments.languages.conftest import as_file, exported, filled, put


def state(campaign: Campaign, code: str = "de"):
    return next(one for one in language_states(campaign) if one.code == code)


def refusal(campaign: Campaign, rows: list[dict[str, str]]) -> str:
    before = versions.current(campaign).translations
    with pytest.raises(DomainError) as refused:
        put(campaign, rows)
    assert versions.current(campaign).translations == before
    return refused.value.message


def test_the_file_has_every_text_that_annotators_read(draft):
    rows = exported(draft)
    keys = [row["key"] for row in rows]
    assert keys[:4] == ["consent.body", "consent.content_notice", "consent.support", "pay"]
    assert {"guidelines", "statement", "answer.5", "answer.1"} <= set(keys)
    assert sum(key.startswith("attribute.") for key in keys) == 6
    assert list(rows[0]) == ["key", "place", "source", "digest", "de"]


def test_texts_that_the_platform_translates_need_no_translation(draft):
    texts = {text.source.key: text for text in state(draft).texts}
    assert texts["guidelines"].state == "built-in"
    assert texts["pay"].state == "missing"


def test_a_filled_file_makes_a_language_complete(draft, lead):
    assert not state(draft).complete
    uploaded = put(draft, filled(draft, "de"), by=lead)
    assert uploaded.changed == {"de": len(exported(draft))}
    assert state(draft).complete
    assert put(draft, exported(draft)).changed == {}
    assert AuditEntry.objects.filter(action="campaign.translations_uploaded").count() == 1


def test_an_empty_cell_changes_nothing(draft):
    put(draft, filled(draft, "de"))
    assert put(draft, [{**row, "de": ""} for row in exported(draft)]).changed == {}
    assert state(draft).complete


def test_a_changed_source_makes_its_translation_outdated(draft, lead):
    earlier = filled(draft, "de")
    put(draft, earlier)
    versions.revise(campaign=draft, guidelines="Read slowly.", by=lead)
    assert (state(draft).outdated, state(draft).complete) == (1, False)
    assert next(row["de"] for row in exported(draft) if row["key"] == "guidelines") == ""
    # The file downloaded earlier translates a text that no longer exists.
    changed = [{**row, "de": row["de"] + "!"} for row in earlier if row["key"] == "guidelines"]
    assert put(draft, changed).outdated == 1
    assert state(draft).outdated == 1
    put(draft, [row for row in filled(draft, "de") if row["key"] == "guidelines"])
    assert state(draft).complete


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("key", "attribute.999999", "the campaign has no text"),
        ("digest", "0", "digest was changed"),
        ("digest", "=1+1", "digest was changed"),
        ("de", "<b>fett</b>", "HTML"),
        ("de", "<script>alert(1)", "HTML"),
        ("de", "&lt;b&gt;", "HTML"),
        ("de", "ein {name}", "{…} is not in the source text"),
        ("de", "von rechts \u202e nach links", "control characters"),
        ("de", "x" * 20_001, "20,000 are allowed"),
    ],
)
def test_a_wrong_cell_is_refused_with_its_row(draft, column, value, said):
    rows = [row for row in filled(draft, "de") if row["key"] == "guidelines"]
    message = refusal(draft, [{**rows[0], column: value}])
    assert said in message
    assert "Row 2" in message


def test_a_placeholder_is_kept(draft, lead, monkeypatch):
    versions.current(draft)
    draft.instruments.update(statement="Can {attribute} be seen?")
    rows = [row for row in filled(draft, "de") if row["key"] == "statement"]
    assert "keep {attribute}" in refusal(draft, [{**rows[0], "de": "Sieht man {merkmal}?"}]).lower()
    put(draft, [{**rows[0], "de": "Sieht man {attribute}?"}])


def test_a_row_may_occur_only_once(draft):
    rows = filled(draft, "de")
    assert "is in row 2, too" in refusal(draft, [rows[0], rows[0]])


@pytest.mark.parametrize("missing", ["key", "digest"])
def test_the_columns_that_say_what_is_translated_are_needed(draft, missing):
    rows = [{name: text for name, text in row.items() if name != missing} for row in filled(draft, "de")]
    assert f"no column “{missing}”" in refusal(draft, rows)


def test_a_column_of_another_language_is_refused(draft):
    assert "no language “fr”" in refusal(draft, [{**row, "fr": "oui"} for row in filled(draft, "de")])


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "table_empty"),
        (b"\xff\xfek\x00e\x00y\x00", "table_not_utf8"),
        ("key,digest,de\npay,0,Löhne".encode("latin-1"), "table_not_utf8"),
        (b"key,digest,de\npay,\x00,x", "table_binary"),
        (b'key,digest,de\npay,"x', "table_not_csv"),
        (b"PK\x03\x04rest", None),
        (b"key,digest,de\n" + b"x" * 5_000_001, "table_too_large"),
        (b"key,digest,de,de\n", "table_column_twice"),
    ],
)
def test_a_file_that_is_no_csv_is_refused(draft, content, code):
    with pytest.raises(DomainError) as refused:
        translations.upload(campaign=draft, source=io.BytesIO(content), name="texts.csv", by=None)
    assert code is None or refused.value.code == code


@pytest.mark.parametrize("form", [{"delimiter": ";"}, {"delimiter": "\t"}, {"encoding": "utf-8-sig"}])
def test_files_saved_by_spreadsheets_are_read(draft, form):
    put(draft, filled(draft, "de"), **form)
    assert state(draft).complete


def test_no_cell_is_a_formula_and_every_text_comes_back(draft, lead):
    lifecycle.update_draft(campaign=draft, by=lead, options={"pay": '=HYPERLINK("http://a.example")'})
    draft.refresh_from_db()
    rows = exported(draft)
    assert all(not cell.startswith(("=", "+", "-", "@", "\t")) for row in rows for cell in row.values())
    translated = [{**row, "de": "'+5 Muscheln"} for row in rows if row["key"] == "pay"]
    put(draft, translated)
    assert versions.current(draft).translations["de"]["pay"][0] == "+5 Muscheln"
    assert next(row["de"] for row in exported(draft) if row["key"] == "pay") == "'+5 Muscheln"
    assert put(draft, exported(draft)).changed == {}


def test_a_language_is_offered_only_when_it_is_complete(draft, lead):
    opened = lifecycle.open_(campaign=draft, by=lead)
    assert opened.offered_languages == ["en"]
    put(opened, filled(opened, "de"), by=lead)
    opened.refresh_from_db()
    assert opened.offered_languages == ["en", "de"]


def test_texts_are_left_in_english_for_a_reason(draft, lead):
    with pytest.raises(DomainError, match="Give a reason"):
        translations.leave_untranslated(campaign=draft, language="de", reason=" ", by=lead)
    translations.leave_untranslated(campaign=draft, language="de", reason="Names stay.", by=lead)
    assert lifecycle.open_(campaign=draft, by=lead).offered_languages == ["en", "de"]
    entry = AuditEntry.objects.get(action="campaign.left_untranslated")
    assert entry.details["reason"] == "Names stay."
    assert entry.details["missing"] == state(draft).missing > 0


def test_a_complete_language_leaves_nothing_out(draft, lead):
    put(draft, filled(draft, "de"))
    with pytest.raises(Conflict, match="no text stays in English"):
        translations.leave_untranslated(campaign=draft, language="de", reason="Why not.", by=lead)


def test_texts_that_answers_are_about_are_fixed_at_opening(draft, lead):
    put(draft, filled(draft, "de"))
    opened = lifecycle.open_(campaign=draft, by=lead)
    rows = [row for row in exported(opened) if row["key"].startswith("attribute.")]
    with pytest.raises(Conflict, match="was fixed when the campaign opened"):
        put(opened, [{**rows[0], "de": "anders"}])
    assert versions.current(opened).version == 1


def test_other_texts_of_an_opened_campaign_get_a_new_version(draft, lead):
    put(draft, filled(draft, "de"))
    opened = lifecycle.open_(campaign=draft, by=lead)
    first = versions.current(opened)
    rows = [row for row in exported(opened) if row["key"] == "guidelines"]
    put(opened, [{**rows[0], "de": "Lesen Sie langsam."}])
    assert versions.current(opened).version == 2
    first.refresh_from_db()
    assert first.translations["de"]["guidelines"][0].startswith("[de]")


def test_an_offered_language_stays(draft, lead):
    put(draft, filled(draft, "de"))
    opened = lifecycle.open_(campaign=draft, by=lead)
    with pytest.raises(Conflict, match="so it cannot be removed"):
        translations.remove_language(campaign=opened, language="de", by=lead)
    versions.revise(campaign=opened, guidelines="Read slowly.", by=lead)
    translations.settle(opened, by=lead)
    assert opened.offered_languages == ["en", "de"]
    assert state(opened).outdated == 1


def test_only_languages_of_the_pages_can_be_added(draft, lead):
    for language in ("en", "tlh", "xx", ""):
        with pytest.raises(DomainError, match="Choose one of these languages"):
            translations.add_language(campaign=draft, language=language, by=lead)


def test_the_consent_text_is_published_in_the_language(draft, study, lead):
    consent.publish_consent(study=study, body="Old.", content_notice="Look.", support="Ask.", by=lead)
    study.refresh_from_db()
    draft.study = study
    assert consent.text_for(study, "de") == consent.current_text(study)
    put(draft, filled(draft, "de"), by=lead)
    german = consent.text_for(study, "de")
    assert (german.language, german.version, german.translates) == ("de", 1, consent.current_text(study))
    rows = [row for row in exported(draft) if row["key"] == "consent.body"]
    put(draft, [{**rows[0], "de": "Neu."}], by=lead)
    assert (consent.text_for(study, "de").version, consent.text_for(study, "de").body) == (2, "Neu.")
    assert consent.current_text(study).language == "en"
    # A new text is not translated yet.
    consent.publish_consent(study=study, body="New.", content_notice="Also new.", by=lead)
    study.refresh_from_db()
    assert consent.text_for(study, "de").body == "New."


def test_a_copy_keeps_its_translations(draft, lead):
    put(draft, filled(draft, "de"))
    copy = clone(campaign=draft, by=lead)
    assert state(copy).complete


def test_questions_of_a_kind_are_translated_in_the_campaign(study, lead, settings):
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español")]
    campaign = lifecycle.create(study=study, name="Pictures", kind="open_question", by=lead)
    translations.add_language(campaign=campaign, language="es", by=lead)
    rows = filled(campaign, "es")
    assert any(row["key"].startswith("question.") for row in rows)
    put(campaign, rows)
    campaign.refresh_from_db()
    assert campaign.declaration["questions"][0]["label"]["es"].startswith("[es]")
    assert campaign.declaration["questions"][0]["label"]["de"]
    assert state(campaign, "es").complete


def test_the_same_translations_give_the_same_bytes(draft):
    assert as_file(filled(draft, "de")).getvalue() == as_file(filled(draft, "de")).getvalue()


def test_leads_see_which_built_in_texts_are_drafts(draft, study, lead_client):
    address = reverse("annotation:languages", args=[study.slug, draft.slug])
    text = " ".join(lead_client.get(address).content.decode().split())
    assert f"Built-in texts in Spanish, Hindi: {DRAFT_TRANSLATION}" in text
    assert text.count(DRAFT_TRANSLATION) == 2  # and beside German
