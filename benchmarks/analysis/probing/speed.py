"""Measures of probes at the published sizes, each in a separate process: processor time and peak memory.

    python -m benchmarks probe_measures        (make bench)

BiasDora: 2,037 templates × 26 letters × 10 runs of replies as text, parsed, scored and tested, also with words under
another letter, as published; 34,400 descriptions of sixty words as text, split, scored and tested. PAIRS: scores and
tests of five models in both orders. Invented words.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.metrics import (
    association_scores,
    description_tokens,
    paired_comparison,
    parse_word,
    tfidf_associations,
)
from benchmarks.table import Row

ROOT = Path(__file__).resolve().parents[3]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEMPLATES = (407, 414, 407, 407, 402)  # of the five settings
RUNS = 10
IMAGES, KINDS, WORDS = 6_880, 5, 60
PAIRS = (("occupations", 20, 1), ("status", 20, 5), ("potential_crime", 10, 1))
GIB = 1024.0


def reply(letter: str, number: int) -> str:
    """Return a bracket with a word, or sometimes no bracket."""
    return f"[{letter}{'aeiou'[number % 5]}{number}]".translate(DIGITS) if number % 50 else "I cannot say"


def words(*, published: bool = False) -> Callable[[], object]:
    """Return the measurement of 530,000 replies; as `published`, the 5 % under another letter count too."""
    generator = np.random.default_rng(0)
    replies: list[str] = []
    settings, letters, descriptors, documents = [], [], [], []
    for setting, templates in enumerate(TEMPLATES):
        rank = generator.zipf(1.5, (templates * RUNS, len(LETTERS))) % 600
        for document, row in enumerate(rank.tolist()):
            replies += map(reply, _initials(document), row)
            letters += list(LETTERS)
            settings += [f"setting{setting}"] * len(LETTERS)
            descriptors += [f"people {document // RUNS}"] * len(LETTERS)
            documents += [document] * len(LETTERS)

    def measure() -> object:
        parsed = [
            parse_word(text, letter, published=published).word
            for text, letter in zip(replies, letters, strict=True)
        ]
        frame = pd.DataFrame(
            {
                "setting": settings,
                "letter": letters,
                "descriptor": descriptors,
                "document": documents,
                "word": parsed,
            }
        )
        return tfidf_associations(frame)

    return measure


def _initials(document: int) -> str:
    """Return the initial letters of words; in every twentieth document, each word is under the next letter."""
    return LETTERS[-1:] + LETTERS[:-1] if document % 20 == 0 else LETTERS


DIGITS = str.maketrans("0123456789", "bcdfghjklm")


def descriptions() -> Callable[[], object]:
    """Return the measurement of 34,400 descriptions of some 60 words."""
    generator = np.random.default_rng(0)
    vocabulary = np.array([f"{'aeiou'[k % 5]}x{k}".translate(DIGITS) for k in range(8_000)])
    texts = [
        ", ".join(vocabulary[generator.zipf(1.3, WORDS) % len(vocabulary)].tolist())
        for _ in range(IMAGES * KINDS)
    ]

    def measure() -> object:
        tokens = [description_tokens(text) for text in texts]
        size = np.array([len(each) for each in tokens])
        document = np.repeat(np.arange(len(texts)), size)
        frame = pd.DataFrame(
            {
                "setting": pd.Categorical.from_codes(
                    document // IMAGES, pd.Index([f"setting{k}" for k in range(KINDS)])
                ),
                "letter": "",
                "descriptor": pd.Categorical.from_codes(
                    document % 344, pd.Index([f"people {k}" for k in range(344)])
                ),
                "document": document,
                "word": pd.Categorical([word for each in tokens for word in each]),
            }
        )
        return tfidf_associations(frame)

    return measure


def pairs() -> Callable[[], object]:
    """Return the measurement of five models in both orders: 15,600 answers."""
    generator = np.random.default_rng(0)
    rows = [
        (f"m{m}", e, f"s{s}", f"q{q}", f"{race}_{gender}", race, gender, repeat, order)
        for m in range(5)
        for e, scenarios, questions in PAIRS
        for s in range(scenarios)
        for q in range(questions)
        for race in ("black", "white")
        for gender in ("man", "woman")
        for repeat in range(3)
        for order in ("published", "reversed")
    ]
    columns = ["model", "experiment", "scenario", "question", "group", "race", "gender", "repeat", "order"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["outcome"] = generator.choice(["plus", "minus", "refused", "both", "failed"], len(frame))
    return lambda: (association_scores(frame), paired_comparison(frame))


CASES: dict[str, tuple[str, Callable[[], Callable[[], object]], float, float]] = {
    "words": ("associations of 530,000 replies", words, 30.0, GIB),
    "published": ("associations of 530,000 replies as published", partial(words, published=True), 30.0, GIB),
    "descriptions": ("associations of 34,400 descriptions", descriptions, 30.0, GIB),
    "pairs": ("scores and tests of five models in both orders (PAIRS)", pairs, 15.0, GIB),
}


def run() -> Iterable[Row]:
    for name, (claim, _, seconds, memory) in CASES.items():
        printed = subprocess.run(
            [sys.executable, "-m", "benchmarks.analysis.probing.speed", name],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        used = json.loads(printed)
        yield Row(
            f"{claim}: CPU", f"{used['seconds']:.1f} s", f"≤ {seconds:.0f} s", used["seconds"] <= seconds
        )
        yield Row(f"{claim}: memory", f"{used['mib']:.0f} MiB", f"≤ {memory:.0f} MiB", used["mib"] <= memory)


if __name__ == "__main__":
    measure = CASES[sys.argv[1]][1]()
    began = time.process_time()
    measure()
    seconds = time.process_time() - began
    print(json.dumps({"seconds": seconds, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
