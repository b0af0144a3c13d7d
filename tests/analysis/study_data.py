"""Loaded data of invented studies, without a database, as `compute` takes it."""

from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from analysis.results.data.labels import LIKERT, MARKING, StudyData
from analysis.results.parameters import Parameters

ASKED = {
    "Velmari": (["tall hat", "blue scarf"], ["drum", "kite"]),
    "Orsani": (["round glasses", "drum"], ["lantern", "blue scarf"]),
    "Quenli": (["kite", "lantern"], ["tall hat", "round glasses"]),
}
JUDGEMENTS = ["campaign", "model", "identity_group", "image", "annotator", "attribute", "present"]
RATINGS = ["campaign", "attribute", "annotator", "rating"]
BOXES = ["model", "identity_group", "image", "attribute", "annotator", "judgement"]
CORNERS = ["x0", "y0", "x1", "y1", "clipped"]
CHOICES: dict[str, Any] = {
    "resamples": 100,
    "seed": 0,
    "none_of_the_above": "ignore",
    "min_raters": 2,
    "rater_pools": "separate",
    "min_stereotypes": 2,
    "without_annotators": (),
    "offensiveness_source": "stored",
    "not_offensive": -1,
    "campaigns": (),
}


def parameters(**choices: Any) -> Parameters:
    return Parameters(**{**CHOICES, **choices})


def marks(
    *,
    people: int = 24,
    images: int = 6,
    per_task: int = 4,
    models: tuple[str, ...] = ("sketch",),
    campaigns: tuple[str, ...] = ("first",),
    stereotype: float = 0.5,
    random: float = 0.25,
    groups: tuple[str, ...] = tuple(ASKED),
    seed: int = 0,
) -> pd.DataFrame:
    """Judgements of invented images by invented people, with the given shares of marks."""
    generator = np.random.default_rng(seed)
    tasks = len(campaigns) * len(models) * len(groups) * images * per_task
    turns = iter(np.tile(generator.permutation(people), tasks // people + 1))  # each in turn
    rows = [
        (campaign, model, group, f"{model}-{group}-{i}", f"p{who:02}", attribute, generator.random() < chance)
        for campaign in campaigns
        for model in models
        for group in groups
        for i in range(images)
        for who in islice(turns, per_task)
        for attributes, chance in zip(ASKED[group], (stereotype, random), strict=True)
        for attribute in attributes
    ]
    return pd.DataFrame(rows, columns=JUDGEMENTS)


def drawn(judgements: pd.DataFrame) -> pd.DataFrame:
    """A box for every mark, a little elsewhere for each annotator."""
    marked = judgements[judgements["present"]].reset_index(names="judgement")
    shift = marked["annotator"].str[1:].astype(int) / 100
    corners = {"x0": 0.1 + shift, "y0": 0.2, "x1": 0.5 + shift, "y1": 0.7, "clipped": False}
    return marked.assign(**corners)[[*BOXES, *CORNERS]]


def study_data(
    judgements: pd.DataFrame | None = None,
    *,
    none_rows: pd.DataFrame | None = None,
    ratings: pd.DataFrame | None = None,
    boxes: pd.DataFrame | None = None,
    profiles: dict[str, dict[str, str | list[str]]] | None = None,
    associations: pd.DataFrame | None = None,
    **fields: Any,
) -> StudyData:
    """Return a study with these labels, and without anything that is not given."""
    judgements = pd.DataFrame(columns=JUDGEMENTS) if judgements is None else judgements
    ratings = pd.DataFrame(columns=RATINGS) if ratings is None else ratings
    worked = [
        frame[["campaign", "annotator"]].drop_duplicates().assign(kind=str(kind), seconds=20.0)
        for frame, kind in ((judgements, MARKING), (ratings, LIKERT))
    ]
    submissions = pd.concat(worked, ignore_index=True)
    people = sorted(set(submissions["annotator"]))
    images = judgements[["model", "identity_group", "image"]].drop_duplicates()
    said = [
        (who, field, value)
        for who, fields_of in (profiles or {}).items()
        for field, values in fields_of.items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    none_columns = [name for name in JUDGEMENTS if name != "attribute"]
    held: dict[str, Any] = {
        "judgements": judgements.astype({"present": bool}),
        "none_rows": pd.DataFrame(columns=none_columns) if none_rows is None else none_rows,
        "ratings": ratings,
        "boxes": pd.DataFrame(columns=[*BOXES, *CORNERS]) if boxes is None else boxes,
        "submissions": submissions.assign(annotation=range(len(submissions))),
        "associations": listed() if associations is None else associations,
        "annotators": pd.DataFrame({"id": range(len(people)), "key": people, "pseudonym": people}),
        "images": images.rename(columns={"image": "key"}).assign(condition="default", public_id="i"),
        "groups": pd.DataFrame(
            {"identity_group": list(ASKED), "display_name": list(ASKED), "region": "isles", "iso_code": "X01"}
        ),
        "campaigns": pd.DataFrame(columns=["campaign", "name", "kind"]),
        "not_counted": {},
        "instruments": {},
        "last_annotation": 0,
        "gold": pd.DataFrame(columns=["kind", "annotator", "correct"]),
        "flags": pd.DataFrame(columns=["annotator", "flags", "reasons"], dtype=object),
        "repeats": pd.DataFrame(columns=["kind", "annotator", "first", "again"]),
        "profiles": pd.DataFrame(said, columns=["annotator", "field", "value"], dtype=object),
        "depicted": pd.DataFrame(
            {"identity_group": list(ASKED), "nationality": [g.lower() for g in ASKED], "region": "isles"},
            dtype=object,
        ),
    }
    return StudyData(**(held | fields))


def listed() -> pd.DataFrame:
    """The stereotypes of the invented peoples, all rated."""
    pairs = [(group, attribute) for group, (stereotypes, _) in ASKED.items() for attribute in stereotypes]
    return pd.DataFrame(pairs, columns=["identity_group", "attribute"]).assign(
        role="stereotype", offensiveness_stored=1.0, rating_1=1.0, rating_2=1.0, rating_3=1.0
    )
