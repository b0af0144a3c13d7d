"""Leads match free-text answers with codes, without seeing who gave them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts import profiles
from accounts.models import MatchedWords
from annotation.assignment import leases
from annotation.campaigns import lifecycle
from annotation.models import Campaign
from annotation.people import withdrawal
from studies.models import AuditEntry
from tests.annotation.assignment.test_leases import next_for, slots_are_counted
from tests.annotation.factories import add_images, new_annotator

pytestmark = pytest.mark.django_db
PAGE = "/studies/isles/own-words/"


@pytest.fixture
def quota(study, lead) -> Campaign:
    """A campaign with one rule: of two annotators a task, at least one is not a man."""
    add_images(study, 1)
    draft = lifecycle.create(
        study=study,
        name="Marking",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=2,
        quotas=["one_non_man"],
    )
    return lifecycle.open_(campaign=draft, by=lead)


def person(campaign, **said):
    annotator = new_annotator(campaign)
    profiles.describe(annotator=annotator, **said)
    return annotator


def match(client, field, key, code):
    return client.post(PAGE, {"field": field, "key": key, "code": code}, follow=True)


@pytest.mark.parametrize(
    "spelling", ["Mann", "männlich", "Man", "male", "homme", "m", "my own way", "not a man"]
)
def test_men_and_people_with_unmatched_words_do_not_meet_the_quota(quota, spelling):
    first, second = person(quota, gender="man"), person(quota, gender=spelling)
    task = next_for(first, quota).task_id
    taken = set()
    while (leased := next_for(second, quota)) is not None:
        taken.add(leased.task_id)
        leases.skip(assignment=leased, annotator=second)
    assert task not in taken
    assert next_for(person(quota, gender="Frau"), quota) is not None


def test_matching_an_answer_counts_at_once_and_is_recorded(quota, lead_client):
    man, other = person(quota, gender="man"), person(quota, gender="Womyn  of the isles")
    page = lead_client.get(PAGE).content.decode()
    assert "Womyn of the isles" in page
    assert other.pseudonym not in page
    match(lead_client, "gender", "womyn of the isles", "woman")
    assert profiles.of(other).gender == "woman"
    assert profiles.of(other).words == {"gender": "Womyn of the isles"}
    entry = AuditEntry.objects.get(action="own_words.matched")
    assert entry.details == {"field": "gender", "words": "Womyn of the isles", "code": "Woman"}
    assert other.pseudonym not in str(entry.details)
    history = lead_client.get(reverse("studies:history", args=["isles"])).content.decode()
    assert "matched the gender “Womyn of the isles” with Woman" in history
    assert profiles.describe(annotator=man, gender="womyn of the Isles").gender == "woman"
    match(lead_client, "gender", "womyn of the isles", "")
    assert profiles.of(other).gender == ""
    assert slots_are_counted()


def test_each_distinct_answer_is_listed_once(quota, lead_client):
    for text in ("Genderqueer", "genderqueer", "Genderqueer"):
        person(quota, gender=text, nationality="Atlantis")
    page = lead_client.get(PAGE)
    assert [(one.field, one.spellings) for one in page.context["page"]] == [
        ("gender", ("Genderqueer", "genderqueer")),
        ("nationality", ("Atlantis",)),
    ]


def test_a_match_does_not_cover_words_with_other_accents_or_signs(quota, lead_client):
    people = [person(quota, gender=text) for text in ("nő", "NŐ", "no", "nő?")]
    match(lead_client, "gender", "nő", "woman")
    assert [profiles.of(one).gender for one in people] == ["woman", "woman", "", ""]


def test_languages_are_matched_one_by_one(quota, lead_client):
    annotator = person(quota, languages=["English", "Velmi"])
    assert profiles.of(annotator).languages == ["en", "?"]
    match(lead_client, "languages", "velmi", "qu")
    assert profiles.of(annotator).languages == ["en", "qu"]


def test_only_leads_of_the_study_match_and_only_what_its_people_said(
    quota, lead_client, analyst_client, stranger_client, client
):
    person(quota, gender="Genderqueer")
    for other in (analyst_client, stranger_client, client):
        assert other.get(PAGE).status_code in {302, 403, 404}
        other.post(PAGE, {"field": "gender", "key": "genderqueer", "code": "woman"})
    match(lead_client, "gender", "never said", "woman")
    match(lead_client, "gender", "genderqueer", "martian")
    match(lead_client, "shoe", "genderqueer", "woman")
    assert not MatchedWords.objects.exists()


def test_people_see_how_their_words_count(quota, client):
    annotator = person(quota, gender="Mann", nationality="Atlantis")
    client.force_login(annotator.user)
    form = client.get(reverse("annotate:profile")).context["form"]
    assert form.initial["gender"] == "Mann"
    assert "counts as: Man." in form.fields["gender"].help_text
    assert "own words" in form.fields["nationality"].help_text
    german = client.get(reverse("annotate:profile"), headers={"accept-language": "de"}).content.decode()
    assert "Nichtbinär" in german


def test_words_of_withdrawn_people_are_not_shown(quota, lead_client):
    for text in ("Genderqueer", "my own way"):
        person(quota, gender=text)
    left = person(quota, gender="Womyn")
    withdrawal.withdraw(annotator=left, study=quota.study)
    assert [one.key for one in lead_client.get(PAGE).context["page"]] == ["genderqueer", "my own way"]


def test_the_page_asks_the_database_once_for_each_different_answer(quota, lead_client):
    person(quota, nationality="Atlantis")
    with CaptureQueriesContext(connection) as one:
        lead_client.get(PAGE)
    for _ in range(5):
        person(quota, nationality="Atlantis")
    with CaptureQueriesContext(connection) as six:
        lead_client.get(PAGE)
    assert len(six) == len(one)
