"""Pseudonymous ids for one release, made with its own key, so that ids cannot link two releases."""

import hmac

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

# Without 0/O, 1/I/L, U: an id is read aloud and typed by people.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
# Length of an id; all ids are longer if two people would get the same one.
LENGTHS = (8, 12, 16)


def new_key(*, study: int, version: int) -> bytes:
    """Derive the key of a release from the server's secret. It is stored with the release: secrets rotate."""
    message = f"analysis.releases:{study}:{version}".encode()
    return hmac.digest(settings.SECRET_KEY.encode(), message, "sha256")


def annotator_id(pseudonym: str, *, key: bytes, version: int, length: int) -> str:
    """Return `R<version>-` and `length` characters."""
    return f"R{version}-{_letters(f'annotator:{pseudonym}', key=key, length=length)}"


def lead_id(user: int, *, key: bytes, version: int) -> str:
    """Return `L<version>-` and eight characters for a lead who coded answers."""
    return f"L{version}-{_letters(f'lead:{user}', key=key, length=LENGTHS[0])}"


def _letters(identity: str, *, key: bytes, length: int) -> str:
    mark = int.from_bytes(hmac.digest(key, identity.encode(), "sha256"), "big")
    letters = []
    for _ in range(length):
        mark, letter = divmod(mark, len(_ALPHABET))
        letters.append(_ALPHABET[letter])
    return "".join(letters)


def shuffling(keys: NDArray[np.int64], *, key: bytes) -> NDArray[np.int64]:
    """Return the order in which rows with these database keys are released: drawn from the release's key."""
    seed = hmac.digest(key, b"rows:" + np.sort(keys).astype("<i8").tobytes(), "sha256")
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(seed, "big")))
    order: NDArray[np.int64] = np.argsort(keys, kind="stable")[generator.permutation(len(keys))]
    return order
