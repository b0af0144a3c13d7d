"""The shape of a signed answer: the signed part is the part that is read, with a secure algorithm.

Signature wrapping moves the signed part to a place where it is not read, and puts forged content in its
place. An answer must therefore have exactly one assertion, in its place; every id must belong to one element;
and each signature must be of the element around it. The toolkit then verifies the signatures themselves.
"""

from typing import Any

from onelogin.saml2.constants import OneLogin_Saml2_Constants as Saml2

from accounts.sign_in.providers.saml.errors import AnswerRefused

_RESPONSE = f"{{{Saml2.NS_SAMLP}}}Response"
_SIGNATURE = f"{{{Saml2.NS_DS}}}Signature"
_MORE = "http://www.w3.org/2001/04/xmldsig-more#"
SIGNING = {
    *(f"{_MORE}rsa-sha{bits}" for bits in (256, 384, 512)),
    *(f"{_MORE}ecdsa-sha{bits}" for bits in (256, 384, 512)),
    *(f"http://www.w3.org/2007/05/xmldsig-more#sha{bits}-rsa-MGF1" for bits in (256, 384, 512)),
}
DIGESTS = {
    "http://www.w3.org/2001/04/xmlenc#sha256",
    f"{_MORE}sha384",
    "http://www.w3.org/2001/04/xmlenc#sha512",
}
# Comments are excluded from what is signed, as they are from what is read.
CANONICAL = {"http://www.w3.org/2001/10/xml-exc-c14n#"}
ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"


def signed_assertion(response: Any) -> Any:
    """Return the one assertion of an answer whose signatures cover it or the answer around it."""
    if response.tag != _RESPONSE:
        raise AnswerRefused("not_a_response")
    if _all(response, "//saml:EncryptedAssertion") or _all(response, "//xenc:EncryptedData"):
        raise AnswerRefused("encrypted")
    assertions = _all(response, "//saml:Assertion")
    if len(assertions) != 1 or assertions[0].getparent() is not response:
        raise AnswerRefused("not_one_assertion")
    ids = [str(value) for value in _all(response, "//@ID | //@Id | //@id")]
    if len(ids) != len(set(ids)):
        raise AnswerRefused("id_used_twice")
    _refuse_strange_signatures(response, assertions[0])
    return assertions[0]


def _refuse_strange_signatures(response: Any, assertion: Any) -> None:
    signatures = _all(response, "//ds:Signature")
    if not signatures:
        raise AnswerRefused("not_signed")
    signed = [signature.getparent() for signature in signatures]
    if any(element not in (response, assertion) for element in signed) or len(set(signed)) != len(signed):
        raise AnswerRefused("signature_out_of_place")
    for signature in signatures:
        _refuse_strange_signature(signature)


def _refuse_strange_signature(signature: Any) -> None:
    references = _all(signature, ".//ds:Reference")
    if len(references) != 1 or _all(signature, ".//ds:Object | .//ds:Manifest | .//ds:RetrievalMethod"):
        raise AnswerRefused("signature_of_something_else")
    signed_id = signature.getparent().get("ID")
    if not signed_id or references[0].get("URI") != f"#{signed_id}":
        raise AnswerRefused("signature_of_something_else")
    transforms = _algorithms(signature, "ds:SignedInfo/ds:Reference/ds:Transforms/ds:Transform")
    if (
        not _algorithms(signature, "ds:SignedInfo/ds:CanonicalizationMethod") <= CANONICAL
        or not _algorithms(signature, "ds:SignedInfo/ds:SignatureMethod") <= SIGNING
        or not _algorithms(signature, "ds:SignedInfo/ds:Reference/ds:DigestMethod") <= DIGESTS
        or not transforms <= CANONICAL | {ENVELOPED}
        or ENVELOPED not in transforms
    ):
        raise AnswerRefused("algorithm")


def _algorithms(signature: Any, path: str) -> set[str | None]:
    return {element.get("Algorithm") for element in _all(signature, path)}


def _all(element: Any, path: str) -> list[Any]:
    elements: list[Any] = element.xpath(path, namespaces=Saml2.NSMAP)
    return elements
