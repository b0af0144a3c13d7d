"""Importing a resource from a file: completely, repeatedly, changed, or refused."""

import csv
import io
import math

import pytest
from django.core.management import call_command

from catalog.imports.resources import import_resource
from catalog.models import Attribute, IdentityGroup, Resource, Stereotype
from foundation.errors import DomainError
from studies.models import StudyGroup

HEADER = (
    "identity,attribute,region_stereo,region_nonstereo,region_unsure,NA_stereo,NA_nonstereo,NA_unsure,"
    "Annotation1,Annotation2,Annotation3,mean offensiveness_score"
)
KITES = "Velmari,kite,2,1,0,1,2,0,-1,0,1,0"
DRUMS = "Orsani,drum,1,1,1,0,3,0,NA,NA,,0"


def bring(*rows: str, header: str = HEADER, name: str = "Isles", **options):
    content = "\n".join([header, *rows]) + "\n"
    return import_resource(
        file=io.BytesIO(content.encode()), file_name="isles.csv", name=name, by=None, **options
    )


def test_counts_ratings_and_the_stored_mean_are_kept(db):
    report = bring(KITES)
    pair = Stereotype.objects.get()
    assert (pair.in_region_stereotype, pair.in_region_not, pair.out_region_stereotype) == (2, 1, 1)
    assert (pair.rating_1, pair.rating_2, pair.rating_3, pair.offensiveness_stored) == (-1, 0, 1, 0)
    assert report.resource.has_rater_counts
    assert (report.rows.read, report.rows.kept, report.created) == (1, 1, 1)


def test_na_and_empty_ratings_are_missing_and_not_zero(db):
    bring(DRUMS)
    pair = Stereotype.objects.get()
    assert (pair.rating_1, pair.rating_2, pair.rating_3) == (None, None, None)
    assert pair.offensiveness_stored == 0


def test_columns_that_the_file_lacks_are_null(db):
    bring("Velmari,kite,2,1,0", header="identity,attribute,region_stereo,region_nonstereo,region_unsure")
    pair = Stereotype.objects.get()
    assert (pair.in_region_stereotype, pair.out_region_stereotype, pair.rating_1) == (2, None, None)


def test_a_list_without_rater_counts_says_so(db):
    assert not bring("Velmari,kite", header="identity,attribute").resource.has_rater_counts


def test_names_that_programs_take_for_missing_are_names(db):
    bring("NA,none", "nan,null", header="identity,attribute")
    assert set(IdentityGroup.objects.values_list("name", flat=True)) == {"NA", "nan"}
    assert set(Attribute.objects.values_list("text", flat=True)) == {"none", "null"}


def test_an_identity_is_a_name_within_its_resource(db):
    bring("Georgian,kite", "French,kite", header="identity,attribute", name="countries")
    bring("Georgian,kite", "Texan,kite", header="identity,attribute", name="states")
    codes = IdentityGroup.objects.filter(name="Georgian").values_list("resource__name", "iso_code")
    assert dict(codes) == {"countries": "GEO", "states": "US-GA"}


def test_an_identity_is_spelled_as_the_file_spells_it_and_shown_clean(db):
    bring('",Orsani",kite', "United KingdomUK,kite", header="identity,attribute")
    names = dict(IdentityGroup.objects.values_list("name", "display_name"))
    assert names == {",Orsani": "Orsani", "United KingdomUK": "United Kingdom"}


def test_attributes_are_normalised_and_counted_as_repaired(db):
    report = bring("Velmari,  Tall   HAT ", header="identity,attribute")
    assert Attribute.objects.get().text == "tall hat"
    assert (report.rows.kept, report.rows.repaired) == (0, 1)


def test_blank_rows_and_pairs_listed_again_are_rejected_with_their_row(db):
    report = bring("Velmari,kite", ",", "Velmari,Kite", "Velmari,drum", header="identity,attribute")
    assert [(entry.row, entry.reason) for entry in report.rows.rejected] == [
        (3, "blank row"),
        (4, "lists the pair of row 2 again"),
    ]
    assert report.rows.kept + report.rows.repaired + len(report.rows.rejected) == report.rows.read == 4


def test_a_stored_mean_that_disagrees_with_its_ratings_is_reported_and_kept(db):
    report = bring(KITES, "Velmari,drum,2,1,0,1,2,0,4,4,4,2")
    assert any(note.startswith("1 rows have a mean") and "row 3" in note for note in report.rows.notes)
    pair = Stereotype.objects.get(attribute__text="drum")
    assert (pair.rating_1, pair.offensiveness_stored) == (4, 2)


def test_importing_again_changes_nothing_and_says_so(db):
    first = bring(KITES, DRUMS)
    before = (
        list(Stereotype.objects.values()),
        list(Resource.objects.values()),
        list(IdentityGroup.objects.values()),
    )
    again = bring(KITES, DRUMS)
    assert (
        list(Stereotype.objects.values()),
        list(Resource.objects.values()),
        list(IdentityGroup.objects.values()),
    ) == before
    assert first.changed
    assert not again.changed
    assert "nothing changed" in again.outcome


def test_a_changed_file_updates_adds_and_removes(db):
    bring(KITES, DRUMS)
    report = bring(KITES.replace(",2,1,0,1", ",3,0,0,1"), "Velmari,lantern,2,1,0,1,2,0,-1,-1,-1,-1")
    assert (report.created, report.updated, report.removed) == (1, 1, 1)
    assert Stereotype.objects.get(attribute__text="kite").in_region_stereotype == 3
    assert list(IdentityGroup.objects.values_list("name", flat=True)) == ["Velmari"]


