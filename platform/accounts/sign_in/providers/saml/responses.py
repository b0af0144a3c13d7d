"""Answers of the identity provider: signed by it, meant for us, still valid, and to a request of this browser.

python3-saml checks the schema, the signatures, the times and the issuer. It skips what an answer leaves out,
and compares addresses by their beginning; the SAML profile for browsers requires more, which is checked here.
https://docs.oasis-open.org/security/saml/v2.0/saml-profiles-2.0-os.pdf, 4.1.4.3
"""

from collections.abc import Collection
from typing import Any

from onelogin.saml2.constants import OneLogin_Saml2_Constants as Saml2
from onelogin.saml2.errors import OneLogin_Saml2_ValidationError
from onelogin.saml2.response import OneLogin_Saml2_Response
from onelogin.saml2.utils import OneLogin_Saml2_Utils

from accounts.sign_in.providers.saml import service
from accounts.sign_in.providers.saml.attributes import identity_of
from accounts.sign_in.providers.saml.errors import AnswerRefused, SignInDeclined
from accounts.sign_in.providers.saml.signatures import signed_assertion
from accounts.sign_in.providers.saml.statements import VerifiedStatement

# A signed answer with a hundred groups has some twenty thousand characters.
LONGEST = 256 * 1024
_CODES = {
    code: name.lower() for name, code in vars(OneLogin_Saml2_ValidationError).items() if isinstance(code, int)
}


def verified_statement(encoded: str, *, request_ids: Collection[str]) -> VerifiedStatement:
    """Return the statement of an answer to one of these requests, or raise AnswerRefused or SignInDeclined."""
    if not encoded or len(encoded) > LONGEST:
        raise AnswerRefused("empty_or_too_long")
    response = _parsed(encoded)
    request_id = response.document.get("InResponseTo") or ""
    if request_id not in request_ids:
        raise AnswerRefused("wrong_inresponseto")
    if _is_declined(response):
        raise SignInDeclined
    assertion = signed_assertion(response.document)
    try:
        response.is_valid(service.request_data(), request_id=request_id, raise_exceptions=True)
        _refuse_loose_ends(response.document, assertion, request_id)
        identity = identity_of(
            response.get_attributes(), name_id=_name_id(response), contexts=response.get_authn_contexts()
        )
    except AnswerRefused:
        raise
    except OneLogin_Saml2_ValidationError as error:
        # Its text quotes the answer, which must not get into the log.
        raise AnswerRefused(_CODES.get(error.code, "invalid")) from None
    except Exception as error:  # an answer that crashes the toolkit
        raise AnswerRefused(f"invalid: {type(error).__name__}") from None
    return VerifiedStatement(
        issuer=_texts(assertion, "saml:Issuer")[0],
        assertion_id=assertion.get("ID"),
        request_id=request_id,
        identity=identity,
    )


def _parsed(encoded: str) -> OneLogin_Saml2_Response:
    """Return the parsed answer. The toolkit's parser accepts no document type, so no entities, and fetches nothing."""
    toolkit = service.toolkit_settings()
    try:
        return OneLogin_Saml2_Response(toolkit, encoded)
    except Exception as error:  # arbitrary input
        raise AnswerRefused(f"unreadable: {type(error).__name__}") from None


def _is_declined(response: OneLogin_Saml2_Response) -> bool:
    try:
        response.check_status()
    except OneLogin_Saml2_ValidationError as error:
        if error.code == OneLogin_Saml2_ValidationError.STATUS_CODE_IS_NOT_SUCCESS:
            return True
        raise AnswerRefused(_CODES.get(error.code, "status")) from None
    except Exception as error:  # a status without a code crashes the toolkit
        raise AnswerRefused(f"status: {type(error).__name__}") from None
    return False


def _refuse_loose_ends(response: Any, assertion: Any, request_id: str) -> None:
    address = service.answer_address()
    if response.get("Destination") != address:
        raise AnswerRefused("wrong_destination")
    restrictions = _all(assertion, "saml:Conditions/saml:AudienceRestriction")
    audiences = [_texts(restriction, "saml:Audience") for restriction in restrictions]
    if not audiences or any(service.entity_id() not in names for names in audiences):
        raise AnswerRefused("wrong_audience")
    confirmations = _all(assertion, "saml:Subject/saml:SubjectConfirmation")
    if not any(
        _is_confirmed(confirmation, address=address, request_id=request_id) for confirmation in confirmations
    ):
        raise AnswerRefused("wrong_subjectconfirmation")


def _is_confirmed(confirmation: Any, *, address: str, request_id: str) -> bool:
    """Return whether a confirmation is valid: at this address, at this time, and in answer to this request."""
    data = confirmation.find("saml:SubjectConfirmationData", Saml2.NSMAP)
    return (
        confirmation.get("Method") == Saml2.CM_BEARER
        and data is not None
        and data.get("Recipient") == address
        and data.get("InResponseTo") == request_id
        and data.get("NotBefore") is None
        and bool(data.get("NotOnOrAfter"))
        and OneLogin_Saml2_Utils.parse_SAML_to_time(data.get("NotOnOrAfter")) > OneLogin_Saml2_Utils.now()
    )


def _name_id(response: OneLogin_Saml2_Response) -> tuple[str, str] | None:
    name, form = response.get_nameid(), response.get_nameid_format()
    return (form or "", name.strip()) if name and name.strip() else None


def _texts(element: Any, path: str) -> list[str]:
    return ["".join(child.itertext()).strip() for child in _all(element, path)]


def _all(element: Any, path: str) -> list[Any]:
    elements: list[Any] = element.xpath(path, namespaces=Saml2.NSMAP)
    return elements
