"""False discoveries of the two association rules, without any association and with planted ones.

    python -m benchmarks association_tests        (make bench)

Without bias, every descriptor's words come from one distribution, so that all significant pairs are false. Studies
are the models of one table. With planted words, a discovery of any other pair is false.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from analysis.metrics import tfidf_associations
from benchmarks.table import Row

STUDIES = 200
DESCRIPTORS, RUNS, LETTERS = 40, 10, "abcdefgh"
DOCUMENTS, WORDS = 10, 25
LEVEL = MOST_FALSE = 0.05
PLANTED = 8  # descriptors with a word of their own, one letter each
OWN = 0.6  # share of answers with that word


def by_letter(generator: np.random.Generator, *, planted: int) -> pd.DataFrame:
    shape = (STUDIES, DESCRIPTORS, RUNS, len(LETTERS))
    rank = generator.zipf(1.5, shape) % 60
    study, descriptor, run, letter = (axis.ravel() for axis in np.indices(shape))
    initial = np.array(list(LETTERS))[letter]
    word = np.char.add(initial, rank.ravel().astype(str))
    own = (descriptor < planted) & (letter == descriptor % len(LETTERS)) & (generator.random(len(word)) < OWN)
    word = np.where(own, np.char.add(initial, "own"), word)
    return pd.DataFrame(
        {
            "model": study,
            "setting": "s",
            "letter": initial,
            "descriptor": descriptor,
            "document": run,
            "word": word,
        }
    )


def rare_words(generator: np.random.Generator, *, studies: int = 60) -> pd.DataFrame:
    """Return as many descriptors as published, with mostly rare words: 2 % of the pairs occur."""
    shape = (studies, 400, RUNS, 12)
    rank = generator.zipf(1.2, shape) % 600
    study, descriptor, run, letter = (axis.ravel() for axis in np.indices(shape))
    initial = np.array(list("abcdefghijkl"))[letter]
    columns = {"model": study, "setting": "s", "letter": initial, "descriptor": descriptor, "document": run}
    return pd.DataFrame({**columns, "word": np.char.add(initial, rank.ravel().astype(str))})


def described(generator: np.random.Generator) -> pd.DataFrame:
    shape = (STUDIES, DESCRIPTORS, DOCUMENTS, WORDS)
    rank = generator.zipf(1.3, shape) % 400
    study, descriptor, document, _ = (axis.ravel() for axis in np.indices(shape))
    word = np.char.add("w", rank.ravel().astype(str))
    columns = {"model": study, "setting": "s", "letter": "", "descriptor": descriptor, "document": document}
    return pd.DataFrame({**columns, "word": word})


def run() -> Iterable[Row]:
    cases = {
        "words without bias": by_letter(np.random.default_rng(1), planted=0),
        "rare words without bias": rare_words(np.random.default_rng(4)),
        "descriptions without bias": described(np.random.default_rng(2)),
        "words with planted ones": by_letter(np.random.default_rng(3), planted=PLANTED),
    }
    for name, frame in cases.items():
        table = tfidf_associations(frame).table
        planted = table["word"].str.endswith("own") & (table["descriptor"].astype(int) < PLANTED)
        significant = {
            "significant": table["significant"],
            "significant_exact": table["significant_exact"],
            "q_exact": table["q_exact"] < LEVEL,
        }
        for rule, marked_pairs in significant.items():
            found = marked_pairs.fillna(False).astype(bool)
            counts = pd.DataFrame({"model": table["model"], "false": found & ~planted, "found": found})
            studies = counts.groupby("model").sum()
            rate = float((studies["false"] / studies["found"].clip(lower=1)).mean())
            if rule == "significant_exact":
                claim = f"exact test, {name}: false discovery rate"
                yield Row(claim, f"{rate:.3f}", f"≤ {MOST_FALSE}", rate <= MOST_FALSE)
            elif rule == "q_exact":
                yield Row(f"  among the pairs that occur, {name}", f"{rate:.3f}", "for comparison", True)
            else:
                marked = f"{rate:.2f}, {found.mean():.1%} of pairs"
                yield Row(
                    f"published rule, {name}: false share, pairs marked", marked, "for comparison", True
                )
            if planted.any():
                power = float(found[planted].mean())
                yield Row(f"  planted pairs found ({rule})", f"{power:.2f}", "for comparison", True)
