"""The probe sets that answers of a file are to."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from foundation.errors import DomainError
from foundation.tables.reader import Table
from generation.probing.probe_sets import ProbeSet, probe_set, published_probe_sets

RELEASED = "probe_sets"  # the folder of a release


def probe_sets_for(path: Path, names: Sequence[str]) -> dict[str, ProbeSet]:
    """Return the sets of these names or files, else those of the release that a file lies in, else the published ones.

    The name of a file's set is that of the file without its ending.
    """
    if names:
        return {Path(name).stem: probe_set(name) for name in names}
    folder = path.absolute().parent.parent / RELEASED
    released = {file.stem: probe_set(str(file)) for file in sorted(folder.glob("*.json"))}
    return released or published_probe_sets()


def named_in(
    table: Table, columns: Mapping[str, str], probe_sets: Mapping[str, ProbeSet]
) -> dict[str, ProbeSet]:
    """Return the sets that rows of a table name, or the one there is; DomainError where rows cannot say which."""
    if len(probe_sets) == 1:
        return dict(probe_sets)
    if "probe_set" not in columns:
        message = f"Choose the probe set that these answers belong to: {', '.join(probe_sets)}."
        raise DomainError("probe_set_missing", message, fields={"probe_set": message})
    names = {name.strip() for name in table.columns[columns["probe_set"]]}
    return {name: probe_set for name, probe_set in probe_sets.items() if name in names}
