"""What can go wrong on purpose: every expected failure of a verb is one of these."""

from collections.abc import Mapping


class DomainError(Exception):
    """An expected failure, with a code for programs and one sentence for people.

    `fields` maps the name of an input (a form field, a column, a row) to what is wrong with it.
    """

    status = 400

    def __init__(self, code: str, message: str, *, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fields = dict(fields or {})


class Conflict(DomainError):
    """The request is well formed but the state of things forbids it."""

    status = 409


class Forbidden(DomainError):
    """The person may not do this."""

    status = 403


class NotFound(DomainError):
    """There is no such thing, or the person may not know of it."""

    status = 404
