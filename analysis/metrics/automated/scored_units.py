"""Scores and people's answers together: one row for each scorer, model, image and attribute."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.validation import binary, first_value, require_columns, require_filled
from analysis.metrics.data.vector_sets import UNNAMED, as_text


@dataclass(frozen=True, eq=False)
class ScoredUnits:
    """Units of one scorer and model. `image` and `attribute` are codes of the names; `k` of `n` answers were that the
    attribute is present."""

    scorer: str
    model: str
    image: Array
    image_names: Array
    attribute: Array
    attribute_names: Array
    score: Array
    k: Array
    n: Array

    @cached_property
    def share(self) -> Array:
        return np.asarray(self.k / self.n)

    @cached_property
    def has_majority(self) -> Array:
        return np.asarray(2 * self.k != self.n)

    @cached_property
    def positive(self) -> Array:
        return np.asarray(2 * self.k > self.n)

    def halves(self) -> Array:
        """Per image, whether it is in the half on which thresholds are chosen. The hash of its name decides, so that an
        image stays in its half when other images are scored."""
        digests = (hashlib.sha256(str(name).encode()).digest() for name in self.image_names)
        return np.fromiter((digest[0] & 1 for digest in digests), dtype=bool, count=len(self.image_names))


def scored_units(
    scores: pd.DataFrame, judgements: pd.DataFrame
) -> tuple[list[ScoredUnits], Mapping[str, int], int]:
    """Per scorer and model: the units with both a score and answers, what was dropped, and the answers used."""
    require_columns(scores, "scores", ("image", "attribute", "score"))
    require_columns(judgements, "judgements", ("image", "attribute", "present"))
    require_filled(scores, "scores", ["image", "attribute"])
    require_filled(judgements, "judgements", ["image", "attribute"])
    image, asked_image, image_names = _shared(scores["image"], judgements["image"])
    attribute, asked_attribute, attribute_names = _shared(scores["attribute"], judgements["attribute"])
    width = max(len(attribute_names), 1)
    units, of_answer = np.unique(asked_image * width + asked_attribute, return_inverse=True)
    n = np.bincount(of_answer, minlength=len(units))
    k = np.bincount(of_answer, weights=binary(judgements["present"], "judgements"), minlength=len(units))
    score = _finite_or_null(scores["score"])
    key = image * width + attribute
    place = np.minimum(np.searchsorted(units, key), max(len(units) - 1, 0))
    is_judged = units[place] == key if len(units) else np.zeros(len(key), dtype=bool)
    valid = np.flatnonzero(is_judged & ~np.isnan(score))
    scored = np.zeros(len(units), dtype=bool)
    scored[place[valid]] = True
    tables = []
    for (scorer, model), rows in _by_scorer(scores, valid):
        rows = rows[np.argsort(attribute[rows] * max(len(image_names), 1) + image[rows], kind="stable")]
        _require_once(key[rows], scores, rows)
        codes, used = pd.factorize(image[rows], sort=True)
        tables.append(
            ScoredUnits(
                scorer, model, codes, image_names[used], attribute[rows], attribute_names,
                score[rows], k[place[rows]], n[place[rows]],
            )
        )  # fmt: skip
    dropped = {
        "no_score": int(np.isnan(score).sum()),
        "score_never_judged": int((~is_judged & ~np.isnan(score)).sum()),
        "judgement_never_scored": int(n[~scored].sum()),
    }
    return tables, dropped, int(n[scored].sum())


def _shared(x: pd.Series, y: pd.Series) -> tuple[Array, Array, Array]:
    """Codes of both columns in the alphabetical order of all their names."""
    factorized = [pd.factorize(column) for column in (x, y)]
    texts = [[str(name) for name in names] for _, names in factorized]
    order = {name: code for code, name in enumerate(sorted({*texts[0], *texts[1]}))}
    codes = [
        np.array([order[name] for name in names], dtype=np.int64)[column_codes]
        if len(column_codes)
        else np.empty(0, dtype=np.int64)
        for (column_codes, _), names in zip(factorized, texts, strict=True)
    ]
    return codes[0], codes[1], np.array(list(order), dtype=object)


def _finite_or_null(column: pd.Series) -> Array:
    number = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = (np.isnan(number) & column.notna().to_numpy()) | np.isinf(number)
    if wrong.any():
        raise ValueError(f"scores: column 'score' must contain numbers, got {first_value(column, wrong)!r}")
    return number


def _by_scorer(scores: pd.DataFrame, valid: Array) -> Iterator[tuple[tuple[str, str], Array]]:
    names = [
        as_text(scores[name])[valid] if name in scores else np.full(len(valid), UNNAMED, dtype=object)
        for name in ("scorer", "model")
    ]
    code = [pd.factorize(values, sort=True) for values in names]
    pair_codes = code[0][0] * max(len(code[1][1]), 1) + code[1][0]
    for pair in np.unique(pair_codes):
        places = np.flatnonzero(pair_codes == pair)
        yield (str(names[0][places[0]]), str(names[1][places[0]])), valid[places]


def _require_once(key: Array, scores: pd.DataFrame, rows: Array) -> None:
    twice = np.flatnonzero(np.diff(np.sort(key)) == 0)
    if len(twice):
        value = np.sort(key)[twice[0]]
        row = scores.iloc[rows[np.argmax(key == value)]]
        raise ValueError(f"scores: image {row['image']!r}, attribute {row['attribute']!r} is scored twice")
