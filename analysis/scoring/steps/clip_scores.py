"""CLIP scores of attributes: how much nearer an image is to a prompt with an attribute than to one without."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from analysis.metrics.data.arrays import Array
from analysis.models import AttributeScore, Encoder, ImageEmbedding, Scorer
from analysis.scoring.inputs.prompts import PromptTexts
from analysis.scoring.inputs.scope import ScopeImage
from analysis.scoring.score_tables import text_vectors
from analysis.scoring.steps.store import note_done
from analysis.scoring.vectors import unit, unpacked
from jobs.progress.reporter import Progress

_IMAGES_AT_ONCE = 500
_DIGITS = 6  # the last bits depend on the batch size


def ensemble(vectors: Array) -> Array:
    """Return the unit vector in the mean direction of unit vectors (n × dim)."""
    mean: Array = unit(vectors.mean(axis=0, keepdims=True))[0]
    return mean


def zero_shot(images: Array, attributes: Array, contrast: Array, *, scale: float) -> tuple[Array, Array]:
    """Return probability and cosine of each image (n × dim) and attribute (k × dim), both n × k.

    The probability is the softmax, at the model's own temperature, over the attribute's prompt and the contrast:
    p = exp(s·cos(m,a)) / (exp(s·cos(m,a)) + exp(s·cos(m,c))), with s = `scale` (1 / temperature) and all
    vectors of unit length.
    """
    # In double precision, because `scale` multiplies rounding errors.
    images, attributes, contrast = (
        np.asarray(array, dtype=float) for array in (images, attributes, contrast)
    )
    cosine = images @ attributes.T
    margin = scale * (cosine - (images @ contrast)[:, None])
    # Depending on the sign of the margin, so that exp never overflows.
    small = np.exp(-np.abs(margin))
    probability = np.where(margin >= 0, 1.0, small) / (1.0 + small)
    return probability, cosine


def missing_scores(
    scorer: Scorer, images: Sequence[ScopeImage], attributes_by_group: Mapping[int, Mapping[int, str]]
) -> dict[int, list[int]]:
    """Return the attributes without a score of each image; images with all scores are left out."""
    scored: dict[int, set[int]] = {}
    rows = AttributeScore.objects.filter(scorer=scorer).values_list("image_id", "attribute_id")
    for image, attribute in rows.iterator(chunk_size=10_000):
        scored.setdefault(image, set()).add(attribute)
    needed = {
        image.pk: [
            key
            for key in attributes_by_group.get(image.group or 0, {})
            if key not in scored.get(image.pk, ())
        ]
        for image in images
    }
    return {image: attributes for image, attributes in needed.items() if attributes}


@dataclass(frozen=True, eq=False)
class _PromptVectors:
    """The vectors that images are compared with: one for each attribute, and one for the contrast."""

    attributes: Mapping[int, Array]
    contrast: Array
    scale: float  # the model's 1 / temperature

    @classmethod
    def of(cls, encoder: Encoder, texts: PromptTexts) -> "_PromptVectors":
        by_key = dict(zip(texts.texts, text_vectors(encoder, texts.texts), strict=True))
        attributes = {
            key: ensemble(np.stack([by_key[text] for text in batch]))
            for key, batch in texts.by_attribute.items()
        }
        contrast = ensemble(np.stack([by_key[text] for text in texts.contrast]))
        return cls(attributes, contrast, encoder.parameters["logit_scale"])

    def scores(
        self, scorer: Scorer, image: ScopeImage, vector: Array, keys: Sequence[int]
    ) -> list[AttributeScore]:
        """Return unsaved scores of an image for the attributes with these keys."""
        chosen = np.stack([self.attributes[key] for key in keys])
        probability, cosine = zero_shot(vector[None], chosen, self.contrast, scale=self.scale)
        return [
            AttributeScore(
                scorer=scorer,
                image_id=image.pk,
                attribute_id=key,
                probability=round(float(share), _DIGITS),
                cosine=round(float(similarity), _DIGITS),
            )
            for key, share, similarity in zip(keys, probability[0], cosine[0], strict=True)
        ]


def score(
    *,
    scorer: Scorer,
    encoder: Encoder,
    images: Sequence[ScopeImage],
    needed: Mapping[int, Sequence[int]],
    texts: PromptTexts,
    progress: Progress,
) -> int:
    """Store the missing scores of images that have a vector; return the number of these images."""
    prompts = _PromptVectors.of(encoder, texts)
    waiting, n_scored = [image for image in images if image.pk in needed], 0
    for start in range(0, len(waiting), _IMAGES_AT_ONCE):
        progress.check_cancelled()
        batch = waiting[start : start + _IMAGES_AT_ONCE]
        stored = dict(
            ImageEmbedding.objects.filter(
                encoder=encoder, sha256__in={image.file.sha256 for image in batch}
            ).values_list("sha256", "vector")
        )
        readable = [image for image in batch if image.file.sha256 in stored]
        vectors = unpacked(
            [stored[image.file.sha256] for image in readable], encoder.dim, encoder.vector_type
        )
        rows = [
            row
            for image, vector in zip(readable, vectors, strict=True)
            for row in prompts.scores(scorer, image, vector, needed[image.pk])
        ]
        with transaction.atomic():
            AttributeScore.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)
            note_done(scorer, [image.pk for image in readable])
        n_scored += len(readable)
        progress.advance(len(batch), "scoring attributes")
    return n_scored
