"""Answers on scales and choices: means, shares, and the differences of groups and models."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.metrics.answers.means import METHOD, SHARE_METHOD, answer_means
from analysis.results.data.answers import CampaignAnswers
from analysis.results.parameters import Parameters
from analysis.results.questions.groupings import ALL, GROUP, MODEL, Measured, slices, stacked
from annotation.kinds.questions import ChoiceQuestion, Question, ScaleQuestion

_SHARE = {"value": "share", "answers": "answers"}


def scale_means(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """The mean on a scale by model and group, and the share of answers that are separate from the scale."""
    del parameters
    assert isinstance(question, ScaleQuestion)
    rows = answers.of(question)
    on_scale = ~rows["rating"].isin(_apart(question))
    parts = []
    for by, sliced in slices(rows.assign(on_scale=on_scale)):
        means = answer_means(
            _values(sliced[sliced["on_scale"]], "rating"), bounds=_ends(question), compare="nothing"
        ).to_frame()
        apart = answer_means(
            _values(sliced.assign(apart=~sliced["on_scale"]), "apart"), share=True, compare="nothing"
        ).to_frame()
        apart = apart.assign(apart=(apart["value"] * apart["answers"]).round().astype("Int64"))
        apart = apart.rename(
            columns={
                "value": "apart_share",
                "ci_low": "apart_low",
                "ci_high": "apart_high",
                "reason": "apart_reason",
            }
        )
        # An item with only answers that are separate from the scale has a row, but no mean.
        both = apart[["item", "apart", "apart_share", "apart_low", "apart_high", "apart_reason"]].merge(
            means.rename(columns={"value": "mean"}), on="item", how="left"
        )
        counted = ["answers", "units", "annotators"]
        both[counted] = both[counted].fillna(0)
        both["reason"] = both["reason"].where(both["answers"] > 0, "not_rated")
        parts.append(both.assign(by=by))
    return Measured({"scales": stacked(parts)}, {}, METHOD)


def answer_shares(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """How often each answer was chosen, by model and group."""
    del parameters
    parts = []
    for code, label, apart, chosen in chosen_answers(answers, question):
        for by, sliced in slices(chosen):
            table = answer_means(_values(sliced, "chosen"), share=True, compare="nothing").to_frame()
            number = (table["value"] * table["answers"]).round().astype("Int64")
            table = table.rename(columns=_SHARE).assign(
                by=by, code=code, label=label, apart=apart, chosen=number
            )
            parts.append(table)
    table = stacked(parts)
    if len(table):  # all answers to an item below each other, in the order declared
        place = table["by"].map({ALL: 0, MODEL: 1, GROUP: 2})
        order = table.assign(place=place, row=range(len(table))).sort_values(["place", "item", "row"]).index
        table = table.loc[order].reset_index(drop=True)
    return Measured({"choices": table}, {}, SHARE_METHOD)


def group_differences(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """How each group differs from all others."""
    del parameters
    return _differences(answers, question, GROUP, "others")


def model_differences(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """How each two models differ."""
    del parameters
    return _differences(answers, question, MODEL, "pairs")


def _differences(answers: CampaignAnswers, question: Question, by: str, compare: str) -> Measured:
    parts = []
    if isinstance(question, ScaleQuestion):
        rows = answers.of(question)
        on_scale = rows[rows[by].notna() & ~rows["rating"].isin(_apart(question))]
        values = _values(on_scale.assign(item=on_scale[by]), "rating")
        parts.append(
            answer_means(values, bounds=_ends(question), compare=compare).differences.assign(code=None)
        )
    else:
        for code, _, _, chosen in chosen_answers(answers, question):
            about = chosen[chosen[by].notna()]
            values = _values(about.assign(item=about[by]), "chosen")
            means = answer_means(values, share=True, compare=compare)
            parts.append(means.differences.assign(code=code))
    table = stacked(parts)
    return Measured({"question_differences": table.assign(by=by) if len(table) else table}, {}, METHOD)


def chosen_answers(
    answers: CampaignAnswers, question: Question
) -> Iterator[tuple[str, str, bool, pd.DataFrame]]:
    """Yield each answer to a question with its label, whether it is separate from the scale, and who chose it.

    There is one row for each person who answered. If several answers can be chosen, people who chose none are included,
    although an empty choice is not stored.
    """
    given = ["annotation", "stimulus"]
    rows = answers.of(question)
    several = isinstance(question, ChoiceQuestion) and question.several
    asked = answers.about(answers.asked(question), question) if several else rows.drop_duplicates(given)
    place = pd.MultiIndex.from_frame(asked[given]).get_indexer(pd.MultiIndex.from_frame(rows[given]))
    options: list[tuple[int | str, str, bool]]
    if isinstance(question, ScaleQuestion):
        options = [(point.code, point.label["en"], point.apart) for point in question.points]
        values = rows["rating"]
    else:
        assert isinstance(question, ChoiceQuestion)
        options = [(answer.code, answer.label["en"], False) for answer in question.answers]
        values = rows["code"]
    for code, label, apart in options:
        number = np.bincount(place[(place >= 0) & (values == code).to_numpy()], minlength=len(asked))
        yield str(code), label, apart, asked.assign(chosen=number > 0)


def _values(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": rows["item"].astype(str),
            "unit": rows["unit"],
            "annotator": rows["annotator"].astype(str),
            "value": rows[column].astype(float),
        }
    )


def _apart(question: ScaleQuestion) -> list[int]:
    return [point.code for point in question.points if point.apart]


def _ends(question: ScaleQuestion) -> tuple[float, float]:
    codes = [point.code for point in question.points if not point.apart]
    return float(min(codes)), float(max(codes))
