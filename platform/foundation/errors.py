"""Expected failures, and the parts of any error that may be shown."""

import re
from collections.abc import Mapping
from errno import errorcode

_CODE = re.compile(r"[\w.-]{1,64}", re.ASCII)


class DomainError(Exception):
    """An expected failure, with a code for programs and one sentence for people.

    `fields` maps the name of an input (a form field, a column, a row) to its problem.
    """

    status = 400

    def __init__(self, code: str, message: str, *, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fields = dict(fields or {})


class Conflict(DomainError):
    """The request is valid but conflicts with the current state."""

    status = 409


class Forbidden(DomainError):
    """The person may not do this."""

    status = 403


class NotFound(DomainError):
    """The requested object does not exist, or the person may not know about it."""

    status = 404


def code_of(error: BaseException) -> str:
    """Return the code of an error (of a DomainError, the system or PostgreSQL), or "".

    Unlike messages, codes are constants of programs, so they contain no personal data.
    """
    if isinstance(error, DomainError):
        code = error.code
    elif isinstance(error, OSError):
        code = errorcode.get(error.errno or 0, "")
    else:
        code = str(getattr(error, "sqlstate", None) or "")
    return code if _CODE.fullmatch(code) else ""


def type_of(error: BaseException) -> str:
    """Return the name of an error's type, with its module unless it is a built-in type."""
    module, name = type(error).__module__, type(error).__qualname__
    return name if module == "builtins" else f"{module}.{name}"
