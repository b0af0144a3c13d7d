"""Texts that annotators wrote, and words of a text that they marked."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.metrics.answers.means import METHOD, answer_means
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.results import counts, labels, numbers
from analysis.results.data.answers import CampaignAnswers
from analysis.results.parameters import Parameters
from analysis.results.questions.groupings import Measured, slices, stacked
from annotation.kinds.questions import Question

WORDLESS = "text_without_words"


def texts(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """How many texts there are and how long they are, by model and group."""
    del parameters
    parts = []
    for by, rows in slices(answers.of(question)):
        grouped = rows.groupby("item", sort=True)
        parts.append(
            pd.DataFrame(
                {
                    "by": by,
                    "item": labels(grouped.groups),
                    "texts": counts(grouped.size()),
                    "annotators": counts(grouped["annotator"].agg(lambda who: who.nunique())),
                    "units": counts(grouped["unit"].nunique()),
                    "median_words": numbers(grouped["words"].median()),
                    "longest_words": counts(grouped["words"].max()),
                }
            )
        )
    return Measured({"texts": stacked(parts)})


def marked_words(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """The share of the words of a text that an annotator marks, by model and group."""
    del parameters
    marks = word_marks(answers, question)
    parts = []
    for by, rows in slices(marks.rows):
        values = pd.DataFrame(
            {
                "item": rows["item"],
                "unit": rows["unit"],
                "annotator": rows["annotator"].astype(str),
                "value": rows["marked"] / rows["words"],
            }
        )
        table = answer_means(values, bounds=(0.0, 1.0), compare="nothing").to_frame()
        sums = rows.groupby("item")[["words", "marked"]].sum().astype("Int64")
        parts.append(table.rename(columns={"value": "share"}).join(sums, on="item").assign(by=by))
    return Measured({"marked_words": stacked(parts)}, marks.left_out, METHOD)


@dataclass(frozen=True, eq=False)
class WordMarks:
    """`rows`: one per answer, with words (number of words of the text) and marked (number of marked words). `marks`:
    the marked words, sorted, as row × longest text + word."""

    rows: pd.DataFrame
    marks: Array
    longest: int
    left_out: Mapping[str, int]

    def is_marked(self, row: Array, word: Array) -> Array:
        """Whether the annotator of a row marked a word."""
        return np.isin(row * self.longest + word, self.marks)


def word_marks(answers: CampaignAnswers, question: Question) -> WordMarks:
    """The words that annotators marked in the text of their screen: the prompt, or the text itself."""
    rows = answers.of(question)
    shown = answers.stimuli[answers.stimuli["image"].isna()].sort_values("position")
    length = shown.drop_duplicates("task", keep="last").set_index("task")["words"]
    asked = rows.drop_duplicates("annotation").drop(columns="words").join(length, on="task")
    has_words = asked["words"] > 0
    asked = asked[has_words].reset_index(drop=True)
    word = rows["code"].astype(str).str.removeprefix("w")
    place = pd.Index(asked["annotation"]).get_indexer(rows["annotation"])
    number = pd.to_numeric(word.where(word.str.isdecimal()), errors="coerce").to_numpy(dtype=float)
    longest = int(asked["words"].max()) if len(asked) else 1
    marked = (place >= 0) & ~np.isnan(number)
    marked[marked] = number[marked] < asked["words"].to_numpy()[place[marked]]
    return WordMarks(
        rows=asked.assign(marked=np.bincount(place[marked], minlength=len(asked))),
        marks=np.sort(place[marked] * longest + number[marked].astype(np.int64)),
        longest=longest,
        left_out={} if has_words.all() else {WORDLESS: int((~has_words).sum())},
    )
