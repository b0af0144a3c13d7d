"""One image to import, described by a folder layout or a row of a manifest."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A file and its description; `problem` is set if the description is invalid."""

    name: str  # in the source
    where: str  # name in reports: the path, or the row with the path
    group: str = ""
    model_label: str = ""
    condition: str = ""
    prompt: str = ""
    attribute: str = ""
    experiment: str = ""
    scenario: str = ""
    factors: dict[str, str] = field(default_factory=dict)  # of the group
    provenance: dict[str, Any] = field(default_factory=dict)
    repaired: str = ""
    problem: str = ""
