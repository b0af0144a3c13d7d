"""One pass over the answers to declared questions: their tables, and the declarations of their campaigns."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis.releases.assembly.snapshot import read_ahead
from analysis.releases.key_sets import KeySet
from analysis.releases.tables.label_columns import Naming, Numbering
from analysis.releases.tables.questions import columns
from analysis.releases.tables.questions.answer_pages import AnswerPage, answer_pages
from analysis.releases.tables.questions.answer_rows import answer_tables
from analysis.releases.tables.questions.question_rows import (
    columns_from,
    declaration_of,
    option_rows,
    question_rows,
)
from analysis.releases.tables.questions.stimulus_rows import ScreenNumbers, stimulus_pages
from annotation.kinds.registry import kind_of
from annotation.models import Campaign

FOLDER = "declarations"


class QuestionFilling:
    """Fills the tables of declared questions. `write` takes columns of a table, `note` the inputs of the digest."""

    def __init__(
        self,
        *,
        using: str,
        naming: Naming,
        key: bytes,
        texts: bool,
        left_out: Collection[int],
        readers: Collection[int] | None,
        write: Callable[[str, Mapping[str, Any]], None],
        note: Callable[[str, Any], None],
        filled: tuple[KeySet, KeySet],
    ) -> None:
        self._using, self._naming, self._key = using, naming, key
        self._texts, self._left_out, self._readers = texts, left_out, readers
        self._write, self._note = write, note
        self._annotation_keys, self._annotator_keys = filled
        self._screens = ScreenNumbers()

    def declare(self, campaigns: Sequence[Campaign], folder: Path) -> None:
        """Write the campaigns' questions: two tables, and a file for each."""
        declared = [(campaign.slug, kind_of(campaign)) for campaign in campaigns]
        for name, rows in (("questions", question_rows(declared)), ("options", option_rows(declared))):
            self._write(name, columns_from(rows, [column.name for column in columns.COLUMNS[name]]))
        (folder / FOLDER).mkdir()
        for campaign in campaigns:
            file = folder / FOLDER / f"{campaign.slug}.json"
            text = json.dumps(declaration_of(campaign), ensure_ascii=False, indent=2, sort_keys=True)
            file.write_text(text + "\n", encoding="utf-8", newline="\n")

    def fill(self, campaign: Campaign, numbering: Numbering) -> Iterator[AnswerPage]:
        """Write a campaign's stimuli and answers; yield each page when it is written."""
        for stimuli in stimulus_pages(
            campaign,
            self._naming.images,
            self._screens,
            using=self._using,
            left_out=self._left_out,
            texts=self._texts,
        ):
            self._write("stimuli", stimuli)
            self._note("stimuli", _plain(stimuli))
        pages = answer_pages(
            campaign,
            using=self._using,
            key=self._key,
            texts=self._texts,
            left_out=self._left_out,
            readers=self._readers,
        )
        for page in read_ahead(self._using, pages):
            for name, written in answer_tables(page, self._naming, self._screens, numbering).items():
                self._write(name, written)
            self._remember(page)
            yield page

    def _remember(self, page: AnswerPage) -> None:
        """Keep which rows were released, and make them part of the digest whatever their order here."""
        keys = page.annotations["pk"]
        self._annotation_keys.add(keys)
        self._annotator_keys.add(np.unique(page.annotations["annotator"]))
        order = np.argsort(keys)
        self._note("screens", {name: values[order].tolist() for name, values in page.annotations.items()})
        if page.languages is not None:
            self._note("languages", sorted(zip(keys.tolist(), page.languages, strict=True)))
        owners = keys[page.judgements["owner"]].tolist()
        answers = zip(page.judgements["pk"].tolist(), owners, page.answers, strict=True)
        self._note("answers", sorted(answers))
        places = [(int(page.judgements["pk"][place]), *sides) for place, *sides in page.places]
        self._note("places", sorted(places, key=lambda place: place[0]))


def _plain(page: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values if isinstance(values, list) else values.to_pylist() for name, values in page.items()}
