"""Which attributes can be depicted in an image."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.agreement.units import UNSURE, likert_codes
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers
from analysis.metrics.data.validation import require_choice

RULES = ("unanimous", "majority", "mean")
AGREES = 4  # Agree or Strongly Agree


def visual_attributes(ratings: Any, *, rule: str = "unanimous", threshold: float = AGREES) -> Result:
    """Visual attributes from Likert ratings (attribute, annotator, rating 1..5; 3 = Unsure) (Jha et al. 2024,
    §3.1).

    An attribute is visual when every rating is Agree or Strongly Agree (`rule="unanimous"`), when more than
    half are ("majority"), or when the mean is at least `threshold` ("mean"). Unsure counts as 3 in the mean,
    as in the released scores, and never as agreement. Table: attribute, ratings, mean, unsure, unanimous,
    visual.

    >>> frame = pd.DataFrame({"attribute": ["hat"] * 3, "annotator": list("pqr"), "rating": [5, 4, 5]})
    >>> visual_attributes(frame).rows()[0]["visual"]
    True
    """
    require_choice(rule, "rule", RULES)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 1 <= threshold <= 5:
        raise ValueError(f"threshold: expected a number between 1 and 5, got {threshold!r}")
    attribute, names, _, _, rating = likert_codes(ratings)
    width = len(names)

    def per_attribute(weights: Array | None = None) -> Array:
        return np.bincount(attribute, weights=weights, minlength=width)

    number, agreeing, total = per_attribute(), per_attribute(rating >= AGREES), per_attribute(rating)
    mean = total / number
    visual = {"unanimous": agreeing == number, "majority": 2 * agreeing > number, "mean": mean >= threshold}
    table = pd.DataFrame(
        {
            "attribute": labels(names),
            "ratings": counts(number),
            "mean": numbers(mean),
            "unsure": counts(per_attribute(rating == UNSURE)),
            "unanimous": pd.array(visual["unanimous"], dtype="boolean"),
            "visual": pd.array(visual[rule], dtype="boolean"),
        }
    )
    return Result(
        table=table,
        used=len(rating),
        method=rule if rule != "mean" else f"mean at least {threshold}",
        notes={"visual": int(visual[rule].sum()), "attributes": width},
    )
