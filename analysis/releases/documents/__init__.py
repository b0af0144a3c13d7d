"""The documents of a release, each written from its `Contents` alone: the same contents give the same bytes."""

from pathlib import Path

from analysis.releases.contents import Contents
from analysis.releases.documents.changelog import changelog
from analysis.releases.documents.codebook import codebook, codebook_csv
from analysis.releases.documents.croissant import croissant_json
from analysis.releases.documents.data_card import data_card
from analysis.releases.documents.licences import licence_text

WRITERS = {
    "README.md": data_card,
    "CHANGELOG.md": changelog,
    "CODEBOOK.md": codebook,
    "codebook.csv": codebook_csv,
    "LICENSE.txt": licence_text,
    "croissant.json": croissant_json,
}


def write_documents(*, contents: Contents, folder: Path) -> list[Path]:
    """Write every document into the release's folder; return their paths."""
    written = []
    for name, writer in WRITERS.items():
        path = folder / name
        path.write_text(writer(contents), encoding="utf-8", newline="\n")
        written.append(path)
    return written
