"""A release contains the unchanged answers of models, their codings, and the questions."""

import csv
import json

import pytest

from analysis.releases.tables.columns import TABLES
from analysis.releases.tables.probes import columns as probe_columns
from annotation.kinds.stimuli import Stimuli
from annotation.models import Annotation, Judgement, Task, TaskStimulus
from foundation.tables.formulas import unguarded
from generation.models import Answer, Coding, Image
from generation.probing.coding import VERSION
from generation.probing.overrides import override_answer
from generation.probing.probe_sets import probe_set
from tests.analysis.questions.campaigns import open_campaign, people
from tests.analysis.questions.kinds import kind, scale
from tests.analysis.releases.conftest import rows, tree
from tests.generation.probing.probing_study import questions

pytestmark = pytest.mark.django_db
SENTENCES = kind(
    "sentences",
    stimuli=Stimuli(medium="text"),
    questions=(scale("level"),),
    unit="association",
    measures=("means",),
)


def test_every_answer_is_released_unchanged(probed, released):
    _, folder = released(probed)
    answers = rows(folder, "probe_answers")
    stored = Answer.objects.filter(run__study=probed).order_by("run_id", "pk")
    assert [row["probe_answer"] for row in answers] == list(range(1, stored.count() + 1))
    columns = ("experiment", "question", "scenario", "image__group__name", "outcome", "text")
    names = ("experiment", "question", "scenario", "identity_group", "outcome", "text")
    assert [tuple(row[name] for name in names) for row in answers] == list(stored.values_list(*columns))
    assert [row["repeat"] - 1 for row in answers] == list(stored.values_list("repeat", flat=True))
    assert {row["image"] for row in answers} == {row["image"] for row in rows(folder, "images")}
    assert {row["order"] for row in answers if row["question"] == "story"} == {None}
    assert {row["model"] for row in answers} == {"talker-1", "talker-2"}


def test_texts_survive_every_format(probed, released):
    _, folder = released(probed)
    texts = [row["text"] for row in rows(folder, "probe_answers")]
    with (folder / "csv/probe_answers.csv").open(encoding="utf-8", newline="") as file:
        cells = [row["text"] for row in csv.DictReader(file)]
    lines = (folder / "jsonl/probe_answers.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    assert list(map(unguarded, cells)) == [json.loads(line)["text"] for line in lines] == texts


def test_runs_state_model_questions_and_outcomes(probed, released):
    Answer.objects.filter(pk=Answer.objects.first().pk).update(outcome="pending", finished_at=None, text="")
    _, folder = released(probed)
    first, second = rows(folder, "probe_runs")
    assert (first["model"], second["model"]) == ("talker-1", "talker-2")
    assert (first["pending"], first["done"] + first["declined"], second["done"]) == (1, 47, 48)
    assert first["declined"] == Answer.objects.filter(outcome="declined").count()
    assert json.loads(first["parameters"])["bias"] == {"tall": 0.6, "short": -0.3}
    assert first["probe_set_digest"] == questions().digest
    assert probe_set(str(folder / "probe_sets/trades.json")) == questions()
    assert len(rows(folder, "probe_answers")) == 95


def test_codings_have_rule_and_version_and_pseudonyms_of_leads(probed, released, lead):
    answer = Answer.objects.filter(outcome="done", question="trade").order_by("run_id", "pk").last()
    override_answer(answer=answer, outcome="minus", reason="It says so twice.", by=lead)
    _, folder = released(probed)
    codings = rows(folder, "codings")
    assert [row["coding"] for row in codings] == list(range(1, Coding.objects.count() + 1))
    by_rules = [row for row in codings if row["coder"] == "rules"]
    assert {row["version"] for row in by_rules} == {VERSION}
    assert all(row["reason"] for row in by_rules)
    (override,) = (row for row in codings if row["coder"] == "override")
    assert (override["outcome"], override["code"], override["reason"]) == ("minus", -1, None)
    assert override["lead"].startswith("L1-")
    _, with_reasons = released(probed, include_justifications=True)
    (override,) = (row for row in rows(with_reasons, "codings") if row["coder"] == "override")
    assert override["reason"] == "It says so twice."
    assert "annotator" not in override  # no codings by people: readers cannot join with an empty column


def test_people_code_under_their_id_of_the_release_and_only_while_they_count(probed, released):
    annotators = people(probed, 3)
    campaign = open_campaign(probed, SENTENCES, annotators)
    task = Task.objects.create(campaign=campaign, wanted=3)
    TaskStimulus.objects.create(task=task, position=0, text="A lamplighter.")
    answer = Answer.objects.filter(outcome="done", question="trade").first()
    for annotator in annotators:
        annotation = Annotation.objects.create(campaign=campaign, task=task, annotator=annotator)
        Judgement.objects.create(annotation=annotation, question="level", rating=4)
        Coding.objects.create(
            answer=answer, coder="person", version=annotator.pseudonym,
            source=str(annotation.submission_id), outcome="plus", code=1, sure=True,
        )  # fmt: skip
    _, folder = released(probed, k=2)
    coded = [row for row in rows(folder, "codings") if row["coder"] == "person"]
    ids = {row["annotator"] for row in rows(folder, "annotators")}
    assert len(coded) == len(ids) == 3
    assert {row["annotator"] for row in coded} == ids
    assert {row["version"] for row in coded} == {None}
    text = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.jsonl"))
    assert not [annotator.pseudonym for annotator in annotators if annotator.pseudonym in text]
    Annotation.objects.filter(annotator=annotators[0]).update(status="excluded")
    _, later = released(probed, k=2)
    assert len([row for row in rows(later, "codings") if row["coder"] == "person"]) == 2


def test_answers_about_retracted_images_are_left_out(probed, released):
    image = Image.objects.first()
    Image.objects.filter(pk=image.pk).update(retracted_at=image.created_at, retracted_reason="blurred")
    _, folder = released(probed)
    assert len(rows(folder, "probe_answers")) == 96 - 12
    assert sum(run["done"] + run["declined"] for run in rows(folder, "probe_runs")) == 96 - 12


def test_the_same_answers_give_the_same_bytes_and_a_new_coding_the_next_version(probed, released, lead):
    release, folder = released(probed)
    again, same = released(probed)
    assert (again.version, tree(same)) == (release.version, tree(folder))
    answer = Answer.objects.filter(outcome="done", question="trade").last()
    override_answer(answer=answer, outcome="minus", reason="It says so.", by=lead)
    later, _ = released(probed)
    assert later.version == 2


def test_documents_describe_answers_of_models_with_a_notice(probed, released):
    _, folder = released(probed)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "96 answers by 2 models" in card
    assert "## Answers of models\n\n**Content.** Answers are a model's own words" in card
    assert "| talker-1 | `trades` | `script` |" in card
    codebook = (folder / "CODEBOOK.md").read_text(encoding="utf-8")
    for table, columns in probe_columns.COLUMNS.items():
        part = codebook.partition(f"\n## {table}\n")[2].partition("\n## ")[0]
        assert [c.name for c in columns if f"| `{c.name}` |" not in part] == (
            ["annotator"] if table == "codings" else []
        )
    croissant = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    assert "probe_sets/trades.json" in {part["@id"] for part in croissant["distribution"]}
    assert croissant["datePublished"]


def test_a_study_that_asked_no_model_has_none_of_these_tables(made_study, released):
    _, folder = released(made_study("Quiet"))
    assert tuple(json.loads((folder / "release.json").read_text())["rows"]) == TABLES
    assert not (folder / "probe_sets").exists()
    assert "Answers of models" not in (folder / "README.md").read_text(encoding="utf-8")
