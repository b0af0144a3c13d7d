"""COCO boxes: readers of the format find the drawn boxes, in pixels, and their annotators."""

import json

import pytest

from annotation.models import Box
from catalog.models import Attribute
from generation.models import Image
from tests.analysis.releases.conftest import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def coco(marked, released):
    def build() -> tuple[dict, object]:
        _, folder = released(marked.study)
        return json.loads((folder / "coco/boxes.json").read_text(encoding="utf-8")), folder

    return build


def test_every_reference_is_there(marked, coco):
    found, _ = coco()
    images = {one["id"]: one for one in found["images"]}
    categories = {one["id"]: one["name"] for one in found["categories"]}
    assert len(images) == len(found["images"])
    assert len(categories) == len(found["categories"])
    assert [one["id"] for one in found["annotations"]] == list(range(1, 12 + 1))
    for one in found["annotations"]:
        assert categories[one["category_id"]] == one["attribute"]
        assert images[one["image_id"]]["identity_group"] == one["identity_group"]
        assert one["campaign"] == "stereotype-marking"
        assert one["iscrowd"] == 0


def test_boxes_are_in_pixels_of_their_image(marked, coco):
    Image.objects.update(width=200, height=100)
    found, folder = coco()
    boxes = {row["box"]: row for row in rows(folder, "boxes")}
    # Drawn at 0.1, 0.1 of 200 × 100, 0.2 to 0.4 wide and 0.3 high.
    for one in found["annotations"]:
        x, y, width, height = one["bbox"]
        assert (x, y, height) == (20, 10, 30)
        assert width == pytest.approx(200 * boxes[one["box"]]["width"], abs=1e-3)
        assert one["area"] == pytest.approx(width * height)
        assert one["annotator"] == boxes[one["box"]]["annotator"]
        assert one["judgement"] == boxes[one["box"]]["judgement"]


def test_images_are_named_as_their_files(marked, coco):
    found, folder = coco()
    known = {row["image"] for row in rows(folder, "images")}
    assert {one["file_name"].removesuffix(".webp") for one in found["images"]} <= known
    assert {(one["width"], one["height"]) for one in found["images"]} == {(512, 512)}


def test_a_file_is_named_where_there_is_one(marked, coco):
    found, folder = coco()
    listed = {row["image"]: row["file"] for row in rows(folder, "images")}
    for one in found["images"]:
        assert one["file"] == listed[one["image"]]
        assert one["file"] is None or (folder / one["file"]).is_file()


def test_images_without_a_file_are_counted_as_missing(marked, released):
    _, folder = released(marked.study, formats=["parquet", "coco"])
    found = json.loads((folder / "coco/boxes.json").read_text(encoding="utf-8"))
    assert {one["file"] for one in found["images"]} == {None}
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    number = manifest["coco"]["without_file"]
    assert number == len(found["images"])
    assert f"files of {number} images in coco" in {one["what"] for one in manifest["missing"]}


def test_boxes_on_images_of_unknown_size_are_left_out_and_counted(marked, coco):
    Image.objects.filter(pk=marked.images["v1"].pk).update(width=None, height=None)
    found, folder = coco()
    on_it = Box.objects.filter(judgement__annotation__task__image=marked.images["v1"]).count()
    manifest = json.loads((folder / "release.json").read_text())
    assert manifest["coco"]["left_out"] == on_it == 5
    assert len(found["annotations"]) == manifest["coco"]["annotations"] == 7
    assert manifest["rows"]["boxes"] == 12


def test_words_that_resemble_the_format_are_harmless(marked, coco):
    Attribute.objects.filter(text="tall hat").update(text='"bbox0":,"area":1,"bbox1":')
    found, _ = coco()
    assert '"bbox0":,"area":1,"bbox1":' in {one["attribute"] for one in found["annotations"]}
