"""Small tables for the automated measures, made from the rows that the invariances change."""

from typing import Any

import numpy as np
import pandas as pd

DIM = 6


def vectors_of(rows: Any, dim: int = DIM) -> np.ndarray:
    """Return a fixed direction for each row number; like embeddings, all lean to one side."""
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


SETS = ("drums", "kites")
Mcas = tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]


def as_mcas(frame: pd.DataFrame) -> Mcas:
    """Images of hats are those of targets, one target for each group; drums and kites are the two sets."""
    attribute = frame["attribute"].astype(object)
    target = attribute == "hat"
    part = attribute + (frame["row"] % 3).astype(str)
    images = pd.DataFrame(
        {
            "model": "m",
            "condition": np.where(target, "target", "attribute"),
            "attribute_set": attribute.map({"drum": "drums", "kite": "kites"}),
            "category": "peoples",
            "phrase": part.where(~target, frame["identity_group"].astype(object)),
        }
    )
    texts = pd.DataFrame(
        [
            *(("target", None, "peoples", people, people) for people in ("Aru", "Bel")),
            *(("attribute", name, None, None, f"{name} {i}") for name in SETS for i in range(3)),
        ],
        columns=["kind", "attribute_set", "category", "phrase", "text"],
    )
    return images, vectors_of(frame["row"]), texts, vectors_of(range(900, 900 + len(texts)))


def as_captions(frame: pd.DataFrame) -> pd.DataFrame:
    """Every judgement is a caption of its image: with the attribute where it was seen, of something else else."""
    seen = frame["present"].to_numpy() == 1
    caption = np.where(seen, "one of the " + frame["attribute"].astype(object) + "s", "a sky")
    return frame[["identity_group", "image"]].assign(scorer="captioner", model="m", caption=caption)


def as_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a score for each image and attribute, random but slightly informative."""
    units = frame.sort_values("row").drop_duplicates(["image", "attribute"])
    chance = np.random.default_rng(6).random(1_000)
    return units[["image", "attribute"]].assign(
        scorer="clip", model="m", score=(chance[units["row"]] + units["corner"]) / 2
    )
