"""Unusable metadata of a provider is refused in one sentence when the server starts."""

import re

import pytest

from accounts.sign_in.checks import check_identity_provider
from accounts.sign_in.providers.saml import provider as saml

pytest.importorskip("onelogin.saml2", reason="python3-saml is not installed: requirements/saml.txt")
from accounts.sign_in.providers.saml.metadata import identity_provider
from tests.accounts.sign_in.providers.saml.visits import Visit

ANOTHER = "https://login.elsewhere.example/saml"


def several(idp):
    entities = f"{idp.metadata()}{idp.metadata(name=ANOTHER)}"
    begin = '<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">'
    return f"{begin}{entities}</md:EntitiesDescriptor>"


def complaints(settings, tmp_path, text):
    file = tmp_path / "unusable.xml"
    file.write_text(text)
    settings.SAML_METADATA_FILE = str(file)
    return [(message.id, message.msg.replace(str(file), "FILE")) for message in check_identity_provider(None)]


def test_usable_metadata_are_read(idp):
    assert check_identity_provider(None) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: "{}", "SAML_METADATA_FILE=FILE is not XML."),
        (
            lambda text: text.replace("IDPSSODescriptor", "SPSSODescriptor"),
            "SAML_METADATA_FILE=FILE describes no identity provider.",
        ),
        (
            lambda text: text.replace("bindings:HTTP-Redirect", "bindings:SOAP"),
            "FILE names no sign-in address of https://login.velmar.example/saml for HTTP-Redirect.",
        ),
        (
            lambda text: text.replace('use="signing"', 'use="encryption"'),
            "FILE contains no certificate with which https://login.velmar.example/saml signs.",
        ),
        (
            lambda text: text.replace("https://login.velmar.example/sso", "http://login.velmar.example/sso"),
            "The sign-in address http://login.velmar.example/sso in FILE is not encrypted.",
        ),
        (
            lambda text: re.sub("(<ds:X509Certificate>.{80})....", r"\1", text),
            "A certificate of https://login.velmar.example/saml in FILE cannot be read. Download the metadata again.",
        ),
    ],
)
def test_unusable_metadata_are_refused(idp, settings, tmp_path, change, sentence):
    assert complaints(settings, tmp_path, change(idp.metadata())) == [("stereoscope.E024", sentence)]


def test_a_file_that_is_not_there_is_named(idp, settings):
    settings.SAML_METADATA_FILE = "/nowhere/metadata.xml"
    (message,) = check_identity_provider(None)
    assert (
        message.msg == "SAML_METADATA_FILE=/nowhere/metadata.xml cannot be read: No such file or directory."
    )


def test_of_several_providers_the_settings_name_one(idp, settings, tmp_path):
    assert complaints(settings, tmp_path, several(idp)) == [
        (
            "stereoscope.E024",
            "SAML_METADATA_FILE=FILE describes 2 identity providers. Set SAML_IDP to the "
            "entity id of the provider that you use.",
        )
    ]
    settings.SAML_IDP = ANOTHER
    assert check_identity_provider(None) == []
    assert identity_provider(settings.SAML_METADATA_FILE, ANOTHER).entity_id == ANOTHER
    settings.SAML_IDP = "https://nobody.example"
    (message,) = check_identity_provider(None)
    assert "does not describe SAML_IDP=https://nobody.example once" in message.msg


@pytest.mark.django_db
def test_an_answer_that_comes_while_the_metadata_cannot_be_used_is_refused(client, idp, settings, caplog):
    visited = Visit(client, idp)
    answer = visited.answer(visited.begin())
    settings.SAML_METADATA_FILE = "/nowhere/metadata.xml"
    assert visited.send(answer) == {"problem": ["refused"]}
    assert "cannot be read: No such file or directory" in caplog.text


@pytest.mark.django_db
def test_without_an_address_of_its_own_the_server_asks_no_provider(client, idp, settings):
    settings.SITE_URL = ""
    for answer in (client.post("/account/saml/"), client.get("/account/saml/metadata/")):
        assert answer.status_code == 403


@pytest.mark.django_db
def test_people_read_that_the_provider_cannot_be_used_and_the_log_says_why(client, idp, settings, caplog):
    settings.SAML_METADATA_FILE = "/nowhere/metadata.xml"
    answer = client.post("/account/saml/")
    assert answer.status_code == 403
    assert "Velmar University did not answer correctly" in answer.content.decode()
    assert "cannot be read: No such file or directory" in caplog.text


@pytest.mark.parametrize("address", ["", "http://stereoscope.example.org"])
def test_answers_must_come_over_https(idp, settings, address):
    settings.SITE_URL = address
    assert [message.id for message in check_identity_provider(None)] == ["stereoscope.E025"]


@pytest.mark.django_db
def test_without_its_packages_pages_say_nothing_of_saml_and_the_check_says_it_once(
    client, idp, settings, monkeypatch
):
    monkeypatch.setattr(saml, "find_spec", lambda name: None)
    (message,) = check_identity_provider(None)
    assert message.id == "stereoscope.E023"
    assert "Velmar University" not in client.get("/account/sign-in/").content.decode()
    assert client.post("/account/saml/").status_code == 404
