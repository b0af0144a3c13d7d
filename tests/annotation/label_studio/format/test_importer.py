"""Exports of Label Studio, with their peculiarities, become judgements of an imported campaign."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.column_map import LabelImportOptions
from annotation.imports.importer import ImportTarget
from annotation.label_studio.format import reader
from annotation.label_studio.format.importer import import_export
from annotation.label_studio.format.inventory import Inventory, suggestions, take_inventory
from annotation.label_studio.format.names import CONTROLS, DATA_FIELDS, parse_names
from annotation.label_studio.format.options import ExportOptions
from annotation.label_studio.format.reader import is_export
from annotation.models import Annotation, Box, Campaign, Judgement
from foundation.errors import DomainError
from tests.annotation.imports.test_command import keep_connection, run

__all__ = ["keep_connection"]


def region(label="tall hat", rotation=0, kind="rectanglelabels", **value):
    numbers = {"x": 10, "y": 20, "width": 30, "height": 40, "rotation": rotation, kind: [label]} | value
    return {
        "from_name": "box",
        "to_name": "image",
        "type": kind,
        "original_width": 100,
        "original_height": 200,
        "value": numbers,
    }


def choices(*chosen, name="present"):
    return {"from_name": name, "to_name": "image", "type": "choices", "value": {"choices": list(chosen)}}


def annotation(*results, by=7, **fields):
    return {"result": list(results), "completed_by": by, "was_cancelled": False} | fields


def a_task(*annotations, image="a.png", **fields):
    data = {"image": image, "group": "Velmari", "attributes": [{"value": "tall hat"}, {"value": "drum"}]}
    return {"data": data, "annotations": list(annotations)} | fields


@pytest.fixture
def bring(tmp_path, resource):
    def bring(*tasks, campaign="", **options):
        path = tmp_path / "export.json"
        path.write_text(json.dumps(tasks), encoding="utf-8")
        return import_export(
            target=ImportTarget(name="Isles", by=None, resource=resource, campaign=campaign),
            file=path,
            options=ExportOptions(**options),
        )

    return bring


def reasons(report):
    return [(entry.row, entry.reason) for entry in report.reports[0].rejected]


def test_ticks_and_boxes_become_judgements_with_boxes_in_fractions(bring):
    report = bring(a_task(annotation(choices("drum"), region(), lead_time=3.5), annotation(by={"id": 9})))
    answers = Judgement.objects.order_by("pk").values_list(
        "annotation__annotator__source_id", "attribute__text", "present"
    )
    assert list(answers) == [
        ("7", "tall hat", True),
        ("7", "drum", True),
        ("9", "tall hat", False),
        ("9", "drum", False),
    ]
    box = Box.objects.get()
    assert (box.x, box.y, box.width, box.height) == pytest.approx((0.1, 0.2, 0.3, 0.4), abs=1e-9)
    assert not box.clipped
    assert Annotation.objects.order_by("pk").first().active_seconds == 3.5
    assert Campaign.objects.get().imported
    assert (report.reports[0].read, report.reports[0].kept) == (4, 4)


def test_annotations_without_an_answer_are_skipped_and_counted(bring):
    report = bring(
        a_task(
            annotation(choices("drum")),
            annotation(choices("drum"), was_cancelled=True),
            drafts=[{"result": []}],
            predictions=[{"result": []}, 12],
        ),
        a_task(image="b.png"),
        a_task(annotation(choices("x", name="mood")), image="c.png"),
    )
    assert report.notes[:5] == (
        "1 annotations that were skipped or cancelled were left out",
        "1 drafts were left out",
        "2 predictions of models were left out",
        "1 results of controls that were not mapped were left out",
        "1 tasks have no annotation",
    )
    assert Annotation.objects.count() == 2


def test_ground_truths_are_imported_unless_left_out_on_request(bring):
    task = a_task(
        annotation(choices("drum"), by=1, ground_truth=True),
        annotation(choices("drum"), by=2, ground_truth=False),
    )
    report = bring(task)
    assert Annotation.objects.count() == 2
    assert "1 annotations are marked as ground truth and were imported like any other" in str(report)
    report = bring(task, ground_truth=False, campaign="Without")
    assert not report.unchanged
    assert Campaign.objects.latest("pk").annotations.get().annotator.source_id == "2"
    assert "1 annotations marked as ground truth were left out" in str(report)


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [
        (region(rotation=30), "a rectangle is rotated: only boxes that are not rotated can be imported"),
        (
            region() | {"image_rotation": 90},
            "a rectangle is rotated: only boxes that are not rotated can be imported",
        ),
        (region(x="10"), "the x of a rectangle is not a number"),
        (region(x=10**400), "the x of a rectangle is not a number"),
        (region() | {"image_rotation": 10**400}, "the rotation of a rectangle is not a number"),
        (region(width=float("nan")), "the width of a rectangle is not a number"),
    ],
)
def test_a_box_that_cannot_be_taken_rejects_its_judgement_alone(bring, spoiled, reason):
    report = bring(a_task(annotation(choices("drum"), spoiled)))
    assert reasons(report) == [(1, f"annotation 1 of the task, tall hat: {reason}")]
    assert list(Judgement.objects.values_list("attribute__text", "present")) == [("drum", True)]


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [
        (annotation(choices("kite")), "“kite” is not one of the attributes that the task asks about"),
        (annotation(region("kite")), "“kite” is not one of the attributes that the task asks about"),
        (annotation(by=None), "the annotation has no number that identifies who answered (completed_by)"),
        (
            annotation(by={"email": "a@b.c"}),
            "the annotation has no number that identifies who answered (completed_by)",
        ),
        (annotation(by=True), "the annotation has no number that identifies who answered (completed_by)"),
        (annotation("x"), "a result is not an object with a value"),
        (annotation(choices(3)), "the choices of a result are not a list of texts"),
        (annotation(choices("")), "An attribute is empty"),
        (annotation(region() | {"value": {"points": []}}), "has no label of an attribute"),
        (
            annotation(choices("yes", "no", name="none_of_the_above")),
            "has 2 answers, but only one is allowed",
        ),
        (annotation(created_at={}), "a value is not a text or a number"),
        ("x", "the task is not an object with data"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_rejected_with_the_reason(bring, spoiled, reason):
    report = bring(a_task(annotation(choices("drum"))), a_task(spoiled, image="b.png"))
    ((row, said),) = reasons(report)
    assert row == 2
    assert said.startswith("annotation 1 of the task: ")
    assert reason in said
    assert Annotation.objects.count() == 1


def test_a_screen_that_asked_none_of_the_above_alone_is_taken(bring):
    none = annotation(choices("no", name="none_of_the_above"))
    task = a_task(none, annotation(by=9), image="b.png")
    task["data"]["attributes"] = []
    report = bring(a_task(annotation(choices("drum"))), task)
    assert reasons(report) == [
        (
            2,
            "annotation 2 of the task: the file does not list the attributes that the task asks about (map "
            "the field attribute, or use --asked)",
        )
    ]
    answer = Annotation.objects.get(task__image__source_name="b.png")
    assert (answer.none_of_the_above, answer.judgements.count()) == (False, 0)


HALF = "\ud800"


@pytest.mark.parametrize("half", [HALF, "because\udfff"])
def test_a_lone_surrogate_in_a_justification_rejects_the_rating(bring, half):
    def rated(text, **fields):
        why = {"from_name": "justification", "type": "textarea", "value": {"text": [text]}}
        return annotation(choices("3", name="rating"), why, **fields)

    report = bring({"data": {"attribute": "drum"}, "annotations": [rated(half), rated("why", by=9)]})
    assert reasons(report) == [(1, "annotation 1 of the task: a text contains half a character")]
    assert Annotation.objects.get().justification == "why"


@pytest.mark.parametrize(
    "spoiled",
    [
        {"data": {"image": HALF}},
        {"data": {"group": HALF}},
        {"data": {"model": HALF}},
        {"data": {"attributes": [HALF]}},
        {"answer": choices(HALF, name="none_of_the_above")},
        {"answer": choices(HALF)},
        {"answer": region() | {"type": HALF, "value": {}}},
    ],
)
def test_a_lone_surrogate_rejects_its_annotation_with_a_storable_reason(bring, spoiled):
    task = a_task(annotation(*filter(None, [spoiled.get("answer")])), image="b.png")
    task["data"] |= spoiled.get("data", {})
    report = bring(a_task(annotation(choices("drum"))), task)
    ((row, said),) = reasons(report)
    assert row == 2
    assert said.encode().decode() == said
    assert Annotation.objects.count() == 1


def test_none_of_the_above_is_kept_apart_from_judgements(bring):
    bring(a_task(annotation(choices("yes", name="none_of_the_above"))))
    assert Annotation.objects.get().none_of_the_above is True
    assert Judgement.objects.filter(present=False).count() == 2


def test_a_rectangle_just_beyond_an_edge_is_the_edge_and_one_far_out_is_clipped(bring):
    bring(a_task(annotation(region(x=70.0, width=30.000000000000004), region("drum", x=90, width=30))))
    inside, outside = Box.objects.order_by("pk")
    assert (inside.x + inside.width, inside.clipped) == (pytest.approx(1), False)
    assert (outside.x + outside.width, outside.clipped) == (pytest.approx(1), True)


def test_another_interface_is_read_by_the_names_given_for_it(bring):
    data = {"picture": "a.png", "people": "Velmari"}
    rectangle = region("Tall  Hat", kind="labels") | {"from_name": "where"}
    names = parse_names(["image=picture", "group=people", "box=where"], asked=("tall hat", "drum"))
    bring({"data": data, "annotations": [annotation(rectangle)]}, names=names)
    assert dict(Judgement.objects.values_list("attribute__text", "present")) == {
        "tall hat": True,
        "drum": False,
    }


def test_ratings_are_recognised_by_their_control(bring):
    rating = {"from_name": "rating", "type": "choices", "value": {"choices": ["Unsure"]}}
    why = {"from_name": "justification", "type": "textarea", "value": {"text": ["who", "knows"]}}
    missing = annotation()
    bring({"data": {"attribute": "Kind"}, "annotations": [annotation(rating, why), missing]})
    judgement = Judgement.objects.get()
    assert (judgement.attribute.text, judgement.rating) == ("kind", 3)
    assert judgement.annotation.justification == "who\nknows"


def test_importing_the_same_file_again_changes_nothing(bring):
    bring(a_task(annotation(choices("drum"))))
    assert bring(a_task(annotation(choices("drum")))).unchanged
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize(
    "content",
    ["", "[", "{}", "[1]", '[{"image": "a.png", "present": {"choices": ["drum"]}}]', "[" * 100_000],
)
def test_a_file_that_is_no_export_is_refused_in_one_sentence(content, tmp_path, db):
    path = tmp_path / "export.json"
    path.write_text(content)
    with pytest.raises(DomainError, match=r"export\.json"):
        import_export(target=ImportTarget(name="Isles", by=None), file=path)


@pytest.mark.parametrize("pairs", [["picture=x"], ["present"], ["present=box"], ["image=a", "image=b"]])
def test_invalid_names_are_refused(pairs):
    with pytest.raises(DomainError):
        parse_names(pairs)


def test_the_command_knows_an_export_by_its_content(tmp_path, resource, keep_connection):
    path = tmp_path / "export.json"
    path.write_text(json.dumps([a_task(annotation(choices("drum")))]))
    assert is_export(path)
    arguments = [path, "--study", "Isles", "--resource", "Invented peoples", "--output", tmp_path / "out"]
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "2 rows read = 2 kept" in out
    code, out, _ = run(*arguments, "--label-studio")
    assert "nothing changed" in out
    assert run(*arguments, "--map", "column=x")[0] == 2
    renamed = path.rename(tmp_path / "export.txt")
    assert not is_export(renamed)
    assert run(renamed, *arguments[1:], "--asked", "drum")[0] == 2


def stars(number):
    return {"from_name": "rating", "type": "rating", "value": {"rating": number}}


def test_stars_are_ratings(bring):
    bring(
        {"data": {"attribute": "Kind"}, "annotations": [annotation(stars(4)), annotation(stars(2.0), by=8)]}
    )
    assert sorted(Judgement.objects.values_list("rating", flat=True)) == [2, 4]


@pytest.mark.parametrize("number", [True, 2.5, "4", None, [4], 10**400, float("nan"), float("inf")])
def test_stars_that_are_no_whole_number_reject_the_annotation(bring, number):
    report = bring(
        {"data": {"attribute": "Kind"}, "annotations": [annotation(stars(5)), annotation(stars(number))]}
    )
    assert Judgement.objects.count() == 1
    assert len(reasons(report)) == 1


def test_the_choice_none_is_recognised_without_being_named(bring):
    bring(
        a_task(annotation(choices("None"), by=1), annotation(choices("drum"), by=2), annotation(by=3)),
        rows=LabelImportOptions(none_of_the_above="none of the above"),
    )
    said = dict(Annotation.objects.values_list("annotator__source_id", "none_of_the_above"))
    assert said == {"1": True, "2": False, "3": None}
    assert set(Judgement.objects.values_list("attribute__text", flat=True)) == {"tall hat", "drum"}


def test_an_option_names_another_word_for_none(bring):
    bring(
        a_task(annotation(choices("Nothing here"), by=1)),
        rows=LabelImportOptions(none_of_the_above="nothing here"),
    )
    assert Annotation.objects.get().none_of_the_above is True
    assert not Judgement.objects.filter(present=True).exists()


def test_none_may_be_named_as_the_control_of_the_other_choices(bring):
    names = parse_names(["present=marks", "none_of_the_above=marks"], asked=("tall hat", "drum", "none"))
    task = {"data": {"image": "a.png", "group": "Velmari"}}
    task["annotations"] = [annotation(choices("none", name="marks"))]
    bring(task, names=names)
    assert Annotation.objects.get().none_of_the_above is True
    assert Judgement.objects.count() == 2


def test_none_beside_an_attribute_rejects_the_annotation(bring):
    report = bring(a_task(annotation(choices("none", "drum")), annotation(choices("drum"), by=8)))
    assert reasons(report) == [(1, "annotation 1 of the task: “none” is chosen together with an attribute")]


def foreign():
    data = {"picture": "/data/upload/a.png", "country": "Velmari"}
    marks = [choices("tall hat", name="what"), region("drum") | {"from_name": "where"}]
    return {"data": data, "annotations": [annotation(*marks)]}


def test_a_refusal_lists_the_fields_and_controls_with_samples(bring):
    with pytest.raises(DomainError) as refused:
        bring(foreign())
    message = refused.value.message
    assert "picture (1 tasks): “/data/upload/a.png”" in message
    assert "what (choices, 1 times): “tall hat”" in message
    assert "where (rectanglelabels, 1 times): “drum”" in message
    assert "--map FIELD=NAME" in message


def test_an_unknown_name_is_refused_with_the_names_in_the_file(bring):
    names = parse_names(["present=nowhere"], asked=("drum",))
    with pytest.raises(DomainError, match="present=nowhere") as refused:
        bring(foreign(), names=names)
    assert "what (choices, 1 times)" in refused.value.message
    assert refused.value.code == "map_bad"


def test_the_suggested_names_import_a_foreign_file(bring):
    found = suggestions(take_inventory([foreign()]))
    assert {field: name for field, name in found.items() if name} == {
        "image": "picture",
        "group": "country",
        "present": "what",
        "box": "where",
    }
    pairs = [f"{field}={name}" for field, name in found.items() if name]
    bring(foreign(), names=parse_names(pairs, asked=("tall hat", "drum")))
    assert set(Judgement.objects.filter(present=True).values_list("attribute__text", flat=True)) == {
        "tall hat",
        "drum",
    }


def test_the_same_file_read_by_other_names_is_another_import(bring):
    bring(
        foreign(), names=parse_names(["image=picture", "group=country", "present=what"], asked=("tall hat",))
    )
    names = parse_names(["image=picture", "group=country", "box=where"], asked=("drum",))
    assert not bring(foreign(), names=names, campaign="Boxes").unchanged


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(st.fixed_dictionaries({"data": json_values, "annotations": json_values}), max_size=4))
def test_no_file_breaks_the_inventory(tasks):
    found = take_inventory(tasks)
    assert Inventory.of(json.loads(json.dumps(found.described()))) == found
    assert "\x00" not in found.lists().encode().decode()
    assert set(suggestions(found)) == {*DATA_FIELDS, *CONTROLS}


def test_too_deep_or_too_large_files_are_refused_before_they_are_read(tmp_path, db, monkeypatch):
    path = tmp_path / "export.json"
    path.write_text('[{"annotations": ' + "[" * 200 + "]" * 200 + "}]")
    with pytest.raises(DomainError, match="levels deep"):
        import_export(target=ImportTarget(name="Isles", by=None), file=path)
    monkeypatch.setattr(reader, "MAX_OBJECTS", 10)
    path.write_text(json.dumps([{"annotations": [], "text": '[[[[[[[[[[[[[ \\" {{'}] * 4))
    with pytest.raises(DomainError, match="Fields of their data"):
        import_export(target=ImportTarget(name="Isles", by=None), file=path)
    path.write_text(json.dumps([{"annotations": []}] * 40))
    with pytest.raises(DomainError, match="lists and objects"):
        import_export(target=ImportTarget(name="Isles", by=None), file=path)


def test_an_unterminated_text_is_refused_at_once(tmp_path, db):
    path = tmp_path / "export.json"
    path.write_bytes(b'["' + b'\\"' * 20_000)
    began = time.process_time()
    with pytest.raises(DomainError, match=r"export\.json"):
        import_export(target=ImportTarget(name="Isles", by=None), file=path)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("name", [["what"], {"name": "what"}, 7, None, ""])
def test_a_control_whose_name_is_not_a_text_is_skipped(bring, name):
    nameless = {"from_name": name, "type": "choices", "value": {"choices": ["drum"]}}
    bring(a_task(annotation(nameless, choices("drum"))))
    assert Judgement.objects.filter(present=True).count() == 1


def test_a_duplicate_annotation_is_reported_and_stored_once(bring):
    numbered = [
        a_task(annotation(choices("drum"), by=by, id=10 * image + by), image=f"{image}.png")
        for image in range(5)
        for by in (7, 9)
    ]
    report = bring(*numbered, numbered[2])
    assert reasons(report) == [(11, "annotation 1 of the task: the same as annotation 1 of task 3")]
    assert (Annotation.objects.count(), Judgement.objects.count()) == (10, 20)


def test_a_duplicate_annotation_without_an_id_is_stored_once(bring):
    tasks = [a_task(annotation(by=by), image=f"{image}.png") for image in range(5) for by in (7, 9)]
    report = bring(*tasks, tasks[2])
    assert reasons(report) == [(11, "the same as row 3"), (11, "the same as row 3")]
    assert (Annotation.objects.count(), Judgement.objects.count()) == (10, 20)
