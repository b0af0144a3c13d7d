"""Storing scores in the database, in batches: a killed process loses only its current batch."""

from collections.abc import Iterable, Mapping

from django.db import transaction

from analysis.metrics.data.arrays import Array
from analysis.models import Encoder, ImageEmbedding, ScoredImage, Scorer, TextEmbedding
from analysis.scoring.vectors import packed, text_key

_AT_ONCE = 500
Outcome = ScoredImage.Outcome


def write_vectors(encoder: Encoder, keys: list[str], vectors: Array) -> None:
    """Store vectors of images by hash; vectors that another worker has stored meanwhile are kept."""
    rows = [
        ImageEmbedding(encoder=encoder, sha256=key, vector=vector)
        for key, vector in zip(keys, packed(vectors, encoder.vector_type), strict=True)
    ]
    ImageEmbedding.objects.bulk_create(rows, batch_size=_AT_ONCE, ignore_conflicts=True)


def write_texts(encoder: Encoder, texts: list[str], vectors: Array) -> None:
    """Store vectors of texts."""
    rows = [
        TextEmbedding(encoder=encoder, text_sha256=text_key(text), text=text, vector=vector)
        for text, vector in zip(texts, packed(vectors, encoder.vector_type), strict=True)
    ]
    TextEmbedding.objects.bulk_create(rows, batch_size=_AT_ONCE, ignore_conflicts=True)


@transaction.atomic
def note_done(scorer: Scorer, images: Iterable[int]) -> None:
    """Mark images as done, always with new rows, so that `freshness.last_score` changes."""
    _note(scorer, dict.fromkeys(images, (Outcome.DONE, "")))


@transaction.atomic
def note_texts(scorer: Scorer) -> None:
    """Rewrite the newest image's row after new texts, so that `freshness.last_score` changes."""
    scored = ScoredImage.objects.filter(scorer=scorer, outcome=Outcome.DONE).order_by("-pk")
    note_done(scorer, scored.values_list("image_id", flat=True)[:1])


@transaction.atomic
def note_failed(scorer: Scorer, reasons: Mapping[int, str]) -> None:
    """Store why images could not be scored, leaving unchanged rows alone; the next start tries them again."""
    failed = {image: (Outcome.FAILED, reason[:300]) for image, reason in reasons.items()}
    keys = list(failed)
    for start in range(0, len(keys), _AT_ONCE):
        noted = ScoredImage.objects.filter(scorer=scorer, image__in=keys[start : start + _AT_ONCE])
        for image, outcome, reason in noted.values_list("image_id", "outcome", "reason"):
            if failed[image] == (outcome, reason):
                del failed[image]
    _note(scorer, failed)


def _note(scorer: Scorer, outcomes: Mapping[int, tuple[str, str]]) -> None:
    keys = list(outcomes)
    for start in range(0, len(keys), _AT_ONCE):
        batch = keys[start : start + _AT_ONCE]
        ScoredImage.objects.filter(scorer=scorer, image__in=batch).delete()
        ScoredImage.objects.bulk_create(
            (
                ScoredImage(scorer=scorer, image_id=key, outcome=outcomes[key][0], reason=outcomes[key][1])
                for key in batch
            ),
            ignore_conflicts=True,
        )
