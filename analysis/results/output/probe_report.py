"""The report's part about models' answers to probes."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.results.probe_tables import PROBE_TABLES
from analysis.results.summaries.probing.parts import (
    experiment_parts,
    model_parts,
    order_parts,
)
from analysis.results.summaries.probing.probe_rows import ProbeTableRows
from analysis.results.summaries.probing.review import review_parts
from foundation.formats import reason_text

Row = dict[str, Any]


def probe_part(
    tables: Mapping[str, Sequence[Row]], summary: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]
) -> Row | None:
    """A section for each experiment, the order of options and models compared; None if no model was asked."""
    probes = summary.get("probes")
    if probes is None:
        return None
    names = {name: str(group["name"]) for name, group in groups.items()}
    rows = ProbeTableRows(lambda table: tables.get(table, ()), names)
    sections = [(name, experiment_parts(rows.about(name))) for name in probes["experiments"]]
    sections.append(("Order of the options", order_parts(rows)))
    sections += [
        (f"Models compared: {name}", model_parts(rows.about(name))) for name in probes["experiments"]
    ]
    if probes.get("review"):
        sections.append(("Review by people", review_parts(rows)))
    return {
        "summary": probes,
        "sections": [(name, parts) for name, parts in sections if parts],
        "not_counted": [
            (reason_text(reason), number) for reason, number in sorted(probes["not_counted"].items())
        ],
        "methods": [
            *((table, probes["methods"][table]) for table in PROBE_TABLES if probes["methods"].get(table)),
            *([("pairs_review", probes["review"]["method"])] if probes.get("review") else []),
        ],
    }
