"""Words in answers of invented models about invented descriptors."""

import numpy as np
import pandas as pd

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ODD_WORDS = ("null", "none", "nan", "na")


def word_answers(
    seed: int,
    *,
    descriptors: int = 6,
    runs: int = 4,
    letters: str = "abn",
    settings: int = 2,
    missing: float = 0.1,
) -> pd.DataFrame:
    """By letter: each document has a word per letter; some are missing, capital, under another letter, or odd."""
    generator = np.random.default_rng(seed)
    rows = []
    for setting in range(settings):
        for descriptor in range(descriptors):
            for run in range(runs):
                for letter in letters:
                    word: str | None = f"{letter}{generator.integers(0, 5 + descriptor % 3)}"
                    if generator.random() < missing:
                        word = None
                    elif generator.random() < 0.1:
                        word = str(generator.choice(ODD_WORDS))
                    elif generator.random() < 0.1:
                        word = f"{letters[0]}{generator.integers(0, 3)}"  # under another letter, perhaps
                    elif generator.random() < 0.2:
                        word = str(word).upper()
                    rows.append((f"setting{setting}", letter, f"people of {descriptor}", run, word))
    return pd.DataFrame(rows, columns=["setting", "letter", "descriptor", "document", "word"])


def description_words(
    seed: int, *, descriptors: int = 5, documents: int = 4, length: int = 8
) -> pd.DataFrame:
    """Descriptions: a word may stand several times in a document; one document has none."""
    generator = np.random.default_rng(seed)
    rows = []
    for descriptor in range(descriptors):
        for document in range(documents):
            words = [f"w{k}" for k in generator.integers(0, 10 + descriptor, length)]
            if (descriptor, document) == (0, 0):
                words = [None]  # type: ignore[list-item]
            rows += [
                ("looks", "", f"people of {descriptor}", f"{descriptor}/{document}", word) for word in words
            ]
    return pd.DataFrame(rows, columns=["setting", "letter", "descriptor", "document", "word"])
