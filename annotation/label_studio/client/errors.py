"""Problems of a Label Studio server: a code, a sentence that says what to do, and whether to try again."""

from annotation.label_studio.client.sanitize import storable
from foundation.errors import DomainError

_LONGEST = 500
# Codes after which the same request may succeed later without any action.
PASSING = frozenset({"unreachable", "timeout", "server_error", "busy"})


class Trouble(DomainError):
    """A Label Studio server did not do what was requested. The message never contains what was sent."""

    status = 409

    def __init__(self, code: str, message: str) -> None:
        # It may contain the server's words.
        super().__init__(code, storable(message, longest=_LONGEST))

    @property
    def passing(self) -> bool:
        """Return whether a retry may help."""
        return self.code in PASSING


def unreachable(place: str) -> Trouble:
    return Trouble(
        "unreachable", f"No server answers at {place}: check the address, and that Label Studio runs there."
    )


def name_unknown(host: str) -> Trouble:
    return Trouble("unreachable", f"No server named {host} can be found.")


def not_trusted(place: str) -> Trouble:
    return Trouble("unreachable", f"This server does not trust the certificate of {place}.")


def timeout(place: str, seconds: float) -> Trouble:
    return Trouble("timeout", f"Label Studio at {place} did not answer within {seconds:g} seconds.")


def cut_off(place: str) -> Trouble:
    return Trouble("unreachable", f"Label Studio at {place} ended the connection before it answered.")


def address_refused(host: str) -> Trouble:
    return Trouble(
        "address_refused",
        f"{host} is an address inside this server’s own network. Connecting to this address needs the "
        f"operator’s permission (LABEL_STUDIO_ALLOWED_HOSTS or LABEL_STUDIO_ALLOW_PRIVATE).",
    )


def not_an_address() -> Trouble:
    return Trouble(
        "wrong_url",
        "Enter Label Studio’s address with http:// or https:// and without user name or password, such as "
        "https://label.example.org.",
    )


def no_label_studio(place: str) -> Trouble:
    return Trouble("wrong_url", f"{place} does not answer like Label Studio. Check the address.")


def sent_elsewhere(place: str, host: str) -> Trouble:
    where = f" to {host}" if host else ""
    return Trouble(
        "wrong_url",
        f"{place} redirects requests{where}. Enter the address of Label Studio itself.",
    )


def token_malformed() -> Trouble:
    return Trouble(
        "token_wrong",
        "This token is incomplete. Copy the whole token. Label Studio shows a personal access token only "
        "once, when it is "
        "created.",
    )


def token_wrong(place: str) -> Trouble:
    return Trouble(
        "token_wrong",
        f"Label Studio at {place} does not know this token. Copy the token again from your account in Label Studio.",
    )


def token_revoked(place: str) -> Trouble:
    return Trouble(
        "token_wrong",
        f"Label Studio at {place} does not accept this personal access token. The token was revoked or has "
        f"expired, or personal access tokens are switched off in Label Studio.",
    )


def legacy_tokens_off(place: str) -> Trouble:
    return Trouble(
        "legacy_tokens_off",
        f"Legacy tokens are switched off in Label Studio at {place}. Use a personal access token, or switch "
        f"legacy tokens on in Label Studio (Organization, Access Token Settings).",
    )


def too_old(version: str, oldest: str) -> Trouble:
    return Trouble(
        "too_old", f"This Label Studio has version {version}. Version {oldest} or later is required."
    )


def forbidden(place: str, detail: str) -> Trouble:
    sentence = detail.rstrip(".")
    return Trouble(
        "forbidden",
        f"Label Studio at {place} does not allow the token’s owner to do this. Label Studio’s answer: {sentence}.",
    )


def no_longer_there(noun: str) -> Trouble:
    return Trouble("gone", f"Label Studio no longer has {noun}, or the token’s owner may not see it.")


def refused(detail: str) -> Trouble:
    return Trouble("refused", f"Label Studio refused what was sent: {detail}")


def busy(place: str) -> Trouble:
    return Trouble(
        "busy", f"Label Studio at {place} is receiving too many requests and asks this server to wait."
    )


def server_error(place: str, status: int) -> Trouble:
    return Trouble(
        "server_error",
        f"Label Studio at {place} failed (status {status}). The log of Label Studio has the reason.",
    )


def garbage(place: str) -> Trouble:
    return Trouble(
        "garbage", f"{place} gave an unexpected answer. The program at this address may not be Label Studio."
    )


def too_large(place: str, limit: int) -> Trouble:
    return Trouble(
        "garbage", f"{place} sent an answer of more than {limit // 1024 // 1024} MiB, which is too large."
    )


def sdk_missing() -> Trouble:
    return Trouble(
        "sdk_missing",
        "Label Studio’s client is not installed on this server: pip install --no-deps -r "
        "requirements/label-studio-client.txt.",
    )
