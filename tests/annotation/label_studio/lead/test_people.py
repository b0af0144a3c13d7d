"""The lead's pages for identifying users of a Label Studio and for the outcome of their answers."""

import pytest

from annotation.campaigns import lifecycle
from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser
from tests.annotation.factories import new_annotator
from tests.annotation.label_studio.lead.pages import HERE, SERVERS, bridge, text
from tests.annotation.label_studio.rows import seen, user_of
from tests.annotation.lead.conftest import looked, marking, queries

__all__ = ["bridge", "looked", "marking", "queries"]
pytestmark = pytest.mark.django_db

State = LabelStudioAnnotation.State


def test_waiting_users_come_first_and_can_be_filtered(bridge, lead_client):
    person = new_annotator(bridge.campaign)
    user_of(bridge.server, 1, name="Anna", state="mapped", annotator=person)
    user_of(bridge.server, 2, name="Zoe")
    people = f"{SERVERS}{bridge.server_id}/people/"
    assert [line.name for line in lead_client.get(people).context["lines"]] == ["Zoe", "Anna"]
    assert [line.name for line in lead_client.get(f"{people}?state=mapped").context["lines"]] == ["Anna"]
    assert [line.name for line in lead_client.get(f"{people}?q=zo").context["lines"]] == ["Zoe"]
    assert "Nobody matches" in text(lead_client.get(f"{people}?q=nobody"))
    for nonsense in ("?state=nonsense", "?q=%00"):
        assert len(lead_client.get(f"{people}{nonsense}").context["lines"]) == 2


def test_self_chosen_names_are_shown_apart_from_addresses(bridge, lead_client):
    user = user_of(bridge.server, 2, name="mallory@example.org (anna@example.org (Anna))")
    people = f"{SERVERS}{bridge.server_id}/people/"
    [line] = lead_client.get(people).context["lines"]
    assert (line.address, line.called) == ("mallory@example.org", "anna@example.org (Anna)")
    for page in (people, f"{people}{user.pk}/"):
        assert "anna@example.org (Anna)" in text(lead_client.get(page))
        assert "mallory@example.org (" not in text(lead_client.get(page))


def test_a_user_is_identified_by_pseudonym_and_that_is_undone(bridge, lead_client):
    person, user = new_annotator(bridge.campaign), user_of(bridge.server, 2)
    here = f"{SERVERS}{bridge.server_id}/people/{user.pk}/"
    wrong = lead_client.post(f"{here}confirm/", {"annotator": "A-NOBODY"})
    assert wrong.status_code == 400
    assert "Nobody with this pseudonym" in text(wrong)
    said = text(lead_client.post(f"{here}confirm/", {"annotator": person.pseudonym.lower()}, follow=True))
    assert f"is {person.pseudonym}" in said
    user.refresh_from_db()
    assert (user.state, user.annotator) == ("mapped", person)
    assert "Undo the decision" in text(lead_client.get(here))
    lead_client.post(f"{here}undo/")
    user.refresh_from_db()
    assert (user.state, user.annotator) == ("waiting", None)


def test_an_annotator_of_another_study_cannot_be_chosen(bridge, lead, lead_client, resource):
    from studies.protocol.creation import create_study

    other = create_study(name="Other", resource=resource, groups=resource.groups.all(), by=lead)
    elsewhere = lifecycle.create(study=other, name="Elsewhere", kind="attribute_likert", by=lead)
    person, user = new_annotator(elsewhere), user_of(bridge.server, 2)
    url = f"{SERVERS}{bridge.server_id}/people/{user.pk}/confirm/"
    assert lead_client.post(url, {"annotator": person.pseudonym}).status_code == 400
    user.refresh_from_db()
    assert user.state == "waiting"


def test_a_personal_link_is_shown_once(bridge, lead_client):
    user = user_of(bridge.server, 2)
    url = f"{SERVERS}{bridge.server_id}/people/{user.pk}/invite/"
    shown = text(lead_client.post(url, {"campaign": bridge.campaign_id}, follow=True))
    assert "Copy this link now" in shown
    assert f"{SERVERS}{bridge.server_id}/people/" in shown  # where one goes on
    again = lead_client.get(f"/studies/isles/campaigns/{bridge.campaign.slug}/invitations/made/")
    assert again.status_code == 302
    user.refresh_from_db()
    assert user.invitation.campaign == bridge.campaign
    assert "invited" in text(lead_client.get(f"{SERVERS}{bridge.server_id}/people/"))


