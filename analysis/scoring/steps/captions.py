"""Captions of a study's images, in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import transaction

from analysis.metrics.data.arrays import Array
from analysis.models import Caption, Encoder, ImageEmbedding, ScoredImage, Scorer
from analysis.scoring.backends.captioners import Captioner, CaptionInput, image_seed
from analysis.scoring.backends.memory import Batches
from analysis.scoring.inputs.pictures import StoredFile, prepared_batches
from analysis.scoring.inputs.scope import ScopeImage
from analysis.scoring.steps.caption_stream import CaptionRequest, answers
from analysis.scoring.steps.store import note_done, note_failed
from analysis.scoring.vectors import unpacked
from jobs.progress.reporter import Progress

_VECTORS_AT_ONCE = 500
_NOTHING_SAID = "The model wrote no caption for the image."


@dataclass(frozen=True)
class Captioned:
    """The numbers of captioned images, captions and failed images in this run."""

    images: int
    captions: int
    failed: int


def without_captions(scorer: Scorer, images: Sequence[ScopeImage]) -> list[ScopeImage]:
    """Return the images that `scorer` has not captioned; failed images are included."""
    scored = ScoredImage.objects.filter(scorer=scorer, outcome=ScoredImage.Outcome.DONE)
    scored_ids = set(scored.values_list("image_id", flat=True).iterator())
    return [image for image in images if image.pk not in scored_ids]


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
    """Caption the images and store the captions; an `encoder` gives vectors to use instead of pictures."""
    batches, n_captioned, captions, failed = Batches(batch_size), 0, 0, 0
    ready = (
        _with_vectors(images, encoder, study_seed, batch_size)
        if encoder
        else _with_pictures(images, study_seed, batch_size)
    )
    for answered in answers(captioner, ready, batches=batches, check=progress.check_cancelled):
        # If the model declines a caption, the image keeps the captions before it.
        written = {
            request.image.pk: outcome.texts
            for request, outcome in answered
            if outcome is not None and outcome.texts
        }
        stopped = {
            request.image.pk: outcome.stopped
            for request, outcome in answered
            if outcome is not None and outcome.stopped
        }
        reasons = {
            request.image.pk: request.reason
            or (outcome.reason if outcome is not None else "")
            or _NOTHING_SAID
            for request, outcome in answered
            if request.image.pk not in written | stopped
        }
        # Captions that may have been paid for are stored before the work stops.
        _write(scorer, written, reasons)
        n_captioned, failed = n_captioned + len(written), failed + len(reasons)
        captions += sum(map(len, written.values()))
        progress.advance(len(answered), "writing captions")
    return Captioned(n_captioned, captions, failed)


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
) -> Iterator[list[CaptionRequest]]:
    for start in range(0, len(images), _VECTORS_AT_ONCE):
        batch = images[start : start + _VECTORS_AT_ONCE]
        stored = dict(
            ImageEmbedding.objects.filter(
                encoder=encoder, sha256__in={image.file.sha256 for image in batch}
            ).values_list("sha256", "vector")
        )
        ready = [_ready(image, seed, _vector(stored.get(image.file.sha256), encoder)) for image in batch]
        for begin in range(0, len(ready), size):
            yield ready[begin : begin + size]


def _vector(stored: bytes | memoryview | None, encoder: Encoder) -> Array | None:
    return None if stored is None else unpacked([stored], encoder.dim, encoder.vector_type)[0]


def _ready(image: ScopeImage, seed: int, vector: Array | None) -> CaptionRequest:
    if vector is None:
        return CaptionRequest(image, None, "The image file cannot be read.")
    return CaptionRequest(image, CaptionInput(seed=image_seed(seed, image.file.sha256), vector=vector))


def _with_pictures(images: Sequence[ScopeImage], seed: int, size: int) -> Iterator[list[CaptionRequest]]:
    """Yield the images with their pictures; a file that two images share is read twice."""
    files: list[StoredFile] = [prepared.file for prepared in images]
    begin = 0
    for batch in prepared_batches(files, lambda picture: picture, size=size):
        batch_images = images[begin : begin + len(batch)]
        begin += len(batch)
        yield [
            CaptionRequest(image, None, prepared.reason)
            if prepared.reason
            else CaptionRequest(
                image, CaptionInput(seed=image_seed(seed, image.file.sha256), picture=prepared.value)
            )
            for image, prepared in zip(batch_images, batch, strict=True)
        ]
