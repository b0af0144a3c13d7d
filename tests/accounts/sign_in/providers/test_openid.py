"""Signing in through a real OpenID Connect server: the way there and back, and every false claim that it may make."""

import time
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.sign_in.limits import SIGNED_IN_AT
from studies.models import AuditEntry
from tests.accounts.sign_in.providers import oidc_server
from tests.accounts.sign_in.providers.visits import Visit
from tests.accounts.sign_in.totp import PASSWORD, sign_in

pytestmark = pytest.mark.django_db
HEAD = {"groups": ["heads"], "name": "Mira Tal", "preferred_username": "mira"}
VERIFIED = {"groups": ["heads"], "email": "Lena@Velmar.example", "email_verified": True}
ACCOUNT = reverse("accounts:profile")


def link(user, provider_name="oidc", subject="1"):
    return SocialAccount.objects.create(user=user, provider=provider_name, uid=subject)


def entries(action):
    return [entry.details for entry in AuditEntry.objects.filter(action=action).order_by("pk")]


def refused(visited):
    """Return the text shown to somebody who was not signed in."""
    assert visited.page.status_code == 403, visited.page
    assert not visited.is_signed_in
    return visited.text


def test_the_button_leads_to_the_provider_with_pkce_state_and_nonce(client, provider):
    assert "Sign in with Velmar University" in client.get(reverse("accounts:sign_in")).content.decode()
    query = parse_qs(urlsplit(Visit(client, reverse("oidc_sign_in")).begin()).query)
    assert query["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= set(query)
    assert set(query["scope"][0].split()) == {"openid", "profile", "email"}


def test_without_a_provider_there_is_no_button_and_no_address(client):
    assert "Sign in with" not in client.get(reverse("accounts:sign_in")).content.decode()
    assert client.post(reverse("oidc_sign_in")).status_code == 404
    assert client.get(reverse("oidc_callback")).status_code == 404


def test_somebody_new_gets_an_account_and_the_roles_of_their_groups(visit, provider):
    provider.describe(mira=HEAD)
    visited = visit("mira")
    assert visited.is_signed_in
    assert visited.client.session[SIGNED_IN_AT]
    user = User.objects.get(username="mira")
    assert (user.display_name, user.is_lead, user.is_analyst, user.is_staff) == (
        "Mira Tal",
        True,
        False,
        False,
    )
    assert not user.has_usable_password()
    assert entries("account.created") == [{"provider": "oidc"}]
    assert entries("account.roles_changed") == [{"provider": "oidc", "granted": ["lead"], "taken": []}]


def test_nothing_that_the_provider_says_is_kept_but_the_subject_and_the_name(visit, provider):
    provider.describe(mira={**HEAD, "email": "mira@velmar.example"})
    visit("mira")
    account = SocialAccount.objects.get()
    assert (account.provider, account.extra_data) == ("oidc", {})
    assert not SocialToken.objects.exists()
    assert not EmailAddress.objects.exists()
    # The address is not verified: it might be somebody else's.
    assert account.user.email == ""


def test_the_second_visit_leads_to_the_same_account_though_all_else_has_changed(visit, provider):
    provider.describe(mira=HEAD)
    visit("mira")
    provider.describe(mira={"groups": ["heads"], "name": "Mira Zed", "preferred_username": "zed"})
    assert visit("mira").is_signed_in
    assert User.objects.count() == 1


def test_the_page_that_somebody_wanted_opens_after_the_visit(visit, provider):
    provider.describe(mira=HEAD)
    assert visit("mira", next=reverse("accounts:sessions")).page["Location"] == reverse("accounts:sessions")
    assert visit("mira", next="https://elsewhere.example/").page["Location"] == "/"


def test_a_user_name_that_is_taken_leads_to_nobody_elses_account(visit, provider, lead):
    provider.describe(lena={**HEAD, "preferred_username": lead.username})
    visit("lena")
    account = SocialAccount.objects.get()
    assert account.user != lead
    assert account.user.username != lead.username


def test_roles_are_taken_away_from_somebody_removed_from_the_groups(visit, provider, settings):
    settings.SSO_REQUIRE_GROUP = False
    provider.describe(mira={"groups": ["heads", "statistics", "choir"]})
    visit("mira")
    user = User.objects.get()
    assert (user.is_lead, user.is_analyst) == (True, True)
    provider.describe(mira={"groups": ["choir", "statistics"]})
    visited = visit("mira")
    user.refresh_from_db()
    assert (user.is_lead, user.is_analyst) == (False, True)
    assert visited.client.get(reverse("studies:new")).status_code == 403
    assert entries("account.roles_changed")[-1] == {"provider": "oidc", "granted": [], "taken": ["lead"]}


@pytest.mark.parametrize("claims", [{}, {"groups": []}, {"groups": None}, {"groups": {"heads": True}}])
def test_somebody_removed_from_all_groups_can_no_longer_sign_in(visit, provider, claims):
    provider.describe(mira=HEAD)
    visit("mira")
    provider.describe(mira=claims)
    assert "You are in none of the groups" in refused(visit("mira"))


def test_roles_that_no_rule_names_stay_as_an_administrator_set_them(visit, provider, settings, lead):
    settings.SSO_GROUPS = [("analyst", "statistics")]
    link(lead)
    provider.describe(lena={"groups": ["statistics"]})
    assert visit("lena").is_signed_in
    lead.refresh_from_db()
    assert (lead.is_lead, lead.is_analyst) == (True, True)


def test_the_provider_does_not_change_a_superuser(visit, provider, settings):
    settings.SSO_GROUPS = [("staff", "operators"), ("lead", "heads")]
    ada = User.objects.create_superuser("ada", password=PASSWORD)
    link(ada)
    provider.describe(lena={"groups": ["heads"]})
    assert visit("lena").is_signed_in
    ada.refresh_from_db()
    assert (ada.is_superuser, ada.is_staff) == (True, True)


def test_groups_are_found_in_a_claim_within_a_claim(visit, provider, settings):
    settings.SSO_GROUPS_CLAIM = "realm_access.roles"
    provider.describe(mira={"realm_access": {"roles": ["heads"]}})
    visit("mira")
    assert User.objects.get().is_lead


def test_new_accounts_are_refused_unless_allowed(visit, provider, settings):
    settings.SSO_NEW_ACCOUNTS = False
    provider.describe(mira=HEAD)
    assert "You have no account on this server yet" in refused(visit("mira"))
    assert not User.objects.exists()


def test_an_account_is_linked_by_a_verified_address_only_where_that_is_allowed(
    visit, provider, settings, lead
):
    User.objects.filter(pk=lead.pk).update(email="lena@velmar.example")
    settings.SSO_NEW_ACCOUNTS = False
    provider.describe(lena=VERIFIED)
    refused(visit("lena"))
    settings.SSO_LINK_BY_EMAIL = True
    assert visit("lena").is_signed_in
    assert SocialAccount.objects.get().user == lead
    assert entries("account.linked") == [{"provider": "oidc"}]
    lead.refresh_from_db()
    assert lead.has_usable_password()


@pytest.mark.parametrize("verified", [False, None, "false", "no", 1, "absent"])
def test_an_unverified_address_leads_to_no_account(visit, provider, settings, lead, verified):
    User.objects.filter(pk=lead.pk).update(email="lena@velmar.example")
    settings.SSO_NEW_ACCOUNTS, settings.SSO_LINK_BY_EMAIL = False, True
    claims = {**VERIFIED, "email_verified": verified}
    if verified == "absent":
        del claims["email_verified"]
    provider.describe(lena=claims)
    refused(visit("lena"))
    # An operator may trust the provider with the addresses of a domain.
    settings.SSO_EMAIL_DOMAINS = ["velmar.example"]
    assert visit("lena").is_signed_in


@pytest.mark.parametrize("field", ["is_superuser", "is_staff"])
def test_an_administrators_account_is_never_linked_by_its_address(visit, provider, settings, lead, field):
    User.objects.filter(pk=lead.pk).update(email="lena@velmar.example", **{field: True})
    settings.SSO_LINK_BY_EMAIL = True
    provider.describe(lena=VERIFIED)
    assert "cannot be linked automatically" in refused(visit("lena"))
    assert not SocialAccount.objects.exists()


def test_an_address_that_two_accounts_have_leads_to_neither(visit, provider, settings, lead, analyst):
    User.objects.update(email="lena@velmar.example")
    settings.SSO_LINK_BY_EMAIL = True
    provider.describe(lena=VERIFIED)
    refused(visit("lena"))


def test_a_person_whose_account_is_closed_stays_out(visit, provider, lead):
    User.objects.filter(pk=lead.pk).update(is_active=False)
    link(lead)
    provider.describe(lena=HEAD)
    visited = visit("lena")
    assert visited.page["Location"] == reverse("account_inactive")
    assert not visited.is_signed_in


LIES = {
    "nonce": {"_id_token": {"nonce": "of another sign-in"}},
    "no nonce": {"_id_token": {"nonce": ""}},
    "audience": {"_id_token": {"aud": "another client"}},
    "second audience": {"_id_token": {"aud": [oidc_server.CLIENT, "another"], "azp": "another"}},
    "issuer": {"_id_token": {"iss": "https://elsewhere.example"}},
    "expired": {"_id_token": {"exp": 1_600_000_000}},
    "signature": {"_key": "foreign"},
    "no signature": {"_key": "none"},
    "subject": {"_userinfo": {"sub": "somebody else"}},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_false_token_signs_nobody_in(visit, provider, caplog, lie):
    provider.describe(mira={**HEAD, **LIES[lie]})
    assert "Velmar University did not answer correctly" in refused(visit("mira"))
    assert not User.objects.exists()
    assert "A sign-in by Velmar University failed: OAuth2Error: " in caplog.text
    assert "eyJ" not in caplog.text


def test_a_state_of_another_browser_signs_nobody_in(visit, provider):
    provider.describe(mira=HEAD)
    first, second = (Visit(Client(), reverse("oidc_sign_in")) for _ in range(2))
    back = first.sign_in_there(first.begin(), "mira")
    second.begin()
    assert "was started in another browser" in refused(second.come_back(back))
    forged = f"{reverse('oidc_callback')}?{urlencode({'code': 'x', 'state': 'forged'})}"
    assert "was started in another browser" in refused(second.come_back(forged))


def test_a_code_works_once_and_for_ten_minutes(visit, provider):
    provider.describe(mira=HEAD)
    visited = Visit(Client(), reverse("oidc_sign_in"))
    back = visited.sign_in_there(visited.begin(), "mira")
    with time_machine.travel(time.time() + 11 * 60):
        assert "took longer than ten minutes" in refused(visited.come_back(back))
    back = visited.sign_in_there(visited.begin(), "mira")
    assert visited.come_back(back).is_signed_in
    assert visited.come_back(back).page.status_code == 403


def test_a_code_without_its_pkce_verifier_is_refused(provider):
    """PKCE: a code obtained by somebody else does not work with this browser's verifier."""
    provider.describe(mira=HEAD)
    thief, victim = (Visit(Client(), reverse("oidc_sign_in")) for _ in range(2))
    stolen = parse_qs(urlsplit(thief.sign_in_there(thief.begin(), "mira")).query)["code"][0]
    state = parse_qs(urlsplit(victim.begin()).query)["state"][0]
    callback = f"{reverse('oidc_callback')}?{urlencode({'code': stolen, 'state': state})}"
    assert "did not answer correctly" in refused(victim.come_back(callback))


@pytest.mark.parametrize(
    ("error", "sentence"), [("access_denied", "You cancelled"), ("server_error", "refused to sign you in")]
)
def test_errors_of_the_provider_are_shown_in_one_sentence(provider, client, error, sentence):
    visited = Visit(client, reverse("oidc_sign_in"))
    state = parse_qs(urlsplit(visited.begin()).query)["state"][0]
    callback = f"{reverse('oidc_callback')}?{urlencode({'error': error, 'state': state})}"
    assert sentence in refused(visited.come_back(callback))


def test_a_provider_that_does_not_answer_is_named(provider, client, settings):
    settings.OIDC_ISSUER = "http://127.0.0.1:9/o"
    answer = client.post(reverse("oidc_sign_in"))
    assert answer.status_code == 403
    assert "Velmar University did not answer" in answer.content.decode()


def test_a_provider_with_another_issuer_is_refused(provider, client, settings):
    settings.OIDC_ISSUER = provider.issuer + "/.well-known/openid-configuration"
    assert client.post(reverse("oidc_sign_in")).status_code == 403


def test_a_person_links_and_unlinks_their_account(provider, client, lead):
    provider.describe(lena=HEAD)
    sign_in(client)
    assert "Velmar University" in client.get(ACCOUNT).content.decode()
    linking = Visit(client, reverse("oidc_link")).go("lena")
    assert linking.page["Location"] == ACCOUNT
    account = SocialAccount.objects.get()
    assert account.user == lead
    assert Visit(Client(), reverse("oidc_sign_in")).go("lena").is_signed_in
    client.post(reverse("accounts:unlink", args=[account.pk]))
    assert not SocialAccount.objects.exists()
    assert [entries(f"account.{verb}") for verb in ("linked", "unlinked")] == [[{"provider": "oidc"}]] * 2


def test_nobody_unlinks_the_account_of_somebody_else_or_their_only_way_in(provider, client, lead, stranger):
    account = link(lead)
    client.force_login(stranger)
    assert client.post(reverse("accounts:unlink", args=[account.pk])).status_code == 404
    lead.set_unusable_password()
    lead.save()
    client.force_login(lead)
    assert client.post(reverse("accounts:unlink", args=[account.pk])).status_code == 403
    assert SocialAccount.objects.exists()


def test_linking_that_somebody_else_began_in_this_browser_fails(provider, client, lead, analyst):
    provider.describe(lena=HEAD)
    sign_in(client)
    linking = Visit(client, reverse("oidc_link"))
    back = linking.sign_in_there(linking.begin(), "lena")
    client.force_login(analyst)
    linking.come_back(back)
    assert not SocialAccount.objects.exists()


def test_an_account_at_the_provider_is_not_linked_to_two_people(provider, client, lead, analyst):
    link(analyst)
    provider.describe(lena=HEAD)
    sign_in(client)
    assert Visit(client, reverse("oidc_link")).go("lena").page.status_code == 403
    assert SocialAccount.objects.get().user == analyst


def test_passwords_can_be_disabled_for_people_from_the_provider(visit, provider, settings, lead):
    settings.SSO_ONLY = True
    browser = Client()
    sign_in(browser)
    assert browser.get(ACCOUNT).status_code == 200
    link(lead)
    provider.describe(lena=HEAD)
    browser = Client()
    assert "You cannot sign in with a password here" in sign_in(browser).content.decode()
    assert browser.get(ACCOUNT).status_code == 302
    assert visit("lena").is_signed_in
    User.objects.filter(pk=lead.pk).update(is_superuser=True)
    sign_in(browser)
    assert browser.get(ACCOUNT).status_code == 200


def test_a_second_factor_at_the_provider_counts_where_the_settings_name_it(visit, provider, settings):
    settings.SECOND_FACTOR_FOR = ["leads"]
    provider.describe(mira={**HEAD, "amr": ["pwd", "mfa"]})
    assert visit("mira").client.get(ACCOUNT).url == reverse("mfa_index")
    settings.SSO_SECOND_FACTOR = ["mfa"]
    assert visit("mira").is_signed_in
    provider.describe(mira={**HEAD, "amr": ["pwd"]})
    assert visit("mira").client.get(ACCOUNT).url == reverse("mfa_index")


def test_signing_out_offers_to_sign_out_at_the_provider(visit, provider):
    provider.describe(mira=HEAD)
    browser = visit("mira").client
    answer = browser.post(reverse("accounts:sign_out"))
    page = browser.get(answer.url)
    assert browser.get(ACCOUNT).status_code == 302
    address = page.context["address"]
    assert address.startswith(f"{provider.issuer}/logout/?")
    assert "Sign out of Velmar University" in page.content.decode()


def test_signing_out_after_a_password_leads_to_the_start_page(client, lead):
    sign_in(client)
    assert client.post(reverse("accounts:sign_out")).url == "/"


def test_going_to_the_provider_stores_only_the_state_in_the_session(provider, client):
    Visit(client, reverse("oidc_sign_in")).begin()
    assert set(Session.objects.get().get_decoded()) == {"socialaccount_states"}
