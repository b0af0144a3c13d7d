"""The screens with declared questions: their numbers in a release, and a row for each stimulus."""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.releases.tables.label_pages import counted_in
from analysis.releases.tables.lookups import ImageTable
from annotation.models import Campaign, TaskStimulus

_AT_ONCE = 10_000
_READ = ("task", "position", "image", "text", "copied_text", "copied_text__writer")


class ScreenNumbers:
    """The screens of a release, numbered from 1 in the order in which they were planned."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def of(self, task: int) -> int:
        """Return the number of a screen, which is assigned at the first call."""
        return self._numbers.setdefault(task, len(self._numbers) + 1)

    def of_all(self, tasks: NDArray[np.int64]) -> list[int]:
        """Return the number of each screen."""
        return [self.of(task) for task in tasks.tolist()]


def stimulus_pages(
    campaign: Campaign,
    images: ImageTable,
    screens: ScreenNumbers,
    *,
    using: str,
    left_out: Collection[int],
    texts: bool,
) -> Iterator[dict[str, Any]]:
    """Yield rows of `stimuli`: of the screens to which an answer is released, and of no others.

    A text that an annotator wrote in another campaign is free text here too: it is shown only with `texts`.
    """
    answered = counted_in(campaign, using=using, left_out=left_out).values("task")
    shown = TaskStimulus.objects.using(using).filter(task__campaign=campaign, task__in=answered)
    rows = shown.order_by("task", "position").values_list(*_READ).iterator(chunk_size=_AT_ONCE)
    while batch := list(islice(rows, _AT_ONCE)):
        tasks, positions, keys, shown_texts, copies, writers = zip(*batch, strict=True)
        withheld = [
            copy is not None and (not texts or writer is None or writer in left_out)
            for copy, writer in zip(copies, writers, strict=True)
        ]
        of_image = images.columns(np.array([-1 if key is None else key for key in keys], dtype=np.int64))
        yield {
            "task": [screens.of(task) for task in tasks],
            "campaign": [campaign.slug] * len(batch),
            "position": list(positions),
            "text": [
                None if hidden else text or None for text, hidden in zip(shown_texts, withheld, strict=True)
            ],
            **of_image,
        }
