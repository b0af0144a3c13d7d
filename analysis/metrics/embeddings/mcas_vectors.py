"""What MCAS compares, per model: the images and texts of two sets, and those of each target."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.data.vector_sets import UNNAMED, named_rows, unit_vectors

Target = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Part:
    """Unit vectors of one set (rows × dim), those of a phrase together; `sizes`: how many each phrase has."""

    vectors: np.ndarray
    sizes: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.vectors)

    @property
    def phrases(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class Associations:
    """One model. `target_images`, `target_texts`: their sizes are those of `targets`, in this order; some may be
    0."""

    model: str
    targets: list[Target]
    target_images: Part
    target_texts: Part
    image_sets: tuple[Part, Part]
    text_sets: tuple[Part, Part]


@dataclass(frozen=True, eq=False)
class Given:
    models: list[Associations]
    used: int
    dropped: Mapping[str, int]


def associations_of(
    images: pd.DataFrame, vectors: Any, texts: pd.DataFrame, text_vectors: Any, sets: tuple[str, str]
) -> Given:
    """Check the tables and put their rows where they belong; models, targets and phrases in alphabetical order."""
    columns = ("attribute_set", "category", "phrase")
    seen = named_rows(images, "images", ("condition", *columns)).rename(columns={"condition": "kind"})
    said = named_rows(texts, "texts", ("kind", *columns, "text"))
    seen_vectors = _directions(vectors, len(seen), "vectors")
    said_vectors = _directions(text_vectors, len(said), "text_vectors")
    if len(seen) and len(said) and seen_vectors.shape[1] != said_vectors.shape[1]:
        raise ValueError(
            f"text_vectors: have {said_vectors.shape[1]} dimensions, vectors have {seen_vectors.shape[1]}"
        )
    uses = {name: _use(rows, sets) for name, rows in (("images", seen), ("texts", said))}
    dim = seen_vectors.shape[1] if len(seen) else said_vectors.shape[1]
    targets = sorted(
        {
            target
            for rows, use in ((seen, uses["images"]), (said, uses["texts"]))
            for target in _targets(rows[use == "target"])
        }
    )
    # A phrase of the texts is the text itself: each moves alone.
    text_sets = _sets(said, said["text"], said_vectors, uses["texts"], sets, dim)
    prompts = _of_targets(said, said_vectors, uses["texts"], targets, dim)
    models = []
    for model in sorted(seen["model"].unique()) or [UNNAMED]:
        mine = (seen["model"] == model).to_numpy()
        of_model = (seen[mine], seen_vectors[mine], uses["images"][mine])
        models.append(
            Associations(
                str(model),
                targets,
                _of_targets(*of_model, targets, dim),
                prompts,
                _sets(of_model[0], of_model[0]["phrase"], *of_model[1:], sets, dim),
                text_sets,
            )
        )
    dropped = {f"{name}_of_no_set_or_target": int((use == "").sum()) for name, use in uses.items()}
    return Given(models, int(sum((use != "").sum() for use in uses.values())), dropped)


def _directions(vectors: Any, rows: int, argument: str) -> np.ndarray:
    if not rows:
        return np.empty((0, 0))
    matrix, length = unit_vectors(vectors, rows, argument)
    unit: np.ndarray = matrix.astype(float) / length[:, None]
    return unit


def _use(rows: pd.DataFrame, sets: tuple[str, str]) -> np.ndarray:
    """'target', 'attribute', or '' for a row that is of neither."""
    kind = rows["kind"].to_numpy()
    of_set = rows["attribute_set"].isin(sets).to_numpy()
    return np.where(kind == "target", "target", np.where((kind == "attribute") & of_set, "attribute", ""))


def _targets(rows: pd.DataFrame) -> list[Target]:
    return list(zip(rows["category"], rows["phrase"], strict=True))


def _of_targets(
    rows: pd.DataFrame, vectors: np.ndarray, use: np.ndarray, targets: list[Target], dim: int
) -> Part:
    place = {target: number for number, target in enumerate(targets)}
    chosen = np.flatnonzero(use == "target")
    codes = np.array([place[target] for target in _targets(rows.iloc[chosen])], dtype=int)
    return _part(codes, vectors[chosen], len(targets), dim)


def _sets(
    rows: pd.DataFrame,
    phrases: pd.Series,
    vectors: np.ndarray,
    use: np.ndarray,
    sets: tuple[str, str],
    dim: int,
) -> tuple[Part, Part]:
    parts = []
    for name in sets:
        chosen = np.flatnonzero((use == "attribute") & (rows["attribute_set"] == name).to_numpy())
        codes, names = pd.factorize(phrases.to_numpy()[chosen], sort=True)
        parts.append(_part(codes, vectors[chosen], len(names), dim))
    return parts[0], parts[1]


def _part(codes: np.ndarray, vectors: np.ndarray, phrases: int, dim: int) -> Part:
    """Vectors in order of their phrase, within it of their content: the order of rows must not matter."""
    if not len(codes):
        return Part(np.empty((0, dim)), np.zeros(phrases, dtype=int))
    content = [vectors[:, column] for column in range(min(dim, 2))]
    order = np.lexsort((*content, codes))
    return Part(vectors[order], np.bincount(codes, minlength=phrases))
