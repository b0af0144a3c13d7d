"""Ids of images that hold outside the database."""

import hashlib
from collections.abc import Iterable


def image_id(identity: Iterable[str]) -> str:
    """Return an id that follows from what the image is, and so is the same in every release.

    `identity`: SHA-256 of the file or else its published name, model, condition, name of the identity group.
    """
    return "I-" + hashlib.sha256("\x1f".join(identity).encode()).hexdigest()[:20]
