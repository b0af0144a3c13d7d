"""Drawings for tests that need any picture."""

from functools import cache

from generation.backends.sketch.drawing import draw


@cache
def drawing(seed: int, *attributes: str) -> bytes:
    """Return the PNG of a drawing. Each takes 40 ms, and hundreds of tests use the same four."""
    return draw(seed=seed, attributes=attributes).png
