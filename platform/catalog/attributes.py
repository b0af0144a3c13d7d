"""Normalisation of the text of attributes."""

import re
import unicodedata

from foundation.errors import DomainError

MAX_LENGTH = 160
NONE_OF_THE_ABOVE = "none of the above"


def normalise(text: str) -> str:
    """Return `text` normalised: NFKC, lower case, single spaces, plain hyphens and apostrophes.

    Raises DomainError `attribute_empty` or `attribute_too_long`.
    """
    text = unicodedata.normalize("NFKC", text)
    text = re.sub("[‐‑‒–—−]", "-", text).replace("’", "'").replace("‘", "'")
    text = "".join(c for c in text if not unicodedata.category(c).startswith("C") or c in "\t\n ")
    text = " ".join(text.split()).lower()
    if not text:
        raise DomainError("attribute_empty", "An attribute is empty.")
    if len(text) > MAX_LENGTH:
        raise DomainError(
            "attribute_too_long", f"The attribute “{text[:40]}…” is longer than {MAX_LENGTH} characters."
        )
    return text
