"""Ids of images that are valid outside the database."""

import hashlib
from collections.abc import Iterable


def image_id(identity: Iterable[str]) -> str:
    """Return an id derived from the image's identity, which is the same in every release.

    `identity`: SHA-256 or published name of the file, model, condition, name of the identity group.
    """
    return "I-" + hashlib.sha256("\x1f".join(identity).encode()).hexdigest()[:20]
