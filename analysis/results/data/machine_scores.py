"""Reading the inputs of automated measures from the database: scores, captions, vectors of images and texts."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Exists, OuterRef

from analysis.metrics.data.arrays import Array
from analysis.models import AttributeScore, ScoredImage, Scorer
from analysis.models.vector_types import FLOAT16
from analysis.results.data.arrays import fetch
from analysis.results.data.digest import rows_digest
from analysis.results.data.image_vectors import MCAS, PULL, EncodedImages, compared, encoded_images
from analysis.results.data.labels import Labels
from analysis.scoring import score_tables
from analysis.scoring.freshness import last_score
from catalog.models import Attribute
from generation.models import Condition, Image
from studies.models import Study

SCORES = ["scorer", "model", "identity_group", "image", "attribute", "score", "cosine"]
CAPTIONS = ["scorer", "model", "identity_group", "image", "caption"]


@dataclass(frozen=True, eq=False)
class MachineScores:
    """All automatic scores of a study. `image` identifies model, group and bytes, the same in every database.

    `captions` and `scores` are about images of the default condition. `sets`: the two attribute sets of MCAS with their
    texts, empty in other studies. `conditions`: the conditions of the study's images. `compared`: the number of images
    that each measure (pull, mcas) compares, by condition, whether or not an encoder has read them. `without_phrase`:
    the number of images of targets and attribute sets without a phrase. `latest`: a value that changes with every
    score. `images_seen`: the number of images that a scorer has finished. `repeated`: the number of images left out of
    `scores` and of `captions` because the same model and group already have these bytes. `rounded`: labels of scorers
    that compare vectors rounded to float16.
    """

    scores: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SCORES))
    captions: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CAPTIONS))
    encoded: Sequence[EncodedImages] = ()
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    conditions: frozenset[str] = frozenset()
    compared: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    without_phrase: int = 0
    latest: str = ""
    images_seen: int = 0
    repeated: Mapping[str, int] = field(default_factory=dict)
    rounded: Sequence[str] = ()

    @property
    def digest(self) -> str:
        """A fingerprint of all scores, "" if there are none."""
        if not (len(self.scores) or len(self.captions) or self.encoded):
            return ""
        digest = hashlib.sha256()
        rows_digest(digest, "scores", self.scores)
        rows_digest(digest, "captions", self.captions)
        if self.encoded:
            counted = {name: sorted(numbers.items()) for name, numbers in self.compared.items()}
            digest.update(f"{counted}:{self.without_phrase};".encode())
        for encoded in self.encoded:
            digest.update(
                f"{encoded.encoder}:{sorted(encoded.measures)}:{len(encoded.images)}:{encoded.unread};".encode()
            )
            rows_digest(digest, "vectors", encoded.images.assign(vector=_hashes(encoded.vectors)))
            if encoded.texts is not None and encoded.text_vectors is not None:
                rows_digest(digest, "texts", encoded.texts.assign(vector=_hashes(encoded.text_vectors)))
        return digest.hexdigest()


def image_key(frame: pd.DataFrame) -> pd.Series:
    """One name for an image of a model and group; equal bytes made for two of them are two images.

    Each name is made once: there may be ten million rows of judgements.
    """
    columns = ["model", "identity_group", "image"]
    number = frame.groupby(columns, sort=False, dropna=False, observed=True).ngroup().to_numpy()
    first_rows = np.unique(number, return_index=True)[1]
    parts = [frame[name].iloc[first_rows].astype(object).fillna("").astype(str) for name in columns]
    names = pd.Categorical(parts[0] + "\x1f" + parts[1] + "\x1f" + parts[2])
    return pd.Series(names.take(number), index=frame.index)


def load_scores(study: Study) -> MachineScores:
    """Read the automatic scores of the study's images that were not retracted."""
    # Read first: scores that are added meanwhile then make the report out of date and do not become an unnoticed part.
    latest = last_score(study)
    images = Image.objects.filter(study=study, retracted_at=None)
    conditions = frozenset(images.order_by().values_list("condition", flat=True).distinct())
    default = images.filter(condition=Condition.DEFAULT)
    scores, scored_again = _scores(study, default)
    captions, captioned_again = _captions(study, default)
    sets = {part["name"]: list(part["texts"]) for part in study.parameters.get("mcas", {}).get("sets", [])}
    looked_at = bool(conditions & {str(condition) for condition in (*PULL[1:], *MCAS)})
    return MachineScores(
        scores=scores,
        captions=captions,
        encoded=encoded_images(study, sets) if looked_at else [],
        sets=sets,
        conditions=conditions,
        compared=compared(images) if looked_at else {},
        without_phrase=images.filter(condition__in=MCAS, phrase=None).count(),
        latest=latest,
        images_seen=images.filter(Exists(_done(study))).count(),
        repeated={"scores": scored_again, "captions": captioned_again},
        rounded=_rounded(study),
    )


