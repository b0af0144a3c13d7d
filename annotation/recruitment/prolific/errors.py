"""Errors of requests to Prolific. No error contains an id of a person or place, or a token."""

import re

from foundation.errors import DomainError

_LONGEST = 300
# Ids and codes: eight or more letters, digits, hyphens in a row, with a digit among them; addresses of any kind.
_ID = re.compile(r"\b(?=[\w-]*\d)[\w-]{8,}\b")
_ADDRESS = re.compile(r"\S*(?:://|@)\S*")


class ProlificError(DomainError):
    """Prolific did not execute a request.

    `done`: False if it was certainly not executed, None if unknown. `status`: the status of its answer, if there was
    one.
    """

    status = 409

    def __init__(
        self, code: str, message: str, *, done: bool | None = False, answered: int | None = None
    ) -> None:
        super().__init__(code, message)
        self.done = done
        self.answered = answered
        self.retry_after: float | None = None  # seconds that Prolific asks us to wait

    @property
    def passing(self) -> bool:
        """Return whether the same request may succeed later without any action."""
        return self.code in {"prolific_unreachable", "prolific_busy", "prolific_failed", "prolific_timeout"}


def unreachable() -> ProlificError:
    return ProlificError(
        "prolific_unreachable", "Prolific cannot be reached, so nothing was sent. Try again later."
    )


def timeout(seconds: float) -> ProlificError:
    return ProlificError(
        "prolific_timeout", f"Prolific did not answer within {seconds:g} seconds.", done=None
    )


def hung_up() -> ProlificError:
    return ProlificError("prolific_timeout", "Prolific ended the connection before it answered.", done=None)


def garbage() -> ProlificError:
    return ProlificError(
        "prolific_garbage",
        "This server does not understand Prolific’s answer. Check the study at Prolific before you try again.",
        done=None,
    )


def too_large(limit: int) -> ProlificError:
    return ProlificError(
        "prolific_garbage",
        f"Prolific’s answer is larger than {limit // 1024 // 1024} MiB. Check the study at Prolific before you try "
        f"again.",
        done=None,
    )


def of_status(status: int, body: object, *, token: str) -> ProlificError:
    """Return the error that an answer tells of."""
    detail = _detail(body, token)
    if status == 429:
        return ProlificError(
            "prolific_busy", "Prolific asks this server to wait. Try again in a minute.", answered=status
        )
    if status >= 500:
        # A gateway that failed may have passed the request on before.
        return ProlificError(
            "prolific_failed", f"Prolific failed (status {status}).", done=None, answered=status
        )
    if status == 401:
        return ProlificError(
            "prolific_token",
            "Prolific does not accept the token. Make a new token at Prolific and enter it on the panel’s page in "
            "Stereoscope.",
            answered=status,
        )
    if status == 403:
        return ProlificError(
            "prolific_forbidden", f"Prolific does not allow this with your token. {detail}", answered=status
        )
    if status == 404:
        return ProlificError(
            "prolific_missing",
            "Prolific does not have what was requested. Check the study at Prolific.",
            answered=status,
        )
    return ProlificError("prolific_refused", f"Prolific refused: {detail}", answered=status)


def _detail(body: object, token: str) -> str:
    """Return Prolific's own words without parts that could name somebody."""
    error = body.get("error", body) if isinstance(body, dict) else body
    detail = (error.get("detail") or error.get("title")) if isinstance(error, dict) else error
    words = " ".join(_words(detail or "no reason was given."))
    words = words.replace(token, "…") if token else words
    words = _ID.sub("…", _ADDRESS.sub("…", words))
    return " ".join("".join(c if c.isprintable() else " " for c in words).split())[:_LONGEST]


def _words(detail: object) -> list[str]:
    if isinstance(detail, dict):
        return [f"{name}: {' '.join(_words(value))}" for name, value in detail.items()]
    if isinstance(detail, list):
        return [word for value in detail for word in _words(value)]
    return [str(detail)]
