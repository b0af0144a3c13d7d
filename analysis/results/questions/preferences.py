"""Comparisons of two images and rankings of several, as tables of the models or groups they are of."""

import pandas as pd

from analysis.metrics.preferences.kendall_w import kendall_w
from analysis.metrics.preferences.leaderboard import Preferences
from analysis.metrics.preferences.position_bias import position_bias
from analysis.metrics.preferences.ranking_strengths import ranking_strengths
from analysis.metrics.preferences.strengths import preference_strengths
from analysis.results.data.answers import CampaignAnswers
from analysis.results.parameters import Parameters
from analysis.results.questions.groupings import ALL, GROUP, MODEL, Measured, stacked
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question

SAME_ITEM, NO_ITEM, NO_GROUP = "same_item", "no_item", "no_identity_group"


def strengths_of_pairs(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """Win rates and strengths of items, and the differences between pairs."""
    del parameters
    rows, left_out = comparisons(answers, question)
    return _leaderboard("preferences", preference_strengths(rows), left_out)


def strengths_of_rankings(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """Strengths of ranked items, and the differences between pairs."""
    del parameters
    rows, left_out = rankings(answers, question)
    return _leaderboard("rankings", ranking_strengths(rows), left_out)


def strengths_by_group(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """Win rates and strengths from the screens of each group."""
    del parameters
    compares = question.type == "compare"
    rows, left_out = (comparisons if compares else rankings)(answers, question)
    of_none = rows["identity_group"].isna()
    tables, method = [], ""
    for group, part in rows[~of_none].groupby("identity_group", sort=True):
        result = preference_strengths(part) if compares else ranking_strengths(part)
        method = result.method
        table = result.to_frame().rename(columns={"comparisons": "answers", "rankings": "answers"})
        tables.append(table.assign(identity_group=group))
    return Measured(
        {"group_leaderboards": stacked(tables)}, {**left_out, **_numbers({NO_GROUP: of_none})}, method
    )


def position(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """How often the image shown first was preferred."""
    del parameters
    rows, left_out = comparisons(answers, question)
    result = position_bias(rows)
    table = result.to_frame().assign(ties=int(result.dropped["tie"]))
    return Measured({"position_bias": table}, left_out, result.method)


def concordance(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """Kendall's W over the sets that were ranked together."""
    del parameters
    rows, left_out = rankings(answers, question)
    result = kendall_w(rows)
    table = result.to_frame().rename(columns={"sets": "units", "rankings": "answers"})
    table = table.assign(by=ALL, item="", annotators=rows["annotator"].nunique())
    return Measured({"question_agreement": table}, {**left_out, **result.dropped}, result.method)


def comparisons(answers: CampaignAnswers, question: Question) -> tuple[pd.DataFrame, dict[str, int]]:
    """The table that measures of comparisons read, and how many answers it leaves out.

    Comparisons within one item give no information (`same_item`), and images without a known model or group belong to
    no item (`no_item`).
    """
    item = compared(answers.kind)
    images = answers.stimuli[answers.stimuli["image"].notna()].sort_values(["task", "position"])
    shown = {
        name: images.drop_duplicates("task", keep=name).set_index("task")[["stimulus", item]]
        for name in ("first", "last")
    }
    rows = _owned(answers, question)
    first, second = (rows[["task"]].join(side, on="task") for side in shown.values())
    table = pd.DataFrame(
        {
            "first": first[item],
            "second": second[item],
            "answer": (rows["stimulus"] == first["stimulus"]).map({True: "first", False: "second"}),
            "prompt": rows["prompt"],
            "annotator": rows["annotator"].astype(str),
            "identity_group": rows["identity_group"],
        }
    )
    table["answer"] = table["answer"].where(rows["code"] != "tie", "tie")
    unnamed = table["first"].isna() | table["second"].isna()
    alike = ~unnamed & (table["first"] == table["second"])
    return table[~unnamed & ~alike], _numbers({NO_ITEM: unnamed, SAME_ITEM: alike})


def rankings(answers: CampaignAnswers, question: Question) -> tuple[pd.DataFrame, dict[str, int]]:
    """The table that measures of rankings read, and how many ranked images it leaves out: those of rankings with an
    item twice or without a name."""
    item = compared(answers.kind)
    rows = _owned(answers, question).join(answers.stimuli.set_index("stimulus")[item], on="stimulus")
    table = rows.rename(columns={"annotation": "ranking", item: "item"})
    columns = ["ranking", "item", "rank", "prompt", "annotator", "identity_group"]
    table = table[columns].astype({"annotator": str})
    unnamed = table["item"].isna().groupby(table["ranking"]).transform("any")
    alike = (
        table.duplicated(["ranking", "item"], keep=False).groupby(table["ranking"]).transform("any")
        & ~unnamed
    )
    return table[~unnamed & ~alike], _numbers({NO_ITEM: unnamed, SAME_ITEM: alike})


def compared(kind: Kind) -> str:
    """The column in which the compared images differ."""
    return GROUP if kind.stimuli.differ == "group" else MODEL


def _owned(answers: CampaignAnswers, question: Question) -> pd.DataFrame:
    """Judgements of a question with task, annotator, the group that all images of the screen show, and prompt: the
    shared one, else each task counts as its own."""
    rows = answers.judgements[answers.judgements["question"] == question.name]
    owner = answers.annotations.set_index("annotation")[["annotator", "task"]]
    rows = rows.join(owner, on="annotation").join(answers.tasks[["prompt", "identity_group"]], on="task")
    alone = "task " + rows["task"].astype(str)
    return rows.assign(prompt=rows["prompt"].astype(object).where(rows["prompt"].notna(), alone))


def _leaderboard(name: str, result: Preferences, left_out: dict[str, int]) -> Measured:
    tables = {name: result.to_frame(), "preference_pairs": result.pairs}
    return Measured(tables, {**left_out, **result.dropped}, result.method)


def _numbers(reasons: dict[str, pd.Series]) -> dict[str, int]:
    return {reason: int(rows.sum()) for reason, rows in reasons.items() if rows.any()}
