"""Statistics of each annotator's work, under their pseudonym."""

from collections.abc import Callable

import pandas as pd

from analysis.metrics.annotators.mark_statistics import annotator_statistics
from analysis.metrics.annotators.rating_statistics import rater_statistics
from analysis.metrics.resampling.bootstrap import Resampling
from analysis.results.data.labels import StudyData
from analysis.results.schema import LIKERT, MARKING

ONLY_RATED = "only_rated"  # why there is no skill of an annotator who marked no image


def annotator_table(
    data: StudyData, resampling: Resampling | None, *, seed: int, iterated: Callable[[], None] | None = None
) -> pd.DataFrame:
    """One row per annotator who counts: amount and speed of work; agreement and skill need ids that identify people.

    `judgements` are marks and ratings together. Everything else is about marks of images, and about ratings for
    those who only rated; skill is about marks. Flags are those that the lead sees (`annotation.quality.flags`).
    """
    table = pd.DataFrame({"annotator": pd.Series(dtype=object), "judgements": pd.Series(dtype="Int64")})
    if resampling is not None:
        seconds = _seconds(data, MARKING)
        gold, repeats = (_of_kind(frame, MARKING) for frame in (data.gold, data.repeats))
        table = annotator_statistics(
            resampling.judgements,
            seconds=seconds,
            gold=gold.assign(present=gold["correct"], expected=True) if len(gold) else None,
            repeats=repeats if len(repeats) else None,
            seed=seed,
            iterated=iterated,
        ).to_frame()
    table = table.assign(annotator=table["annotator"].astype(object), marks=table["judgements"])
    raters = _raters(data)
    table["ratings"] = raters["ratings"].reindex(table["annotator"], fill_value=0).to_numpy()
    only_rated = raters[~raters.index.isin(table["annotator"])].reset_index()
    if len(only_rated):
        only_rated["reason"] = only_rated["reason"].fillna(ONLY_RATED)
        table = pd.concat([table, only_rated.assign(marks=pd.array([0] * len(only_rated), "Int64"))])
    table["judgements"] = table["marks"] + table["ratings"]
    flags = data.flags.set_index("annotator").reindex(table["annotator"])
    table["flags"], table["flag_reasons"] = (flags[name].to_numpy(object) for name in ("flags", "reasons"))
    pseudonyms = data.annotators.set_index("key")["pseudonym"]
    table["annotator"] = pseudonyms.reindex(table["annotator"]).to_numpy()
    return table.sort_values("annotator", ignore_index=True)


def _raters(data: StudyData) -> pd.DataFrame:
    """Ratings, median time, agreement and checks of those who rated, by annotator."""
    table = rater_statistics(data.ratings).to_frame()
    table = table.assign(annotator=table["annotator"].astype(object)).set_index("annotator")
    medians = _seconds(data, LIKERT).groupby("annotator")["seconds"].median()
    times = medians.reindex(table.index).astype("Float64")
    gold, repeats = (_of_kind(frame, LIKERT) for frame in (data.gold, data.repeats))
    shares = {
        "gold_accuracy": gold["correct"].astype("Float64").groupby(gold["annotator"]).mean(),
        "self_consistency": (repeats["first"] == repeats["again"])
        .astype("Float64")
        .groupby(repeats["annotator"])
        .mean(),
    }
    defined = table["reason"].isna()
    return table.assign(
        median_seconds=times.where(defined),
        **{
            name: share.reindex(table.index).astype("Float64").where(defined)
            for name, share in shares.items()
        },
    )


def _of_kind(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    return frame[frame["kind"] == str(kind)].reset_index(drop=True)


def _seconds(data: StudyData, kind: str) -> pd.DataFrame:
    rows = data.submissions[data.submissions["kind"] == str(kind)]
    return rows[["annotator", "seconds"]].assign(annotator=rows["annotator"].astype(object))
