"""The annotators of a release: the release's own ids, coarsened profiles, and the number of each annotator's
answers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import QuerySet
from numpy.typing import NDArray

from accounts.models import Annotator
from analysis.releases.privacy.coarsen import Coarsened
from analysis.releases.privacy.levels import FIELDS, NOTHING
from analysis.releases.rekey import LENGTHS, annotator_id
from analysis.releases.tables.label_pages import Page
from analysis.releases.tables.lookups import KeyNames, encoded
from analysis.releases.tables.questions.answer_pages import AnswerPage
from annotation.kinds.registry import kind_of
from annotation.models import Annotation
from studies.models import Study

_AT_ONCE = 10_000
_ORIGINS = [str(origin) for origin in Annotator.Origin.values]


@dataclass(eq=False)
class AnnotatorRows:
    """Everybody who answered, and of each how much counts, added up page by page."""

    names: KeyNames
    origins: NDArray[np.int64]  # codes of _ORIGINS
    pseudonyms: pa.Array
    length: int  # length of ids; all are longer if two would be equal, even for people who do not count
    counts: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study, *, using: str, key: bytes, version: int) -> "AnnotatorRows":
        """Read who answered in the study, counted or not."""
        answered = Annotation.objects.filter(campaign__study=study.pk).values("annotator")
        everybody = Annotator.objects.using(using).filter(pk__in=answered).order_by("pk")
        for length in LENGTHS:
            keys, origins, pseudonyms, ids = _named(everybody, key=key, version=version, length=length)
            if pc.count_distinct(ids).as_py() == len(ids):
                break
        annotators = cls(KeyNames(keys, ids), origins, pseudonyms, length)
        annotators.counts = {
            name: np.zeros(len(keys), dtype=np.int64)
            for name in ("annotations", "judgements", "ratings", "answers")
        }
        return annotators

    def add(self, page: Page | AnswerPage) -> None:
        """Count the rows of a page."""
        place = self.names.places(page.annotations["annotator"])
        kind = kind_of(page.campaign)
        answers = "judgements" if kind.marks_attributes else "ratings" if kind.rates_attributes else "answers"
        for name, owners in (("annotations", place), (answers, place[page.judgements["owner"]])):
            self.counts[name] += np.bincount(owners, minlength=len(self.names.keys))

    def identities(self) -> list[tuple[int, str, str]]:
        """Return the inputs of the rows of annotators who count, without profiles, for the digest."""
        counted = np.flatnonzero(self.counts["annotations"] > 0)
        names = self.pseudonyms.take(pa.array(counted)).to_pylist()
        origins = [_ORIGINS[origin] for origin in self.origins[counted]]
        return list(zip(self.names.keys[counted].tolist(), names, origins, strict=True))

    def pages(self, coarsened: Coarsened) -> Iterator[dict[str, Any]]:
        """Yield rows of `annotators`, in the order of their ids."""
        counted = np.flatnonzero(self.counts["annotations"] > 0)
        by_id = pc.array_sort_indices(self.names.names.take(pa.array(counted))).to_numpy()
        ordered = counted[by_id]
        for start in range(0, len(ordered), _AT_ONCE):
            batch = ordered[start : start + _AT_ONCE]
            profiles = [coarsened.profiles.get(key, NOTHING) for key in self.names.keys[batch].tolist()]
            yield {
                "annotator": self.names.names.take(pa.array(batch)),
                "origin": encoded(self.origins[batch], pa.array(_ORIGINS)),
                **{
                    name: pa.array([profile[index] for profile in profiles], pa.string())
                    for index, name in enumerate(FIELDS)
                },
                **{name: pa.array(counts[batch]) for name, counts in self.counts.items()},
            }


def _named(
    everybody: QuerySet[Annotator], *, key: bytes, version: int, length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], pa.Array, pa.Array]:
    """Return keys, codes of origins, pseudonyms and ids."""
    keys: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    origins: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    pseudonyms, ids = [pa.array([], pa.string())], [pa.array([], pa.string())]
    rows = everybody.values_list("pk", "pseudonym", "origin").iterator(chunk_size=_AT_ONCE)
    for batch in _pieces(rows):
        keys.append(np.array([pk for pk, _, _ in batch], dtype=np.int64))
        origins.append(np.array([_ORIGINS.index(origin) for _, _, origin in batch], dtype=np.int64))
        pseudonyms.append(pa.array([name for _, name, _ in batch], pa.string()))
        batch_ids = [annotator_id(name, key=key, version=version, length=length) for _, name, _ in batch]
        ids.append(pa.array(batch_ids, pa.string()))
    return (
        np.concatenate(keys),
        np.concatenate(origins),
        pa.concat_arrays(pseudonyms),
        pa.concat_arrays(ids),
    )


def _pieces(rows: Iterator[tuple[int, str, str]]) -> Iterator[list[tuple[int, str, str]]]:
    batch = []
    for row in rows:
        batch.append(row)
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
