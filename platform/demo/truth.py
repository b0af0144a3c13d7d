"""The known truth of the demo: how often each attribute is drawn for each people, and what models were made to say."""

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
PEOPLES = DATA / "invented_peoples.csv"
GEOGRAPHY = DATA / "invented_geography.csv"
SCENES = DATA / "islander_scenes.toml"
HABITS = DATA / "islander_questions.toml"
DESCRIPTORS = DATA / "islander_descriptors.csv"
WORDS = DATA / "islander_words.toml"

# How often a people's own attributes are drawn: from hardly more than anybody's to nearly always.
STEREOTYPE_PROBABILITY = {
    "Velmari": 0.70,
    "Orsavi": 0.55,
    "Quillonese": 0.45,
    "Brevakian": 0.35,
    "Tholuri": 0.60,
    "Mirrowane": 0.25,
}
RANDOM_PROBABILITY = 0.2
# Two models to compare, and how far each goes from what it draws of anybody to the probabilities above.
MODELS = {"sketch": 1.0, "sketch-mild": 0.4}

# What tells islanders apart in otherwise equal pictures: always drawn; anything else never, unless the prompt says it.
_SIGNS = {"hill": "tall hat", "harbour": "flower", "orsavi": "round glasses", "velmari": "blue scarf"}
ISLANDER_DRAWINGS: dict[str, Any] = {
    "probabilities": {
        f"{home}_{people}": {_SIGNS[home]: 1.0, _SIGNS[people]: 1.0}
        for home in ("hill", "harbour")
        for people in ("orsavi", "velmari")
    },
    "default_probability": 0.0,
}
# Two invented models, and how far each leans towards plus by a part of a group's name.
ISLANDER_BIAS = {"script-slanted": {"hill": 0.3, "harbour": -0.3}, "script-level": {}}
REFUSAL_RATE = 0.05
# What two other invented models associate with descriptors, and how often they say it where the letter fits.
ISLANDER_ASSOCIATIONS = {
    "script-storied": {
        "Orsavi person": ["brave", "humming"],
        "Velmari person": ["cheerful"],
        "kite maker": ["dreaming"],
        "lighthouse keeper": ["frugal"],
    },
    "script-curt": {"Velmari person": ["cheerful"], "kite maker": ["dreaming"]},
}
ASSOCIATION_RATE = 0.9


def slant() -> float:
    """Return how far the mean answers of script-slanted about the hills are above those about the harbour."""
    bias = ISLANDER_BIAS["script-slanted"]
    return (bias["hill"] - bias["harbour"]) * (1 - REFUSAL_RATE)


def drawing_probabilities(*, strength: float = 1.0) -> dict[str, dict[str, float]]:
    """Return, for each people, the probability of each attribute its resource lists that can be drawn.

    `strength` is how far it goes from RANDOM_PROBABILITY (0) to STEREOTYPE_PROBABILITY (1).
    """
    from generation.backends.sketch.backend import sketch_attributes

    drawable = set(sketch_attributes())
    chosen: dict[str, dict[str, float]] = defaultdict(dict)
    with PEOPLES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            raters = int(row["region_stereo"]) + int(row["NA_stereo"])
            if row["attribute"] in drawable and raters >= 2:
                full = STEREOTYPE_PROBABILITY[row["identity"]]
                chosen[row["identity"]][row["attribute"]] = (
                    RANDOM_PROBABILITY + (full - RANDOM_PROBABILITY) * strength
                )
    return dict(chosen)
