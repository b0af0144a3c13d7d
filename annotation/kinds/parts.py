"""The base of every part of a declaration: an immutable value with checked names and texts."""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from annotation.kinds.problems import Fault, refuse
from foundation.languages import translations

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
LANGUAGES = ("en", "de")  # in which a declaration gives each of its texts


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a valid name: use at most 40 lower-case letters, digits and _, beginning with a letter"
        )
    if name == "constructor":
        raise ValueError(
            "constructor is not a valid name: every JavaScript object already has a field of this name"
        )
    return name


def _checked_texts(texts: dict[str, str]) -> dict[str, str]:
    """Return texts by language; missing ones are taken from the catalogue of built-in texts."""
    texts = translations(texts.get("en", "")) | texts
    absent = [language for language in LANGUAGES if not texts.get(language, "").strip()]
    words = f"{texts.get('en', '')[:40]!r} is not given in"
    refuse(*(Fault((language,), f"{words} {language}", "missing") for language in absent))
    return texts


Name = Annotated[str, AfterValidator(_checked_name)]
Texts = Annotated[dict[str, str], AfterValidator(_checked_texts)]  # by language code


class Declared(BaseModel):
    """A part of a declaration: an immutable value without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
