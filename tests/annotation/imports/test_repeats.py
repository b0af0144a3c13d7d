"""Repeated rows of an annotator id: equal rows are stored once; of different answers, the latest counts."""

import csv
from pathlib import Path

import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.imports.cells import Reading
from annotation.imports.column_map import ColumnMap
from annotation.imports.importer import ImportTarget, import_annotations
from annotation.imports.marks import read_marks
from annotation.imports.ratings import read_ratings
from annotation.models import Annotation, Judgement
from foundation.tables.reader import read_table

COLUMNS = ("image", "group", "attribute", "annotator", "present")
MAP = ColumnMap(columns={name: name for name in COLUMNS})
NONE = "none of the above"


def screens(images: int = 5, people: int = 4) -> list[str]:
    """Everybody answers one screen of each image: two attributes, then none of the above."""
    return [
        f"i{image}.png,Velmari,{attribute},p{person},no"
        for image in range(images)
        for person in range(people)
        for attribute in ("tall hat", "drum", NONE)
    ]


@pytest.fixture
def bring(table, resource):
    """Import rows of image, group, attribute, annotator, present."""

    def bring(*rows: str):
        file = table(",".join(COLUMNS), *rows)
        return import_annotations(
            target=ImportTarget(name="Isles labels", by=None, resource=resource), file=file, column_map=MAP
        )

    return bring


def rejected(report) -> dict[int, str]:
    return {entry.row: entry.reason for entry in report.reports[0].rejected}


def test_a_doubled_row_is_reported_by_its_number_and_kept_once(bring):
    rows = screens()
    report = bring(*rows, rows[3])
    assert rejected(report) == {62: "the same as row 5"}
    assert report.reports[0].reasons == {"identical to an earlier row": 1}
    assert Judgement.objects.count() == 40
    assert "  rejected: identical to an earlier row: 1" in report.lines()


@pytest.mark.parametrize("doubled", [slice(0, 2), slice(0, 3), slice(2, 3), slice(0, 60)])
def test_doubled_rows_of_any_kind_leave_the_study_as_without_them(bring, doubled):
    # Two judgements, a whole screen, 'none of the above' alone (the row after it), the whole file.
    rows = screens()
    again = rows[doubled]
    report = bring(*rows[: doubled.stop], *again, *rows[doubled.stop :])
    assert len(report.reports[0].rejected) == len(again)
    assert (report.loaded[0].judgements, report.loaded[0].none_of_the_above) == (40, 20)
    assert Annotation.objects.count() == 20


def test_one_doubled_row_leaves_ids_usable_and_results_as_they_were(bring, lead):
    rows = [row.replace("p0,no", "p0,yes") if "hat" in row else row for row in screens()]
    study = bring(*rows, rows[3]).study
    summary = compute_report(study=study, parameters=parameters_of(study, resamples=100), by=None).summary
    assert summary["annotator_ids"]["usable"]
    assert summary["annotator_ids"]["repeated_judgements"] == 0
    assert summary["counted"]["judgements"] == 40


def test_equal_screens_of_one_image_are_no_doubled_rows(bring):
    # Without a column for the screen, 'none of the above' of two screens of an image are equal rows.
    rows = [row for image in range(5) for row in (
        f"i{image}.png,Velmari,tall hat,p1,no", f"i{image}.png,Velmari,{NONE},p1,no",
        f"i{image}.png,Velmari,drum,p1,no", f"i{image}.png,Velmari,{NONE},p1,no",
    )]  # fmt: skip
    report = bring(*rows)
    assert not report.reports[0].rejected
    assert report.loaded[0].none_of_the_above == 10


def test_the_latest_repeated_answer_counts_and_earlier_ones_are_reported(bring):
    rows = screens()
    report = bring(*rows, rows[3].replace(",no", ",yes"))
    assert rejected(report) == {5: "answered again in row 62, which counts"}
    kept = Judgement.objects.get(
        annotation__annotator__source_id="p1",
        annotation__task__image__source_name="i0.png",
        attribute__text="tall hat",
    )
    assert kept.present is True
    assert Judgement.objects.count() == 40


