"""A draft in English and German, and filled-in files of translations."""

import csv
import io

import pytest

from annotation.campaigns import lifecycle
from annotation.campaigns.instruments.languages import files, translations
from annotation.campaigns.instruments.languages.progress import language_states
from annotation.campaigns.instruments.languages.sources import source_texts
from annotation.models import Campaign


@pytest.fixture
def draft(study, lead) -> Campaign:
    """A rating campaign with two languages besides English, and a text on pay."""
    campaign = lifecycle.create(
        study=study, name="Words", kind="attribute_likert", by=lead, options={"pay": "You get 5 shells."}
    )
    translations.add_language(campaign=campaign, language="de", by=lead)
    return campaign


def exported(campaign: Campaign) -> list[dict[str, str]]:
    """Return the rows of the translators' file."""
    content = files.as_csv(source_texts(campaign), language_states(campaign))
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def as_file(rows: list[dict[str, str]], delimiter: str = ",", encoding: str = "utf-8") -> io.BytesIO:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return io.BytesIO(text.getvalue().encode(encoding))


def filled(campaign: Campaign, *languages: str) -> list[dict[str, str]]:
    """Return the rows with all cells of these languages filled in."""
    rows = exported(campaign)
    for row in rows:
        for language in languages:
            lines = row["source"].removeprefix("'").split("\n")
            row[language] = "\n".join(f"[{language}] {line}" if line else "" for line in lines)
    return rows


def put(campaign: Campaign, rows: list[dict[str, str]], by=None, **form: str) -> translations.Upload:
    return translations.upload(campaign=campaign, source=as_file(rows, **form), name="texts.csv", by=by)
