"""Any table of marks: every row kept, repaired or rejected; written whole or not at all."""

import pytest

from accounts.models import Annotator
from annotation.answers.inclusion import counted
from annotation.imports.column_map import ColumnMap
from annotation.imports.importer import ImportTarget, import_annotations
from annotation.models import Annotation, Box, Campaign, CampaignAttribute, Judgement, Task, TaskAttribute
from foundation.errors import Conflict, DomainError
from generation.models import Image
from studies.models import AuditEntry, Study, StudyAssociation, StudyMembership

KITE = 'a.png,Velmari,tall hat,w1,yes,"[10,20,60,120]"'
DRUM = "a.png,Velmari,drum,w1,no,"


def totals(report) -> tuple[int, int, int]:
    rows = report.reports[0]
    assert rows.kept + rows.repaired + len(rows.rejected) == rows.read
    return rows.kept, rows.repaired, len(rows.rejected)


def reasons(report) -> dict[int, str]:
    return {entry.row: entry.reason for entry in report.reports[0].rejected}


def test_rows_become_judgements_of_a_closed_imported_campaign(bring_marks, lead):
    report = bring_marks(KITE, DRUM, by=lead)
    campaign = Campaign.objects.get()
    assert (campaign.imported, campaign.state, campaign.kind) == (True, "closed", "stereotype_marking")
    assert totals(report) == (2, 0, 0)
    annotation = Annotation.objects.get()
    assert annotation.none_of_the_above is None
    assert (annotation.annotator.origin, annotation.annotator.source_id) == ("imported", "w1")
    answers = dict(annotation.judgements.values_list("attribute__text", "present"))
    assert answers == {"tall hat": True, "drum": False}
    assert counted(campaign).count() == 1
    box = Box.objects.get()
    assert (box.x, box.y, box.width, box.height) == pytest.approx((0.1, 0.1, 0.5, 0.5))
    image = Image.objects.get()
    assert (image.source_name, image.group.name, image.file, image.width) == ("a.png", "Velmari", "", 100)
    assert StudyMembership.objects.get().user == lead


def test_the_study_is_frozen_from_the_resource_and_roles_follow_it(bring_marks):
    bring_marks(KITE, DRUM, "b.png,Orsani,drum,w1,yes,")
    study = Study.objects.get()
    assert study.frozen_at is not None
    assert StudyAssociation.objects.count() == 8
    planned = CampaignAttribute.objects.values_list("group__name", "attribute__text", "role")
    assert set(planned) == {
        ("Velmari", "tall hat", "stereotype"),
        ("Velmari", "drum", "random"),
        ("Orsani", "drum", "stereotype"),
    }


def test_only_groups_with_labels_are_in_the_study(bring_marks):
    bring_marks(KITE)
    assert list(Study.objects.get().groups.values_list("name", flat=True)) == ["Velmari"]


def test_answers_of_several_people_under_one_id_become_further_annotations_on_the_same_task(bring_marks):
    # Ids that sit on one image each and answer again and again are screens, as in the released ViSAGe files.
    screen = [KITE, DRUM, "a.png,Velmari,none of the above,w1,no,"]
    other = [row.replace("a.png", "b.png").replace("w1", "w2") for row in screen]
    report = bring_marks(*screen * 3, *other * 3)
    (note,) = report.notes or report.reports[0].notes
    assert note.startswith("12 rows are identical to an earlier row and were kept")
    assert not report.reports[0].rejected
    assert Annotation.objects.count() == 6
    assert Judgement.objects.count() == 12
    assert set(Annotation.objects.values_list("none_of_the_above", flat=True)) == {False}
    assert set(Task.objects.values_list("wanted", flat=True)) == {3}
    assert TaskAttribute.objects.count() == 4
    assert (report.loaded[0].judgements, report.loaded[0].none_of_the_above) == (12, 6)


def test_answers_in_two_languages_are_separate_screens(table, resource):
    columns = {name: name for name in ("image", "group", "attribute", "annotator", "present", "language")}
    import_annotations(
        target=ImportTarget(name="Isles labels", by=None, resource=resource),
        file=table(
            ",".join(columns),
            "a.png,Velmari,tall hat,w1,yes,de",
            "a.png,Velmari,drum,w1,no,de",
            "a.png,Velmari,kite,w1,no,hi",
        ),
        column_map=ColumnMap(columns=columns),
    )
    answers = Judgement.objects.order_by("pk").values_list("attribute__text", "annotation__language")
    assert dict(answers) == {"tall hat": "de", "drum": "de", "kite": "hi"}
    assert Annotation.objects.count() == 2


def test_none_of_the_above_answered_yes_is_kept_as_that_answer(bring_marks):
    bring_marks(DRUM, "a.png,Velmari,None of the Above,w1,yes,")
    assert Annotation.objects.get().none_of_the_above is True
    assert Judgement.objects.count() == 1


