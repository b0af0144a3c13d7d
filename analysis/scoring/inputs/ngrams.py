"""Lists of n-grams; a language model turns the n-grams nearest to an image into captions."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from analysis.scoring.inputs.scope import attributes_asked
from foundation.errors import DomainError, NotFound
from studies.models import Study

_BUILT_IN = Path(__file__).parent / "data" / "ngrams.txt"
_DIGEST = re.compile("[0-9a-f]{64}")
_MOST = 200_000
_LONGEST = 200
_MOST_BYTES = 20 * 1024 * 1024


def keep_ngrams(data: bytes) -> str:
    """Store a list of n-grams, one per line; return its digest, by which scorers refer to the list."""
    if len(data) > _MOST_BYTES:
        raise _wrong(f"A list of n-grams can have at most {_MOST_BYTES // 1024 // 1024} MiB.")
    try:
        ngrams = _lines(data.decode("utf-8-sig").splitlines())
    except UnicodeDecodeError:
        raise _wrong("A list of n-grams must be UTF-8 text with one n-gram on each line.") from None
    if not ngrams:
        raise _wrong("The list of n-grams is empty.")
    if len(ngrams) > _MOST:
        raise _wrong(f"A list of n-grams can have at most {_MOST:,} lines. This list has {len(ngrams):,}.")
    text = "\n".join(ngrams).encode()
    digest = hashlib.sha256(text).hexdigest()
    if not default_storage.exists(_name(digest)):
        default_storage.save(_name(digest), ContentFile(text))
    return digest


def is_kept(digest: str) -> bool:
    """Return whether a list with this digest is stored."""
    return _DIGEST.fullmatch(digest) is not None and default_storage.exists(_name(digest))


def ngrams_of(study: Study, digest: str) -> list[str]:
    """Return the n-grams of a stored list; for "", the built-in words and the study's asked attributes."""
    if digest:
        if not is_kept(digest):
            raise NotFound(
                "ngrams_missing", "The list of n-grams is no longer stored. Upload the list again."
            )
        with default_storage.open(_name(digest)) as file:
            return _lines(file.read().decode().splitlines())
    attributes = {text for of_group in attributes_asked(study).values() for text in of_group.values()}
    return list(
        dict.fromkeys([*_lines(_BUILT_IN.read_text(encoding="utf-8").splitlines()), *sorted(attributes)])
    )


def _lines(lines: Iterable[str]) -> list[str]:
    cleaned = (" ".join(line.split())[:_LONGEST] for line in lines)
    return list(dict.fromkeys(line for line in cleaned if line and not line.startswith("#")))


def _name(digest: str) -> str:
    return f"ngrams/{digest}.txt"


def _wrong(message: str) -> DomainError:
    return DomainError("ngrams_invalid", message, fields={"ngrams": message})
