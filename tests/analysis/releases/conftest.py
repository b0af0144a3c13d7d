"""Helpers to build and read a release."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from analysis.models import Release
from analysis.releases.assembly.build import build
from analysis.releases.parameters import ReleaseParameters
from studies.models import Study


@pytest.fixture
def released(tmp_path) -> Callable[..., tuple[Release, Path]]:
    """Build a release of a study into a folder of its own."""
    numbers = iter(range(1, 100))

    def make(study: Study, **choices) -> tuple[Release, Path]:
        folder = tmp_path / f"release-{next(numbers)}"
        release = build(study=study, parameters=ReleaseParameters(**choices), output=folder, by=None)
        return release, folder

    return make


def rows(folder: Path, table: str) -> list[dict]:
    """Return the rows of a table as plain values."""
    return pq.read_table(folder / "data" / f"{table}.parquet").to_pylist()


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
