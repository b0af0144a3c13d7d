"""A lead erases a person: only in the lead's own studies, only people without a role, and only when confirmed."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.consent_texts import ErasurePromise
from accounts.models import Annotator, User
from accounts.rights import CAPABILITIES, Capability, Role
from annotation.label_studio.models import LabelStudioServer, LabelStudioUser
from annotation.models import Campaign, Enrolment, ImageReport
from annotation.recruitment.models import PanelPlace
from foundation.errors import Conflict, Forbidden
from generation.models import Image
from privacy.erasure.erase import erase_annotator
from privacy.erasure.rights import studies_with_data
from privacy.models import Erasure
from studies import consent
from studies.models import AuditEntry, Study, StudyMembership
from tests.annotation.factories import new_annotator
from tests.privacy.conftest import promise
from tests.privacy.traces import in_database

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(person, marking):
    enrolment = Enrolment.objects.get(campaign=marking, annotator=person.annotator)
    return reverse("privacy:erase_annotator", args=[marking.study.slug, marking.slug, enrolment.pk])


@pytest.fixture
def elsewhere(study, marking):
    """Another study, which the lead does not lead, with a campaign."""
    other = Study.objects.create(name="Elsewhere", slug="other", resource=study.resource, seed=1)
    return Campaign.objects.create(study=other, slug="round", name="Round", kind=marking.kind, seed=1)


def member(study, role: str) -> Client:
    user = User.objects.create_user(f"the-{role}")
    StudyMembership.objects.create(study=study, user=user, role=role)
    browser = Client()
    browser.force_login(user)
    return browser


def text_of(client: Client, address: str) -> str:
    return " ".join(client.get(address).content.decode().split())


def test_a_lead_finds_the_page_among_the_annotators(lead_client, marking, address):
    assert address in text_of(lead_client, f"/studies/isles/campaigns/{marking.slug}/annotators/")


def test_the_page_states_what_happens_to_answers_by_study_and_version(
    lead_client, lead, person, marking, address, study
):
    promise(marking, "sever")
    later = consent.publish_consent(
        study=study, body="Ours.", content_notice="Careful.", promise=ErasurePromise("delete"), by=lead
    )
    before = text_of(lead_client, address)
    assert ": kept under a nameless code" in before
    assert '<td class="num" data-value="0">0</td> <td class="num" data-value="2">2</td>' in before
    consent.give(annotator=person.annotator, text=later, study=study)
    assert f"Version {later.version}: deleted" in text_of(lead_client, address)
    consent.withdraw(annotator=person.annotator, study=study)
    assert "The person withdrew, so their answers are deleted." in text_of(lead_client, address)


def test_a_lead_erases_a_person_by_typing_their_code(lead_client, lead, person, marking, address, study):
    promise(marking, "delete")
    answer = lead_client.post(address, {"code": person.annotator.pseudonym}, follow=True)
    text = answer.content.decode()
    assert "One person is erased. Answers deleted: 2. Answers kept under a nameless code: 0." in text
    assert in_database(person.words) == []
    entry = AuditEntry.objects.get(action="annotator.erased")
    assert (entry.study, entry.actor, entry.details) == (study, lead, {"labels": "deleted"})
    assert Erasure.objects.count() == 1
    assert lead_client.get(address).status_code == 404


@pytest.mark.parametrize("typed", ["", "A-NOBODY00", "quillfeather"])
def test_without_the_code_nobody_is_erased(lead_client, person, address, typed):
    answer = lead_client.post(address, {"code": typed})
    assert answer.status_code == 400
    assert Annotator.objects.filter(pk=person.annotator.pk).exists()


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.STEWARD, Role.ANALYST])
def test_no_other_role_erases(person, study, address, role):
    browser = member(study, role)
    for answer in (
        browser.get(address),
        browser.post(address, {"code": person.annotator.pseudonym}),
    ):
        assert answer.status_code == 403
    with pytest.raises(Forbidden, match="Ask an administrator"):
        erase_annotator(annotator=person.annotator, by=User.objects.get(username=f"the-{role}"))
    assert Annotator.objects.filter(pk=person.annotator.pk).exists()
    assert [name for name in Role if Capability.ERASE in CAPABILITIES[name]] == [Role.LEAD]


def test_a_lead_of_another_study_cannot_see_the_person(stranger_client, address, person):
    assert stranger_client.get(address).status_code == 404
    assert stranger_client.post(address, {"code": person.annotator.pseudonym}).status_code == 404


@pytest.mark.parametrize(
    "trace", ["enrolment", "invitation", "panel", "withdrawal", "image report", "label studio"]
)
def test_a_lead_of_only_some_of_the_persons_studies_asks_an_administrator(
    lead_client, lead, person, address, elsewhere, trace
):
    """This holds also where the other study has only a link, an id or a withdrawal."""
    annotator = person.annotator
    if trace == "enrolment":
        Enrolment.objects.create(campaign=elsewhere, annotator=annotator)
    elif trace == "invitation":
        elsewhere.invitations.create(annotator=annotator, limit=1, token_hash="f" * 64)
    elif trace == "panel":
        provider = elsewhere.study.providers.create(name="Panel", person_parameter="person")
        provider.people.create(annotator=annotator, id_hash="e" * 64, id_sealed="sealed")
    elif trace == "withdrawal":
        consent.withdraw(annotator=annotator, study=elsewhere.study)
    elif trace == "image report":
        image = Image.objects.exclude(reports__annotator=annotator).first()
        ImageReport.objects.create(campaign=elsewhere, image=image, annotator=annotator, reason="other")
    else:
        server = LabelStudioServer.objects.create(
            study=elsewhere.study, url="https://ls2.example", token="sealed", created_by=None
        )
        LabelStudioUser.objects.create(
            server=server, external_id=9, name="z", state="mapped", annotator=annotator
        )
    assert set(studies_with_data(annotator).values_list("slug", flat=True)) == {"isles", "other"}
    page = text_of(lead_client, address)
    assert "Ask an administrator to erase this person, and give their code" in page
    assert "Elsewhere" not in page
    assert "<form" not in page.partition("<main")[2]
    answer = lead_client.post(address, {"code": annotator.pseudonym})
    assert answer.status_code == 400
    assert Annotator.objects.filter(pk=annotator.pk, user__isnull=False).exists()
    StudyMembership.objects.create(study=elsewhere.study, user=lead, role="lead")
    assert "Ask an administrator to erase" not in text_of(lead_client, address)


def test_a_lead_whose_account_is_blocked_erases_nobody(person, lead):
    lead.is_active = False
    lead.save()
    with pytest.raises(Forbidden):
        erase_annotator(annotator=person.annotator, by=lead)
    assert Annotator.objects.filter(pk=person.annotator.pk, user__isnull=False).exists()


def test_the_studies_of_a_person_are_found_without_multiplying_rows(person):
    """A join would pair each answer with each assignment and each link of its campaign."""
    tables = str(studies_with_data(person.annotator).query).partition(" WHERE ")[0]
    assert "JOIN" not in tables


def test_an_administrator_may_erase_people_in_any_study(admin_user, person, elsewhere):
    Enrolment.objects.create(campaign=elsewhere, annotator=person.annotator)
    erase_annotator(annotator=person.annotator, by=admin_user)
    assert AuditEntry.objects.filter(action="annotator.erased", actor=admin_user).count() == 2


@pytest.mark.parametrize("role", ["lead", "analyst", "staff", "superuser", "member"])
def test_people_with_a_role_are_not_erased(lead_client, lead, person, address, study, role):
    user = person.annotator.user
    if role == "member":
        StudyMembership.objects.create(study=study, user=user, role="steward")
    else:
        User.objects.filter(pk=user.pk).update(**{f"is_{role}": True})
    assert "An administrator must remove the person’s roles first" in text_of(lead_client, address)
    assert lead_client.post(address, {"code": person.annotator.pseudonym}).status_code == 400
    with pytest.raises(Conflict, match="also a lead"):
        erase_annotator(annotator=Annotator.objects.get(pk=person.annotator.pk), by=lead)


def test_nobody_erases_themselves_as_a_lead(lead, lead_client, marking):
    own = Annotator.objects.create(user=lead)
    enrolment = Enrolment.objects.create(campaign=marking, annotator=own)
    own_page = reverse("privacy:erase_annotator", args=["isles", marking.slug, enrolment.pk])
    assert "This is your own account" in text_of(lead_client, own_page)
    with pytest.raises(Conflict, match="your own account"):
        erase_annotator(annotator=own, by=lead)


@pytest.mark.parametrize("state", ["completed", "screened_out", "left"])
def test_somebody_whom_a_panel_has_to_pay_is_erased_later(lead_client, person, address, state):
    PanelPlace.objects.update(state=state, answered=1, outcome="", decided_at=None)
    assert "A panel still has to pay this person." in text_of(lead_client, address)
    assert lead_client.post(address, {"code": person.annotator.pseudonym}).status_code == 400


def test_an_annotator_of_another_campaign_is_not_erased(lead_client, person, marking, rating):
    """The number in the address must belong to the campaign in the address."""
    enrolment = Enrolment.objects.get(campaign=marking, annotator=person.annotator)
    wrong = reverse("privacy:erase_annotator", args=["isles", rating.slug, enrolment.pk])
    assert lead_client.post(wrong, {"code": person.annotator.pseudonym}).status_code == 404


def test_simulated_annotators_have_no_such_link(lead_client, marking):
    new_annotator(marking, origin=Annotator.Origin.SIMULATED)
    assert "/erase/" not in text_of(lead_client, f"/studies/isles/campaigns/{marking.slug}/annotators/")
