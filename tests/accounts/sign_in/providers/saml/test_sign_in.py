"""Signing in through a SAML identity provider: the way there and back, and the account that is found."""

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from accounts.models import UsedAssertion, User
from accounts.sign_in.limits import SIGNED_IN_AT
from studies.models import AuditEntry
from tests.accounts.sign_in.providers.saml.conftest import ANSWERS, SERVICE
from tests.accounts.sign_in.totp import sign_in

pytest.importorskip("onelogin.saml2", reason="python3-saml is not installed: requirements/saml.txt")
from lxml import etree
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Saml2

from tests.accounts.sign_in.providers.saml.identity_provider import (
    AFFILIATION,
    DISPLAY_NAME,
    MAIL,
    PAIRWISE,
    encoded,
    request_in,
)
from tests.accounts.sign_in.providers.saml.visits import MIRA, Visit

pytestmark = pytest.mark.django_db
ACCOUNT = reverse("accounts:profile")
MAILED = {**MIRA, MAIL: ["Lena@Velmar.example"]}


def link(user, subject="mira@velmar.example"):
    return SocialAccount.objects.create(user=user, provider="saml", uid=subject)


def entries(action):
    return [entry.details for entry in AuditEntry.objects.filter(action=action).order_by("pk")]


def refused(visited):
    """Return the text shown to somebody who was not signed in."""
    assert visited.page.status_code == 403, visited.page
    assert not visited.is_signed_in
    return visited.text


def test_the_button_leads_to_the_provider_with_a_request(client, idp):
    assert "Sign in with Velmar University" in client.get(reverse("accounts:sign_in")).content.decode()
    visited = Visit(client, idp)
    visited.begin()
    request = request_in(visited.address)
    assert visited.address.startswith("https://login.velmar.example/sso?SAMLRequest=")
    assert request.get("AssertionConsumerServiceURL") == ANSWERS
    assert request.findtext("saml:Issuer", namespaces=Saml2.NSMAP) == SERVICE


def test_the_request_cookie_is_sent_with_the_answer_only(client, idp):
    Visit(client, idp).begin()
    (note,) = [cookie for name, cookie in client.cookies.items() if name.startswith("stereoscope_saml_")]
    assert (note["samesite"], note["secure"], note["httponly"]) == ("None", True, True)
    assert (note["path"], note["max-age"]) == (reverse("saml_acs"), 600)


def test_without_a_provider_there_is_no_button_and_no_address(client):
    assert "Sign in with" not in client.get(reverse("accounts:sign_in")).content.decode()
    for name in ("saml_sign_in", "saml_acs"):
        assert client.post(reverse(name)).status_code == 404
    for name in ("saml_finish", "saml_metadata"):
        assert client.get(reverse(name)).status_code == 404


@pytest.mark.parametrize("what", ["assertion", "response", "both"])
def test_somebody_new_gets_an_account_and_the_roles_of_their_groups(idp, client, what):
    visited = Visit(client, idp)
    answer = idp.answer(visited.begin(), attributes=MIRA)
    assert visited.come_back(encoded(idp.signed(answer, what=what))).is_signed_in
    assert client.session[SIGNED_IN_AT]
    user = User.objects.get()
    assert (user.display_name, user.is_lead, user.is_analyst, user.is_staff) == (
        *("Mira Tal", True, False),
        False,
    )
    assert not user.has_usable_password()
    assert entries("account.created") == [{"provider": "saml"}]
    assert entries("account.roles_changed") == [{"provider": "saml", "granted": ["lead"], "taken": []}]


def test_nothing_that_the_provider_says_is_kept_but_the_subject_and_the_name(visit):
    assert visit(attributes=MAILED).is_signed_in
    account = SocialAccount.objects.get()
    assert (account.provider, account.uid, account.extra_data) == ("saml", "mira@velmar.example", {})
    # The address is not verified: it might be somebody else's.
    assert account.user.email == ""
    used = UsedAssertion.objects.get()
    assert (used.ticket_hash, used.statement_sealed) == (None, "")


