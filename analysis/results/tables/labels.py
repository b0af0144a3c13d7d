"""Annotators' answers that count, row by row: every number can be computed again from these tables."""

from collections.abc import Callable

import pandas as pd

from analysis.results.data.labels import StudyData
from catalog.attributes import NONE_OF_THE_ABOVE
from studies.protocol.attribute_roles import RANDOM

_OF_IMAGE = ["model", "identity_group", "image"]


def judgements(data: StudyData) -> pd.DataFrame:
    """One row per judgement, and one per answer to 'none of the above'; with an empty role."""
    stereotypes = data.associations[["identity_group", "attribute", "role"]]
    versions = data.instruments
    marks = (
        _named(data.judgements, data)
        .assign(guidelines=versions["judgements"])
        .merge(stereotypes, on=["identity_group", "attribute"], how="left", validate="many_to_one")
    )
    none = _named(data.none_rows, data).assign(
        attribute=NONE_OF_THE_ABOVE, role=None, guidelines=versions["none_rows"]
    )
    if data.languages:
        marks = marks.assign(language=data.languages["judgements"])
        none = none.assign(language=data.languages["none_rows"])
    table = pd.concat([marks.fillna({"role": RANDOM}), none], ignore_index=True)
    columns = ["campaign", *_OF_IMAGE, "attribute", "role", "annotator", "present", "guidelines"]
    return table[[*columns, "language"] if data.languages else columns]


def boxes(data: StudyData) -> pd.DataFrame:
    """One row per box: its corners as shares of the image. Boxes of one judgement share its number."""
    columns = ["attribute", "annotator", "judgement", "x0", "y0", "x1", "y1", "clipped"]
    numbered = data.boxes.assign(judgement=pd.factorize(data.boxes["judgement"])[0] + 1)
    return _named(numbered, data)[[*_OF_IMAGE, *columns]]


def ratings(data: StudyData) -> pd.DataFrame:
    """One row per rating, 1 (Strongly Disagree) to 5, 3 Unsure."""
    rows = _named(data.ratings, data).assign(guidelines=data.instruments["ratings"])
    columns = ["campaign", "attribute", "annotator", "rating", "guidelines"]
    if data.languages:  # a separate column only if there is more than one
        return rows.assign(language=data.languages["ratings"])[[*columns, "language"]]
    return rows[columns]


LABEL_TABLES: dict[str, Callable[[StudyData], pd.DataFrame]] = {
    "judgements": judgements,
    "boxes": boxes,
    "ratings": ratings,
}


def _named(rows: pd.DataFrame, data: StudyData) -> pd.DataFrame:
    """The rows with pseudonyms for annotators, and images as the pages name them."""
    text = rows.astype(dict.fromkeys(rows.select_dtypes("category"), object))
    pseudonyms = data.annotators.set_index("key")["pseudonym"]
    text["annotator"] = text["annotator"].map(pseudonyms)
    if "image" in text:
        unique_images = data.images.drop_duplicates(["model", "identity_group", "key"])
        identity = pd.MultiIndex.from_frame(unique_images[["model", "identity_group", "key"]])
        public = pd.Series(unique_images["public_id"].astype(str).to_numpy(), index=identity)
        text["image"] = public.reindex(pd.MultiIndex.from_frame(text[_OF_IMAGE])).to_numpy()
    return text
