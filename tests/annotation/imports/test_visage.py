"""The released ViSAGe study: its shape with invented peoples, and the files themselves where present."""

import csv
from collections import Counter

import pytest
from django.core.management import call_command

from accounts.models import Annotator, AnnotatorProfile
from annotation.imports.marks import group_of_file
from annotation.imports.visage import VisageFiles, import_visage
from annotation.models import Annotation, Box, Campaign, Judgement, TaskAttribute
from catalog.models import Resource
from foundation.errors import Conflict, DomainError
from foundation.tables.reader import read_table
from generation.models import Image
from jobs.progress.reporter import Unwatched
from studies.models import Study

STEREOTYPES = [
    "identity,attribute,region_stereo,region_nonstereo,region_unsure,NA_stereo,NA_nonstereo,NA_unsure",
    "Velmari,tall hat,2,1,0,1,2,0",
    "Velmari,kite,1,2,0,0,3,0",
    "Orsani KingdomOK,drum,2,1,0,1,2,0",
]
MARKS = [
    ["worker_id", "img_path", "attribute", "present", "coords"],
    ["A0", "/one/Velmari5.png", "tall hat", "yes", "['507.7,54.6', '3.3,610.8']"],
    ["A0", "/one/Velmari5.png", "drum", "no", "[]"],
    ["A0", "/one/Velmari5.png", "none of the above", "no", "[]"],
    ["A0", "/one/Velmari5.png", "tall hat", "no", "[]"],
    ["A0", "/one/Velmari5.png", "drum", "no", "[]"],
    ["A0", "/one/Velmari5.png", "none of the above", "no", "[]"],
    ["A100", "", "", "yes", "[nan, nan]"],
    ["A100", "/two/Velmari5.png", "tall hat", "yes", "['1,2', '3,4']"],
    ["A100", "/two/Orsani KingdomOK12.png", "drum", "yes", "['0,0', '512,512']"],
]
RATINGS = [
    ["attribute", "rating_asia", "score_asia", "rating_emea", "score_emea", "rating_na", "score_na", "mean"],
    ["tall hat", "Strongly Agree", 5.0, "Agree", 4.0, "Unsure (with Justification)", 3.0, 4.0],
    ["drum", "Disagree", 2.0, "Strongly Disagree", 1.0, "Agree", 4.0, 2.3333],
    ["drum", "Disagree", 2.0, "Strongly Disagree", 1.0, "Agree", 4.0, 2.3333],
]


@pytest.fixture
def files(table, workbook):
    return {
        "stereotypes": table(*STEREOTYPES, name="stereotypes.csv"),
        "annotations": workbook({"full": MARKS, "excerpt": MARKS[:2]}, "marks.xlsx"),
        "visual_attributes": workbook({"all": RATINGS}, "ratings.xlsx"),
    }


def test_rows_campaigns_annotators_and_images_are_imported(db, files, lead):
    report = import_visage(study="Released", files=VisageFiles(**files), by=lead)
    assert [(r.kind, r.read, r.kept, r.repaired, len(r.rejected)) for r in report.reports] == [
        ("stereotypes", 3, 3, 0, 0),
        ("annotations", 9, 7, 1, 1),
        ("visual attributes", 3, 2, 0, 1),
    ]
    study = Study.objects.get()
    assert set(study.groups.values_list("name", flat=True)) == {"Velmari", "Orsani KingdomOK"}
    assert set(Image.objects.values_list("source_name", "group__name", "model_label", "width")) == {
        ("/one/Velmari5.png", "Velmari", "Stable Diffusion v1.4", 512),
        ("/two/Velmari5.png", "Velmari", "Stable Diffusion v1.4", 512),
        ("/two/Orsani KingdomOK12.png", "Orsani KingdomOK", "Stable Diffusion v1.4", 512),
    }
    marking, likert = Campaign.objects.order_by("pk")
    assert (marking.annotations.count(), likert.annotations.count()) == (4, 6)
    asked = marking.annotations.filter(none_of_the_above=False).count()
    assert (asked, marking.annotations.filter(none_of_the_above=None).count()) == (2, 2)
    regions = AnnotatorProfile.objects.values_list("annotator__source_id", "region_of_origin")
    assert dict(regions) == {"asia": "Asia", "emea": "Europe, Middle East and Africa", "na": "North America"}
    assert Judgement.objects.filter(attribute__text="drum", rating__isnull=False).count() == 3
    box = Box.objects.get(clipped=True)
    assert box.judgement.annotation.annotator.source_id == "A0"
    assert box.height == pytest.approx(1 - 54.6 / 512)


def test_the_same_files_again_change_nothing(db, files):
    import_visage(study="Released", files=VisageFiles(**files), by=None)
    assert import_visage(study="Released", files=VisageFiles(**files), by=None).unchanged
    assert Campaign.objects.count() == 2
    assert Resource.objects.count() == 1


def test_other_files_are_refused_by_a_study_with_labels(db, files):
    import_visage(study="Released", files=VisageFiles(**files), by=None)
    with pytest.raises(Conflict, match="“Released” already has other labels"):
        import_visage(study="Released", files=VisageFiles(**(files | {"visual_attributes": None})), by=None)


def test_two_studies_may_hold_the_same_release_and_share_its_resource(db, files):
    import_visage(study="Released", files=VisageFiles(**files), by=None)
    import_visage(study="Released again", files=VisageFiles(**files), by=None)
    assert (Study.objects.count(), Resource.objects.count()) == (2, 1)
    assert Annotator.objects.filter(source_id="A0").count() == 2


