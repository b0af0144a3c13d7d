"""Every measure declares the changes of its input that do not affect it, and is tested on them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import metrics
from tests.analysis.metrics.library.invariances import CLAIMS, KINDS, change, example

NOT_MEASURES = {
    "AnnotatorGroups",
    "AssociationScores",
    "AnnotatorIds",
    "BoxAgreement",
    "Judgements",
    "Means",
    "PairedComparison",
    "ParsedWord",
    "Preferences",
    "ProbeSpread",
    "RankingConcordance",
    "Resampling",
    "Result",
    "Sensitivity",
    "Tendency",
    "CaptionMatches",
    "Concordance",
    "description_tokens",  # used by associations; has no number of its own
    "parse_word",
    "process_texts",  # used by distinguishing_words
    "assign_roles",  # decides whether raters suffice; has no number of its own
    "match_captions",  # used by salience and scores; has no number of its own
    "match_spans",
    "mean_similarity",  # takes two sets of vectors, no table
}


def test_every_measure_declares_its_invariances() -> None:
    assert set(CLAIMS) == set(metrics.__all__) - NOT_MEASURES


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(alike(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    if pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one) and pd.isna(other))
    return one == pytest.approx(other, rel=1e-9, abs=1e-9) if isinstance(one, float) else one == other


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, c in CLAIMS.items() for k in KINDS if k in c.holds])
def test_measures_keep_their_invariances(name: str, kind: str) -> None:
    frame = example()
    changed = change(frame, kind, np.random.default_rng(3))
    assert alike(CLAIMS[name].estimates(changed), CLAIMS[name].estimates(frame))


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, c in CLAIMS.items() for k in KINDS if k in c.fails])
def test_no_invariance_is_claimed_that_fails(name: str, kind: str) -> None:
    frame = example()
    changed = change(frame, kind, np.random.default_rng(3))
    assert kind not in CLAIMS[name].holds
    assert not alike(CLAIMS[name].estimates(changed), CLAIMS[name].estimates(frame))
