"""Answers that must sign nobody in: forged, moved, meant for somebody else, late or used twice."""

import base64
import time
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from accounts.models import UsedAssertion, User
from accounts.sign_in.providers.saml.requests import PREFIX
from accounts.sign_in.providers.saml.statements import remove_expired

pytest.importorskip("onelogin.saml2", reason="python3-saml is not installed: requirements/saml.txt")
from lxml import etree
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Saml2

from accounts.sign_in.providers.saml.responses import LONGEST
from tests.accounts.sign_in.providers.saml.identity_provider import AFFILIATION, PAIRWISE, encoded
from tests.accounts.sign_in.providers.saml.visits import MIRA, Visit
from tests.accounts.sign_in.providers.saml.wrapping import WRAPPINGS

pytestmark = pytest.mark.django_db
AUTHN_FAILED = "urn:oasis:names:tc:SAML:2.0:status:Responder"


@pytest.fixture
def visited(idp, client):
    """A browser that has begun to sign in."""
    visit = Visit(client, idp)
    visit.request_id = visit.begin()
    return visit


def refusal(visited, answer, caplog):
    """Send an answer that must sign nobody in; return the logged code. The log must not quote the answer."""
    caplog.clear()
    assert visited.send(answer) == {"problem": ["refused"]}
    assert not UsedAssertion.objects.exists()
    page = visited.client.get(visited.arrival["Location"])
    assert page.status_code == 403
    assert "Velmar University did not answer correctly" in page.content.decode()
    assert not visited.is_signed_in
    assert not User.objects.exists()
    assert not any(word in caplog.text for word in ("mira", "Mira", "heads", visited.request_id))
    (record,) = [record for record in caplog.records if "was refused" in record.message]
    return record.message.partition("was refused: ")[2]


def test_the_valid_answer_behind_the_forgeries_signs_in(visited):
    assert visited.come_back(visited.answer(visited.request_id)).is_signed_in