def test_an_interrupted_import_leaves_nothing(db, files):
    class Stopping(Unwatched):
        def advance(self, n: int = 1, message: str = "") -> None:
            if message == "writing ratings":
                assert Annotation.objects.exists()
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_visage(study="Released", files=VisageFiles(**files), by=None, progress=Stopping())
    for model in (Study, Resource, Annotation, Annotator, Image, Campaign):
        assert not model.objects.exists(), model


def test_a_group_that_the_stereotypes_do_not_name_is_rejected(db, files, workbook):
    strange = [*MARKS, ["A1", "/one/Martian3.png", "drum", "no", "[]"]]
    report = import_visage(
        study="R", files=VisageFiles(**(files | {"annotations": workbook({"s": strange})})), by=None
    )
    assert [(entry.row, entry.reason) for entry in report.reports[1].rejected] == [
        (8, "blank row"),
        (11, "unknown group “Martian”"),
    ]


def test_a_workbook_without_a_column_is_refused_by_its_name(db, files):
    with pytest.raises(DomainError, match=r"“ratings.xlsx” has no column “worker_id”"):
        import_visage(
            study="R", files=VisageFiles(**(files | {"annotations": files["visual_attributes"]})), by=None
        )
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("/a/b/Mexican5.png", "Mexican"),
        ("United KingdomUK13.png", "United KingdomUK"),
        ("C:\\images\\Costa Rican1.jpeg", "Costa Rican"),
        ("x/Velmari.png", "Velmari"),
    ],
)
def test_the_group_is_the_file_name_without_number_and_ending(path, group):
    assert group_of_file(path) == group


@pytest.mark.parametrize("path", ["12.png", "folder/", "Mexican5", ""])
def test_a_file_name_without_a_group_is_refused(path):
    with pytest.raises(ValueError, match="no group in the file name"):
        group_of_file(path)


def test_the_command_reports_and_writes_rejected_rows(db, files, tmp_path, capsys):
    options = {name.replace("-", "_"): path for name, path in files.items()}
    call_command("import_visage", study="Released", output=tmp_path / "out", **options)
    out = capsys.readouterr().out
    assert "annotations (marks.xlsx): 9 rows read = 7 kept + 1 repaired + 1 rejected" in out
    lines = (tmp_path / "out" / "rejected.csv").read_text().splitlines()
    assert lines == ["file,row,reason", "marks.xlsx,8,blank row", "ratings.xlsx,4,the same as row 3"]
    call_command("import_visage", study="Released", output=tmp_path / "out", **options)
    assert "nothing changed" in capsys.readouterr().out


@pytest.fixture
def released(shared_data):
    return {
        "stereotypes": shared_data / "seegull" / "stereotypes_global_v2.csv",
        "annotations": shared_data / "visage" / "Image Annotations.xlsx",
        "visual_attributes": shared_data / "visage" / "Visual Attributes_.xlsx",
    }


@pytest.mark.slow
def test_the_released_study_is_imported_completely(db, released):
    """Every count is taken from the file independently of the importer."""
    report = import_visage(study="ViSAGe", files=VisageFiles(**released), by=None)
    table = read_table(released["annotations"])
    rows = list(
        zip(*(table.columns[c] for c in ("worker_id", "img_path", "attribute", "present")), strict=True)
    )
    filled = [row for row in rows if row[2]]
    marks, ratings = report.reports[1:]
    assert (marks.read, len(marks.rejected), marks.reasons) == (122_675, 2_505, {"blank row": 2_505})
    assert marks.kept + marks.repaired == len(filled) == 120_170
    assert (ratings.read, ratings.kept) == (1_994, 1_993)
    # Rows of one screen equal each other: they are answers of several people, and all count.
    assert "are identical to an earlier row and were kept" in marks.notes[-1]
    assert ratings.reasons == {"identical to an earlier row": 1}
    campaign = report.loaded[0].campaign
    stored = Judgement.objects.filter(annotation__campaign=campaign)
    triples = stored.values_list(
        "annotation__annotator__source_id",
        "annotation__task__image__source_name",
        "attribute__text",
        "present",
    )
    expected = Counter((w, i, a, p == "yes") for w, i, a, p in filled if a != "none of the above")
    assert Counter(triples.iterator()) == expected
    nones = Annotation.objects.filter(campaign=campaign, none_of_the_above__isnull=False)
    assert nones.count() == sum(row[2] == "none of the above" for row in filled) == 24_034
    assert not nones.filter(none_of_the_above=True).exists()
    assert report.study.groups.count() == 135
    assert Image.objects.filter(study=report.study).count() == len({row[1] for row in filled}) == 2_682
    # 7,580 rows are marked, each with two corners; the box of one lies outside the image.
    assert sum(row[3] == "yes" for row in filled) == 7_580
    assert Box.objects.filter(judgement__annotation__campaign=campaign).count() == 7_579
    assert report.loaded[1].judgements == 3 * 1_993
    assert Judgement.objects.filter(attribute__text="handsome", rating__isnull=False).count() == 3
    shown = TaskAttribute.objects.filter(task__campaign=campaign).values_list("task", "attribute")
    assert shown.count() == shown.distinct().count()


@pytest.mark.slow
def test_rejected_csv_lists_the_blank_rows_by_their_number_in_the_workbook(db, released, tmp_path):
    call_command("import_visage", study="ViSAGe", output=tmp_path, **released)
    with (tmp_path / "rejected.csv").open(encoding="utf-8", newline="") as file:
        rejected = list(csv.DictReader(file))
    assert len(rejected) == 2_506
    assert rejected[-1]["reason"].startswith("the same as row ")
    assert (rejected[0]["row"], rejected[0]["reason"]) == ("32502", "blank row")
