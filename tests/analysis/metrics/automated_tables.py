"""Small tables for the automated measures, made of the rows that the invariances change."""

from typing import Any

import numpy as np
import pandas as pd

DIM = 6


def vectors_of(rows: Any, dim: int = DIM) -> np.ndarray:
    """A direction for each row number, always the same one; like embeddings, all lean to one side."""
    drawn = [np.random.default_rng([5, int(row)]).normal(0.4, 1, dim) for row in rows]
    return np.array(drawn).reshape(-1, dim)


def as_pull(frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Every judgement is an image: of hats by default, of drums and boats stereotypical, of kites not."""
    condition = {
        "hat": "default",
        "drum": "stereotypical",
        "boat": "stereotypical",
        "kite": "non_stereotypical",
    }
    attribute = frame["attribute"].astype(object)
    images = frame[["identity_group"]].assign(
        model="m",
        condition=attribute.map(condition),
        attribute=attribute.where(attribute != "hat", None),
    )
    return images, vectors_of(frame["row"])
