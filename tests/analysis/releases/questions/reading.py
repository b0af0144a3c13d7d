"""Answers to declared questions as a stranger reads them from the files of a release, and nothing else."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.results.data.answers import CampaignAnswers
from annotation.kinds.declaration import Kind

PLACES = {"point": ["judgement", "x", "y"], "box": ["judgement", "x", "y", "width", "height", "clipped"]}


def table(folder: Path, name: str, campaign: str) -> pd.DataFrame:
    """Return the rows of a campaign."""
    rows = pd.read_parquet(folder / "data" / f"{name}.parquet")
    return rows[rows["campaign"] == campaign].reset_index(drop=True)


def campaigns_of(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / "declarations").iterdir())


def answers_of(folder: Path, campaign: str) -> CampaignAnswers:
    """Return the answers of a campaign as measures read them."""
    kind = Kind.model_validate(json.loads((folder / "declarations" / f"{campaign}.json").read_text()))
    annotations = table(folder, "annotations", campaign)
    answers = table(folder, "answers", campaign)
    images = pd.read_parquet(folder / "data" / "images.parquet").set_index("image")
    shown = table(folder, "stimuli", campaign)
    stimuli = shown.assign(stimulus=np.arange(1, len(shown) + 1), words=_words(shown["text"]))
    stimuli = stimuli.join(images[["prompt", "width", "height"]], on="image")
    place = stimuli.set_index(["task", "position"])["stimulus"]
    about = [
        0 if pd.isna(position) else int(place[task, int(position)])
        for task, position in zip(answers["task"], answers["position"], strict=True)
    ]
    text = answers["text"] if "text" in answers else pd.Series(None, index=answers.index, dtype=object)
    drawn = pd.read_parquet(folder / "data" / "places.parquet").rename(columns={"answer": "judgement"})
    drawn = drawn[drawn["judgement"].isin(answers["answer"])]
    return CampaignAnswers(
        campaign=campaign,
        name=campaign,
        kind=kind,
        annotations=annotations.rename(columns={"active_seconds": "seconds", "guidelines": "instrument"})[
            ["annotation", "task", "annotator", "seconds", "instrument"]
        ].astype({"task": np.int64, "annotator": "category"}),
        judgements=answers.assign(judgement=answers["answer"], stimulus=about, words=_words(text))[
            ["judgement", "annotation", "question", "stimulus", "present", "rating", "code", "rank", "words"]
        ],
        stimuli=stimuli,
        points=drawn.loc[drawn["shape"] == "point", PLACES["point"]],
        boxes=drawn.loc[drawn["shape"] == "box", PLACES["box"]].astype({"clipped": bool}),
        condition="default",
        not_counted={},
    )


def _words(texts: pd.Series) -> pd.Series:
    return texts.map(lambda text: len(text.split()) if isinstance(text, str) else np.nan).astype(float)
