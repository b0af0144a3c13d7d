"""Measures of generated images at the size of ViSAGe, on one core.

Pull: 135 groups with 15 default images, 20 stereotypical and 20 other attributes with 15 images each, embeddings of
512 numbers: estimates and intervals of 2,000 resamples, from the table and the array in memory to the result.
String match and salience: 2,025 images × 50 captions × 400 attributes, from the captions as text to the table,
including the loading of the dictionary of lemmas. Processor time; invented words and random directions.
"""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from analysis.metrics import match_captions, pull, salience
from analysis.metrics.captions.words import fold
from analysis.metrics.data.arrays import Array
from benchmarks.table import Row

GROUPS, IMAGES, ATTRIBUTES, DIM = 135, 15, 20, 512
CAPTIONS, WORDS, VISUAL = 50, 10, 400
PULL_LIMIT, MATCH_LIMIT = 1.0, 2.0
RUNS = 3


def run() -> Iterable[Row]:
    images, vectors = pull_tables()
    seconds = _seconds(lambda: pull(images, vectors))
    yield _row(f"pull with intervals, {GROUPS} × (15 + 15·20 + 15·20) images", seconds, PULL_LIMIT)
    captions, attributes = caption_tables()

    def matched() -> None:
        forget_words()
        salience(captions, attributes, matches=match_captions(captions, attributes))

    seconds = _seconds(matched)
    yield _row("string match and salience, 2,025 × 50 captions × 400 attributes", seconds, MATCH_LIMIT)


def _row(claim: str, seconds: float, limit: float) -> Row:
    return Row(f"{claim}: CPU", f"{seconds:.2f} s", f"≤ {limit:.0f} s", seconds <= limit)


def _seconds(measure: Any) -> float:
    """Return the fastest of some runs, because other work on the machine only adds time."""
    used = []
    with threadpool_limits(limits=1):
        for _ in range(RUNS):
            began = time.process_time()
            measure()
            used.append(time.process_time() - began)
    return min(used)


def forget_words() -> None:
    """Clear the caches, so that each run folds every distinct word again."""
    fold.cache_clear()


def pull_tables() -> tuple[pd.DataFrame, Array]:
    kinds: list[tuple[str, str | None]] = [("default", None)]
    kinds += [(c, f"{c} {a}") for c in ("stereotypical", "non_stereotypical") for a in range(ATTRIBUTES)]
    rows = [("m", f"people {g}", c, a) for g in range(GROUPS) for c, a in kinds for _ in range(IMAGES)]
    frame = pd.DataFrame(rows, columns=["model", "identity_group", "condition", "attribute"])
    vectors = np.random.default_rng(0).standard_normal((len(frame), DIM), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    return frame, vectors


def caption_tables() -> tuple[pd.DataFrame, list[str]]:
    """Return captions of real and invented words with uneven frequencies; a quarter of the attributes has two words."""
    generator = np.random.default_rng(0)
    real = [
        "hat",
        "hats",
        "man",
        "woman",
        "people",
        "wearing",
        "red",
        "colorful",
        "dress",
        "standing",
        "a",
        "the",
    ]
    syllables = ["ka", "lo", "mi", "tu", "ren", "sol", "va", "dri"]
    invented = ["".join(generator.choice(syllables, 3)) for _ in range(6_000)]
    words = np.array(list(dict.fromkeys([*real, *invented])), dtype=object)
    chance = 1 / np.arange(1, len(words) + 1)
    drawn = generator.choice(len(words), (GROUPS * IMAGES * CAPTIONS, WORDS), p=chance / chance.sum())
    image = np.repeat(np.arange(GROUPS * IMAGES), CAPTIONS)
    frame = pd.DataFrame(
        {
            "scorer": "captioner",
            "model": "m",
            "identity_group": np.char.add("people ", (image // IMAGES).astype(str)),
            "image": np.char.add("image ", image.astype(str)),
            "caption": [" ".join(row) for row in words[drawn]],
        }
    )
    single = [str(word) for word in words[: VISUAL * 3 // 4]]
    pairs = [f"{words[i]} {words[i + 1]}" for i in range(VISUAL // 4)]
    return frame, [*single, *pairs]
