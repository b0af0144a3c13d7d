"""A fingerprint of what results rest on: equal inputs, equal digest, in whatever database they lie."""

import hashlib

import numpy as np
import pandas as pd

from analysis.loading import StudyData

LABELS = ("judgements", "none_rows", "ratings", "boxes", "associations")
ABOUT_ANNOTATORS = ("profiles", "gold", "repeats")


def inputs_digest(data: StudyData) -> str:
    """SHA-256 over counted judgements, ratings, boxes and associations, whatever the order of their rows.

    Where annotators said something of themselves, or answered checks, that too: results rest on it.
    """
    digest = hashlib.sha256()
    for name in (*LABELS, *ABOUT_ANNOTATORS):
        frame: pd.DataFrame = getattr(data, name)
        if name in ABOUT_ANNOTATORS and frame.empty:
            continue
        columns = [column for column in sorted(frame.columns) if column != "judgement"]
        digest.update(f"{name}:{','.join(columns)}:{len(frame)};".encode())
        if len(frame):
            rows = np.sort(pd.util.hash_pandas_object(frame[columns], index=False).to_numpy())
            digest.update(rows.tobytes())
    return digest.hexdigest()
