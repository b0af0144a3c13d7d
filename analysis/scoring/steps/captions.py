"""Captions of a study's images, a batch at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from analysis.models import Caption, Encoder, ImageEmbedding, ScoredImage, Scorer
from analysis.scoring.backends.captioners import Captioner, CaptionInput, image_seed
from analysis.scoring.backends.memory import Batches
from analysis.scoring.inputs.pictures import ImageFile, prepared_batches
from analysis.scoring.inputs.scope import ScopeImage
from analysis.scoring.steps.caption_stream import Ready, answers
from analysis.scoring.steps.store import note_done, note_failed
from analysis.scoring.vectors import unpacked
from jobs.progress.reporter import Progress

_VECTORS_AT_ONCE = 500
_NOTHING_SAID = "The model wrote nothing about it."


@dataclass(frozen=True)
class Captioned:
    """How many images got captions this time, how many captions, and how many images failed."""

    images: int
    captions: int
    failed: int


def without_captions(scorer: Scorer, images: Sequence[ScopeImage]) -> list[ScopeImage]:
    """Return those of `images` that `scorer` has not captioned; failed ones are tried again."""
    done = ScoredImage.objects.filter(scorer=scorer, outcome=ScoredImage.Outcome.DONE)
    known = set(done.values_list("image_id", flat=True).iterator())
    return [one for one in images if one.pk not in known]


def caption_images(
    *,
    scorer: Scorer,
    captioner: Captioner,
    images: Sequence[ScopeImage],
    encoder: Encoder | None,
    study_seed: int,
    batch_size: int,
    progress: Progress,
) -> Captioned:
    """Write captions of `images`; with an `encoder` from their vectors, else from their pictures."""
    batches, done, captions, failed = Batches(batch_size), 0, 0, 0
    ready = (
        _with_vectors(images, encoder, study_seed, batch_size)
        if encoder
        else _with_pictures(images, study_seed, batch_size)
    )
    for answered in answers(captioner, ready, batches=batches, check=progress.check_cancelled):
        # An image with fewer captions than asked, because the model declined one, still has what it wrote.
        written = {one.image.pk: said.texts for one, said in answered if said is not None and said.texts}
        stopped = {one.image.pk: said.stopped for one, said in answered if said is not None and said.stopped}
        reasons = {
            one.image.pk: one.reason or (said.reason if said is not None else "") or _NOTHING_SAID
            for one, said in answered
            if one.image.pk not in written | stopped
        }
        # Its neighbours were paid for: what was said of them is kept before the work stops.
        _write(scorer, written, reasons)
        done, failed = done + len(written), failed + len(reasons)
        captions += sum(map(len, written.values()))
        progress.advance(len(answered), "writing captions")
    return Captioned(done, captions, failed)


@transaction.atomic
def _write(scorer: Scorer, written: dict[int, list[str]], reasons: dict[int, str]) -> None:
    Caption.objects.bulk_create(
        (
            Caption(scorer=scorer, image_id=image, position=position, text=text)
            for image, texts in written.items()
            for position, text in enumerate(texts)
        ),
        batch_size=500,
        ignore_conflicts=True,
    )
    note_done(scorer, written)
    note_failed(scorer, reasons)


def _with_vectors(
    images: Sequence[ScopeImage], encoder: Encoder, seed: int, size: int
) -> Iterator[list[Ready]]:
    for start in range(0, len(images), _VECTORS_AT_ONCE):
        some = images[start : start + _VECTORS_AT_ONCE]
        stored = dict(
            ImageEmbedding.objects.filter(
                encoder=encoder, sha256__in={one.file.sha256 for one in some}
            ).values_list("sha256", "vector")
        )
        ready = [_ready(one, seed, _vector(stored.get(one.file.sha256), encoder)) for one in some]
        for first in range(0, len(ready), size):
            yield ready[first : first + size]


def _vector(stored: bytes | memoryview | None, encoder: Encoder) -> np.ndarray | None:
    return None if stored is None else unpacked([stored], encoder.dim, encoder.vector_type)[0]


def _ready(image: ScopeImage, seed: int, vector: np.ndarray | None) -> Ready:
    if vector is None:
        return Ready(image, None, "Its file cannot be read.")
    return Ready(image, CaptionInput(seed=image_seed(seed, image.file.sha256), vector=vector))


def _with_pictures(images: Sequence[ScopeImage], seed: int, size: int) -> Iterator[list[Ready]]:
    """Yield images with their pictures; the same file of two images is read for each."""
    files: list[ImageFile] = [one.file for one in images]
    first = 0
    for batch in prepared_batches(files, lambda picture: picture, size=size):
        some = images[first : first + len(batch)]
        first += len(batch)
        yield [
            Ready(image, None, one.reason)
            if one.reason
            else Ready(image, CaptionInput(seed=image_seed(seed, image.file.sha256), picture=one.value))
            for image, one in zip(some, batch, strict=True)
        ]