LIES = {
    "another audience": ({"audience": "https://elsewhere.example/saml"}, "wrong_audience"),
    "no audience": ({"audience": ""}, "wrong_audience"),
    "destination elsewhere": ({"destination": "https://elsewhere.example/"}, "wrong_destination"),
    "destination that begins as ours": (
        {"destination": "https://testserver/account/saml/acs/more"},
        "wrong_destination",
    ),
    "no destination": (
        {"destination": "", "recipient": "https://testserver/account/saml/acs/"},
        "wrong_destination",
    ),
    "another recipient": ({"recipient": "https://elsewhere.example/"}, "wrong_subjectconfirmation"),
    "no recipient": ({"recipient": ""}, "wrong_subjectconfirmation"),
    "another issuer": ({"issuer": "https://elsewhere.example/saml"}, "wrong_issuer"),
    "expired": (
        {"valid_until": timedelta(hours=-1), "confirmed_until": timedelta(hours=1)},
        "assertion_expired",
    ),
    "confirmed in the past": ({"confirmed_until": timedelta(seconds=-1)}, "wrong_subjectconfirmation"),
    "confirmed for ever": ({"confirmed_until": None}, "wrong_subjectconfirmation"),
    "not yet valid": ({"valid_from": timedelta(hours=1)}, "assertion_too_early"),
    "confirmation of another request": ({"confirmed_request": "_another"}, "wrong_subjectconfirmation"),
    "confirmation of no request": ({"confirmed_request": ""}, "wrong_subjectconfirmation"),
    "only a transient name": ({"attributes": {AFFILIATION: ["heads"]}}, "no_lasting_subject"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_forged_answer_signs_nobody_in(visited, caplog, lie):
    changes, code = LIES[lie]
    assert refusal(visited, visited.answer(visited.request_id, **changes), caplog) == code


def test_an_answer_without_a_signature_is_refused(idp, visited, caplog):
    unsigned = idp.signed(idp.answer(visited.request_id, attributes=MIRA), what="nothing")
    assert refusal(visited, encoded(unsigned), caplog) == "not_signed"


@pytest.mark.parametrize("what", ["assertion", "response"])
def test_an_answer_that_somebody_else_signed_is_refused(idp, visited, other_key, caplog, what):
    """The certificate of the other key comes with the answer, and must not be believed."""
    forged = idp.signed(idp.answer(visited.request_id, attributes=MIRA), what=what, key=other_key)
    assert refusal(visited, encoded(forged), caplog) == "invalid_signature"


@pytest.mark.parametrize("what", ["assertion", "response", "both"])
def test_an_answer_that_was_changed_after_signing_is_refused(idp, visited, caplog, what):
    signed = idp.signed(idp.answer(visited.request_id, attributes=MIRA), what=what)
    changed = signed.replace("mira@velmar.example", "lena@velmar.example")
    assert changed != signed
    assert refusal(visited, encoded(changed), caplog) == "invalid_signature"


def test_a_valid_signature_around_a_forged_one_does_not_help(idp, visited, other_key, caplog):
    """Where an answer has two signatures, both must be valid."""
    assertion = idp.sign(idp.answer(visited.request_id, attributes=MIRA).assertion(), key=other_key)
    answer = idp.answer(visited.request_id, attributes=MIRA)
    assert refusal(visited, encoded(idp.sign(answer.around(assertion))), caplog) == "invalid_signature"


@pytest.mark.parametrize("variant", WRAPPINGS)
def test_signature_wrapping_is_refused(idp, visited, caplog, variant):
    what, wrapped = WRAPPINGS[variant]
    signed = idp.signed(idp.answer(visited.request_id, attributes=MIRA), what=what)
    assert refusal(visited, encoded(wrapped(signed)), caplog) in {"not_one_assertion", "id_used_twice"}


def test_an_answer_signed_with_sha1_is_refused(idp, visited, caplog):
    weak = idp.signed(idp.answer(visited.request_id, attributes=MIRA), sha="1")
    assert refusal(visited, encoded(weak), caplog) == "algorithm"


STRANGE_SIGNATURES = {
    "transform": (
        ".//ds:Transform[2]",
        "Algorithm",
        "http://www.w3.org/TR/1999/REC-xpath-19991116",
        "algorithm",
    ),
    "digest": (".//ds:DigestMethod", "Algorithm", "http://www.w3.org/2001/04/xmldsig-more#md5", "algorithm"),
    "method": (".//ds:SignatureMethod", "Algorithm", f"{Saml2.NS_DS}hmac-sha1", "algorithm"),
    "canonicalization": (
        ".//ds:CanonicalizationMethod",
        "Algorithm",
        "http://www.w3.org/2001/10/xml-exc-c14n#WithComments",
        "algorithm",
    ),
    "reference": (".//ds:Reference", "URI", "", "signature_of_something_else"),
}


@pytest.mark.parametrize("change", STRANGE_SIGNATURES)
def test_unusual_signatures_are_refused_before_they_are_verified(idp, visited, caplog, change):
    path, name, value, code = STRANGE_SIGNATURES[change]
    document = etree.fromstring(idp.signed(idp.answer(visited.request_id, attributes=MIRA)))
    document.xpath(path, namespaces=Saml2.NSMAP)[0].set(name, value)
    assert refusal(visited, encoded(document), caplog) == code


def test_an_encrypted_assertion_is_refused(idp, visited, caplog):
    answer = idp.answer(visited.request_id).around("<saml:EncryptedAssertion/>")
    assert refusal(visited, encoded(answer), caplog).startswith("unreadable")


@pytest.mark.parametrize(
    "definition",
    [
        '<!ENTITY a "mira"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY who "&b;&b;&b;&b;&b;&b;&b;&b;">',
        '<!ENTITY who SYSTEM "file:///etc/hostname">',
        '<!ENTITY who SYSTEM "http://127.0.0.1:9/">',
        '<!ENTITY % more SYSTEM "http://127.0.0.1:9/"> %more;',
        "",
    ],
)
def test_documents_with_entities_are_refused(idp, visited, caplog, definition):
    signed = idp.signed(idp.answer(visited.request_id, attributes=MIRA))
    asking = signed.replace("mira@velmar.example", "&who;" if "who" in definition else "mira@velmar.example")
    hostile = f"<!DOCTYPE samlp:Response [{definition}]>{asking}"
    assert refusal(visited, encoded(hostile), caplog).startswith("unreadable")


@pytest.mark.parametrize("content", ["", "no base64 §", base64.b64encode(b"<no xml").decode(), "PGEvPg=="])
def test_malformed_answers_are_refused(visited, caplog, content):
    refusal(visited, content, caplog)


def test_an_answer_that_is_too_long_is_refused_unread(visited, caplog):
    assert refusal(visited, "A" * (LONGEST + 1), caplog) == "empty_or_too_long"
    assert refusal(visited, "A" * (900 * 1024), caplog) == "empty_or_too_long"


def test_a_comment_within_a_name_does_not_change_the_name(idp, visited):
    """Comments are not part of what is signed. Code that reads only up to a comment confuses two people."""
    attributes = {**MIRA, PAIRWISE: ["mira@velmar.example.evil.example"]}
    signed = idp.signed(idp.answer(visited.request_id, attributes=attributes))
    commented = signed.replace("velmar.example.evil", "velmar.example<!-- -->.evil")
    assert commented != signed
    assert visited.come_back(encoded(commented)).is_signed_in
    assert User.objects.get().socialaccount_set.get().uid == "mira@velmar.example.evil.example"


def test_a_refusal_by_the_provider_is_shown_in_one_sentence(visited):
    visited.come_back(visited.answer(visited.request_id, status=AUTHN_FAILED))
    assert "Velmar University refused to sign you in" in visited.text
    assert not UsedAssertion.objects.exists()


@pytest.mark.parametrize("request_id", ["", "_of_nobody"])
def test_an_answer_to_no_request_of_this_browser_is_refused(visited, caplog, request_id):
    answer = visited.answer(request_id, confirmed_request=visited.request_id)
    assert refusal(visited, answer, caplog) == "wrong_inresponseto"


def test_an_answer_to_a_request_of_another_browser_is_refused(idp, visited, caplog):
    """Otherwise an attacker could sign others in to the attacker's account, and read what they do there."""
    other = Visit(Client(), idp)
    assert refusal(visited, other.answer(other.begin()), caplog) == "wrong_inresponseto"


def test_an_answer_from_a_browser_without_a_request_is_refused(idp, visited):
    stranger = Visit(Client(), idp)
    answer = visited.answer(visited.request_id)
    stranger.come_back(answer)
    assert "was started in another browser" in stranger.text
    assert not UsedAssertion.objects.exists()


def test_a_forged_request_cookie_is_ignored(idp, visited):
    stranger = Visit(Client(), idp)
    stranger.client.cookies[f"{PREFIX}{visited.request_id}"] = ":1abcde:forged"
    stranger.client.cookies[f"{PREFIX}{visited.request_id}"].update({"samesite": "None", "path": "/"})
    assert stranger.send(visited.answer(visited.request_id)) == {"problem": ["not_begun"]}


def test_a_ticket_of_another_browser_signs_nobody_in(idp, visited):
    """An attacker lures somebody to the last address of the attacker's own sign-in."""
    visited.send(visited.answer(visited.request_id))
    victim = Client()
    page = victim.get(visited.arrival["Location"])
    assert "was started in another browser" in page.content.decode()
    assert victim.get(reverse("accounts:profile")).status_code == 302


def test_an_answer_works_once(visited, caplog):
    answer, notes = visited.answer(visited.request_id), dict(visited.client.cookies)
    assert visited.come_back(answer).is_signed_in
    thief = Visit(Client(), visited.idp)
    for name, cookie in notes.items():
        thief.client.cookies[name] = cookie
    assert thief.send(answer) == {"problem": ["refused"]}
    assert caplog.records[-1].message.endswith("used_before")
    assert UsedAssertion.objects.count() == 1


def test_a_ticket_works_once_and_for_five_minutes(visited):
    visited.come_back(visited.answer(visited.request_id))
    again = visited.client.get(visited.arrival["Location"])
    assert again.status_code == 403
    late = Visit(Client(), visited.idp)
    late.send(late.answer(late.begin()))
    with time_machine.travel(time.time() + 5 * 60 + 1):
        assert late.client.get(late.arrival["Location"]).status_code == 403
    assert not late.is_signed_in


def test_a_request_is_answered_within_ten_minutes(visited, idp):
    with time_machine.travel(time.time() + 10 * 60 + 1):
        answer = visited.answer(visited.request_id)
        assert visited.send(answer) == {"problem": ["not_begun"]}


def test_unclaimed_sign_ins_are_emptied_and_later_deleted(visited):
    visited.send(visited.answer(visited.request_id))
    remove_expired()
    assert UsedAssertion.objects.get().statement_sealed
    with time_machine.travel(time.time() + 6 * 60):
        remove_expired()
        kept = UsedAssertion.objects.get()
        assert (kept.ticket_hash, kept.statement_sealed) == (None, "")
    with time_machine.travel(time.time() + 61 * 60):
        remove_expired()
        assert not UsedAssertion.objects.exists()


def test_only_the_answer_address_accepts_forms_from_other_servers(idp, visited):
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(reverse("saml_sign_in")).status_code == 403
    assert strict.get(reverse("saml_acs")).status_code == 405
    assert strict.post(reverse("saml_finish")).status_code == 403
    assert strict.post(reverse("saml_acs")).status_code == 303


def test_an_answer_redirects_only_to_this_server(idp, visited):
    form = {"SAMLResponse": visited.answer(visited.request_id), "RelayState": "https://elsewhere.example/"}
    arrival = visited.client.post(reverse("saml_acs"), form)
    address = urlsplit(arrival["Location"])
    assert (address.netloc, address.path) == ("", reverse("saml_finish"))
    assert set(parse_qs(address.query)) == {"ticket"}
