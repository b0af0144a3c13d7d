"""One pass over models' answers to probe sets: their tables, and the questions as files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.releases.contents import ProbeRunFacts
from analysis.releases.tables.annotator_rows import AnnotatorRows
from analysis.releases.tables.label_columns import Naming
from analysis.releases.tables.probes.rows import ProbeRows

FOLDER = "probe_sets"


class ProbeFilling:
    """Fills the tables of models' answers. `write` takes columns of a table, `note` the inputs of the digest."""

    def __init__(
        self,
        rows: ProbeRows,
        *,
        write: Callable[[str, Mapping[str, Any]], None],
        note: Callable[[str, Any], None],
    ) -> None:
        self._rows, self._write, self._note = rows, write, note

    def declare(self, folder: Path) -> None:
        """Write the questions of each probe set as a file that can be imported."""
        (folder / FOLDER).mkdir()
        for name, text in self._rows.probe_sets():
            (folder / FOLDER / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")
            self._note("probe_set", [name, text])

    def fill(
        self,
        naming: Naming,
        annotators: AnnotatorRows,
        *,
        counted: NDArray[np.bool_],
        each: Callable[[], None],
    ) -> tuple[ProbeRunFacts, ...]:
        """Write runs, answers and codings; call `each` after a page. `counted`: a flag for each annotation released."""
        runs, facts = self._rows.run_rows()
        self._keep("probe_runs", runs)
        for answers, codings in self._rows.pages(naming, annotators, counted):
            self._keep("probe_answers", answers)
            self._keep("codings", codings)
            each()
        return facts

    def _keep(self, table: str, columns: Mapping[str, list[Any]]) -> None:
        self._write(table, columns)
        self._note(table, dict(columns))
