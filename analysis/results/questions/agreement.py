"""How far annotators agree on the answers to a question, over all images and by model."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from analysis.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.agreement.set_alpha import krippendorff_alpha_sets
from analysis.metrics.boxes.agreement import box_agreement
from analysis.metrics.data.results import Result
from analysis.metrics.points.agreement import point_agreement
from analysis.results.data.answers import CampaignAnswers
from analysis.results.parameters import Parameters
from analysis.results.questions.answers import chosen_answers
from analysis.results.questions.groupings import ALL, MODEL, Measured, stacked
from analysis.results.questions.words import word_marks
from annotation.kinds.questions import Question, ScaleQuestion

NO_SIZE = "image_size_unknown"
COLUMNS = (
    "by",
    "item",
    "code",
    "measure",
    "value",
    "ci_low",
    "ci_high",
    "reason",
    "units",
    "annotators",
    "answers",
)


def ordinal_alpha(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """α of answers on a scale; answers that are separate from the scale are missing."""
    assert isinstance(question, ScaleQuestion)
    rows = answers.of(question)
    apart = rows["rating"].isin([point.code for point in question.points if point.apart])
    table = _of_places(rows[~apart]).assign(code=rows["rating"])
    return _agreement(
        table,
        lambda t: krippendorff_alpha(
            t, level="ordinal", resamples=parameters.resamples, seed=parameters.seed
        ),
        {"stands_apart": int(apart.sum())} if apart.any() else {},
    )


def nominal_alpha(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """α of choices of one answer."""
    rows = answers.of(question)
    return _agreement(
        _of_places(rows).assign(code=rows["code"]),
        lambda t: krippendorff_alpha(t, resamples=parameters.resamples, seed=parameters.seed),
    )


def masi_alpha(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """α of choices of several answers; choosing none is the empty set."""
    rows = answers.of(question)
    asked = answers.about(answers.asked(question), question)
    chosen = rows.groupby(["annotation", "stimulus"], sort=False)["code"].agg(list).to_dict()
    keys = zip(asked["annotation"], asked["stimulus"], strict=True)
    return _agreement(
        _of_places(asked).assign(labels=pd.Series([chosen.get(key, []) for key in keys], dtype=object)),
        lambda t: krippendorff_alpha_sets(t, resamples=parameters.resamples, seed=parameters.seed),
    )


def answer_alphas(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """α of each of several answers, chosen or not."""
    parts, measured = [], Measured({})
    for code, _, _, chosen in chosen_answers(answers, question):
        measured = _agreement(
            _of_places(chosen).assign(code=chosen["chosen"].astype(int)),
            lambda t: krippendorff_alpha(t, resamples=parameters.resamples, seed=parameters.seed),
        )
        parts.append(measured.tables["question_agreement"].assign(code=code))
    return Measured({"question_agreement": stacked(parts)}, measured.left_out, measured.method)


def word_alpha(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """α over words, each marked or not."""
    marks = word_marks(answers, question)
    length = marks.rows["words"].to_numpy(dtype=np.int64)
    row = np.repeat(np.arange(len(length)), length)
    word = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length)
    every = marks.rows.iloc[row]
    table = pd.DataFrame(
        {
            "image": every["rated"].to_numpy(),
            "identity_group": "",
            "attribute": pd.Series(word).astype(str).to_numpy(),
            "annotator": every["annotator"].astype(str).to_numpy(),
            "model": every["model"].to_numpy(),
            "present": marks.is_marked(row, word),
        }
    )
    return _agreement(
        table,
        lambda t: krippendorff_alpha(t, resamples=parameters.resamples, seed=parameters.seed),
        marks.left_out,
    )


def points(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """Whether points lie near each other."""
    del parameters
    return _places(answers, question, answers.points, point_agreement, {"pairs": "answers"})


def boxes(answers: CampaignAnswers, question: Question, parameters: Parameters) -> Measured:
    """How much boxes overlap."""

    def agreement(table: pd.DataFrame) -> Result:
        return box_agreement(
            table.assign(
                x0=table["x"],
                y0=table["y"],
                x1=table["x"] + table["box_width"],
                y1=table["y"] + table["box_height"],
            ),
            resamples=parameters.resamples,
            seed=parameters.seed,
        )

    drawn = answers.boxes.rename(columns={"width": "box_width", "height": "box_height"})
    return _places(answers, question, drawn, agreement, {"pairs": "answers"})


def _places(
    answers: CampaignAnswers,
    question: Question,
    places: pd.DataFrame,
    agreement: Callable[[pd.DataFrame], Result],
    names: dict[str, str],
) -> Measured:
    rows = answers.of(question)
    images = answers.stimuli[answers.stimuli["image"].notna()]
    sizes = images.drop_duplicates("image").set_index("image")[["width", "height"]]
    placed = places.merge(rows, on="judgement").join(sizes, on="image")
    sized = placed["width"].notna()
    table = placed[sized].assign(
        image=placed["rated"], annotator=placed["annotator"].astype(str), attribute=question.name
    )
    return _agreement(table, agreement, {NO_SIZE: int((~sized).sum())} if not sized.all() else {}, names)


def _of_places(rows: pd.DataFrame) -> pd.DataFrame:
    """The input of agreement measures: the place on a screen as the image, the annotator, the model."""
    return pd.DataFrame(
        {"image": rows["rated"], "annotator": rows["annotator"].astype(str), "model": rows["model"]}
    )


def _agreement(
    table: pd.DataFrame,
    agreement: Callable[[pd.DataFrame], Result],
    left_out: Mapping[str, int] | None = None,
    names: dict[str, str] | None = None,
) -> Measured:
    """The coefficient over everything and, if there are several models, for each model."""
    whole = agreement(table.drop(columns="model"))
    parts = [whole.to_frame().assign(by=ALL, item="")]
    models = table["model"].dropna().nunique()
    if models > 1:
        each = agreement(table[table["model"].notna()].astype({"model": str})).to_frame()
        parts.append(each.assign(by=MODEL, item=each["model"]))
    rows = stacked(parts).rename(columns={"judgements": "answers", **(names or {})})
    return Measured(
        {"question_agreement": rows.reindex(columns=list(COLUMNS))},
        {**(left_out or {}), **{reason: number for reason, number in whole.dropped.items() if number}},
        whole.method,
    )
