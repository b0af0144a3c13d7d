"""One image to import, as a folder's layout or a manifest's row describes it."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A file and what is said of it. `problem` is set when that already makes no sense."""

    name: str  # in its source
    where: str  # how reports name it: the path, or the row with the path
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
