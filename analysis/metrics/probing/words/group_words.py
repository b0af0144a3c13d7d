"""Words that models use more often for one group than for the others."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers, words
from analysis.metrics.data.validation import require_columns, require_filled, require_whole

ALL = "all"
THRESHOLD = 0.6
LEAST_COUNT = 3
_COLUMNS = ("group", "word", "rank", "frequency", "count", "score", "smoothed")


def distinguishing_words(
    tokens: Any, *, by: str = "group", threshold: float = THRESHOLD, min_count: int = LEAST_COUNT
) -> Result:
    """The words that distinguish one group's texts from the others'.

    `tokens`: one row per text with the columns model, scenario, group, text: tokens joined by spaces, already processed
    (`process_texts`); a missing text has no tokens. Per model × scenario and per model over all scenarios (`scope` is
    the scenario's name or "all"; `scenario` is null for "all"; rows with an empty scenario have no separate scope):

    s(w) = log2[f(w,D)·N(rest) / (f(w,rest)·N(D))]

    f counts w, N all tokens, in the texts of the group (D) and of all other groups of the scope (rest). `by` names
    another column, such as a factor, whose values are compared instead. The table has words with s > `threshold` and at
    least `min_count` occurrences in the scope (`count`), ranked by `frequency` = f(w,D), ties by word. Words that occur
    only in D are kept, with `exclusive`, a null score and the reason `exclusive`. `smoothed` = log2[(f(w,D) +
    ½)(N(rest) + 1) / ((f(w,rest) + ½)(N(D) + 1))], for display. If the rest or the group has no tokens, there are no
    rows; `dropped["one_sided"]` counts such groups.

    Raises ValueError for a missing column or name.

    Source: Fraser & Kiritchenko 2024, §5; Church & Hanks 1990 (PMI).
    """
    min_count = require_whole(min_count, "min_count", 1)
    table = require_columns(tokens, "tokens", ["model", "scenario", by, "text"])
    require_filled(table, "tokens", ["model", "scenario", by])
    text = table["text"].astype(object).where(table["text"].notna(), "").astype(str)
    frame = pd.DataFrame(
        {name: table[name].astype(str).to_numpy(dtype=object) for name in ("model", "scenario", by)}
    )
    frame["word"] = text.str.split().to_numpy()
    tables, one_sided, used = [], 0, 0
    for model, of_model in frame.groupby("model", sort=True):
        scopes: list[tuple[str | None, pd.DataFrame]] = [
            *((str(name), part) for name, part in of_model.groupby("scenario", sort=True) if name),
            (None, of_model),
        ]
        for scenario, part in scopes:
            rows, lone, number = _scope(part, by, threshold, min_count)
            rows.insert(0, "model", labels([model] * len(rows)))
            rows.insert(1, "scope", labels([ALL if scenario is None else scenario] * len(rows)))
            rows.insert(2, "scenario", words([scenario] * len(rows)))
            tables.append(rows)
            one_sided += lone
            used += number if scenario is None else 0
    empty = _rows(by, dict.fromkeys(_COLUMNS, np.empty(0)))
    for place, name in enumerate(("model", "scope", "scenario")):
        empty.insert(place, name, labels([]))
    return Result(
        table=pd.concat(tables, ignore_index=True) if tables else empty,
        used=used,
        dropped={"empty": int((text.str.strip() == "").sum()), "one_sided": one_sided},
        method=f"s > {threshold:g}, count ≥ {min_count}",
        notes={"threshold": threshold, "min_count": min_count, "by": by},
    )


def _scope(part: pd.DataFrame, by: str, threshold: float, min_count: int) -> tuple[pd.DataFrame, int, int]:
    """The rows of one scope, the number of its groups without a counterpart, and the number of its tokens."""
    exploded = part[[by, "word"]].explode("word").dropna(subset=["word"])
    _, names = pd.factorize(part[by], sort=True)
    codes = pd.Categorical(exploded[by], categories=names).codes
    word, vocabulary = pd.factorize(exploded["word"], sort=True)
    table = np.zeros((len(names), len(vocabulary)), dtype=np.int64)
    np.add.at(table, (codes, word), 1)
    of_group = table.sum(axis=1)
    total, number = table.sum(axis=0), int(of_group.sum())
    comparable = (of_group > 0) & (of_group < number)
    inside = table.astype(float)
    outside = total - inside
    n_inside = of_group[:, None].astype(float)
    n_outside = number - n_inside
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.log2(inside * n_outside / (outside * n_inside))
        smoothed = np.log2((inside + 0.5) * (n_outside + 1) / ((outside + 0.5) * (n_inside + 1)))
    kept = comparable[:, None] & (inside > 0) & (total >= min_count) & (score > threshold)
    which, at = np.nonzero(kept)
    order = np.lexsort((at, -table[which, at], which))  # words are numbered in alphabetical order
    which, at = which[order], at[order]
    columns = {
        "group": np.asarray(names, dtype=object)[which],
        "word": np.asarray(vocabulary, dtype=object)[at],
        "rank": np.arange(len(which)) - np.searchsorted(which, which) + 1,
        "frequency": table[which, at],
        "count": total[at],
        "score": score[which, at],
        "smoothed": smoothed[which, at],
    }
    return _rows(by, columns), int((~comparable).sum()), number


def _rows(by: str, columns: Mapping[str, Array]) -> pd.DataFrame:
    exclusive = np.isinf(columns["score"].astype(float))
    return pd.DataFrame(
        {
            by: labels(columns["group"]),
            "word": labels(columns["word"]),
            "rank": counts(columns["rank"]),
            "frequency": counts(columns["frequency"]),
            "count": counts(columns["count"]),
            "score": numbers(columns["score"]),
            "smoothed": numbers(columns["smoothed"]),
            "exclusive": pd.array(exclusive, dtype="boolean"),
            "reason": words(np.where(exclusive, "exclusive", "")),
        }
    )