def test_repaired_rows_say_how_and_count_once(bring_marks):
    report = bring_marks(
        'a.png,Velmari,Tall  Hat,w1,YES,"60,120,10,20"',
        'a.png,Velmari,drum,w1,1,"-5,0,50,300"',
        'a.png,Velmari,kite,w1,yes,"150,0,160,50"',
        'a.png,Velmari,lantern,w1,no,"1,1,5,5"',
        "a.png,Velmari,umbrella,w1,no,",
    )
    assert totals(report) == (1, 4, 0)
    assert report.reports[0].repairs == {
        "attribute normalised (case, spaces)": 1,
        "corners of the box sorted": 1,
        "box clipped to the image": 2,
        "box without area dropped": 1,
        "box dropped because its attribute was not marked": 1,
    }
    assert Judgement.objects.count() == 5
    assert dict(Box.objects.values_list("judgement__attribute__text", "clipped")) == {
        "tall hat": False,
        "drum": True,
    }


def test_unreadable_rows_are_rejected_with_number_and_reason(bring_marks):
    report = bring_marks(
        KITE,
        ",,,w1,yes,",
        "a.png,Velmari,drum,w1,maybe,",
        "a.png,Velmari,drum,w1,,",
        "b.png,Martian,drum,w1,yes,",
        "a.png,Velmari,,w1,yes,",
        ",Velmari,drum,w1,yes,",
        "a.png,Velmari,drum,,yes,",
        'a.png,Velmari,drum,w1,yes,"[nan, nan]"',
        'a.png,Velmari,drum,w1,yes,"1,2,3"',
        "a.png,Orsani,drum,w1,yes,",
        "a.png,Velmari,drum,w1,yes",
        f"{'p' * 501}.png,Velmari,drum,w1,yes,",
        f"a.png,Velmari,{'d' * 161},w1,yes,",
        f"a.png,Velmari,drum,{'w' * 201},yes,",
    )
    found = reasons(report)
    assert found == {
        3: "blank row",
        4: "present is “maybe”",
        5: "present is empty",
        6: "unknown group “Martian”",
        7: "An attribute is empty",
        8: "no image",
        9: "no annotator",
        10: "“[nan, nan]” are not coordinates",
        11: "the box has 3 numbers, but a box needs four",
        12: "the image has another group in an earlier row",
        13: "5 cells where the header has 6",
        14: "image longer than 500 characters",
        15: found[15],
        16: "annotator longer than 200 characters",
    }
    assert "longer than 160" in found[15]
    assert Judgement.objects.count() == 1


def test_nothing_is_written_when_no_row_can_be_read(bring_marks):
    with pytest.raises(
        DomainError, match=r"None of the 2 rows of “labels.csv” can be read; row 2: unknown group"
    ):
        bring_marks("a.png,Martian,drum,w1,yes,", "b.png,Martian,drum,w1,yes,")
    assert not Study.objects.exists()
    assert not Annotator.objects.exists()


def test_the_same_import_again_changes_nothing_and_says_so(bring_marks):
    bring_marks(KITE, DRUM)
    again = bring_marks(KITE, DRUM)
    assert again.unchanged
    assert "nothing changed" in again.lines()[0]
    assert (Annotation.objects.count(), Campaign.objects.count()) == (1, 1)


def test_another_table_becomes_another_campaign_of_the_study_with_the_same_annotators_and_images(bring_marks):
    bring_marks(KITE)
    bring_marks(DRUM, KITE.replace("w1", "w2"))
    assert Campaign.objects.count() == 2
    assert len(set(Campaign.objects.values_list("slug", flat=True))) == 2
    assert Image.objects.count() == 1
    assert sorted(Annotator.objects.values_list("source_id", flat=True)) == ["w1", "w2"]


def test_labels_of_another_group_than_the_study_knows_for_the_image_are_rejected(bring_marks):
    bring_marks(KITE, "b.png,Orsani,drum,w1,yes,")
    report = bring_marks("a.png,Orsani,drum,w1,yes,", DRUM)
    assert reasons(report) == {2: "the image shows another group in the study"}


def test_a_study_with_another_resource_is_refused(bring_marks, study, resource):
    study.resource = None
    study.save()
    with pytest.raises(Conflict, match="does not use the resource"):
        bring_marks(KITE, study=study.name)


def test_without_a_resource_groups_come_from_the_file_and_all_attributes_are_random(bring_marks):
    report = bring_marks("a.png,Newfolk,drum,w1,yes,", with_resource=False)
    assert list(Study.objects.get().groups.values_list("name", flat=True)) == ["Newfolk"]
    assert report.notes == (
        "no resource or role column defines stereotypes, so every attribute counts as random",
    )
    assert CampaignAttribute.objects.get().role == "random"