def test_sign_ins_waiting_for_the_browser_are_encrypted(idp, client):
    visited = Visit(client, idp)
    visited.send(visited.answer(visited.begin()))
    waiting = UsedAssertion.objects.get()
    assert waiting.statement_sealed
    assert "Mira" not in waiting.statement_sealed
    assert set(Session.objects.get().get_decoded()) == {"socialaccount_states"}


def test_the_second_visit_leads_to_the_same_account_though_all_else_has_changed(visit):
    visit()
    assert visit(attributes={**MIRA, DISPLAY_NAME: ["Mira Zed"]}).is_signed_in
    assert User.objects.count() == 1


def test_the_page_that_somebody_wanted_opens_after_the_visit(idp):
    for wanted, opened in ((reverse("accounts:sessions"),) * 2, ("https://elsewhere.example/", "/")):
        visited = Visit(Client(), idp)
        visited.come_back(visited.answer(visited.begin(next=wanted)))
        assert visited.page["Location"] == opened


def test_roles_follow_the_groups_at_each_sign_in(visit, settings):
    settings.SSO_REQUIRE_GROUP = False
    visit(attributes={**MIRA, AFFILIATION: ["heads", "statistics", "choir"]})
    user = User.objects.get()
    assert (user.is_lead, user.is_analyst) == (True, True)
    visit(attributes={**MIRA, AFFILIATION: ["choir"], "groups": ["statistics"]})
    user.refresh_from_db()
    assert (user.is_lead, user.is_analyst) == (False, True)


def test_somebody_in_no_group_is_not_signed_in(visit):
    assert "You are in none of the groups" in refused(visit(attributes={PAIRWISE: ["mira@velmar.example"]}))
    assert not User.objects.exists()


def test_new_accounts_are_refused_unless_allowed(visit, settings):
    settings.SSO_NEW_ACCOUNTS = False
    assert "You have no account on this server yet" in refused(visit())


def test_an_account_is_linked_by_an_address_of_a_named_domain_only(visit, settings, lead):
    User.objects.filter(pk=lead.pk).update(email="lena@velmar.example")
    settings.SSO_NEW_ACCOUNTS, settings.SSO_LINK_BY_EMAIL = False, True
    # Settings that trust an OpenID Connect provider do not apply here.
    settings.SSO_EMAIL_DOMAINS = ["velmar.example"]
    refused(visit(attributes=MAILED))
    settings.SAML_EMAIL_DOMAINS = ["elsewhere.example"]
    refused(visit(attributes=MAILED))
    settings.SAML_EMAIL_DOMAINS = ["Velmar.example"]
    refused(visit(attributes={**MIRA, MAIL: ["lena@velmar.example.evil.example"]}))
    assert visit(attributes=MAILED).is_signed_in
    assert SocialAccount.objects.get().user == lead


def test_a_persistent_name_is_the_subject_where_no_attribute_is_set(visit):
    attributes = {AFFILIATION: ["heads"]}
    assert visit(attributes=attributes, subject="p-1", subject_format=Saml2.NAMEID_PERSISTENT).is_signed_in
    assert SocialAccount.objects.get().uid == "p-1"


@pytest.mark.parametrize(
    "form", [Saml2.NAMEID_TRANSIENT, Saml2.NAMEID_UNSPECIFIED, Saml2.NAMEID_EMAIL_ADDRESS]
)
def test_a_reassignable_name_is_not_accepted_as_the_subject(visit, form):
    attributes = {AFFILIATION: ["heads"]}
    page = visit(attributes=attributes, subject="mira@velmar.example", subject_format=form)
    assert "Velmar University did not answer correctly" in refused(page)
    assert not User.objects.exists()


def test_a_subject_with_two_values_is_refused(visit):
    refused(visit(attributes={**MIRA, PAIRWISE: ["a@velmar.example", "b@velmar.example"]}))


