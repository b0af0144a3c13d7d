"""Importing answers made elsewhere: the resulting rows, and refused or listed ones."""

import hashlib
import io
import json

import pytest
from django.core.management import call_command

from foundation.errors import DomainError
from generation.imports.answers.fields import mapped
from generation.imports.answers.importer import AnswerFile, read_answers
from generation.models import Answer, Coding, ProbeRun
from generation.models.probes import LONGEST_ANSWER
from studies.models import AuditEntry
from tests.generation.imports.answers.conftest import KITE, LAMP
from tests.generation.probing.probing_study import QUESTIONS, questions


def reasons(report):
    return {rejection.row: rejection.reason for rejection in report.rows.rejected}


@pytest.mark.django_db
def test_rows_become_a_run_of_answers_with_their_images(bring, rows, write):
    path = write(rows)
    report = bring(path)
    assert (report.rows.read, report.rows.kept, report.added, report.present) == (32, 32, 32, 0)
    run = ProbeRun.objects.get()
    assert (run.backend, run.model_id, run.model_label) == ("imported", "painter/talker-2", "talker-2")
    assert (run.runs, run.orders, run.probe_set, run.probe_set_digest) == (
        *(2, "both", "trades", questions().digest),
    )
    answers = Answer.objects.select_related("image__group")
    assert {(a.scenario, a.image.scenario) for a in answers} == {("bridge",) * 2, ("harbour",) * 2}
    assert {(a.image.group.name[:5], a.text) for a in answers} == {("tall_", LAMP), ("short", KITE)}
    assert {a.repeat for a in answers} == {0, 1}
    first = answers.order_by("pk").first()
    assert first.provenance == {
        "file": "answers.csv",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "line": 2,
    }
    assert AuditEntry.objects.filter(action="answers.imported").count() == 1


@pytest.mark.django_db
def test_importing_a_file_again_adds_only_new_rows(bring, rows, write):
    bring(write(rows[:20]))
    again = bring(write(rows[:20]))
    assert (again.added, again.present, again.rows.kept) == (0, 20, 20)
    longer = bring(write(rows))
    assert (longer.added, longer.present) == (12, 20)
    assert ProbeRun.objects.count() == 1
    assert AuditEntry.objects.filter(action="answers.imported").count() == 2


@pytest.mark.django_db
def test_another_answer_to_the_same_question_is_listed_and_changes_nothing(bring, rows, write):
    bring(write(rows))
    changed = [{**rows[0], "text": "Neither."}, *rows[1:]]
    assert reasons(bring(write(changed))) == {2: "the study has another answer to this question already"}
    assert not Answer.objects.filter(text="Neither.").exists()


# The fault of a row, and the reason that is listed for it.
WRONG = (
        ({"question": "song"}, "the probe set has no question “song”"),
        ({"question": ""}, "no question"),
        ({"scenario": "tower"}, "question “trade” is not asked in this experiment or scenario"),
        ({"scenario": ""}, "the row names no scenario of trades"),
        ({"group": "wide_orsani"}, "no group is called “wide_orsani”"),
        ({"group": ""}, "neither image nor group"),
        ({"experiment": "sports"}, "the probe set has no experiment “sports”"),
        ({"image": "tall.png"}, "the study has no image “tall.png”"),
        ({"order": "sideways"}, "order is “sideways”, not published or reversed"),
        (
            {"first": "kite maker", "order": "published"},
            "the row’s order, first option and words contradict each other",
        ),
        ({"first": "baker"}, "“baker” is not an option of trade"),
        ({"repeat": "0"}, "repeat is “0”, not a whole number from 1 to 100"),
        ({"repeat": "٣"}, "repeat is “٣”, not a whole number from 1 to 100"),
        ({"repeat": "1e9"}, "repeat is “1e9”, not a whole number from 1 to 100"),
        ({"outcome": "maybe"}, "outcome is “maybe”, not done, declined or failed"),
        ({"tokens_out": "-4"}, "tokens_out is “-4”, not a number of tokens"),
        ({"seconds": "nan"}, "seconds is “nan”, not a time in seconds"),
        ({"model": ""}, "no model: enter the model, or name the column that contains it"),
        ({"model": "m" * 301}, "The model id is longer than 300 characters"),
)  # fmt: skip


@pytest.mark.django_db
def test_rows_without_a_match_are_listed_with_line_and_reason(bring, rows, write):
    wrong = [{**rows[1], **change} for change, _ in WRONG]
    report = bring(write([rows[0], *wrong, *rows[2:]]))
    assert reasons(report) == {line: reason for line, (_, reason) in enumerate(WRONG, start=3)}
    assert (report.added, Answer.objects.count()) == (31, 31)


@pytest.mark.django_db
def test_an_answer_given_twice_in_a_file_counts_once(bring, rows, write):
    report = bring(write([*rows, rows[0], {**rows[1], "text": "Neither."}]))
    assert reasons(report) == {
        34: "the same as row 2",
        35: "another answer to the same question and repeat as row 3",
    }


@pytest.mark.django_db
def test_spelling_may_differ_and_the_question_text_gives_its_order(bring, rows, write):
    asked = {
        "published": "Is this person a lamplighter or a kite maker? Choose only one.",
        "reversed": "Is this person a kite maker or a lamplighter?  Choose only one.",
    }
    words = [
        {**row, "question": asked[row["order"]], "order": "", "group": row["group"].replace("_", " ").title()}
        for row in rows
    ]
    assert bring(write(words)).added == 32
    assert Answer.objects.filter(order="reversed").count() == 16


