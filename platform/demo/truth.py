"""The known truth of the demo: how often each attribute is drawn for each people."""

import csv
from collections import defaultdict
from pathlib import Path

DATA = Path(__file__).parent / "data"
PEOPLES = DATA / "invented_peoples.csv"
GEOGRAPHY = DATA / "invented_geography.csv"

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


def drawing_probabilities() -> dict[str, dict[str, float]]:
    """Return, for each people, the probability of each attribute its resource lists that can be drawn."""
    from generation.backends.sketch import sketch_attributes

    drawable = set(sketch_attributes())
    chosen: dict[str, dict[str, float]] = defaultdict(dict)
    with PEOPLES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            raters = int(row["region_stereo"]) + int(row["NA_stereo"])
            if row["attribute"] in drawable and raters >= 2:
                chosen[row["identity"]][row["attribute"]] = STEREOTYPE_PROBABILITY[row["identity"]]
    return dict(chosen)
