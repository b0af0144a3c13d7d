"""Embeddings of images and texts: the inputs of pull and MCAS."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from django.db.models import Count, QuerySet

from analysis.metrics.data.arrays import Array
from analysis.models import Encoder, Scorer
from analysis.scoring import score_tables
from analysis.scoring.steps.embeddings import texts_without_vector
from generation.models import Condition, Image
from studies.models import Study

PULL = (Condition.DEFAULT, Condition.STEREOTYPICAL, Condition.NON_STEREOTYPICAL)
MCAS = (Condition.TARGET, Condition.ATTRIBUTE)
TEXTS = ["kind", "attribute_set", "category", "phrase", "text"]
_PROMPT = ["category", "phrase", "text"]


@dataclass(frozen=True, eq=False)
class EncodedImages:
    """One encoder's embeddings of a study's images, and of its texts if the study compares with texts.

    `measures`: the measures (pull, MCAS) for which it was asked to read images. `texts` and `text_vectors` are None if
    a text of an attribute set, or every prompt, has no vector yet. A target with a prompt without a vector is left out
    of the texts; `unread` are its prompts.
    """

    encoder: str
    measures: frozenset[str]
    images: pd.DataFrame
    vectors: Array
    texts: pd.DataFrame | None = None
    text_vectors: Array | None = None
    unread: int = 0


def compared(candidates: QuerySet[Image]) -> dict[str, dict[str, int]]:
    """By measure and condition, how many of these images it compares."""
    images_by_measure = {
        str(Scorer.Kind.PULL): candidates.filter(condition__in=PULL, group__isnull=False),
        str(Scorer.Kind.MCAS): candidates.filter(condition__in=MCAS, phrase__isnull=False),
    }
    return {
        name: dict(images.order_by().values_list("condition").annotate(number=Count("pk")))
        for name, images in images_by_measure.items()
    }


def encoded_images(study: Study, sets: Mapping[str, Sequence[str]]) -> list[EncodedImages]:
    """The embeddings of every encoder that was used for pull or MCAS; other encoders read only some of the images."""
    kinds = (Scorer.Kind.PULL, Scorer.Kind.MCAS)
    measures_by_encoder: dict[int, set[str]] = {}
    using = Scorer.objects.filter(study=study, kind__in=kinds, encoder__isnull=False)
    for key, kind in using.values_list("encoder", "kind"):
        measures_by_encoder.setdefault(key, set()).add(kind)
    labels = score_tables.encoder_labels(study)
    encoders = [encoder for encoder in score_tables.encoders_of(study) if encoder.pk in measures_by_encoder]
    return [
        _encoded(study, encoder, labels[encoder.pk], frozenset(measures_by_encoder[encoder.pk]), sets)
        for encoder in encoders
    ]


def _encoded(
    study: Study, encoder: Encoder, label: str, measures: frozenset[str], sets: Mapping[str, Sequence[str]]
) -> EncodedImages:
    stored = score_tables.image_vectors(study, encoder)
    fields: dict[str, Any] = {
        "encoder": label,
        "measures": measures,
        "images": stored.images.drop(columns="public_id"),
        "vectors": stored.vectors,
    }
    if not sets or Scorer.Kind.MCAS not in measures:
        return EncodedImages(**fields)
    of_sets = pd.DataFrame(
        [("attribute", name, None, None, text) for name, texts in sets.items() for text in texts],
        columns=TEXTS,
    )
    prompts = pd.DataFrame(_prompts(study), columns=_PROMPT)
    missing = set(texts_without_vector(encoder, [*of_sets["text"], *prompts["text"]]))
    complete, unread = _complete_targets(prompts, missing)
    if missing & set(of_sets["text"]) or (unread and complete.empty):
        return EncodedImages(**fields, unread=unread)
    texts = pd.concat([of_sets, complete.assign(kind="target", attribute_set=None)[TEXTS]], ignore_index=True)
    return EncodedImages(
        **fields,
        texts=texts,
        text_vectors=score_tables.text_vectors(encoder, list(texts["text"])),
        unread=unread,
    )


def _prompts(study: Study) -> Iterable[tuple[str, str, str]]:
    """Category, phrase and prompt of every target there is an image of."""
    images = Image.objects.filter(study=study, phrase__condition=Condition.TARGET, retracted_at=None)
    prompts = images.exclude(prompt="").order_by().values_list("phrase__category", "phrase__name", "prompt")
    return sorted(prompts.distinct())


def _complete_targets(prompts: pd.DataFrame, missing: set[str]) -> tuple[pd.DataFrame, int]:
    """The prompts of targets whose every prompt has a vector, and the number of prompts left out: the mean of only some
    prompts of a target would be misleading."""
    without = prompts["text"].isin(missing)
    targets = pd.MultiIndex.from_frame(prompts[["category", "phrase"]])
    left_out = targets.isin(targets[without.to_numpy()])
    return prompts[~left_out], int(left_out.sum())
