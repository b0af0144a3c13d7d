"""The life cycle of a campaign."""

import pytest

from annotation.campaigns import lifecycle
from annotation.models import Campaign, CampaignAttribute, Task
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry, Study
from tests.annotation.factories import add_images

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(study, lead):
    add_images(study, 1)
    return lifecycle.create(study=study, name="Marking", kind="stereotype_marking", by=lead)


def test_a_draft_has_its_words_and_a_seed_that_follows_from_the_study(draft, study, lead):
    instrument = draft.instruments.get()
    assert instrument.version == 1
    assert "box" in instrument.guidelines
    twin = Study.objects.create(name="Twin", slug="twin", resource=study.resource, seed=study.seed)
    same = lifecycle.create(study=twin, name="Marking", kind="stereotype_marking", by=lead)
    other = lifecycle.create(study=study, name="Marking two", kind="stereotype_marking", by=lead)
    assert same.seed == draft.seed != other.seed


def test_a_rating_offers_five_answers_that_are_labelled(study, lead):
    rating = lifecycle.create(study=study, name="Rating", kind="attribute_likert", by=lead)
    assert rating.instruments.get().labels == {
        "5": "Strongly Agree",
        "4": "Agree",
        "3": "Unsure",
        "2": "Disagree",
        "1": "Strongly Disagree",
    }


def test_two_campaigns_of_one_name_get_addresses_of_their_own(draft, study, lead):
    again = lifecycle.create(study=study, name="Marking", kind="stereotype_marking", by=lead)
    new = lifecycle.create(study=study, name="New", kind="stereotype_marking", by=lead)
    assert (draft.slug, again.slug, new.slug) == ("marking", "marking-2", "new-2")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"kind": "quiz"}, "kind"),
        ({"annotators_per_task": 0}, "annotators_per_task"),
        ({"annotators_per_task": 101}, "annotators_per_task"),
        ({"attributes_per_screen": 6}, "attributes_per_screen"),
        ({"lease_minutes": 0}, "lease_minutes"),
        ({"guidelines": " "}, "guidelines"),
    ],
)
def test_a_wrong_setting_is_named_and_nothing_is_written(study, lead, wrong, field):
    given = {"name": "Marking", "kind": "stereotype_marking"} | wrong
    with pytest.raises(DomainError) as refusal:
        lifecycle.create(study=study, by=lead, **given)
    assert list(refusal.value.fields) == [field]
    assert not Campaign.objects.exists()


def test_a_draft_can_be_changed_and_an_open_campaign_cannot(draft, lead):
    changed = lifecycle.update_draft(
        campaign=draft,
        by=lead,
        annotators_per_task=5,
        guidelines="Look closely.",
        options={"pay": "10 an hour"},
    )
    assert (changed.annotators_per_task, changed.options) == (5, {"pay": "10 an hour"})
    assert draft.instruments.get().guidelines == "Look closely."
    lifecycle.open_(campaign=draft, by=lead)
    with pytest.raises(Conflict, match="only a campaign that is a draft"):
        lifecycle.update_draft(campaign=draft, by=lead, annotators_per_task=4)
    with pytest.raises(Conflict):
        lifecycle.delete_draft(campaign=draft, by=lead)


def test_a_draft_cannot_change_its_seed_or_kind(draft, lead):
    with pytest.raises(DomainError, match="no kind, seed to change"):
        lifecycle.update_draft(campaign=draft, by=lead, seed=1, kind="attribute_likert")


def test_a_draft_can_be_deleted(draft, lead):
    lifecycle.delete_draft(campaign=draft, by=lead)
    assert not Campaign.objects.exists()
    assert AuditEntry.objects.filter(action="campaign.deleted").exists()


def test_opening_freezes_the_study_and_leaves_an_entry(draft, study, lead):
    opened = lifecycle.open_(campaign=draft, by=lead)
    study.refresh_from_db()
    assert study.frozen_at is not None
    assert opened.opened_at is not None
    entry = AuditEntry.objects.get(action="campaign.opened")
    assert (entry.actor, entry.details["tasks"], entry.details["images"]) == (lead, 3, 2)


def test_a_campaign_opens_once(draft, lead):
    lifecycle.open_(campaign=draft, by=lead)
    with pytest.raises(Conflict):
        lifecycle.open_(campaign=draft, by=lead)
    assert Task.objects.count() == 3


def test_a_campaign_with_nothing_to_ask_stays_a_draft_and_says_why(study, lead):
    draft = lifecycle.create(study=study, name="Marking", kind="stereotype_marking", by=lead)
    with pytest.raises(DomainError, match=r"nothing to ask\. 2 groups have no images to show"):
        lifecycle.open_(campaign=draft, by=lead)
    draft.refresh_from_db()
    study.refresh_from_db()
    assert (draft.state, study.frozen_at) == ("draft", None)
    assert not AuditEntry.objects.filter(action="campaign.opened").exists()


def test_only_these_changes_of_state_are_possible(draft, lead):
    verbs = {
        "open": lifecycle.open_,
        "pause": lifecycle.pause,
        "resume": lifecycle.resume,
        "close": lifecycle.close,
        "reopen": lifecycle.reopen,
    }
    possible = {
        ("draft", "open"): "open",
        ("open", "pause"): "paused",
        ("paused", "resume"): "open",
        ("open", "close"): "closed",
        ("paused", "close"): "closed",
        ("closed", "reopen"): "open",
    }
    moments = {"draft": None}
    lifecycle.open_(campaign=draft, by=lead)
    draft.refresh_from_db()
    opened_at = draft.opened_at
    for state in ("draft", "open", "paused", "closed"):
        for name, verb in verbs.items():
            moment = moments.get(state, opened_at)
            Campaign.objects.filter(pk=draft.pk).update(state=state, opened_at=moment)
            Task.objects.all().delete()
            CampaignAttribute.objects.all().delete()
            if (state, name) in possible:
                assert verb(campaign=draft, by=lead).state == possible[state, name]
            else:
                with pytest.raises(Conflict):
                    verb(campaign=draft, by=lead)


def test_closing_notes_the_moment_and_reopening_forgets_it(marking, lead):
    assert lifecycle.close(campaign=marking, by=lead).closed_at is not None
    assert lifecycle.reopen(campaign=marking, by=lead).closed_at is None


def test_an_imported_campaign_cannot_be_opened(marking, lead):
    Campaign.objects.update(imported=True, state="closed")
    with pytest.raises(Conflict, match="imported from a file"):
        lifecycle.reopen(campaign=marking, by=lead)


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        ("attribute_likert", {"boxes_required": False}),
        ("attribute_likert", {"attributes_per_screen": 3}),
        ("rubric", {"attributes_per_screen": 5}),
        ("rubric", {"boxes_required": True}),
        ("image_text", {"boxes_required": True}),
    ],
)
def test_settings_that_mean_nothing_for_a_kind_are_refused(study, lead, lead_client, kind, setting):
    with pytest.raises(DomainError) as refused:
        lifecycle.create(study=study, name="Draft", kind=kind, by=lead, **setting)
    assert (refused.value.code, list(refused.value.fields)) == ("setting_needless", list(setting))
    draft = lifecycle.create(study=study, name="Draft", kind=kind, by=lead)
    with pytest.raises(DomainError):
        lifecycle.update_draft(campaign=draft, by=lead, **setting)
    sent = {"name": "Another", "kind": kind, **setting}
    answer = lead_client.post(
        f"/api/v1/studies/{study.slug}/campaigns/", sent, content_type="application/json"
    )
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, list(setting))
