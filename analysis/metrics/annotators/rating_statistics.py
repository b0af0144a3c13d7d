"""How each annotator rates attributes: agreement with the others who rated them."""

import numpy as np
import pandas as pd

from analysis.metrics.agreement.units import likert_codes, rated_once_each
from analysis.metrics.data.annotator_ids import UNUSABLE
from analysis.metrics.data.results import Result, counts, labels, numbers, words


def rater_statistics(ratings: pd.DataFrame) -> Result:
    """Per annotator: the number of ratings, and the mean over shared attributes of the share of the others who gave
    the same answer (Unsure is an answer; no majority is needed).

    `ratings`: attribute, annotator, rating 1..5[, campaign]. If more than 5 % of the ratings repeat an attribute that
    the same id had already rated in the campaign, ids do not identify people: agreement is null,
    `annotator_ids_unusable`.
    """
    attribute, names, annotator, people, rating = likert_codes(ratings)
    usable = rated_once_each(ratings, attribute, annotator)
    table = np.zeros((len(names), 6))
    np.add.at(table, (attribute, rating), 1)
    n_others = table.sum(axis=1)[attribute] - 1
    n_agreeing = table[attribute, rating] - 1
    shared = n_others > 0
    number = np.bincount(annotator[shared], minlength=len(people))
    total = np.bincount(
        annotator[shared], weights=n_agreeing[shared] / n_others[shared], minlength=len(people)
    )
    agreement = np.divide(total, number, out=np.full(len(people), np.nan), where=(number > 0) & usable)
    frame = pd.DataFrame(
        {
            "annotator": labels(people),
            "ratings": counts(np.bincount(annotator, minlength=len(people))),
            "agreement_with_others": numbers(agreement),
            "reason": words(["" if usable else UNUSABLE] * len(people)),
        }
    )
    return Result(table=frame, used=len(rating), method="agreement with the others")
