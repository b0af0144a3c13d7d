"""Automatic scores as rows of a release: scores and captions image by image, and the results from them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from django.db.models import Count, Q
from numpy.typing import NDArray

from analysis.models import AttributeScore, Caption, Scorer, TextScore
from analysis.releases.tables.arrays import INTEGER, NUMBER, read_columns
from analysis.releases.tables.image_names import published_name
from analysis.releases.tables.label_columns import Naming
from analysis.releases.tables.lookups import encoded
from analysis.releases.tables.machine_columns import MEASURED
from analysis.results import reports
from analysis.scoring.score_tables import encoder_labels
from studies.models import Study

_IMAGES_AT_ONCE = 400
_SCORE = {"scorer": INTEGER, "image": INTEGER, "attribute": INTEGER, "probability": NUMBER, "cosine": NUMBER}

Columns = dict[str, Any]


@dataclass(frozen=True, eq=False)
class MachineRows:
    """Rows of one study in a snapshot, in an order that does not depend on the database: images, scorers,
    attributes."""

    study: Study
    using: str
    naming: Naming
    scorers: tuple[Scorer, ...]

    @classmethod
    def of(cls, study: Study, using: str, naming: Naming) -> "MachineRows":
        return cls(study, using, naming, tuple(scorers_of(study, using)))

    def tables(self) -> Iterator[tuple[str, Columns]]:
        """Yield every table, a page at a time."""
        yield "scorers", self._scorers()
        keys = self.naming.images.ids.keys
        for start in range(0, len(keys), _IMAGES_AT_ONCE):
            low, high = int(keys[start]), int(keys[min(start + _IMAGES_AT_ONCE, len(keys)) - 1])
            yield "attribute_scores", self._scores(low, high)
            yield "captions", self._captions(low, high)
            yield "text_scores", self._text_scores(low, high)
        yield from self._measured()

    def _scorers(self) -> Columns:
        counted = {outcome: self._images_by_scorer(outcome) for outcome in ("done", "failed")}
        encoders = encoder_labels(self.study, using=self.using)
        return {
            "scorer": [scorer.model_label for scorer in self.scorers],
            "kind": [str(scorer.kind) for scorer in self.scorers],
            "model": [published_name(scorer.model_id) or scorer.model_label for scorer in self.scorers],
            "revision": [scorer.model_revision or None for scorer in self.scorers],
            "encoder": [encoders.get(scorer.encoder_id or 0) for scorer in self.scorers],
            "parameters": [_safe(scorer.parameters) for scorer in self.scorers],
            "images": [counted["done"][scorer.pk] for scorer in self.scorers],
            "failed": [counted["failed"][scorer.pk] for scorer in self.scorers],
        }

    def _images_by_scorer(self, outcome: str) -> dict[int, int]:
        with_outcome = Q(scored_images__image__retracted_at=None, scored_images__outcome=outcome)
        scorers = Scorer.objects.using(self.using).filter(study=self.study)
        return dict(
            scorers.order_by()
            .annotate(number=Count("scored_images", filter=with_outcome))
            .values_list("pk", "number")
        )

    def _scores(self, low: int, high: int) -> Columns:
        rows = AttributeScore.objects.using(self.using).filter(
            scorer__in=[scorer.pk for scorer in self.scorers], image__gte=low, image__lte=high
        )
        scores = read_columns(rows, _SCORE)
        place = self.naming.images.ids.places(scores["image"])
        scorer = self._scorer_places(scores["scorer"])
        attribute = self.naming.attributes.places(scores["attribute"])
        by_text = self._ranks()[attribute] if len(attribute) else attribute
        order = np.lexsort((by_text, scorer, place))
        order = order[place[order] >= 0]  # a retracted image has no place
        return {
            "scorer": encoded(scorer[order], self._names),
            "image": encoded(place[order], self.naming.images.ids.names),
            "attribute": encoded(attribute[order], self.naming.attributes.names),
            "probability": scores["probability"][order],
            "cosine": scores["cosine"][order],
        }

    def _captions(self, low: int, high: int) -> Columns:
        rows = Caption.objects.using(self.using).filter(
            scorer__in=[scorer.pk for scorer in self.scorers], image__gte=low, image__lte=high
        )
        caption_rows = list(rows.order_by().values_list("image", "scorer", "position", "text"))
        return self._of_images(caption_rows, ("position", "text"))

    def _text_scores(self, low: int, high: int) -> Columns:
        rows = TextScore.objects.using(self.using).filter(
            scorer__in=[scorer.pk for scorer in self.scorers],
            caption__image__gte=low,
            caption__image__lte=high,
        )
        columns = (
            "caption__image",
            "scorer",
            "caption__scorer__model_label",
            "caption__position",
            "label",
            "score",
        )
        score_rows = list(rows.order_by().values_list(*columns))
        return self._of_images(score_rows, ("captioned_by", "position", "label", "score"))

    def _of_images(self, rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> Columns:
        """Columns of rows that begin with image and scorer."""
        place = self.naming.images.ids.places(np.array([row[0] for row in rows], dtype=np.int64))
        scorer = self._scorer_places(np.array([row[1] for row in rows], dtype=np.int64))
        ordered = sorted(
            (at for at in range(len(rows)) if place[at] >= 0),
            key=lambda at: (place[at], scorer[at], rows[at][2:]),
        )
        chosen = np.array(ordered, dtype=np.int64)
        return {
            "scorer": encoded(scorer[chosen], self._names),
            "image": encoded(place[chosen], self.naming.images.ids.names),
            **{name: [rows[at][2 + column] for at in ordered] for column, name in enumerate(names)},
        }

    def _measured(self) -> Iterator[tuple[str, Columns]]:
        report = reports.current_report(self.study, using=self.using)
        if report is None:
            return
        stored = {table.name: table for table in report.tables.using(self.using).filter(name__in=MEASURED)}
        for name, columns in MEASURED.items():
            rows = stored[name].rows()
            yield name, {column.name: [row.get(column.name) for row in rows] for column in columns}

    def _scorer_places(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        order = {scorer.pk: place for place, scorer in enumerate(self.scorers)}
        return np.array([order[key] for key in keys.tolist()], dtype=np.int64)

    @property
    def _names(self) -> Any:
        return pa.array([scorer.model_label for scorer in self.scorers], pa.string())

    def _ranks(self) -> NDArray[np.int64]:
        texts = np.array(self.naming.attributes.names.to_pylist(), dtype=object)
        ranks = np.empty(len(texts), dtype=np.int64)
        ranks[np.argsort(texts, kind="stable")] = np.arange(len(texts))
        return ranks


def scorers_of(study: Study, using: str) -> list[Scorer]:
    """The scorers of a study by name."""
    scorers = Scorer.objects.using(using).filter(study=study)
    return sorted(scorers, key=lambda scorer: scorer.model_label)


def _safe(parameters: dict[str, Any]) -> str:
    """Parameters as JSON; paths and addresses without names of machines and accounts."""
    published = {
        name: published_name(value) if isinstance(value, str) else value for name, value in parameters.items()
    }
    return json.dumps(published, ensure_ascii=False, sort_keys=True)
