"""CLIP scores of attributes: how much nearer an image is to a prompt with an attribute than to one without."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.db import transaction

from analysis.models import AttributeScore, Encoder, ImageEmbedding, Scorer
from analysis.scoring.frames import text_vectors
from analysis.scoring.inputs.prompts import PromptTexts
from analysis.scoring.inputs.scope import ScopeImage
from analysis.scoring.steps.store import note_done
from analysis.scoring.vectors import unit, unpacked
from jobs.progress.reporter import Progress

_IMAGES_AT_ONCE = 500
_DIGITS = 6  # the last bits differ with the size of a batch


def ensemble(vectors: np.ndarray) -> np.ndarray:
    """Return the unit vector in the mean direction of unit vectors (n × dim)."""
    mean: np.ndarray = unit(vectors.mean(axis=0, keepdims=True))[0]
    return mean


def zero_shot(
    images: np.ndarray, attributes: np.ndarray, contrast: np.ndarray, *, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return probability and cosine of each image (n × dim) and attribute (k × dim), both n × k.

    The probability is the softmax, at the model's own temperature, over the attribute's prompt and the contrast:
    p = exp(s·cos(m,a)) / (exp(s·cos(m,a)) + exp(s·cos(m,c))), with s = `scale` (1 / temperature) and all
    vectors of unit length.
    """
    # The temperature multiplies what single precision would round.
    images, attributes, contrast = (np.asarray(one, dtype=float) for one in (images, attributes, contrast))
    cosine = images @ attributes.T
    margin = scale * (cosine - (images @ contrast)[:, None])
    # By the sign of the margin, so that exp never overflows.
    small = np.exp(-np.abs(margin))
    probability = np.where(margin >= 0, 1.0, small) / (1.0 + small)
    return probability, cosine


def missing_scores(
    scorer: Scorer, images: Sequence[ScopeImage], asked: Mapping[int, Mapping[int, str]]
) -> dict[int, list[int]]:
    """Return which attributes each image still needs a score of; images that need none are left out."""
    known: dict[int, set[int]] = {}
    rows = AttributeScore.objects.filter(scorer=scorer).values_list("image_id", "attribute_id")
    for image, attribute in rows.iterator(chunk_size=10_000):
        known.setdefault(image, set()).add(attribute)
    needed = {
        one.pk: [key for key in asked.get(one.group or 0, {}) if key not in known.get(one.pk, ())]
        for one in images
    }
    return {image: attributes for image, attributes in needed.items() if attributes}


def score(
    *,
    scorer: Scorer,
    encoder: Encoder,
    images: Sequence[ScopeImage],
    needed: Mapping[int, Sequence[int]],
    texts: PromptTexts,
    progress: Progress,
) -> int:
    """Write the scores that are missing, of images that have a vector; return of how many images."""
    by_key = dict(zip(texts.texts, text_vectors(encoder, texts.texts), strict=True))
    scale = encoder.parameters["logit_scale"]
    contrast = ensemble(np.stack([by_key[text] for text in texts.contrast]))
    attributes = {
        key: ensemble(np.stack([by_key[text] for text in some])) for key, some in texts.by_attribute.items()
    }
    waiting, done = [one for one in images if one.pk in needed], 0
    for start in range(0, len(waiting), _IMAGES_AT_ONCE):
        progress.check_cancelled()
        some = waiting[start : start + _IMAGES_AT_ONCE]
        stored = dict(
            ImageEmbedding.objects.filter(
                encoder=encoder, sha256__in={one.file.sha256 for one in some}
            ).values_list("sha256", "vector")
        )
        readable = [one for one in some if one.file.sha256 in stored]
        vectors = unpacked([stored[one.file.sha256] for one in readable], encoder.dim, encoder.vector_type)
        rows = _rows_of(scorer, readable, vectors, needed, attributes, contrast, scale)
        with transaction.atomic():
            AttributeScore.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)
            note_done(scorer, [one.pk for one in readable])
        done += len(readable)
        progress.advance(len(some), "scoring attributes")
    return done


def _rows_of(
    scorer: Scorer,
    images: Sequence[ScopeImage],
    vectors: np.ndarray,
    needed: Mapping[int, Sequence[int]],
    attributes: Mapping[int, np.ndarray],
    contrast: np.ndarray,
    scale: float,
) -> list[AttributeScore]:
    rows = []
    for image, vector in zip(images, vectors, strict=True):
        keys = needed[image.pk]
        chosen = np.stack([attributes[key] for key in keys])
        probability, cosine = zero_shot(vector[None], chosen, contrast, scale=scale)
        rows += [
            AttributeScore(
                scorer=scorer,
                image_id=image.pk,
                attribute_id=key,
                probability=round(float(one), _DIGITS),
                cosine=round(float(other), _DIGITS),
            )
            for key, one, other in zip(keys, probability[0], cosine[0], strict=True)
        ]
    return rows
