"""Tables of ratings: one a row, or a column for each rater as published."""

import pytest

from annotation.imports.column_map import ColumnMap
from annotation.imports.importer import ImportTarget, import_annotations
from annotation.imports.ratings import _justification
from annotation.imports.visage import read_wide_ratings
from annotation.models import Annotation, Campaign, Judgement, Task
from foundation.errors import DomainError
from foundation.tables.reader import read_table

COLUMNS = {"attribute": "word", "annotator": "who", "rating": "answer", "justification": "why"}


@pytest.fixture
def bring(db, table):
    def import_rows(*rows: str):
        return import_annotations(
            target=ImportTarget(name="Words", by=None),
            file=table("word,who,answer,why", *rows),
            column_map=ColumnMap(columns=COLUMNS),
        )

    return import_rows


def test_each_row_is_an_annotation_and_one_attribute_is_one_task(bring):
    report = bring("kite,w1,Strongly Agree,", "kite,w2,3,cannot tell", "kite,w1,agree,", "Mood,w1,1,")
    assert Campaign.objects.get().kind == "attribute_likert"
    assert list(Judgement.objects.order_by("pk").values_list("attribute__text", "rating")) == [
        ("kite", 5),
        ("kite", 3),
        ("kite", 4),
        ("mood", 1),
    ]
    assert Task.objects.count() == 2
    assert Annotation.objects.get(judgements__rating=3).justification == "cannot tell"
    assert (report.reports[0].kept, report.reports[0].repaired) == (3, 1)


def test_ratings_that_do_not_exist_are_rejected(bring):
    report = bring("kite,w1,5,", "kite,w2,6,", "kite,w2,,", ",w2,,", "kite,w2,yes,")
    assert [(entry.row, entry.reason) for entry in report.reports[0].rejected] == [
        (3, "rating is “6”"),
        (4, "rating is empty"),
        (5, "blank row"),
        (6, "rating is “yes”"),
    ]


def test_a_rating_keeps_the_language_it_was_given_in(db, table):
    report = import_annotations(
        target=ImportTarget(name="Words", by=None),
        file=table(
            "word,who,answer,read", "kite,w1,5,de", "kite,w2,4,es-MX", "kite,w3,3,", "kite,w4,3,klingon"
        ),
        column_map=ColumnMap(
            columns={"attribute": "word", "annotator": "who", "rating": "answer", "language": "read"}
        ),
    )
    assert dict(Annotation.objects.values_list("annotator__source_id", "language")) == {
        "w1": "de",
        "w2": "es",
        "w3": None,
    }
    assert [(entry.row, entry.reason) for entry in report.reports[0].rejected] == [
        (5, "language is “klingon”, not a code of ISO 639 with two letters")
    ]


def test_a_lone_surrogate_is_not_accepted_in_a_justification():
    with pytest.raises(ValueError, match="not text"):
        _justification("because \ud800")


def test_marks_may_follow_ratings_into_a_study_without_a_resource(bring, table):
    bring("kite,w1,5,")
    columns = {name: name for name in ("image", "group", "attribute", "annotator", "present")}
    file = table(",".join(columns), "a.png,Newfolk,kite,w1,yes")
    report = import_annotations(
        target=ImportTarget(name="Words", by=None), file=file, column_map=ColumnMap(columns=columns)
    )
    assert (report.reports[0].kept, Campaign.objects.count()) == (1, 2)


def wide(table, *rows: str):
    header = "attribute,rating_asia,score_asia,rating_emea,score_emea,mean"
    return read_wide_ratings(read_table(table(header, *rows, name="wide.csv")))


def test_a_column_for_each_rater_becomes_a_rating_each_and_rows_that_differ_all_count(table):
    ratings, rows = wide(table, "hat,Agree,4,Disagree,2,3", "hat,Agree,4,Unsure (with Justification),3,3.5")
    accepted = ratings.reading.accepted
    assert list(zip(ratings.annotator.of(accepted), ratings.rating.of(accepted), strict=True)) == [
        ("asia", 4),
        ("emea", 2),
        ("asia", 4),
        ("emea", 3),
    ]
    assert (rows.read, rows.kept, rows.notes) == (2, 2, ())


def test_scores_and_means_that_disagree_with_the_ratings_are_reported(table):
    _, rows = wide(table, "hat,Agree,5,Disagree,2,3", "kite,Agree,4,Agree,4,2", "drum,Agree,4,Agree,4,4")
    assert rows.notes == (
        "1 rows have a score that does not match the rating; the rating is used",
        "1 rows have a mean that is not the mean of the ratings; this mean is not used",
    )


def test_a_missing_rating_is_repaired_and_an_unknown_one_rejected(table):
    ratings, rows = wide(table, "hat,Agree,4,,,4", "kite,Perhaps,4,Agree,4,4", ",,,,,", "drum,,,,,")
    assert ratings.annotator.of(ratings.reading.accepted) == ["asia"]
    assert rows.repairs == {"imported without rating_emea, which is empty": 1}
    assert [(entry.row, entry.reason) for entry in rows.rejected] == [
        (3, "rating_asia is “Perhaps”"),
        (4, "blank row"),
        (5, "no rating"),
    ]
    assert rows.kept + rows.repaired + len(rows.rejected) == rows.read


def test_a_table_without_raters_is_refused(table):
    with pytest.raises(DomainError, match="at least one named “rating_…”"):
        read_wide_ratings(read_table(table("attribute,score", "hat,3", name="wide.csv")))
