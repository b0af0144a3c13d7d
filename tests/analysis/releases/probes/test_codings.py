"""Codings of a release are imported with its answers into another study: once, and only for existing answers."""

import csv

import pytest
from django.core.management import call_command

from foundation.errors import DomainError
from generation.models import Answer, Coding
from generation.probing.overrides import override_answer
from tests.analysis.releases.probes.test_rerun import analysed

pytestmark = pytest.mark.django_db
CODES = {"plus": 1, "minus": -1}


@pytest.fixture
def coded_release(probed, released, lead, tmp_path):
    """A release of a study in which a lead overrode a coding and two people coded three answers."""
    first, *others = Answer.objects.filter(outcome="done").exclude(order="").order_by("pk")[:4]
    override_answer(answer=first, outcome="refused", reason="It says that it will not.", by=lead)
    _, folder = released(probed)
    number_of = {}
    with (folder / "csv/probe_answers.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            number_of[row["model"], row["scenario"], row["identity_group"], row["order"], row["repeat"]] = row
    path = folder / "csv/codings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows, names = list(reader), [*reader.fieldnames, "annotator"]
    rows = [row | {"annotator": ""} for row in rows]
    for answer in others:
        place = (answer.scenario, answer.image.group.name, answer.order, str(answer.repeat + 1))
        number = number_of[(answer.run.model_label, *place)]["probe_answer"]
        for coder, outcome in (("c1", "minus"), ("c2", "both"), ("c3", "both")):
            Coding.objects.create(
                answer=answer, coder="person", version=coder, source=f"{answer.pk}-{coder}",
                outcome=outcome, code=CODES.get(outcome, 0), sure=True,
            )  # fmt: skip
            person = {
                "probe_answer": number,
                "coder": "person",
                "annotator": coder,
                "outcome": outcome,
                "sure": "true",
            }
            rows.append(dict.fromkeys(names, "") | person)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    return folder


def imported(study, folder, capsys, tmp_path):
    call_command(
        "import_answers", "--study", study.slug, str(folder / "csv/probe_answers.csv"),
        "--codings", str(folder / "csv/codings.csv"), "--output", str(tmp_path),
    )  # fmt: skip
    return capsys.readouterr().out


def test_a_rerun_with_codings_gives_the_same_tables(coded_release, probed, made_study, tmp_path, capsys):
    expected = analysed(probed, tmp_path / "first")
    assert "pairs_review.csv" in expected
    other = made_study("Lamps once more")
    assert "10 codings by people, models and leads added" in imported(other, coded_release, capsys, tmp_path)
    assert "0 codings by people, models and leads added" in imported(other, coded_release, capsys, tmp_path)
    call_command("code_answers", "--study", other.slug)
    copied = Coding.objects.filter(answer__run__study=other)
    assert copied.filter(coder="person").values("answer", "source").distinct().count() == 9
    assert copied.get(coder="override").reason
    actual = analysed(other, tmp_path / "second")
    assert (
        actual["pairs_review.csv"].decode().splitlines() == expected["pairs_review.csv"].decode().splitlines()
    )
    assert actual == expected


def test_codings_without_an_answer_in_the_study_are_rejected(coded_release, made_study, tmp_path, capsys):
    path = coded_release / "csv/codings.csv"
    with path.open("a", encoding="utf-8", newline="") as file:
        names = path.read_text(encoding="utf-8").splitlines()[0].split(",")
        writer = csv.DictWriter(file, names)
        empty = dict.fromkeys(names, "")
        writer.writerow(
            empty | {"probe_answer": "9999", "coder": "person", "annotator": "c1", "outcome": "plus"}
        )
        writer.writerow(
            empty | {"probe_answer": "1", "coder": "person", "annotator": "c9", "outcome": "wonderful"}
        )
        writer.writerow(empty | {"probe_answer": "1", "coder": "oracle", "outcome": "plus"})
        writer.writerow(empty | {"probe_answer": "1", "coder": "person", "outcome": "plus"})
    other = made_study("Lamps once more")
    assert "10 codings by people" in imported(other, coded_release, capsys, tmp_path)
    with (tmp_path / "rejected.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == 5


def test_other_tables_are_refused(coded_release, made_study):
    table = str(coded_release / "csv/probe_answers.csv")
    with pytest.raises(DomainError) as refused:
        call_command("import_answers", "--study", made_study("Other").slug, table, "--codings", table)
    assert refused.value.code == "codings_not_released"
