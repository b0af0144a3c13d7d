"""A fingerprint of what results rest on: equal inputs, equal digest, in whatever database they lie."""

import hashlib

import numpy as np
import pandas as pd

from analysis.loading import StudyData


def inputs_digest(data: StudyData) -> str:
    """SHA-256 over counted judgements, ratings, boxes and associations, whatever the order of their rows."""
    digest = hashlib.sha256()
    for name in ("judgements", "none_rows", "ratings", "boxes", "associations"):
        frame: pd.DataFrame = getattr(data, name)
        columns = [column for column in sorted(frame.columns) if column != "judgement"]
        digest.update(f"{name}:{','.join(columns)}:{len(frame)};".encode())
        if len(frame):
            rows = np.sort(pd.util.hash_pandas_object(frame[columns], index=False).to_numpy())
            digest.update(rows.tobytes())
    return digest.hexdigest()
