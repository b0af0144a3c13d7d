"""Dawid–Skene and MACE skill of annotators, computed by crowd-kit if it is installed."""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.judgements import Judgements

PACKAGE = "crowdkit"
NOT_INSTALLED = "crowd_kit_not_installed"
DAWID_SKENE_ITERATIONS = 100
MACE_ITERATIONS = 25  # 50 give no visible change of ranks with 100,000 judgements

REMEMBERED = 8  # fits: two numbers for each annotator


@dataclass(frozen=True, eq=False)
class Skills:
    dawid_skene: Array
    mace: Array
    reason: str
    converged: bool | None

    @classmethod
    def none(cls, people: int, reason: str) -> "Skills":
        return cls(np.full(people, np.nan), np.full(people, np.nan), reason, None)


_latest: dict[bytes, Skills] = {}


def skills_of(
    data: Judgements, rows: Array, seed: int, *, iterated: Callable[[], None] | None = None
) -> Skills:
    """Fit both models on the judgements `rows` (a mask); null for everybody without crowd-kit.

    With 10 million judgements they take minutes: `iterated` is called at each iteration of either model. The latest
    skills are cached, because a study is often computed again with parameters that do not affect them.
    """
    people = len(data.annotator_names)
    if find_spec(PACKAGE) is None:
        return Skills.none(people, NOT_INSTALLED)
    if not rows.any():
        return Skills.none(people, "")
    key = _digest(data, rows, seed)
    if key not in _latest:
        fitted = _fit(data, rows, seed, iterated)
        while len(_latest) >= REMEMBERED:
            _latest.pop(next(iter(_latest)), None)
        _latest[key] = fitted
    return _latest[key]


def _digest(data: Judgements, rows: Array, seed: int) -> bytes:
    """Return a digest that is equal for fits with equal results."""
    digest = hashlib.blake2b(repr((len(data.annotator_names), seed)).encode())
    for values in (data.row_unit, data.row_annotator, data.row_present, rows):
        digest.update(repr((values.dtype.str, len(values))).encode())
        digest.update(np.ascontiguousarray(values).data)
    return digest.digest()


def _fit(data: Judgements, rows: Array, seed: int, iterated: Callable[[], None] | None) -> Skills:
    from crowdkit.aggregation import MACE, DawidSkene  # a second to import

    people = len(data.annotator_names)
    answers = pd.DataFrame(
        {
            "task": data.row_unit[rows],
            "worker": data.row_annotator[rows],
            "label": data.row_present[rows].astype(int),
        }
    )
    with warnings.catch_warnings():
        # crowd-kit 1.4 calls functions that pandas 3 deprecates; callers cannot avoid it
        warnings.simplefilter("ignore", DeprecationWarning)
        dawid_skene = _with_callback(iterated, DawidSkene(n_iter=DAWID_SKENE_ITERATIONS)).fit(answers)
        # With a seed, crowd-kit begins each restart at the same point: a second one repeats the first.
        mace = MACE(n_restarts=1, n_iter=MACE_ITERATIONS, random_state=seed)
        mace = _with_callback(iterated, mace).fit(answers)
    errors = dawid_skene.errors_
    workers = errors.index.get_level_values("worker")
    answered = errors.index.get_level_values("label")
    right = pd.Series(
        [
            errors.at[(w, s), s] if s in errors.columns else np.nan
            for w, s in zip(workers, answered, strict=True)
        ]
    )
    # An answer that an annotator never gave has no row: it was given with probability 0.
    total = right.groupby(workers.to_numpy()).sum() / len(errors.columns)
    knowing = pd.Series(mace.spamming_[:, 1], index=pd.unique(answers["worker"]))
    right_share, knowing_share = (
        series.reindex(np.arange(people)).to_numpy(dtype=float, copy=True) for series in (total, knowing)
    )
    for values in (right_share, knowing_share):
        values.flags.writeable = False  # cached, and returned to several callers
    converged = len(dawid_skene.loss_history_) < DAWID_SKENE_ITERATIONS
    return Skills(right_share, knowing_share, "", converged)


def _with_callback(iterated: Callable[[], None] | None, model: Any) -> Any:
    """Make a model call `iterated` before each expectation step; crowd-kit itself only draws progress bars."""
    if iterated is None:
        return model
    expect, called = model._e_step, iterated

    def step(*args: Any, **kwargs: Any) -> Any:
        called()
        return expect(*args, **kwargs)

    model._e_step = step
    return model
