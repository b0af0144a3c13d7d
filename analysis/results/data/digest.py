"""A fingerprint of the inputs of results: equal inputs have equal digests in any database."""

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.results.data.labels import StudyData

if TYPE_CHECKING:
    from hashlib import _Hash

    from analysis.results.data.machine_scores import MachineScores

LABELS = ("judgements", "none_rows", "ratings", "boxes", "associations")
ABOUT_ANNOTATORS = ("profiles", "gold", "repeats")


def inputs_digest(data: StudyData, scores: "MachineScores | None" = None) -> str:
    """SHA-256 over counted judgements, ratings, boxes and associations, independent of the order of rows.

    Annotators' details, answers to checks and automatic scores are included if they exist.
    """
    digest = hashlib.sha256()
    for name in (*LABELS, *ABOUT_ANNOTATORS):
        frame: pd.DataFrame = getattr(data, name)
        if name in ABOUT_ANNOTATORS and frame.empty:
            continue
        rows_digest(digest, name, frame[[column for column in frame.columns if column != "judgement"]])
    for name, languages in data.languages.items():
        frame = getattr(data, name).assign(language=languages.to_numpy())
        rows_digest(digest, f"languages of {name}", frame)
    for answers in data.answers:
        digest.update(f"kind:{answers.kind.model_dump_json()};".encode())
        rows_digest(digest, answers.campaign, answers.inputs)
        for name in ("points", "boxes"):
            rows_digest(digest, name, answers.placed(name))
    if data.probe_answers:
        rows_digest(digest, "probe_answers", data.probe_answers.answers)
        if review := data.probe_answers.review:
            rows_digest(digest, "ratings", review.ratings[["coder", "outcome"]])
            rows_digest(digest, "reviewed", review.reviewed[["stratum", "rules", "people"]])
    if data.word_answers:
        for name in ("words", "texts", "dimensions"):
            rows_digest(digest, name, getattr(data.word_answers, name))
        for name, frame in data.word_answers.harm.frames().items():
            rows_digest(digest, name, frame)
    said_by_machines = scores.digest if scores is not None else ""
    if said_by_machines:
        digest.update(f"scores:{said_by_machines};".encode())
    return digest.hexdigest()


def rows_digest(digest: "_Hash", name: str, frame: pd.DataFrame) -> None:
    """Add a table to a digest, whatever the order of its rows and columns."""
    columns = sorted(frame.columns)
    digest.update(f"{name}:{','.join(columns)}:{len(frame)};".encode())
    if len(frame):
        digest.update(np.sort(pd.util.hash_pandas_object(frame[columns], index=False).to_numpy()).tobytes())
