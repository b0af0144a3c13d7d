"""Self-erasure, which every consent that the person gave must allow."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.consent_texts import ErasurePromise
from accounts.models import Annotator, ConsentText, User
from annotation.recruitment.models import PanelPayment, PanelPlace
from privacy.erasure import promises
from privacy.models import Erasure
from studies import consent
from studies.models import AuditEntry, StudyMembership
from tests.privacy.conftest import promise
from tests.privacy.traces import in_database

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
SURE = {"understood": "on"}
ERASE, OVERVIEW = reverse("own_data:erase"), reverse("own_data:overview")


@pytest.fixture
def free(person, marking):
    """The person, whose consent says that they may erase themselves."""
    ConsentText.objects.filter(pk=consent.current_text(marking.study).pk).update(may_erase_self=True)
    return person


def page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_without_the_promise_people_are_referred_to_the_person_who_invited_them(person):
    assert ERASE not in page(person.client, OVERVIEW)
    assert "write to the person who invited you" in page(person.client, OVERVIEW)
    for response in (person.client.get(ERASE), person.client.post(ERASE, SURE)):
        assert response.status_code == 409
    assert Annotator.objects.filter(pk=person.annotator.pk).exists()


def test_self_erasure_ends_on_a_public_confirmation_page(free):
    assert ERASE in page(free.client, OVERVIEW)
    assert "cannot be undone" in page(free.client, ERASE)
    done = free.client.post(ERASE, SURE)
    assert (done.status_code, done.url) == (302, reverse("own_data:erased"))
    response = free.client.get(done.url)
    assert "Your data is erased" in response.content.decode()
    assert response["Clear-Site-Data"] == '"storage"'
    assert Client().get(done.url).status_code == 200
    assert free.client.get(OVERVIEW).status_code == 302  # signed out
    assert in_database(free.words) == []
    assert Erasure.objects.count() == 1


def test_the_history_records_that_the_person_did_it(free):
    free.client.post(ERASE, SURE)
    entry = AuditEntry.objects.get(action="annotator.erased")
    assert (entry.actor, entry.details) == (None, {"labels": "deleted"})


def test_it_has_to_be_confirmed(free):
    response = free.client.post(ERASE, {})
    assert response.status_code == 400
    assert "Tick this box" in response.content.decode()
    assert Annotator.objects.filter(pk=free.annotator.pk).exists()


def test_a_person_with_a_password_must_enter_it(free):
    user = free.annotator.user
    user.set_password(PASSWORD)
    user.save()
    free.client.force_login(user)
    for password in ("", "wrong"):
        response = free.client.post(ERASE, SURE | {"password": password})
        assert response.status_code == 400
    assert "This is not your password." in response.content.decode()
    assert free.client.post(ERASE, SURE | {"password": PASSWORD}).url == reverse("own_data:erased")
    assert not User.objects.filter(pk=user.pk).exists()
    assert in_database(free.words) == []


def test_a_person_still_to_be_paid_by_a_panel_is_told_what_to_do(free):
    PanelPayment.objects.create(
        place=PanelPlace.objects.get(), kind="bonus", cause="work", amount=100, currency="GBP"
    )
    assert "still has to pay you" in page(free.client, ERASE)
    response = free.client.post(ERASE, SURE)
    assert response.status_code == 400
    assert "still has to pay you" in response.content.decode()


def test_a_lead_who_also_labels_is_told_what_to_do(free, study):
    StudyMembership.objects.create(study=study, user=free.annotator.user, role="analyst")
    assert "This account also has a role in studies" in page(free.client, ERASE)
    assert free.client.post(ERASE, SURE).status_code == 400


def test_a_later_text_does_not_revoke_a_promise(free, study, lead):
    later = consent.publish_consent(study=study, body="Our own.", content_notice="Careful.", by=lead)
    ConsentText.objects.filter(pk=later.pk).update(may_erase_self=False)
    assert promises.of_annotator(free.annotator).by_self


def test_the_promise_of_the_text_that_was_read_first_is_not_revoked_by_agreeing_to_the_study_s_own(
    free, study, lead
):
    own = consent.publish_consent(
        study=study, body="Our own.", content_notice="Careful.", promise=ErasurePromise(), by=lead
    )
    consent.give(annotator=free.annotator, text=own, study=study)
    assert promises.of_annotator(free.annotator).by_self


def test_a_promise_in_one_version_that_somebody_agreed_to_suffices(person, study, lead):
    for number, promised in enumerate((True, False)):
        text = consent.publish_consent(
            study=study, body=f"Text {number}.", content_notice="Careful.", by=lead
        )
        ConsentText.objects.filter(pk=text.pk).update(may_erase_self=promised)
        consent.give(annotator=person.annotator, text=text, study=study)
    assert promises.of_annotator(person.annotator).by_self


def test_a_promise_outlives_a_withdrawal_and_a_later_text(free, study, lead):
    own = consent.publish_consent(
        study=study, body="Our own.", content_notice="Careful.", promise=ErasurePromise(), by=lead
    )
    consent.withdraw(annotator=free.annotator, study=study)
    assert not own.may_erase_self
    assert promises.of_annotator(free.annotator).by_self


@pytest.mark.parametrize(
    ("labels", "sentence"), [("delete", "your answers are also deleted"), ("sever", "your answers are kept")]
)
def test_the_page_states_what_happens_to_answers_before_erasure(free, marking, labels, sentence):
    promise(marking, labels)
    for address in (OVERVIEW, ERASE):
        assert sentence in page(free.client, address)


@pytest.mark.parametrize(
    ("labels", "by_self", "sentences"),
    [
        (
            "delete",
            False,
            ["ask the person who invited you to erase your data", "everything else about you are then"],
        ),
        ("sever", True, ["You can erase your data at any time", "kept for research under a new random code"]),
    ],
)
def test_annotators_read_the_promise_before_they_agree(join, marking, labels, by_self, sentences):
    client = join(marking, ready=False)
    ConsentText.objects.update(labels_when_erased=labels, may_erase_self=by_self)
    text = page(client, reverse("annotate:consent", args=[marking.pk]))
    assert [sentence for sentence in sentences if sentence not in text] == []


def test_a_lead_lets_people_erase_themselves_in_the_consent_form(lead_client, study):
    address = reverse("studies:consent", args=[study.slug])
    assert "People may erase themselves" in page(lead_client, address)
    text = {
        "body": "Text.",
        "content_notice": "Careful.",
        "labels_when_erased": "sever",
        "may_erase_self": "on",
    }
    lead_client.post(address, text)
    study.refresh_from_db()
    assert (study.consent_text.may_erase_self, study.consent_text.labels_when_erased) == (True, "sever")
