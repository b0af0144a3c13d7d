"""Declared questions in the documents of a release, for any content of the declaration."""

import csv
import json
import re
import typing

import pytest

from analysis.releases.documents.questions import screen_in_words
from annotation.kinds.questions import AskedAfter, ChoiceQuestion, CodedAnswer, Region, TextQuestion
from annotation.kinds.registry import KINDS
from annotation.kinds.stimuli import Stimuli
from annotation.models import Campaign
from tests.analysis.questions.campaigns import Given, images_of, label, open_campaign, people
from tests.analysis.questions.kinds import RANKING, both, kind

pytestmark = pytest.mark.django_db

HOSTILE = "=HYPERLINK(1)|<script>alert(1)</script> **[x](http://evil.example)** ```"
HOSTILE_KIND = kind(
    "hostile",
    name=HOSTILE,
    stimuli=Stimuli(medium="image"),
    questions=(
        ChoiceQuestion(
            name="shows",
            label=both(HOSTILE),
            answers=(
                CodedAnswer(code="a", label=both(HOSTILE)),
                CodedAnswer(code="b", label=both("; empty")),
            ),
            region=Region(shape="box", after=("a",)),
        ),
        TextQuestion(name="why", label=both("Why?"), when=AskedAfter(question="shows", answers=("a",))),
    ),
    unit="image",
    measures=("shares", "texts"),
)


@pytest.fixture
def hostile(study):
    annotators = people(study, 2)
    campaign = open_campaign(study, HOSTILE_KIND, annotators)
    images = images_of(study, models=["aurora"], prompts=1)

    def answer(person, shown):
        yield Given.of("shows", code="a")
        yield Given.of("why", text=HOSTILE)

    label(campaign, [images], annotators, answer)
    return study


def codebook(folder) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "codebook.csv").read_text(encoding="utf-8").splitlines()))


def test_the_codebook_has_a_row_for_each_question(asked, released):
    _, folder = released(asked)
    lines = {line["table"]: line for line in codebook(folder) if line["table"].startswith("answers of ")}
    assert len(lines) == 9
    why = lines["answers of why in rubric"]
    assert (why["column"], why["type"]) == ("text", "string")
    assert why["missing"] == ("asked once a screen, only after the answer partly or no to shows, optional")
    quality = lines["answers of quality in pair"]
    assert (quality["column"], quality["type"]) == ("rating", "integer")
    assert quality["values"].startswith("1 = Point 1; 2 = Point 2; ")
    assert quality["values"].endswith("; 9 = Unsure (not on the scale)")
    assert quality["missing"] == "asked about each image, always"
    assert lines["answers of better in pair"]["column"] == "present or code"
    worst = lines["answers of worst in rubric"]["description"]
    assert worst == "How bad is the worst fault?; a point had to be drawn after the answer 1 or 2"
    book = (folder / "CODEBOOK.md").read_text()
    assert "## Questions of Rubric" in book
    assert "| `why` | Why? | text | `text` | own words |" in book


def test_the_codebook_explains_every_column_that_is_written(asked, released):
    _, folder = released(asked, include_justifications=True)
    explained = {
        (line["table"], line["column"])
        for line in codebook(folder)
        if not line["table"].startswith("answers of ")
    }
    heads = {path.stem: path.read_text().splitlines()[0] for path in (folder / "csv").iterdir()}
    assert explained == {
        (name, column.strip('"')) for name, head in heads.items() for column in head.split(",")
    }


def test_the_data_card_describes_the_questions(asked, released):
    _, folder = released(asked)
    card = (folder / "README.md").read_text()
    assert "696 answers to declared questions by 4 annotators on 24 images" in card
    assert "Each screen shows 2 images of one prompt and by different models, beside the prompt." in card
    assert (
        "| `why` | Why? (text) | own words | once a screen, only after the answer partly or no to shows"
        in card
    )
    assert "show groups with these attributes" not in card


@pytest.mark.parametrize("shown", [kind for kind in KINDS.values() if not kind.about_attributes])
def test_every_kind_of_the_platform_can_be_put_into_words(shown):
    assert screen_in_words(shown).startswith("Each screen shows ")


def test_every_common_property_of_stimuli_can_be_put_into_words():
    named = typing.get_args(typing.get_args(Stimuli.model_fields["together"].annotation)[0])
    assert {"prompt", "scenario"} <= set(named)
    for name in named:
        together = RANKING.stimuli.model_copy(update={"together": (name,), "differ": None})
        assert name in screen_in_words(RANKING.model_copy(update={"stimuli": together})) or name == "group"


def test_a_field_that_kinds_get_later_changes_no_release(asked, released):
    """A declaration stored before a field existed is released unchanged."""
    campaign = Campaign.objects.get(slug="rubric")
    older = {name: value for name, value in campaign.declaration.items() if name != "guidelines_in"}
    Campaign.objects.filter(pk=campaign.pk).update(declaration=older)
    _, folder = released(asked)
    assert json.loads((folder / "declarations" / "rubric.json").read_text()) == older


def test_croissant_names_every_file_and_the_references_of_answers(asked, released):
    _, folder = released(asked)
    written = json.loads((folder / "croissant.json").read_text())
    files = {file["@id"] for file in written["distribution"]}
    assert {"declarations/pair.json", "declarations/rubric.json", "data/answers.parquet"} <= files
    sets = {record["@id"]: record for record in written["recordSet"]}
    assert sets["stimuli"]["key"] == [{"@id": "stimuli/task"}, {"@id": "stimuli/position"}]
    fields = {field["@id"]: field for field in sets["places"]["field"]}
    assert fields["places/answer"]["references"]["fileObject"] == {"@id": "data/answers.parquet"}
    assert "answered declared questions about images or texts" in written["rai:dataCollection"]
    checksums = (folder / "checksums.sha256").read_text()
    assert "declarations/ranking.json" in checksums


def test_texts_of_a_declaration_are_neither_markup_nor_formulas(hostile, released):
    _, folder = released(hostile, include_justifications=True)
    for name in ("README.md", "CODEBOOK.md"):
        text = (folder / name).read_text()
        body = text.split("---\n", 2)[2] if name == "README.md" else text
        body = re.sub(r"\\.", "", body)  # what a backslash makes plain
        assert "<script" not in body
        assert "[x](" not in body
    for path in (folder / "csv").iterdir():
        with path.open(newline="", encoding="utf-8") as file:
            assert not [cell for line in csv.reader(file) for cell in line if cell.startswith("=")], path
    assert not [cell for line in codebook(folder) for cell in line.values() if cell.startswith("=")]
    lines = (folder / "jsonl" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["text"] for line in lines].count(HOSTILE) == 2
