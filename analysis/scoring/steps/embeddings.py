"""Vectors of images and texts: computed once per content and encoder, and shared by all studies."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction

from analysis.metrics.data.arrays import Array
from analysis.models import Encoder, ImageEmbedding, Scorer, TextEmbedding
from analysis.scoring.backends.encoders import LoadedEncoder
from analysis.scoring.backends.memory import Batches
from analysis.scoring.inputs.pictures import Prepared, StoredFile, prepared_batches
from analysis.scoring.inputs.scope import ScopeImage
from analysis.scoring.steps.store import note_failed, note_texts, write_texts, write_vectors
from analysis.scoring.vectors import text_key, usable
from foundation.errors import DomainError
from jobs.progress.reporter import Progress

_KEYS_AT_ONCE = 900
_TEXTS_AT_ONCE = 1_024
_UNUSABLE_IN_A_ROW = 5


@dataclass(frozen=True)
class Embedded:
    """The number of files embedded in this run, and the reasons why others failed."""

    files: int
    reasons: dict[str, str]  # by hash


def files_without_vector(encoder: Encoder | None, images: Sequence[ScopeImage]) -> list[StoredFile]:
    """Return the distinct files of `images` that have no vector by `encoder`, in order."""
    files = {image.file.sha256: image.file for image in images}
    if encoder is None:
        return list(files.values())
    keys = list(files)
    embedded: set[str] = set()
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        batch = ImageEmbedding.objects.filter(encoder=encoder, sha256__in=keys[start : start + _KEYS_AT_ONCE])
        embedded.update(batch.values_list("sha256", flat=True))
    return [file for key, file in files.items() if key not in embedded]


def texts_without_vector(encoder: Encoder | None, texts: Sequence[str]) -> list[str]:
    """Return the distinct texts that have no vector by `encoder`."""
    by_key = {text_key(text): text for text in texts}
    if encoder is None:
        return list(by_key.values())
    keys = list(by_key)
    embedded: set[str] = set()
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        batch = TextEmbedding.objects.filter(
            encoder=encoder, text_sha256__in=keys[start : start + _KEYS_AT_ONCE]
        )
        embedded.update(batch.values_list("text_sha256", flat=True))
    return [text for key, text in by_key.items() if key not in embedded]


def embed_texts(encoder: LoadedEncoder, texts: Sequence[str], *, scorer: Scorer | None = None) -> int:
    """Compute and store missing vectors; return their number. `scorer`: a scorer whose measure uses them."""
    missing = texts_without_vector(encoder.row, texts)
    batches = Batches(_TEXTS_AT_ONCE)
    for start in range(0, len(missing), _TEXTS_AT_ONCE):
        batch = missing[start : start + _TEXTS_AT_ONCE]
        vectors = np.stack(batches.map(_rows(encoder.encode_texts), batch))
        if not usable(vectors).all():
            raise _no_direction("texts", encoder.row.precision)
        with transaction.atomic():
            write_texts(encoder.row, batch, vectors)
            if scorer is not None:
                note_texts(scorer)
    return len(missing)


def embed_images(
    *,
    encoder: LoadedEncoder,
    scorer: Scorer | None,
    images: Sequence[ScopeImage],
    batch_size: int,
    progress: Progress,
) -> Embedded:
    """Compute and store missing vectors. A file that cannot be read does not stop the others and is reported.

    While the model works on a batch, threads read the next batches and the previous batch is stored.
    """
    missing = files_without_vector(encoder.row, images)
    keys = _images_by_hash(images)
    batches, reasons, n_embedded = Batches(batch_size), dict[str, str](), 0
    unusable = _Unusable(encoder.row)
    with ThreadPoolExecutor(1, thread_name_prefix="encoder") as model:
        before: tuple[list[Prepared], Array] | None = None
        for batch in prepared_batches(missing, encoder.prepare, size=batch_size):
            progress.check_cancelled()
            readable = [prepared for prepared in batch if not prepared.reason]
            future = model.submit(
                batches.map, _rows(encoder.encode_images), [prepared.value for prepared in readable]
            )
            if before is not None:
                n_embedded += _write(encoder.row, *before, progress)
            failed = {prepared.file.sha256: prepared.reason for prepared in batch if prepared.reason}
            vectors = _stacked(future.result(), encoder.row.dim)
            is_usable = usable(vectors)
            failed |= {
                prepared.file.sha256: unusable.reason
                for prepared, has_vector in zip(readable, is_usable, strict=True)
                if not has_vector
            }
            reasons |= failed
            if failed and scorer is not None:
                note_failed(scorer, {key: reason for sha, reason in failed.items() for key in keys[sha]})
            progress.advance(len(failed), "reading images")
            before = (
                [prepared for prepared, ok in zip(readable, is_usable, strict=True) if ok],
                vectors[is_usable],
            )
            unusable.note(is_usable)
        if before is not None:
            n_embedded += _write(encoder.row, *before, progress)
    return Embedded(n_embedded, reasons)


class _Unusable:
    """Counts vectors without a direction: one may be its image's fault, several in a row are the model's."""

    def __init__(self, encoder: Encoder) -> None:
        self.reason = f"The model returned no finite vector for the image with precision {encoder.precision}."
        self._precision = encoder.precision
        self._in_a_row = 0

    def note(self, is_usable: Array) -> None:
        """Raise DomainError if five vectors in a row have no direction."""
        for has_vector in is_usable:
            self._in_a_row = 0 if has_vector else self._in_a_row + 1
            if self._in_a_row >= _UNUSABLE_IN_A_ROW:
                raise _no_direction(f"{self._in_a_row} images in a row", self._precision)


def _no_direction(subject: str, precision: str) -> DomainError:
    remedy = (
        "the weights are damaged, or they belong to another architecture"
        if precision == "fp32"
        else "use precision fp32 or bf16"
    )
    return DomainError(
        "vectors_not_finite",
        f"The model returned no finite vectors for {subject} with precision {precision}: {remedy}.",
    )


def _write(encoder: Encoder, batch: list[Prepared], vectors: Array, progress: Progress) -> int:
    with transaction.atomic():
        write_vectors(encoder, [prepared.file.sha256 for prepared in batch], vectors)
    progress.advance(len(batch), "embedding images")
    return len(batch)


def _images_by_hash(images: Sequence[ScopeImage]) -> dict[str, list[int]]:
    keys_by_hash: dict[str, list[int]] = {}
    for image in images:
        keys_by_hash.setdefault(image.file.sha256, []).append(image.pk)
    return keys_by_hash


def _rows(encode: Callable[[Sequence[Any]], Array]) -> Callable[[Sequence[Any]], list[Array]]:
    return lambda items: list(encode(items))


def _stacked(rows: list[Array], dim: int) -> Array:
    return np.stack(rows) if rows else np.empty((0, dim), dtype=np.float32)
