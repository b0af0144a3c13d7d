"""Access to Prolific for a panel: its token, sealed, and a client that uses it."""

from dataclasses import dataclass, field

from django.conf import settings

from annotation.recruitment.models import Provider
from annotation.recruitment.prolific.client import ProlificClient
from annotation.recruitment.prolific.connection import SHORT, Patience
from annotation.recruitment.prolific.results import WalletBalance
from foundation import encryption
from foundation.errors import DomainError

_USE = "stereoscope panel secrets"


@dataclass(frozen=True)
class ApiAccess:
    """A lead's credentials, with which we use Prolific in their name."""

    token: str = field(repr=False)
    workspace: str
    signs_links: bool = False


def seal(secret: str) -> str:
    return encryption.seal(secret, use=_USE)


def unseal(sealed: str) -> str:
    return encryption.unseal(sealed, use=_USE)


def client_of(provider: Provider, *, patience: Patience | None = None) -> ProlificClient:
    """Return a client with the token of a panel; use it in a `with` block."""
    return ProlificClient(settings.PROLIFIC_URL, unseal(provider.token_sealed), patience=patience)


def check(access: ApiAccess) -> WalletBalance:
    """Return the balance of the workspace; raises an error if token or workspace are wrong."""
    wrong = {}
    if not access.token.isascii() or not access.token.isprintable() or not 8 <= len(access.token) <= 500:
        wrong["token"] = "Enter the whole token, as Prolific shows it."  # noqa: S105 - a sentence
    if not access.workspace.isalnum() and not access.workspace.replace("-", "").isalnum():
        wrong["workspace"] = "Copy the id of the workspace from its address at Prolific."
    if wrong:
        raise DomainError("provider_invalid", " ".join(wrong.values()), fields=wrong)
    with ProlificClient(settings.PROLIFIC_URL, access.token, patience=SHORT) as client:
        return client.balance(access.workspace)