def test_a_group_that_a_study_uses_stays_when_the_file_no_longer_names_it(study, resource):
    content = b"identity,attribute\nVelmari,kite\n"
    import_resource(file=io.BytesIO(content), file_name="isles.csv", name=resource.name, by=None)
    assert StudyGroup.objects.filter(study=study, group=None).count() == 0


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([KITES.replace("kite,2", "kite,-2")], "row 2: region_stereo is -2, not a whole number"),
        ([KITES.replace("kite,2", "kite,2.5")], "row 2: region_stereo is 2.5, not a whole number"),
        ([KITES.replace("kite,2", "kite,99999")], "row 2: region_stereo is 99999, not a whole number"),
        (
            [KITES, KITES.replace("kite", "drum").replace(",-1,0,1,0", ",-1,x,1,0")],
            "row 3: Annotation2 is “x”, not a number",
        ),
        ([KITES.replace(",-1,0,1,0", ",-1,0,1,nan")], "mean offensiveness_score is “nan”, not a number"),
        ([KITES.replace(",-1,0,1,0", ",-1,0,1,1e999")], "is “1e999”, not a number"),
        ([KITES.replace(",-1,0,1,0", ",-2,0,1,0")], "Annotation1 is -2; the lowest score is -1"),
        ([KITES.replace("Velmari", "V" * 121)], "row 2: identity is longer than 120 characters"),
        ([KITES.replace("Velmari", "")], "row 2: identity is empty"),
        ([KITES.replace("Velmari", "Vel\x07mari")], "row 2: identity contains a control character"),
        ([KITES.replace("kite", "k" * 161)], "row 2: The attribute"),
        ([KITES.replace("kite", " ")], "row 2: An attribute is empty"),
        ([KITES, "Velmari,drum"], "row 3: it has 2 cells where the header has 12"),
        ([], "lists no pair"),
    ],
)
def test_a_bad_cell_refuses_the_file_naming_row_and_column_and_writes_nothing(db, rows, sentence):
    with pytest.raises(DomainError) as refusal:
        bring(*rows)
    assert "isles.csv" in refusal.value.message
    assert sentence in refusal.value.message
    assert not Resource.objects.exists()
    assert not Attribute.objects.exists()


def test_several_bad_rows_are_counted_and_listed(db):
    with pytest.raises(DomainError, match=r"row 2: .*\(rows with problems: 2\)") as refusal:
        bring(KITES.replace("kite,2", "kite,-2"), KITES.replace("kite,2", "drum,-2"))
    assert set(refusal.value.fields) == {"row 2", "row 3"}


@pytest.mark.parametrize("column", ["identity", "attribute"])
def test_a_file_without_a_needed_column_is_refused_by_its_name(db, column):
    with pytest.raises(DomainError, match=f"has no column “{column}”"):
        bring("x,y", header=f"other,{'identity' if column == 'attribute' else 'attribute'}")


@pytest.mark.parametrize("name", ["", "  ", "n" * 121])
def test_a_resource_needs_a_name(db, name):
    with pytest.raises(DomainError, match="needs a name"):
        bring(KITES, name=name)


def published(shared_data, file: str) -> list[dict[str, str]]:
    with (shared_data / "seegull" / file).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.mark.parametrize(
    ("file", "groups", "unrated"),
    [
        ("stereotypes_global_v2.csv", 176, 1197),
        ("stereotypes_us_states.csv", 55, 178),
        ("stereotypes_indian_states.csv", 14, 16),
    ],
)
def test_the_published_files_are_imported_completely(db, shared_data, file, groups, unrated):
    rows = published(shared_data, file)
    report = import_resource(file=shared_data / "seegull" / file, name="published", by=None)
    assert report.rows.read == len(rows) == report.rows.kept + report.rows.repaired
    assert (report.groups, report.without_place) == (groups, ())
    stored = {
        (pair.group.name, pair.attribute.text): pair
        for pair in Stereotype.objects.select_related("group", "attribute")
    }
    assert len(stored) == len(rows)
    mean = next(column for column in rows[0] if column.endswith("offensiveness_score"))
    for row in rows:
        pair = stored[row["identity"], row["attribute"].lower()]
        assert pair.in_region_stereotype == int(row["region_stereo"])
        assert pair.out_region_stereotype == (int(row["NA_stereo"]) if "NA_stereo" in row else None)
        assert pair.rating_2 == (None if row["Annotation2"] in {"", "NA"} else float(row["Annotation2"]))
        assert math.isclose(pair.offensiveness_stored, float(row[mean]))
    assert sum(pair.rating_1 is None for pair in stored.values()) == unrated


def test_the_command_reports_and_writes_rejected_rows(db, tmp_path, capsys):
    file = tmp_path / "isles.csv"
    file.write_text("identity,attribute\nVelmari,kite\n,\n", encoding="utf-8")
    call_command("import_stereotypes", file, resource="Isles", output=tmp_path / "out")
    assert "2 rows read = 1 kept + 0 repaired + 1 rejected" in capsys.readouterr().out
    assert (tmp_path / "out" / "rejected.csv").read_text().splitlines() == [
        "file,row,reason",
        "isles.csv,3,blank row",
    ]
