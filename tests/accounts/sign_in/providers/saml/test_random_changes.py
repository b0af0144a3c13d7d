"""Signed answers with random changes: each is refused, or still has the content that the provider signed."""

import random

import pytest

pytest.importorskip("onelogin.saml2", reason="python3-saml is not installed: requirements/saml.txt")
from lxml import etree

from accounts.sign_in.providers.saml.errors import AnswerRefused, SignInDeclined
from accounts.sign_in.providers.saml.responses import verified_statement
from tests.accounts.sign_in.providers.saml.identity_provider import PAIRWISE, encoded
from tests.accounts.sign_in.providers.saml.visits import MIRA

REQUEST = "_request"
ANSWERS = 200
MOST_CHANGES = 3


def remove(element, draw):
    element.getparent().remove(element)


def copy_elsewhere(element, draw):
    place = draw.choice(list(element.getroottree().iter(etree.Element)))
    place.insert(draw.randrange(len(place) + 1), etree.fromstring(etree.tostring(element)))


def move(element, draw):
    outside = [
        node for node in element.getroottree().iter(etree.Element) if element not in node.iterancestors()
    ]
    place = draw.choice([node for node in outside if node is not element])
    place.insert(draw.randrange(len(place) + 1), element)


def rename(element, draw):
    element.tag = draw.choice([node.tag for node in element.getroottree().iter(etree.Element)])


def replace_text(element, draw):
    element.text = draw.choice(["lena@velmar.example", "heads", "", "1970-01-01T00:00:00Z"])


def comment_in_text(element, draw):
    text = element.text or "lena"
    place = draw.randrange(len(text) + 1)
    comment = etree.Comment("a comment")
    element.text, comment.tail = text[:place], text[place:]
    element.insert(0, comment)


def change_attribute(element, draw):
    name = draw.choice(list(element.attrib) or ["ID"])
    values = [value for node in element.getroottree().iter(etree.Element) for value in node.attrib.values()]
    element.set(name, draw.choice([*values, "", PAIRWISE]))


def drop_attribute(element, draw):
    if element.attrib:
        del element.attrib[draw.choice(list(element.attrib))]


CHANGES = (
    remove,
    copy_elsewhere,
    move,
    rename,
    replace_text,
    comment_in_text,
    change_attribute,
    drop_attribute,
)


def changed(xml: str, draw: random.Random) -> etree._Element:
    """Return the answer after one to three changes anywhere below its outermost element."""
    document = etree.fromstring(xml)
    for _ in range(draw.randint(1, MOST_CHANGES)):
        draw.choice(CHANGES)(draw.choice(list(document.iterdescendants(etree.Element))), draw)
    return document


@pytest.mark.parametrize("what", ["assertion", "response", "both"])
def test_no_random_change_signs_in_another_person(idp, what):
    draw = random.Random(f"changes of {what}")
    signed = idp.signed(idp.answer(REQUEST, attributes=MIRA), what=what)
    honest = verified_statement(encoded(signed), request_ids={REQUEST})
    refused = 0
    for _ in range(ANSWERS):
        answer = encoded(changed(signed, draw))
        try:
            statement = verified_statement(answer, request_ids={REQUEST})
        except (AnswerRefused, SignInDeclined):
            refused += 1
        else:
            assert statement == honest
    # Changes outside the signed element are harmless.
    assert ANSWERS / 2 < refused <= ANSWERS