def test_a_whole_screen_answered_again_counts_once(bring):
    rows = screens(images=10)
    again = [row.replace("hat,p1,no", "hat,p1,yes").replace("drum,p1,no", "drum,p1,yes") for row in rows[3:6]]
    report = bring(*rows, *again)
    assert rejected(report) == {
        5: "answered again in row 122, which counts",
        6: "answered again in row 123, which counts",
        7: "its screen was answered again",
    }
    assert (report.loaded[0].judgements, report.loaded[0].none_of_the_above) == (80, 40)


def test_times_of_answers_decide_which_is_the_latest(table):
    lines = [f"i{n % 10}.png,Velmari,tall hat,p{n // 10},no,2026-01-02T00:00:00Z" for n in range(40)]
    earlier = lines[0].replace(",no,2026-01-02", ",yes,2026-01-01")
    file = table(",".join((*COLUMNS, "submitted_at")), *lines, earlier)
    column_map = ColumnMap(columns=dict(MAP.columns) | {"submitted_at": "submitted_at"})
    reading = Reading(read_table(file))
    read_marks(reading, column_map, groups=None, study_images={})
    (entry,) = reading.report("annotations").rejected
    assert (entry.row, entry.reason) == (42, "answered again in row 2, which counts")


def test_widespread_repeats_are_kept_and_ids_are_not_taken_for_people(bring):
    rows = screens()
    again = [row.replace(",no", ",yes") for row in rows if "hat" in row][:5]  # 5 of 45
    report = bring(*rows, *again, rows[0])
    assert not report.reports[0].rejected
    assert report.reports[0].notes == (
        "1 rows are identical to an earlier row and were kept, because an annotator id in this file can stand for "
        "several people",
    )
    summary = compute_report(
        study=report.study, parameters=parameters_of(report.study, resamples=100), by=None
    ).summary
    assert not summary["annotator_ids"]["usable"]
    # 5 further answers and one equal row, of 46
    assert summary["annotator_ids"]["sentence"].startswith(
        "13.04 % of the judgements repeat an earlier judgement"
    )


def test_a_doubled_rating_is_reported_and_kept_once(table):
    rows = [f"a{number},p{person},4" for number in range(5) for person in range(3)]
    columns = ("attribute", "annotator", "rating")
    reading = Reading(read_table(table(",".join(columns), *rows, rows[4])))
    read_ratings(reading, ColumnMap(columns={name: name for name in columns}))
    report = reading.report("ratings")
    assert [(entry.row, entry.reason) for entry in report.rejected] == [(17, "the same as row 6")]


def test_the_command_writes_doubled_rows_to_rejected_csv(table, resource, tmp_path, db):
    rows = screens()
    file = table(",".join(COLUMNS), *rows, rows[0])
    options = [part for name in COLUMNS for part in ("--map", f"{name}={name}")]
    call_command(
        "import_annotations",
        "--study",
        "Isles labels",
        str(file),
        *options,
        "--output",
        str(tmp_path / "out"),
    )
    with (tmp_path / "out" / "rejected.csv").open(encoding="utf-8", newline="") as stream:
        assert list(csv.DictReader(stream)) == [
            {"file": Path(file).name, "row": "62", "reason": "the same as row 2"}
        ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 39), st.integers(0, 60)), max_size=6))
def test_doubling_rows_anywhere_changes_nothing_that_is_kept(tmp_path_factory, doubled):
    judged = [f"i{n % 10}.png,Velmari,tall hat,p{n // 10},{'yes' if n % 3 else 'no'}" for n in range(40)]
    lines = list(judged)
    for source, place in doubled:
        lines.insert(min(place, len(lines)), judged[source])
    file = tmp_path_factory.mktemp("table") / "labels.csv"
    file.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n", encoding="utf-8")
    reading = Reading(read_table(file))
    read_marks(reading, MAP, groups=None, study_images={})
    kept = [lines[index] for index in range(len(lines)) if reading.accepted[index]]
    assert sorted(kept) == sorted(judged)
    report = reading.report("annotations")
    for entry in report.rejected:
        number = int(entry.reason.removeprefix("the same as row "))
        assert lines[entry.row - 2] == lines[number - 2]
        assert number < entry.row
