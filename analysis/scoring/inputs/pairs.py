"""Pairs of descriptor and word whose harm is scored."""

import hashlib
import json
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class ScoredPair:
    """A pair as scorers see it: the descriptor, and the sentence, or of a description the word."""

    descriptor: str
    text: str

    @property
    def key(self) -> str:
        """What a judge's rating belongs to: never the order in which ratings came."""
        content = json.dumps([self.descriptor, self.text], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()


def text_digest(text: str) -> str:
    """What a classifier's scores belong to."""
    return hashlib.sha256(text.encode()).hexdigest()
