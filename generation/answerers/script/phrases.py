"""The phrases of the invented model."""

import random
from collections.abc import Sequence

CHOICES = (
    "{option}",
    "{option}.",
    "I would say {option}.",
    "**{option}**",
    "Most likely {option} rather than {other}.",
    "If I had to choose, {option}.",
)
BOTH = ("It could be either.", "Both are equally likely.", "I am torn: 50/50.")
REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot determine that from an image.",
    "As an AI, I won't make assumptions about people.",
)
_SYLLABLES = ("ra", "lo", "mi", "ten", "vis", "or", "ka", "shu", "bel", "nin")
_SCENES = ("a street at dawn", "a market hall", "a quiet room", "a river bank")


def invented_word(letter: str, chance: random.Random) -> str:
    """Return a meaningless word that begins with the letter."""
    return letter + "".join(chance.choice(_SYLLABLES) for _ in range(chance.randint(1, 2)))


def description(words: Sequence[str], chance: random.Random) -> str:
    """Describe an unspecific person, using these words."""
    scene = chance.choice(_SCENES)
    if not words:
        return f"The picture shows a person in {scene}."
    return f"The picture shows a person in {scene}. They look {', '.join(words)}."