def test_an_operator_names_other_attributes(visit, settings):
    settings.SAML_SUBJECT_ATTRIBUTE = ["employee-number"]
    settings.SAML_GROUPS_ATTRIBUTE = ["memberOf"]
    refused(visit())
    assert visit(attributes={"employee-number": ["17"], "memberOf": ["heads"]}).is_signed_in
    assert SocialAccount.objects.get().uid == "17"


def test_a_second_factor_at_the_provider_counts_where_the_settings_name_it(visit, settings):
    settings.SECOND_FACTOR_FOR = ["leads"]
    settings.SSO_SECOND_FACTOR = ["https://refeds.org/profile/mfa"]
    assert visit().client.get(ACCOUNT).url == reverse("mfa_index")
    assert visit(context="https://refeds.org/profile/mfa").is_signed_in


def test_a_person_links_and_unlinks_their_account(idp, client, lead):
    sign_in(client)
    assert "Velmar University" in client.get(ACCOUNT).content.decode()
    assert Visit(client, idp, "saml_link").go().page["Location"] == ACCOUNT
    account = SocialAccount.objects.get()
    assert account.user == lead
    assert Visit(Client(), idp).go().is_signed_in
    client.post(reverse("accounts:unlink", args=[account.pk]))
    assert [entries(f"account.{verb}") for verb in ("linked", "unlinked")] == [[{"provider": "saml"}]] * 2


def test_linking_that_somebody_else_began_in_this_browser_fails(idp, client, lead, analyst):
    sign_in(client)
    linking = Visit(client, idp, "saml_link")
    answer = linking.answer(linking.begin())
    client.force_login(analyst)
    linking.come_back(answer)
    assert not SocialAccount.objects.exists()


def test_a_person_whose_account_is_closed_stays_out(visit, lead):
    User.objects.filter(pk=lead.pk).update(is_active=False)
    link(lead)
    visited = visit()
    assert visited.page["Location"] == reverse("account_inactive")
    assert not visited.is_signed_in


def test_passwords_can_be_disabled_for_people_from_the_provider(visit, settings, lead):
    settings.SSO_ONLY = True
    link(lead)
    assert "You cannot sign in with a password here" in sign_in(Client()).content.decode()
    assert visit().is_signed_in


def test_parallel_sign_ins_do_not_interfere_and_leave_no_cookie(idp, client):
    first, second = Visit(client, idp), Visit(client, idp)
    answers = [each.answer(each.begin()) for each in (first, second)]
    assert first.come_back(answers[0]).is_signed_in
    assert second.come_back(answers[1]).is_signed_in
    assert not [name for name in client.cookies if name.startswith("stereoscope_saml_")]


def test_a_provider_that_changes_its_key_signs_with_either(idp, settings, tmp_path, other_key, client):
    file = tmp_path / "two keys.xml"
    file.write_text(idp.metadata(certificates=(other_key.body, idp.key.body)))
    settings.SAML_METADATA_FILE = str(file)
    assert Visit(client, idp).go().is_signed_in
    idp.key = other_key
    assert Visit(Client(), idp).go().is_signed_in


def test_both_providers_have_a_button(client, idp, settings):
    settings.OIDC_ISSUER, settings.OIDC_NAME = "https://login.example.org", "the federation"
    page = client.get(reverse("accounts:sign_in")).content.decode()
    assert "Sign in with Velmar University" in page
    assert "Sign in with the federation" in page


def test_this_server_describes_itself(client, idp):
    answer = client.get(reverse("saml_metadata"))
    assert answer["Content-Type"] == "application/samlmetadata+xml"
    description = etree.fromstring(answer.content)
    service = description.find("md:SPSSODescriptor", Saml2.NSMAP)
    assert description.get("entityID") == SERVICE
    # Without an end: registered metadata must not stop working.
    assert description.get("validUntil") is None
    assert (service.get("WantAssertionsSigned"), service.get("AuthnRequestsSigned")) == ("true", "false")
    assert service.find("md:AssertionConsumerService", Saml2.NSMAP).get("Location") == ANSWERS