def _rounded(study: Study) -> list[str]:
    rounded = Scorer.objects.filter(study=study, encoder__vector_type=FLOAT16)
    return list(rounded.order_by("model_label").values_list("model_label", flat=True))


def _done(study: Study) -> Any:
    scored = ScoredImage.objects.filter(scorer__study=study, outcome=ScoredImage.Outcome.DONE)
    return scored.filter(image=OuterRef("pk"))


def _column(images: Any, name: str) -> Any:
    return images.order_by().values_list(name, flat=True).iterator()


def _captions(study: Study, images: Any) -> tuple[pd.DataFrame, int]:
    """Captions of these images, and the number of images left out because their bytes occur already."""
    captions = score_tables.captions(study)
    captions = captions[captions["public_id"].isin({str(key) for key in _column(images, "public_id")})]
    captions = captions.assign(image=image_key(captions))
    first_image = captions.groupby(["scorer", "image"], sort=False, observed=True)["public_id"].transform(
        "first"
    )
    again = captions["public_id"] != first_image
    number = len(captions.loc[again, ["scorer", "public_id"]].drop_duplicates())
    return captions[~again].reset_index(drop=True)[CAPTIONS], number


def _scores(study: Study, images: Any) -> tuple[pd.DataFrame, int]:
    """Scores of these images, with a name for every key, because there may be a million, and the number of images left
    out because their bytes occur already."""
    scorers = Labels.of(Scorer.objects.filter(study=study).values_list("pk", "model_label"))
    attribute_scores = AttributeScore.objects.filter(scorer__study=study, image__in=images)
    rows = fetch(attribute_scores, "scorer", "image", "attribute", "probability", "cosine", dtype=float)
    columns = ["pk", "model", "identity_group", "image"]
    of_images = images.order_by("pk").values_list("pk", "model_label", "group__name", "sha256")
    image_table = pd.DataFrame(of_images.iterator(chunk_size=5_000), columns=columns)
    image_table = image_table.assign(image=image_key(image_table))
    # Between two queries images are retracted and scorers planned.
    still = np.isin(rows[:, 1], image_table["pk"].to_numpy(float)) & np.isin(rows[:, 0], scorers.keys)
    rows = rows[still]
    keys = dict(zip(("scorer", "image", "attribute"), rows[:, :3].T.astype(np.int64), strict=True))
    place = np.searchsorted(image_table["pk"].to_numpy(np.int64), keys["image"])
    frame = pd.DataFrame(
        {
            "scorer": scorers.categorical(keys["scorer"]),
            **{name: pd.Categorical(image_table[name]).take(place) for name in columns[1:]},
            "attribute": Labels.of(Attribute.objects.values_list("pk", "text").iterator()).categorical(
                keys["attribute"]
            ),
            "score": rows[:, 3],
            "cosine": rows[:, 4],
        }
    )
    units = ["scorer", "image", "attribute"]
    # In an order that does not depend on the database.
    order = frame.sort_values([*units, "score", "cosine"]).index.to_numpy()
    frame = frame.take(order)
    again = frame.duplicated(units).to_numpy()
    number = len(np.unique(np.stack([keys["scorer"], keys["image"]])[:, order[again]], axis=1).T)
    return frame[~again].reset_index(drop=True)[SCORES], number


def _hashes(vectors: Array) -> list[str]:
    return [hashlib.sha256(np.ascontiguousarray(row).tobytes()).hexdigest()[:16] for row in vectors]
