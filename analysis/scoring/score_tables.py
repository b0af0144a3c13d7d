"""Scores as tables for measures. Needs numpy and pandas, but no model library.

`image` is the key of an image in tables of judgements too (`analysis.results.data.labels`): the hash of its
bytes, or its published path if no file was released. `public_id` identifies its page. Retracted images are
left out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from analysis.metrics.data.arrays import Array
from analysis.models import (
    AttributeScore,
    Caption,
    Encoder,
    ImageEmbedding,
)
from analysis.scoring.freshness import last_score as last_score
from analysis.scoring.vectors import text_key, unpacked
from foundation.errors import NotFound
from generation.models import Image
from studies.models import Study

_AT_ONCE = 5_000
_KEYS_AT_ONCE = 500
_IMAGE_COLUMNS = {
    "image": "sha256",
    "public_id": "public_id",
    "model": "model_label",
    "condition": "condition",
    "identity_group": "group__name",
    "attribute": "attribute__text",
    "attribute_set": "phrase__attribute_set",
    "category": "phrase__category",
    "phrase": "phrase__name",
    "prompt": "prompt",
}


@dataclass(frozen=True, eq=False)
class ImageVectors:
    """Images of a study with their vectors: row i of `vectors` belongs to row i of `images`.

    `images`: image, public_id, model, condition, identity_group, attribute, attribute_set, category, phrase,
    prompt. `vectors`: float32 of unit length.
    """

    images: pd.DataFrame
    vectors: Array


def encoders_of(study: Study, *, using: str = DEFAULT_DB_ALIAS) -> list[Encoder]:
    """Return the encoders that the study's scorers used, oldest first."""
    return list(Encoder.objects.using(using).filter(scorers__study=study).distinct().order_by("pk"))


def encoder_labels(study: Study, *, using: str = DEFAULT_DB_ALIAS) -> dict[int, str]:
    """Return a unique name for each of the study's encoders, by key.

    Precision and revision are added to the name if encoders share it.
    """
    spellings = {encoder.pk: _spellings(encoder) for encoder in encoders_of(study, using=using)}
    used = Counter(text for names in spellings.values() for text in set(names))
    return {
        key: next((text for text in names if used[text] == 1), names[-1]) for key, names in spellings.items()
    }


def _spellings(encoder: Encoder) -> tuple[str, ...]:
    """Return the names that an encoder can have, shortest first; the last is unique in the database."""
    name, precision = str(encoder), encoder.precision
    short = encoder.revision.removeprefix("sha256:")[:8]
    return (
        name,
        f"{name} · {precision}",
        f"{name} · {short}",
        f"{name} · {precision} · {short}",
        f"{name} · {precision} · {encoder.revision}",
    )


def image_vectors(study: Study, encoder: Encoder) -> ImageVectors:
    """Return the study's images that have a vector by `encoder`, oldest first."""
    images = Image.objects.filter(study=study, retracted_at=None).exclude(sha256="")
    embedded = ImageEmbedding.objects.filter(encoder=encoder, sha256__in=images.values("sha256"))
    stored = dict(embedded.values_list("sha256", "vector").iterator(chunk_size=_AT_ONCE))
    frame = _frame(images.order_by("pk"), _IMAGE_COLUMNS)
    frame = frame[frame["image"].isin(stored.keys())].reset_index(drop=True)
    keys, place = np.unique(frame["image"].to_numpy(dtype=object), return_inverse=True)
    vectors = unpacked([stored[key] for key in keys], encoder.dim, encoder.vector_type)
    return ImageVectors(frame, vectors[place])


def text_vectors(encoder: Encoder, texts: Sequence[str]) -> Array:
    """Return the vectors of `texts`, in order; NotFound names the first text without a vector."""
    keys = [text_key(text) for text in texts]
    distinct = list(dict.fromkeys(keys))
    stored: dict[str, bytes] = {}
    for start in range(0, len(distinct), _KEYS_AT_ONCE):
        batch = encoder.text_embeddings.filter(text_sha256__in=distinct[start : start + _KEYS_AT_ONCE])
        stored |= {key: bytes(vector) for key, vector in batch.values_list("text_sha256", "vector")}
    missing = next((text for text, key in zip(texts, keys, strict=True) if key not in stored), None)
    if missing is not None:
        raise NotFound(
            "text_not_embedded",
            f"The encoder {encoder} has not read the text “{missing}” yet. Score the study’s images first.",
        )
    return unpacked([stored[key] for key in keys], encoder.dim, encoder.vector_type)


def attribute_scores(study: Study) -> pd.DataFrame:
    """Return scorer, model, identity_group, image, public_id, attribute, probability, cosine."""
    rows = AttributeScore.objects.filter(scorer__study=study, image__retracted_at=None).order_by("pk")
    columns = _of_image() | {"attribute": "attribute__text", "probability": "probability", "cosine": "cosine"}
    frame = _frame(rows, columns)
    return frame.astype({"probability": float, "cosine": float})


def captions(study: Study) -> pd.DataFrame:
    """Return scorer, model, identity_group, image, public_id, caption; most likely first for each image."""
    rows = Caption.objects.filter(scorer__study=study, image__retracted_at=None)
    return _frame(rows.order_by("scorer_id", "image_id", "position"), _of_image() | {"caption": "text"})


def _of_image() -> dict[str, str]:
    return {
        "scorer": "scorer__model_label",
        "model": "image__model_label",
        "identity_group": "image__group__name",
        "image": "image__sha256",
        "public_id": "image__public_id",
    }


def _frame(rows: QuerySet[Any], columns: dict[str, str]) -> pd.DataFrame:
    values: Iterable[tuple[Any, ...]] = rows.values_list(*columns.values()).iterator(chunk_size=_AT_ONCE)
    frame = pd.DataFrame(values, columns=list(columns)).astype(object)
    frame["public_id"] = frame["public_id"].map(str)
    return frame.where(frame.notna(), None)