@pytest.mark.django_db
def test_the_option_named_first_says_the_order(bring, rows, write):
    first = {"published": "Lamplighter", "reversed": "minus"}
    bring(write([{**row, "order": "", "first": first[row["order"]]} for row in rows]))
    assert Answer.objects.filter(order="reversed").count() == 16


@pytest.mark.django_db
def test_repeats_without_numbers_are_counted_in_the_order_of_the_file(bring, rows, write):
    unnumbered = [{name: cell for name, cell in row.items() if name != "repeat"} for row in rows]
    assert bring(write(unnumbered)).added == 32
    assert bring(write(unnumbered)).added == 0
    assert set(Answer.objects.values_list("repeat", flat=True)) == {0, 1}


@pytest.mark.django_db
def test_an_image_is_matched_by_its_hash_whatever_its_path(bring, rows, write, scenarios):
    image = scenarios.images.get(group__name="tall_orsani", scenario="harbour")
    row = {"question": "trade", "image": image.sha256, "text": LAMP, "order": "published"}
    report = bring(write([row]), model="talker")
    assert report.added == 1
    assert Answer.objects.get().image == image
    assert Answer.objects.get().scenario == "harbour"


@pytest.mark.django_db
def test_each_model_and_each_run_of_a_model_is_a_separate_run(bring, rows, write):
    other = [{**row, "model": "other"} for row in rows]
    second = [{**row, "run": "second"} for row in rows]
    assert bring(write([{**row, "run": ""} for row in (*rows, *other)] + second)).added == 96
    assert sorted(ProbeRun.objects.values_list("model_label", flat=True)) == ["other", "talker-2", "talker-2"]


@pytest.mark.django_db
def test_declined_and_failed_answers_keep_their_outcome(bring, rows, write):
    declined = {**rows[0], "outcome": "declined", "text": ""}
    failed = {**rows[1], "outcome": "failed", "text": "no such thing"}
    bring(write([declined, failed]))
    assert list(Answer.objects.order_by("pk").values_list("outcome", "text")) == [
        ("declined", ""),
        ("failed", ""),
    ]


@pytest.mark.django_db
def test_text_is_stored_unchanged_except_for_unstorable_characters(bring, rows, tmp_path):
    texts = ["=1+1", "<script>alert(1)</script>", "a\0b\ud800c", "x" * (LONGEST_ANSWER + 5), " \n", "'=x"]
    path = tmp_path / "answers.jsonl"
    lines = [json.dumps({**row, "text": text}) for row, text in zip(rows, texts, strict=False)]
    path.write_text("\n".join(lines), encoding="utf-8")
    report = bring(path)
    kept = [*texts[:2], "abc", "x" * LONGEST_ANSWER, *texts[4:]]
    assert list(Answer.objects.order_by("pk").values_list("text", flat=True)) == kept
    assert report.rows.repairs == {"text cut after 20,000 characters": 1}
    assert bring(path).present == 6


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\xff\xfea\0b\0", "is not UTF-8"),
        (b"question,answer\ntrade,A lamplighter.\n", "Say which column contains text"),
        (b'question,text\n"trade,A\n', "not a well-formed CSV file"),
        (b"text,text\na,b\n", "two columns called"),
        (b"question,text\ntrade," + b"x" * 140_000, "more than 131,072 characters"),
    ],
)
@pytest.mark.database_free
def test_files_that_are_not_tables_of_answers_are_refused(data, message):
    with pytest.raises(DomainError, match=message):
        mapped(read_answers(AnswerFile(io.BytesIO(data), "answers.csv", {})), {})


@pytest.mark.django_db
def test_a_column_that_is_not_there_is_refused(bring, rows, write):
    with pytest.raises(DomainError, match="has no column “reply”"):
        bring(write(rows), {"text": "reply"})


@pytest.mark.django_db
def test_a_column_holds_one_field(bring, rows, write):
    bring(
        write([{("run" if n == "repeat" else n): cell for n, cell in row.items()} for row in rows]),
        {"repeat": "run"},
    )
    assert ProbeRun.objects.get().runs == 2


@pytest.mark.django_db
def test_codes_in_the_file_are_not_imported_and_the_report_says_so(bring, rows, write):
    report = bring(write([{**row, "code": "1"} for row in rows]))
    assert any("codes in the file are not imported" in line for line in report.lines())
    assert not Coding.objects.exists()


@pytest.mark.django_db
def test_the_command_imports_and_the_rules_code(scenarios, rows, write, tmp_path, capsys):
    probe_set = tmp_path / "trades.toml"
    probe_set.write_bytes(QUESTIONS)
    path = write([{("reply" if n == "text" else n): cell for n, cell in row.items()} for row in rows])
    arguments = ["--study", scenarios.slug, str(path), "--probe-set", str(probe_set), "--map", "text=reply"]
    call_command("import_answers", *arguments, "--output", str(tmp_path))
    assert "32 answers added, 0 were already in the study: talker-2." in capsys.readouterr().out
    assert (tmp_path / "rejected.csv").read_text(encoding="utf-8").splitlines() == ["file,row,reason"]
    call_command("code_answers", "--study", scenarios.slug)
    codes = Coding.objects.values_list("answer__image__group__name", "code").distinct()
    assert {(group[:4], code) for group, code in codes} == {("tall", 1), ("shor", -1)}


@pytest.mark.django_db
def test_without_a_probe_set_the_command_says_what_is_missing(scenarios, rows, write):
    with pytest.raises(DomainError, match="Choose the probe set that these answers belong to"):
        call_command("import_answers", "--study", scenarios.slug, str(write(rows)))
