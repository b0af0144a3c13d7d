"""Pages of labels as columns of the released tables."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.releases.tables.arrays import Columns
from analysis.releases.tables.label_pages import Page
from analysis.releases.tables.lookups import ImageTable, KeyNames, encoded
from annotation.models import Campaign
from studies.protocol import attribute_roles

_ROLES = pa.array([attribute_roles.RANDOM, attribute_roles.STEREOTYPE], pa.string())


@dataclass(frozen=True, eq=False)
class Naming:
    """The names of labels' keys in this release."""

    annotators: KeyNames
    attributes: KeyNames
    images: ImageTable
    # (group code, attribute key) of every stereotype of the study, as one number each, sorted.
    stereotypes: NDArray[np.int64]

    def pair(self, group: NDArray[np.int64], attribute: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one number for each pair."""
        highest = int(self.attributes.keys[-1]) + 1 if len(self.attributes.keys) else 1
        return group * highest + attribute


@dataclass
class Numbering:
    """The numbers that the next rows get."""

    annotation: int = 1
    judgement: int = 1
    box: int = 1
    answer: int = 1


@dataclass(eq=False)
class LabelColumns:
    """The columns that one page adds to each table."""

    page: Page
    naming: Naming
    numbering: Numbering
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)

    def fill(self, *, marking: bool) -> dict[str, dict[str, Any]]:
        """Return columns by table, and count the numbers on."""
        self._annotations()
        if marking:
            self._judgements()
            self._boxes()
        else:
            self._ratings()
        self.numbering.annotation += len(self.page.annotations["pk"])
        return self.tables

    def _annotations(self) -> None:
        rows, naming = self.page.annotations, self.naming
        none = rows["none_of_the_above"]
        self.tables["annotations"] = {
            "annotation": numbers(len(rows["pk"]), self.numbering.annotation),
            **self._shared(slice(None)),
            "kind": same(str(self.page.campaign.kind), len(none)),
            "image": encoded(naming.images.ids.places(rows["task__image"]), naming.images.ids.names),
            "none_of_the_above": pa.array(none == 1, mask=none < 0),
            "active_seconds": seconds_column(self.page),
            "justification": pa.array([text or None for text in self.page.justifications or ()], pa.string()),
            "language": language_column(self.page),
            "task": pa.nulls(len(none), pa.int64()),  # left out if no campaign asks declared questions
        }

    def _judgements(self) -> None:
        rows = self.page.judgements
        owner, attribute = rows["owner"], rows["attribute"]
        image = self.page.annotations["task__image"][owner]
        image_columns = self.naming.images.columns(image)
        group = self.naming.images.group_of(image)
        stereotype = np.isin(self.naming.pair(group, attribute), self.naming.stereotypes)
        self.tables["judgements"] = {
            "judgement": numbers(len(owner), self.numbering.judgement),
            "annotation": pa.array(owner + self.numbering.annotation),
            **self._shared(owner),
            **image_columns,
            "attribute": self.naming.attributes.of_keys(attribute),
            "role": encoded(np.where(group < 0, -1, stereotype.astype(np.int64)), _ROLES),
            "present": pa.array(rows["value"] == 1),
        }

    def _boxes(self) -> None:
        rows, judgements = self.page.boxes, self.page.judgements
        owner = rows["owner"]
        annotation = judgements["owner"][owner]
        images = self.naming.images.ids
        self.tables["boxes"] = {
            "box": numbers(len(owner), self.numbering.box),
            "judgement": pa.array(owner + self.numbering.judgement),
            "image": encoded(images.places(self.page.annotations["task__image"][annotation]), images.names),
            "attribute": self.naming.attributes.of_keys(judgements["attribute"][owner]),
            "annotator": self.naming.annotators.of_keys(self.page.annotations["annotator"][annotation]),
            **{name: pa.array(rows[name]) for name in ("x", "y", "width", "height")},
            "clipped": pa.array(rows["clipped"] == 1),
        }
        self.numbering.judgement += len(judgements["pk"])
        self.numbering.box += len(owner)

    def _ratings(self) -> None:
        rows = self.page.judgements
        owner = rows["owner"]
        self.tables["ratings"] = {
            "annotation": pa.array(owner + self.numbering.annotation),
            **self._shared(owner),
            "attribute": self.naming.attributes.of_keys(rows["attribute"]),
            "rating": pa.array(rows["value"]),
        }

    def _shared(self, rows: Any) -> dict[str, Any]:
        return shared_columns(self.page, self.naming, rows)


class OfCampaign(Protocol):
    """A page of a campaign's annotations."""

    @property
    def campaign(self) -> Campaign: ...

    @property
    def annotations(self) -> Columns: ...

    @property
    def languages(self) -> list[str | None] | None: ...


def shared_columns(page: OfCampaign, naming: Naming, rows: Any) -> dict[str, Any]:
    """Campaign, annotator, guidelines and day of the annotations with these indices."""
    guidelines = page.annotations["instrument__version"][rows]
    return {
        "campaign": same(page.campaign.slug, len(guidelines)),
        "annotator": naming.annotators.of_keys(page.annotations["annotator"][rows]),
        "guidelines": pa.array(guidelines, mask=guidelines < 0),
        "submitted": pa.array(page.annotations["submitted_at"][rows].astype("datetime64[D]")),
    }


def seconds_column(page: OfCampaign) -> pa.Array:
    """Seconds of active work, to the tenth."""
    seconds = page.annotations["active_seconds"]
    return pa.array(np.round(seconds, 1), mask=np.isnan(seconds))


def language_column(page: OfCampaign) -> pa.Array:
    """The language of each annotation; left out if all have the same language."""
    return pa.array(page.languages or [None] * len(page.annotations["pk"]), pa.string())


def numbers(count: int, start: int) -> pa.Array:
    """Return consecutive numbers."""
    return pa.array(np.arange(start, start + count, dtype=np.int64))


def same(text: str, count: int) -> pa.DictionaryArray:
    """Return a column with the same value in each row."""
    return encoded(np.zeros(count, dtype=np.int64), pa.array([text], pa.string()))
