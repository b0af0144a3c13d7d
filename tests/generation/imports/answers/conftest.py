import csv

import pytest

from generation.imports.answers.fields import AnswerImportOptions
from generation.imports.answers.importer import AnswerFile, import_answers
from tests.generation.probing.probing_study import SCENARIOS, VARIANTS, add_scenarios, questions

LAMP, KITE = "A lamplighter.", "A kite maker."


@pytest.fixture
def scenarios(study):
    """The study with an image of each variant in each scenario."""
    add_scenarios(study)
    return study


@pytest.fixture
def rows():
    """Two answers about each image in each order: tall people light lamps."""
    return [
        {
            "question": "trade",
            "scenario": scenario,
            "group": variant,
            "order": order,
            "repeat": str(repeat),
            "model": "painter/talker-2",
            "text": LAMP if variant.startswith("tall") else KITE,
        }
        for scenario in SCENARIOS
        for variant in VARIANTS
        for order in ("published", "reversed")
        for repeat in (1, 2)
    ]


@pytest.fixture
def write(tmp_path):
    """Write rows as CSV; return the path."""

    def file(rows, name="answers.csv"):
        path = tmp_path / name
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with path.open("w", encoding="utf-8", newline="") as target:
            writer = csv.DictWriter(target, columns)
            writer.writeheader()
            writer.writerows(rows)
        return path

    return file


@pytest.fixture
def bring(scenarios, lead):
    """Import a file of answers to the small set."""

    def run(path, columns=None, **options):
        return import_answers(
            study=scenarios,
            file=AnswerFile(path, path.name, columns or {}),
            probe_sets={"trades": questions()},
            by=lead,
            options=AnswerImportOptions(**options),
        )

    return run
