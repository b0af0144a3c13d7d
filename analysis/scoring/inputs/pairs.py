"""Pairs of descriptor and text that classifiers and judges score."""

import hashlib
import json
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class ScoredPair:
    """A descriptor and the text to score: a sentence, or a word from a description."""

    descriptor: str
    text: str

    @property
    def key(self) -> str:
        """Digest of the pair, under which its ratings are stored."""
        content = json.dumps([self.descriptor, self.text], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()


def text_digest(text: str) -> str:
    """Return the digest under which a classifier's scores of a text are stored."""
    return hashlib.sha256(text.encode()).hexdigest()
