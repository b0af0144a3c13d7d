"""Salience: the attributes that captions of a group's images name more often than captions of other groups."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from analysis.metrics.captions.matcher import CaptionMatches, match_captions
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import Result, counts, labels, numbers
from analysis.metrics.data.validation import require_columns, require_whole
from analysis.metrics.data.vector_sets import as_text


def salience(
    captions: pd.DataFrame,
    attributes: Iterable[str],
    *,
    matches: CaptionMatches | None = None,
    likelihood: Any = None,
    top: int = 5,
) -> Result:
    """Salience of each attribute for each group, a modified tf-idf over captions (Jha et al. 2024).

    For each scorer and model: tf(a, g) = (c(a, g) + 1) / (Σ_a' c(a', g) + |A|), where c is the number of captions of
    g's images that contain a (`match_captions`); idf(a) = ln((1 + |C|) / (1 + df(a))) + 1 over all captions C of all
    groups; salience = tf·idf, above 0. `rank`: 1 … `top` among attributes with c > 0, ties by c, then alphabet; null
    for all others.

    `captions`: identity_group, image, caption[, scorer, model]; captions without a group are dropped and counted.
    `matches`: the matches of the same captions and attributes, if they are already computed. `likelihood`: the result
    of `likelihood` or its table: identity_group, attribute, likelihood, shown[, model]; `above_median` compares L with
    the group's median over the attributes shown. Both are null for attributes that people were never asked about.

    `notes["models"]`, per scorer and model: captions; salient, the number of ranked (a, g); shown, the number of these
    that were shown to people, and never_shown; likely_share, the share of the shown with L > 0; above_median_share, the
    share with L above the median. Shares are None if none was shown. ValueError: a column is missing, `matches` belong
    to other captions, or a likelihood occurs twice.
    """
    top = require_whole(top, "top", 1)
    matches = match_captions(captions, attributes) if matches is None else matches
    if len(matches.captions) != len(captions):
        raise ValueError(f"matches: of {len(matches.captions)} captions, got {len(captions)}")
    subject = {name: as_text(matches.captions[name]) for name in ("scorer", "model", "identity_group")}
    grouped = subject["identity_group"] != ""
    tables = [
        _of_model(matches, names, rows, top)
        for names, rows in pd.DataFrame(subject)[grouped].groupby(["scorer", "model"], sort=True)
    ]
    table = pd.concat(tables, ignore_index=True) if tables else _table({}, [], [], matches, None, top)
    table = _with_likelihood(table, likelihood)
    return Result(
        table=table,
        used=int(grouped.sum()),
        dropped={"no_identity_group": int((~grouped).sum())},
        method="smoothed tf-idf over captions",
        notes={"top": top, "models": _concordance(table, likelihood is not None)},
    )


def _of_model(matches: CaptionMatches, names: Any, rows: pd.DataFrame, top: int) -> pd.DataFrame:
    codes, groups = pd.factorize(rows["identity_group"].to_numpy(), sort=True)
    place = rows.index.to_numpy()
    captions_of_group = csr_array(
        (np.ones(len(place)), (codes, place)), shape=(len(groups), matches.present.shape[0])
    )
    hits = (captions_of_group @ matches.present.astype(float)).toarray()
    return _table({"scorer": names[0], "model": names[1]}, groups, hits, matches, len(rows), top)


def _table(
    names: dict[str, str], groups: Any, hits: Any, matches: CaptionMatches, captions: int | None, top: int
) -> pd.DataFrame:
    attributes = np.array(matches.attributes, dtype=object)
    hits = np.asarray(hits, dtype=float).reshape(len(groups), len(attributes))
    document_frequency = hits.sum(axis=0)
    idf = np.log((1 + (captions or 0)) / (1 + document_frequency)) + 1
    share = (hits + 1) / (hits.sum(axis=1, keepdims=True) + max(len(attributes), 1))
    value = share * idf
    rank = _ranks(value, hits, attributes)
    cells = hits.size
    return pd.DataFrame(
        {
            "scorer": labels([names.get("scorer", "")] * cells),
            "model": labels([names.get("model", "")] * cells),
            "identity_group": labels(np.repeat(np.asarray(groups, dtype=object), len(attributes))),
            "attribute": labels(np.tile(attributes, len(groups))),
            "captions": counts(hits.ravel()),
            "share": numbers(share.ravel()),
            "document_frequency": counts(np.tile(document_frequency, len(groups))),
            "idf": numbers(np.tile(idf, len(groups))),
            "salience": numbers(value.ravel()),
            "rank": counts(rank.ravel(), ((rank <= top) & (hits > 0)).ravel()),
        }
    )


def _ranks(value: Array, hits: Array, attributes: Array) -> Array:
    """Ranks per row: 1 for the most salient attribute that is named."""
    alphabet = np.argsort(np.argsort(attributes.astype(str), kind="stable"))
    order = np.lexsort(
        (np.broadcast_to(alphabet, value.shape), -hits, np.where(hits > 0, -value, np.inf)), axis=1
    )
    ranks = np.empty(value.shape, dtype=int)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(1, value.shape[1] + 1), value.shape), axis=1)
    return ranks


def _with_likelihood(table: pd.DataFrame, likelihood: Any) -> pd.DataFrame:
    columns = ("likelihood", "shown", "above_median")
    if likelihood is None:
        nothing = np.full(len(table), np.nan)
        zero = np.zeros(len(table))
        empty = (numbers(nothing), counts(zero, zero > 0), pd.array([None] * len(table), dtype="boolean"))
        return table.assign(**dict(zip(columns, empty, strict=True)))
    likelihoods = likelihood.table if isinstance(likelihood, Result) else likelihood
    require_columns(likelihoods, "likelihood", ("identity_group", "attribute", "likelihood", "shown"))
    keys = [name for name in ("model", "identity_group", "attribute") if name in likelihoods]
    people = pd.DataFrame({name: as_text(likelihoods[name]) for name in keys})
    people["likelihood"] = pd.to_numeric(likelihoods["likelihood"]).to_numpy(dtype=float, na_value=np.nan)
    people["shown"] = pd.to_numeric(likelihoods["shown"]).to_numpy(dtype=float, na_value=0)
    people = people[(people["shown"] > 0) & people["likelihood"].notna()]
    if people.duplicated(keys).any():
        twice = people.loc[people.duplicated(keys), keys].iloc[0].tolist()
        raise ValueError(f"likelihood: {', '.join(map(repr, twice))} is given twice")
    people["median"] = people.groupby(keys[:-1])["likelihood"].transform("median")
    joined = table[keys].astype(object).merge(people, on=keys, how="left", validate="many_to_one")
    has_likelihood = joined["likelihood"].notna().to_numpy()
    above = pd.array(joined["likelihood"].to_numpy() > joined["median"].to_numpy(), dtype="boolean")
    above[~has_likelihood] = pd.NA
    return table.assign(
        likelihood=numbers(joined["likelihood"]),
        shown=counts(joined["shown"].fillna(0), has_likelihood),
        above_median=above,
    )


def _concordance(table: pd.DataFrame, has_likelihood: bool) -> list[dict[str, Any]]:
    notes = []
    for (scorer, model), rows in table.groupby(["scorer", "model"], sort=False):
        salient = rows[rows["rank"].notna()]
        judged = salient[salient["likelihood"].notna()]
        number = len(judged)
        notes.append(
            {
                "scorer": str(scorer),
                "model": str(model),
                "salient": len(salient),
                "shown": number if has_likelihood else None,
                "never_shown": len(salient) - number if has_likelihood else None,
                "likely_share": float((judged["likelihood"] > 0).mean()) if number else None,
                "above_median_share": float(judged["above_median"].mean()) if number else None,
            }
        )
    return notes
