"""The inputs of MCAS for each model: the images and texts of two sets, and of each target."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.arrays import Array
from analysis.metrics.data.vector_sets import UNNAMED, named_rows, unit_vectors

Target = tuple[str, str]


@dataclass(frozen=True, eq=False)
class PhraseVectors:
    """Unit vectors of one set (rows × dim), grouped by phrase; `sizes`: the number of vectors of each phrase."""

    vectors: Array
    sizes: Array

    @property
    def rows(self) -> int:
        return len(self.vectors)

    @property
    def phrases(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class ModelAssociations:
    """The vectors of one model. `target_images` and `target_texts` have one size for each of `targets`, in this order;
    a size may be 0."""

    model: str
    targets: list[Target]
    target_images: PhraseVectors
    target_texts: PhraseVectors
    image_sets: tuple[PhraseVectors, PhraseVectors]
    text_sets: tuple[PhraseVectors, PhraseVectors]


@dataclass(frozen=True, eq=False)
class McasInput:
    models: list[ModelAssociations]
    used: int
    dropped: Mapping[str, int]


def associations_of(
    images: pd.DataFrame, vectors: Any, texts: pd.DataFrame, text_vectors: Any, sets: tuple[str, str]
) -> McasInput:
    """Check the tables and assign their rows to models; models, targets and phrases are in alphabetical order."""
    columns = ("attribute_set", "category", "phrase")
    image_rows = named_rows(images, "images", ("condition", *columns)).rename(columns={"condition": "kind"})
    text_rows = named_rows(texts, "texts", ("kind", *columns, "text"))
    image_directions = _directions(vectors, len(image_rows), "vectors")
    text_directions = _directions(text_vectors, len(text_rows), "text_vectors")
    if len(image_rows) and len(text_rows) and image_directions.shape[1] != text_directions.shape[1]:
        raise ValueError(
            f"text_vectors: have {text_directions.shape[1]} dimensions, vectors have {image_directions.shape[1]}"
        )
    uses = {name: _use(rows, sets) for name, rows in (("images", image_rows), ("texts", text_rows))}
    dim = image_directions.shape[1] if len(image_rows) else text_directions.shape[1]
    targets = sorted(
        {
            target
            for rows, use in ((image_rows, uses["images"]), (text_rows, uses["texts"]))
            for target in _targets(rows[use == "target"])
        }
    )
    # Each text is its own phrase, so texts are permuted one by one.
    text_sets = _sets(text_rows, text_rows["text"], text_directions, uses["texts"], sets, dim)
    prompts = _of_targets(text_rows, text_directions, uses["texts"], targets, dim)
    models = []
    for model in sorted(image_rows["model"].unique()) or [UNNAMED]:
        in_model = (image_rows["model"] == model).to_numpy()
        of_model = (image_rows[in_model], image_directions[in_model], uses["images"][in_model])
        models.append(
            ModelAssociations(
                str(model),
                targets,
                _of_targets(*of_model, targets, dim),
                prompts,
                _sets(of_model[0], of_model[0]["phrase"], *of_model[1:], sets, dim),
                text_sets,
            )
        )
    dropped = {f"{name}_of_no_set_or_target": int((use == "").sum()) for name, use in uses.items()}
    return McasInput(models, int(sum((use != "").sum() for use in uses.values())), dropped)


def _directions(vectors: Any, rows: int, argument: str) -> Array:
    if not rows:
        return np.empty((0, 0))
    matrix, length = unit_vectors(vectors, rows, argument)
    unit: Array = matrix.astype(float) / length[:, None]
    return unit


def _use(rows: pd.DataFrame, sets: tuple[str, str]) -> Array:
    """'target', 'attribute', or '' for a row with another use."""
    kind = rows["kind"].to_numpy()
    of_set = rows["attribute_set"].isin(sets).to_numpy()
    return np.where(kind == "target", "target", np.where((kind == "attribute") & of_set, "attribute", ""))


def _targets(rows: pd.DataFrame) -> list[Target]:
    return list(zip(rows["category"], rows["phrase"], strict=True))


def _of_targets(
    rows: pd.DataFrame, vectors: Array, use: Array, targets: list[Target], dim: int
) -> PhraseVectors:
    place = {target: number for number, target in enumerate(targets)}
    chosen = np.flatnonzero(use == "target")
    codes = np.array([place[target] for target in _targets(rows.iloc[chosen])], dtype=int)
    return _part(codes, vectors[chosen], len(targets), dim)


def _sets(
    rows: pd.DataFrame,
    phrases: pd.Series,
    vectors: Array,
    use: Array,
    sets: tuple[str, str],
    dim: int,
) -> tuple[PhraseVectors, PhraseVectors]:
    parts = []
    for name in sets:
        chosen = np.flatnonzero((use == "attribute") & (rows["attribute_set"] == name).to_numpy())
        codes, names = pd.factorize(phrases.to_numpy()[chosen], sort=True)
        parts.append(_part(codes, vectors[chosen], len(names), dim))
    return parts[0], parts[1]


def _part(codes: Array, vectors: Array, phrases: int, dim: int) -> PhraseVectors:
    """Vectors sorted by phrase, then by content: the order of rows must not matter."""
    if not len(codes):
        return PhraseVectors(np.empty((0, dim)), np.zeros(phrases, dtype=int))
    content = [vectors[:, column] for column in range(min(dim, 2))]
    order = np.lexsort((*content, codes))
    return PhraseVectors(vectors[order], np.bincount(codes, minlength=phrases))
