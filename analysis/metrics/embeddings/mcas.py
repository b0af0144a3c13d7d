"""MCAS: at which stage of a text-to-image model an association with one of two sets arises."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_whole
from analysis.metrics.embeddings.mcas_scores import COMPONENTS, Scores, score
from analysis.metrics.embeddings.mcas_vectors import ModelAssociations, associations_of
from analysis.metrics.resampling.bootstrap import DEFAULT_RESAMPLES

DEFAULT_PERMUTATIONS = 10_000
NO_IMAGES = "no_images"
NO_TARGET_IMAGES = "no_target_images"
NO_TARGET_TEXTS = "no_target_texts"
NO_ATTRIBUTE_IMAGES = "no_attribute_images"
NO_ATTRIBUTE_TEXTS = "no_attribute_texts"
ONE_PHRASE = "one_phrase"
ONE_IMAGE = "one_image"
TOO_FEW_PHRASES = "too_few_phrases"
CONSTANT = "constant"


def mcas(
    images: pd.DataFrame,
    vectors: Any,
    texts: pd.DataFrame,
    text_vectors: Any,
    *,
    sets: Sequence[str],
    permutations: int = DEFAULT_PERMUTATIONS,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Result:
    """Multimodal Composite Association Score per model and target (Mandal et al. 2023).

    s(w, A, B) = mean over a ∈ A of cos(w, a) − mean over b ∈ B of cos(w, b). Components, each a mean of s over the
    target's images or prompts: `ii`, its images against the images of the sets; `itp`, its prompts against the images
    of the sets; `ita`, its images against the texts of the sets; `tt`, its prompts against the texts of the sets.
    `mcas` is their sum, in −8 … 8; positive is nearer to A, the first of `sets`.

    `images`: condition (target | attribute), attribute_set (of attributes), category (of targets), phrase[, model].
    `texts`: kind (attribute | target), attribute_set, category, phrase, text; those of a target are its prompts.
    `vectors`, `text_vectors`: their embeddings in the same order, rows × dim, of any length. Category and phrase
    identify a target. Rows of other sets and conditions are dropped and counted. The order of rows does not matter.

    Effect size: single-target WEAT (Caliskan et al. 2017), (mean over A − mean over B) of h over the standard deviation
    (ddof 1) of h over A ∪ B, where h(x) is the mean cosine of x to the target's images or prompts. For the sum, h adds
    images and prompts of the target, and the deviation is √(sd² over images + sd² over texts). p: two-sided, permuting
    which phrases belong to A, all images of a phrase together; all partitions if there are at most `permutations`, else
    (b + 1)/(B + 1) with `permutations` drawn partitions; `p_value` draws one partition of image phrases and one of
    texts for all four components together. Interval, percentile 95 %: phrases of each set are resampled, then their
    images, and the images of the target. Texts are not resampled, so `tt` has no interval (`notes["tt_interval"]`).

    Null: `no_images` (the model has none; `tt` is still given), `no_target_images`, `no_target_texts`,
    `no_attribute_images`, `no_attribute_texts` (a set has none). The interval: `one_phrase` (a set has images of one
    phrase only), `one_image` (the target has one), `zero_width`. The effect size: `constant`. p: `too_few_phrases` (one
    phrase in each set, so that partitions differ only in sign).

    ValueError: a column is missing, `sets` are not two names, or vectors and rows do not match.
    """
    permutations = require_whole(permutations, "permutations", 1)
    resamples = require_whole(resamples, "resamples", 0)
    seed = require_whole(seed, "seed", 0)
    if isinstance(sets, str) or len(sets) != 2 or sets[0] == sets[1]:
        raise ValueError(f"sets: expected two different names, got {sets!r}")
    data = associations_of(images, vectors, texts, text_vectors, (str(sets[0]), str(sets[1])))
    scored = [score(associations, permutations, resamples, seed) for associations in data.models]
    tables = [_table(associations, scores) for associations, scores in zip(data.models, scored, strict=True)]
    return Result(
        table=pd.concat(tables, ignore_index=True),
        used=data.used,
        dropped=data.dropped,
        method="permutation of phrases; bootstrap of phrases, then images",
        seed=seed,
        resamples=resamples,
        notes={
            "sets": [str(name) for name in sets],
            "tt_interval": NO_IMAGES,
            "models": [
                {
                    "model": associations.model,
                    "image_partitions": scores.image_partitions,
                    "text_partitions": scores.text_partitions,
                    "permutations": scores.permutations,
                    "joint_exact": scores.joint_exact,
                }
                for associations, scores in zip(data.models, scored, strict=True)
            ],
        },
    )


def _table(data: ModelAssociations, scores: Scores) -> pd.DataFrame:
    targets = len(data.targets)
    parts = {}
    for position, name in enumerate(COMPONENTS):
        parts[f"{name}_effect_size"] = numbers(scores.effects[:, position])
        parts[f"{name}_p_value"] = numbers(scores.p[:, position])
        if name != "tt":
            parts[f"{name}_low"] = numbers(scores.low[:, position])
            parts[f"{name}_high"] = numbers(scores.high[:, position])
    return pd.DataFrame(
        {
            "model": labels([data.model] * targets),
            "category": labels(category for category, _ in data.targets),
            "target": labels(phrase for _, phrase in data.targets),
            **{name: numbers(scores.components[:, i]) for i, name in enumerate(COMPONENTS)},
            "mcas": numbers(scores.components.sum(axis=1)),
            "ci_low": numbers(scores.low[:, -1]),
            "ci_high": numbers(scores.high[:, -1]),
            "effect_size": numbers(scores.effects[:, -1]),
            "p_value": numbers(scores.p[:, -1]),
            **parts,
            "images": counts(data.target_images.sizes),
            "images_a": counts([data.image_sets[0].rows] * targets),
            "images_b": counts([data.image_sets[1].rows] * targets),
            "phrases_a": counts([data.image_sets[0].phrases] * targets),
            "phrases_b": counts([data.image_sets[1].phrases] * targets),
            "reason": words(_reasons(data, scores)),
        }
    )


def _reasons(data: ModelAssociations, scores: Scores) -> list[str]:
    """The reasons for null values in the row: of the estimate, its interval, the effect size and p, in this order."""
    phrases = [part.phrases for part in data.image_sets]
    of_all = [
        (NO_IMAGES, not sum(data.target_images.sizes) and not any(part.rows for part in data.image_sets)),
        (NO_ATTRIBUTE_IMAGES, not all(part.rows for part in data.image_sets)),
        (NO_ATTRIBUTE_TEXTS, not all(part.rows for part in data.text_sets)),
    ]
    reasons = []
    for row, (images, prompts) in enumerate(
        zip(data.target_images.sizes, data.target_texts.sizes, strict=True)
    ):
        why = [
            of_all[0],
            (NO_TARGET_IMAGES, not images),
            (NO_TARGET_TEXTS, not prompts),
            *of_all[1:],
            (ONE_PHRASE, min(phrases) < 2),
            (ONE_IMAGE, images < 2),
            (str(scores.interval_reason[row]), bool(scores.interval_reason[row])),
            (CONSTANT, bool(np.isnan(scores.effects[row]).any())),
            (TOO_FEW_PHRASES, bool(np.isnan(scores.p[row]).any())),
        ]
        reasons.append(next((reason for reason, holds in why if holds), ""))
    return reasons
