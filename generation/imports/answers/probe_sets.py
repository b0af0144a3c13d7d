"""The probe sets whose questions a file answers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from foundation.errors import DomainError
from foundation.tables.reader import Table
from generation.probing.probe_sets import ProbeSet, probe_set, published_probe_sets

RELEASED = "probe_sets"  # a folder in a release


def probe_sets_for(path: Path, names: Sequence[str]) -> dict[str, ProbeSet]:
    """Return the named sets or set files, else the sets of the release that contains `path`, else the published sets.

    The name of a set from a file is the file name without suffix.
    """
    if names:
        return {Path(name).stem: probe_set(name) for name in names}
    folder = path.absolute().parent.parent / RELEASED
    released = {file.stem: probe_set(str(file)) for file in sorted(folder.glob("*.json"))}
    return released or published_probe_sets()


def named_in(
    table: Table, columns: Mapping[str, str], probe_sets: Mapping[str, ProbeSet]
) -> dict[str, ProbeSet]:
    """Return the sets that the rows name, or the only set; raise DomainError if there are several and no column."""
    if len(probe_sets) == 1:
        return dict(probe_sets)
    if "probe_set" not in columns:
        message = f"Choose the probe set that these answers belong to: {', '.join(probe_sets)}."
        raise DomainError("probe_set_missing", message, fields={"probe_set": message})
    names = {name.strip() for name in table.columns[columns["probe_set"]]}
    return {name: probe_set for name, probe_set in probe_sets.items() if name in names}
