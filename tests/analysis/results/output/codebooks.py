"""Reading the codebook of a folder of results."""

import csv
from pathlib import Path


def columns_without_meaning(folder: Path) -> list[str]:
    """Name the columns in the tables of a folder of results that its codebook does not explain."""
    with (folder / "codebook.csv").open(encoding="utf-8", newline="") as file:
        explained = {(row["table"], row["column"]) for row in csv.DictReader(file) if row["meaning"]}
    missing = []
    for path in sorted(folder.glob("*.csv")):
        if path.name == "codebook.csv":
            continue
        with path.open(encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file))
        missing += [f"{path.stem}.{column}" for column in columns if (path.stem, column) not in explained]
    return missing
