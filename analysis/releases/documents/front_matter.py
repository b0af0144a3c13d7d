"""The front matter of the data card, from which `datasets.load_dataset` finds the tables."""

from typing import Any

import yaml

from analysis.releases.contents import FOLDERS, Contents, ReleaseTable
from analysis.releases.documents.licences import licence_of
from analysis.releases.parameters import TABLE_FORMATS

DEFAULT_TABLE = "judgements"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_SIZES_ABOVE = ((10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"), (1_000_000_000, "100M<n<1B"))


def read_format(contents: Contents) -> str | None:
    """Return the format for readers: the first chosen format, with Parquet before others."""
    return next(
        (file_format for file_format in TABLE_FORMATS if file_format in contents.parameters.formats), None
    )


def default_table(contents: Contents) -> ReleaseTable:
    """Return the default table: judgements, else ratings, else answers, people's before models'."""
    names = (
        *(DEFAULT_TABLE, "ratings"),
        *(("answers",) if contents.question_campaigns else ()),
        *(("probe_answers",) if contents.probes else ()),
    )
    return next((table for table in map(contents.table, names) if table.rows), contents.table(DEFAULT_TABLE))


def loadable(contents: Contents) -> list[ReleaseTable]:
    """Return the tables that readers can be pointed to, the default first."""
    if read_format(contents) is None:
        return []
    default = default_table(contents)
    return [default, *(table for table in contents.tables if table.name != default.name)]


def front_matter(contents: Contents) -> str:
    """Return the YAML block, dashes included."""
    licence = licence_of(contents.parameters.licence)
    study = contents.study
    head: dict[str, Any] = {"pretty_name": study.name, "license": licence.hub}
    if licence.hub == "other":
        head["license_name"] = licence.name
        head["license_link"] = licence.url or "LICENSE.txt"
    head["annotations_creators"] = ["machine-generated" if study.simulated else _creators(contents)]
    head["size_categories"] = [_size(default_table(contents).rows)]
    head["tags"] = tags(contents)
    file_format = read_format(contents)
    # `datasets` refuses to load empty tables, so they have no configuration.
    filled = [table for table in loadable(contents) if table.rows]
    if file_format is not None and filled:
        head["configs"] = [
            {"config_name": table.name}
            | ({"default": True} if place == 0 else {})
            | {
                "data_files": table.files.get(
                    file_format, f"{FOLDERS[file_format]}/{table.name}.{file_format}"
                )
            }
            for place, table in enumerate(filled)
        ]
    written = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{written}---"


def tags(contents: Contents) -> list[str]:
    """Return keywords of the release."""
    study = contents.study
    words = [
        "text-to-image",
        "stereotypes" if contents.about_attributes else "human evaluation",
        "annotator-level labels" if contents.ids_are_people else "answer-level labels",
        "disagreement",
        study.protocol,
    ]
    words += ["simulated"] if study.simulated else []
    return [*words, *(["invented peoples"] if study.invented else [])]


def _creators(contents: Contents) -> str:
    return "found" if all(campaign.imported for campaign in contents.campaigns) else "crowdsourced"


def _size(rows: int) -> str:
    return next((name for most, name in (*_SIZES, *_SIZES_ABOVE) if rows < most), "n>1B")