def test_a_role_column_says_what_is_a_stereotype_where_no_resource_does(db, table):
    columns = {name: name for name in ("image", "group", "attribute", "annotator", "present", "role")}
    report = import_annotations(
        target=ImportTarget(name="Roles", by=None),
        file=table(
            ",".join(columns),
            "a.png,Newfolk,drum,w1,yes,stereotype",
            "a.png,Newfolk,kite,w1,no,Random",
            "a.png,Newfolk,drum,w2,no,random",
            "a.png,Newfolk,hat,w2,no,",
        ),
        column_map=ColumnMap(columns=columns),
    )
    assert reasons(report) == {4: "the attribute has another role for the group in an earlier row"}
    assert dict(CampaignAttribute.objects.values_list("attribute__text", "role")) == {
        "drum": "stereotype",
        "kite": "random",
        "hat": "random",
    }
    assert StudyAssociation.objects.get().attribute.text == "drum"
    assert "1 pairs of group and attribute have no role" in report.notes[0]


def test_a_pair_keeps_the_role_of_an_earlier_import(db, table):
    columns = {name: name for name in ("image", "group", "attribute", "annotator", "present", "role")}

    def bring(*rows: str):
        file = table(",".join(columns), *rows)
        return import_annotations(
            target=ImportTarget(name="Roles", by=None), file=file, column_map=ColumnMap(columns=columns)
        )

    bring("a.png,Newfolk,drum,w1,yes,stereotype", "a.png,Newfolk,kite,w1,no,random")
    report = bring(
        "a.png,Newfolk,drum,w2,yes,random",
        "a.png,Newfolk,kite,w2,yes,stereotype",
        "b.png,Otherfolk,hat,w2,yes,stereotype",
    )
    assert report.notes == ("2 pairs of group and attribute keep the role of an earlier import",)
    planned = CampaignAttribute.objects.order_by("pk").values_list("attribute__text", "role")
    assert set(planned) == {("drum", "stereotype"), ("kite", "random"), ("hat", "stereotype")}


def test_models_conditions_times_and_screens_can_be_mapped(db, table):
    names = [
        "image",
        "group",
        "attribute",
        "annotator",
        "present",
        "model",
        "condition",
        "seconds",
        "submitted_at",
        "screen",
    ]
    import_annotations(
        target=ImportTarget(name="Columns", by=None),
        file=table(
            "\t".join(names),
            "a.png\tNewfolk\tdrum\tw1\tja\tsketch\tstereotypical\t2.5\t2026-11-21T03:32:40Z\ts1",
            "a.png\tNewfolk\tkite\tw1\tnein\tsketch\tstereotypical\t2.5\t2026-11-21T03:32:40Z\ts1",
            "a.png\tNewfolk\that\tw1\tnein\tsketch\tstereotypical\t\t\ts2",
            "a.png\tNewfolk\that\tw1\tnein\tother\tdefault\t\t\ts2",
            name="labels.tsv",
        ),
        column_map=ColumnMap(columns={name: name for name in names}, yes=("ja",), no=("nein",)),
    )
    first = Annotation.objects.order_by("pk").first()
    assert (first.active_seconds, first.submitted_at.isoformat()) == (2.5, "2026-11-21T03:32:40+00:00")
    assert first.judgements.count() == 2
    assert Annotation.objects.count() == 3
    images = Image.objects.values_list("source_name", "model_label", "condition")
    assert set(images) == {("a.png", "sketch", "stereotypical"), ("a.png", "other", "default")}


def test_an_audit_entry_says_who_imported_what(bring_marks, lead):
    bring_marks(KITE, ",,,,,", by=lead)
    entry = AuditEntry.objects.get(action="labels.imported")
    assert entry.actor == lead
    assert entry.details["files"] == [
        {"kind": "annotations", "file": "labels.csv", "read": 2, "kept": 1, "repaired": 0, "rejected": 1}
    ]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"image": "image"}, "Map either present"),
        ({"present": "present", "rating": "present"}, "Map either present"),
        ({"present": "answer"}, "has no column “answer” (present)"),
        ({"present": "present", "attribute": "attribute"}, "Map annotator"),
        (
            {"present": "present", "attribute": "attribute", "annotator": "annotator", "image": "image"},
            "Map group",
        ),
        (
            {"rating": "present", "attribute": "attribute", "annotator": "annotator", "image": "image"},
            "cannot be mapped for",
        ),
    ],
)
def test_a_map_that_does_not_fit_is_refused_naming_the_field(db, table, columns, sentence):
    file = table("image,group,attribute,annotator,present,box", KITE)
    with pytest.raises(DomainError) as refusal:
        import_annotations(
            target=ImportTarget(name="Isles", by=None), file=file, column_map=ColumnMap(columns=columns)
        )
    assert sentence in refusal.value.message
    assert not Study.objects.exists()