def test_a_user_is_ignored_and_their_name_erased(bridge, lead_client):
    user = user_of(bridge.server, 2)
    here = f"{SERVERS}{bridge.server_id}/people/{user.pk}/"
    lead_client.post(f"{here}ignore/")
    user.refresh_from_db()
    assert user.state == "ignored"
    lead_client.post(f"{here}erase/")
    user.refresh_from_db()
    assert (user.state, user.name) == ("ignored", "")


def test_answers_are_listed_by_state_and_person_with_the_reason(bridge, lead_client):
    person = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=person)
    seen(bridge, mapped, 2, state=State.REFUSED, reason="It has no choice at all.")
    seen(bridge, user_of(bridge.server, 2), 1, state=State.WAITING)
    page = text(lead_client.get(f"{HERE}answers/?state=refused"))
    assert page.count("It has no choice at all.") == 2
    assert "are not valid answers" in page
    by_person = lead_client.get(f"{HERE}answers/?q={person.pseudonym}")
    assert len(by_person.context["rows"]) == 2
    assert len(lead_client.get(f"{HERE}answers/").context["rows"]) == 3
    assert "No answers match" in text(lead_client.get(f"{HERE}answers/?state=surplus"))


def test_a_flagged_answer_is_accepted_and_flagged_again(bridge, lead_client):
    person = new_annotator(bridge.campaign)
    mapped = user_of(bridge.server, 1, state="mapped", annotator=person)
    user_of(bridge.server, 77, name="Ben")
    (answer,) = seen(bridge, mapped, state=State.FLAGGED, updated_by=77)
    page = text(lead_client.get(f"{HERE}answers/?state=flagged"))
    assert "last sent by Ben" in page
    assert f"{HERE}answers/{answer.pk}/" in page
    assert "Accept it" in text(lead_client.get(f"{HERE}answers/{answer.pk}/"))
    lead_client.post(f"{HERE}answers/{answer.pk}/take/", {"seen": answer.digest})
    answer.refresh_from_db()
    assert answer.allowed
    lead_client.post(f"{HERE}answers/{answer.pk}/undo/")
    answer.refresh_from_db()
    assert not answer.allowed


def test_the_real_sender_is_shown_only_beside_the_answer(bridge, lead_client):
    ada, ben = user_of(bridge.server, 1), user_of(bridge.server, 2)
    seen(bridge, ada, 1, state=State.FLAGGED, updated_by=2)
    seen(bridge, ben, 1, state=State.WAITING, updated_by=2)
    rows = lead_client.get(f"{HERE}answers/").context["rows"]
    assert [(row.person, row.sender) for row in rows] == [
        ("worker1@example.org", "worker2@example.org"),
        ("worker2@example.org", ""),
    ]


def test_queries_of_people_do_not_grow(bridge, lead_client, queries):
    url = f"{SERVERS}{bridge.server_id}/people/"
    first = user_of(bridge.server, 1)
    seen(bridge, first, 2)
    few = queries(lead_client, url)
    for number in range(2, 130):
        user = user_of(bridge.server, number)
        seen(bridge, user, 1)
    assert queries(lead_client, url) == few <= 12
    assert len(lead_client.get(f"{url}?page=3").context["lines"]) == 29


def test_names_of_label_studio_users_are_not_shown_to_others(bridge, analyst_client, lead_client):
    person = new_annotator(bridge.campaign)
    user = user_of(bridge.server, 1, name="Very Personal", state="mapped", annotator=person)
    seen(bridge, user, 2, state=State.COUNTED)
    for part in ("", "annotators/", "annotations/", "who/", "invitations/"):
        assert "Very Personal" not in text(analyst_client.get(f"/studies/isles/campaigns/marking/{part}"))
    assert "Very Personal" not in text(lead_client.get("/studies/isles/history/"))
    assert LabelStudioUser.objects.get().name == "Very Personal"
