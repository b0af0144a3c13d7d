"""A release contains the answers of everyone permitted, and is reproducible."""

import hashlib
import io
import json
from collections import Counter

import pytest
from django.utils import timezone
from PIL import Image as Picture

from accounts.models import Annotator, Consent
from analysis.models import Release
from analysis.releases.assembly.build import build
from analysis.releases.parameters import ReleaseParameters
from annotation.campaigns.images import retraction
from annotation.kinds.registry import MARKING, RATING
from annotation.models import Annotation, Campaign, Enrolment, Judgement, Task
from catalog.models import Attribute
from foundation.errors import Conflict
from generation.images.storage import store_image
from generation.models import Image
from jobs.progress.reporter import Cancelled, Unwatched
from privacy.erasure.erase import erase_annotator
from studies import consent
from studies.models import AuditEntry, Study
from tests.analysis.conftest import ASKED, ORSANI, VELMARI
from tests.analysis.releases.conftest import rows, tree
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


def test_judgements_are_what_annotators_said(marked, released):
    _, folder = released(marked.study)
    names = {row["annotator"]: row for row in rows(folder, "annotators")}
    images = {row["image"]: row["source_name"].removesuffix(".png") for row in rows(folder, "images")}
    said = Counter(
        (row["identity_group"], images[row["image"]], row["attribute"], row["present"])
        for row in rows(folder, "judgements")
    )
    expected = Counter(
        (group, image, attribute, tick == "1")
        for group, pictures in (("Velmari", VELMARI), ("Orsani", ORSANI))
        for image, answers in pictures.items()
        for ticks in answers.values()
        for attribute, tick in zip(ASKED[group], ticks, strict=True)
    )
    assert said == expected
    # Each of the three answered 4 screens of 4 attributes, and rated 4 attributes.
    assert {(row["annotations"], row["judgements"], row["ratings"]) for row in names.values()} == {(8, 16, 4)}
    assert all(name.startswith("R1-") for name in names)


def test_roles_follow_the_resource_and_its_raters(marked, released):
    _, folder = released(marked.study)
    roles = {(row["identity_group"], row["attribute"]): row["role"] for row in rows(folder, "judgements")}
    assert roles["Velmari", "tall hat"] == "stereotype"
    assert roles["Velmari", "kite"] == "random"  # listed, by one rater
    assert roles["Orsani", "lantern"] == "random"


def test_boxes_belong_to_judgements_that_say_yes(marked, released):
    _, folder = released(marked.study)
    judgements = {row["judgement"]: row for row in rows(folder, "judgements")}
    boxes = rows(folder, "boxes")
    assert len(boxes) == sum(row["present"] for row in judgements.values())
    for box in boxes:
        owner = judgements[box["judgement"]]
        assert owner["present"]
        assert [box[name] for name in ("image", "attribute", "annotator")] == [
            owner[name] for name in ("image", "attribute", "annotator")
        ]


def test_soft_labels_are_given_beside_the_majority(marked, released):
    _, folder = released(marked.study)
    images = {row["image"]: row["source_name"] for row in rows(folder, "images")}
    soft = rows(folder, "soft_labels")
    presence = {
        (images[row["image"]], row["attribute"]): (row["n"], row["k"], row["majority"])
        for row in soft
        if row["kind"] == "presence"
    }
    assert presence["v1.png", "tall hat"] == (3, 3, True)
    assert presence["v1.png", "kite"] == (3, 1, False)
    ratings = {row["attribute"]: row for row in soft if row["kind"] == "rating"}
    # tall hat was rated 5, 4, 5; kind 1, 3, 4.
    assert ratings["tall hat"]["majority_rating"] == 5
    assert ratings["tall hat"]["share_5"] == pytest.approx(2 / 3)
    assert ratings["kind"]["majority_rating"] is None
    assert ratings["kind"]["n"] == 3


def test_a_tie_has_no_majority(marked, released):
    first = marked.campaign.annotations.filter(task__image=marked.images["v1"]).order_by("pk").first()
    Annotation.objects.filter(pk=first.pk).update(status="excluded")
    _, folder = released(marked.study)
    images = {row["source_name"]: row["image"] for row in rows(folder, "images")}
    scarf = next(
        row
        for row in rows(folder, "soft_labels")
        if row["image"] == images["v1.png"] and row["attribute"] == "blue scarf"
    )
    assert (scarf["n"], scarf["k"], scarf["share"], scarf["majority"]) == (2, 1, 0.5, None)


def test_the_same_labels_give_the_same_bytes_and_the_same_version(marked, released):
    first, here = released(marked.study)
    again, there = released(marked.study)
    assert again == first
    assert Release.objects.count() == 1
    assert tree(here) == tree(there)


def test_a_rebuild_does_not_depend_on_the_secret_of_the_server(marked, released, settings):
    _, here = released(marked.study)
    settings.SECRET_KEY = "another secret that came after the first one"
    _, there = released(marked.study)
    assert tree(here) == tree(there)


def test_other_parameters_give_the_next_version(marked, released):
    released(marked.study)
    second, folder = released(marked.study, k=7)
    assert second.version == 2
    assert json.loads((folder / "release.json").read_text())["changes"]["parameters"] == {"k": [5, 7]}


def test_another_licence_gives_the_next_version(marked, released):
    released(marked.study)
    second, _ = released(marked.study, licence="CC-BY-4.0")
    assert (second.version, second.parameters["licence"]) == (2, "CC-BY-4.0")


def test_an_erased_person_without_answers_makes_a_version_that_says_so(marked, released):
    released(marked.study)
    silent = new_annotator(marked.campaign)
    erase_annotator(annotator=silent, by=None)
    second, folder = released(marked.study)
    assert second.version == 2
    assert json.loads((folder / "release.json").read_text())["changes"]["annotators_erased"] == 1


def test_an_erased_person_of_another_study_makes_no_version(marked, released):
    released(marked.study)
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    elsewhere = Campaign.objects.create(
        study=lakes, slug="round", name="Round", kind=marked.campaign.kind, seed=1
    )
    erase_annotator(annotator=new_annotator(elsewhere), by=None)
    again, _ = released(marked.study)
    assert again.version == 1


def test_a_changed_answer_of_equal_number_gives_the_next_version(marked, released):
    first, _ = released(marked.study)
    judgement = Judgement.objects.filter(present=False).order_by("pk").first()
    Judgement.objects.filter(pk=judgement.pk).update(present=True)
    second, _ = released(marked.study)
    assert second.version == 2
    assert second.inputs_digest != first.inputs_digest


def test_annotators_have_other_ids_in_the_next_release(marked, released):
    _, here = released(marked.study)
    _, there = released(marked.study, k=6)
    before, after = ({row["annotator"] for row in rows(folder, "annotators")} for folder in (here, there))
    assert not {name[3:] for name in before} & {name[3:] for name in after}
    # The same image has the same id: the picture itself would reveal it anyway.
    assert rows(here, "images") == rows(there, "images")


def test_neither_names_nor_keys_of_the_database_are_in_any_file(marked, released):
    for annotator in marked.annotators.values():
        Annotator.objects.filter(pk=annotator.pk).update(
            source_id=f"worker-of-the-source-{annotator.source_id}"
        )
    _, folder = released(marked.study)
    everything = b"".join(content for name, content in tree(folder).items() if not name.startswith("data/"))
    for annotator in marked.annotators.values():
        assert annotator.pseudonym.encode() not in everything
    assert b"worker-of-the-source" not in everything
    assert bytes(Release.objects.get().key).hex().encode() not in everything


def test_rows_are_not_in_the_order_of_their_submission(marked, released):
    """Twelve submissions on four images: by chance they are in order once in 369,600 times (12! / 3!⁴)."""
    _, folder = released(marked.study)
    images = {row["image"]: row["source_name"].removesuffix(".png") for row in rows(folder, "images")}
    order = []
    for row in rows(folder, "judgements"):
        if (row["annotation"], images[row["image"]]) not in order:
            order.append((row["annotation"], images[row["image"]]))
    in_time = ["v1"] * 3 + ["v2"] * 3 + ["o1"] * 3 + ["o2"] * 3
    assert [image for _, image in order] != in_time


def test_annotators_are_in_the_order_of_their_ids(marked, released):
    for version in (1, 2, 3):
        _, folder = released(marked.study, k=version + 4)
        ids = [row["annotator"] for row in rows(folder, "annotators")]
        assert ids == sorted(ids)


def test_working_times_are_rounded_to_tenths_of_a_second(marked, released):
    Annotation.objects.update(active_seconds=12.3456)
    _, folder = released(marked.study)
    assert {row["active_seconds"] for row in rows(folder, "annotations")} == {12.3}


def test_withdrawn_annotators_are_not_in_later_releases(marked, released):
    released(marked.study)
    Annotator.objects.filter(pk=marked.annotators["q"].pk).update(origin="person", source_id="")
    text = consent.current_text(marked.study)
    Consent.objects.create(annotator=marked.annotators["q"], text=text)
    consent.withdraw(annotator=marked.annotators["q"], study=marked.study)
    second, folder = released(marked.study)
    manifest = json.loads((folder / "release.json").read_text())
    assert second.version == 2
    assert len(rows(folder, "annotators")) == 2
    assert len(rows(folder, "judgements")) == 32
    assert manifest["changes"]["annotators_gone"] == {"withdrawn": 1}
    assert manifest["changes"]["annotations_removed"] == {"withdrawn": 8}
    assert {one["slug"]: one["not_counted"] for one in manifest["campaigns"]} == {
        "stereotype-marking": {"withdrawn": 4},
        "attribute-likert": {"withdrawn": 4},
    }
    assert "withdr" in (folder / "CHANGELOG.md").read_text()


def test_excluded_retracted_and_surplus_labels_leave_with_a_reason_in_the_changelog(marked, released, lead):
    released(marked.study)
    Enrolment.objects.filter(campaign=marked.campaign, annotator=marked.annotators["p"]).update(
        state=Enrolment.State.EXCLUDED
    )
    retraction.retract(image=marked.images["o2"], by=lead, reason="blurred")
    one = marked.campaign.annotations.filter(
        task__image=marked.images["v1"], annotator=marked.annotators["r"]
    ).get()
    Annotation.objects.filter(pk=one.pk).update(status=Annotation.Status.SURPLUS)
    _, folder = released(marked.study)
    changes = json.loads((folder / "release.json").read_text())["changes"]
    # p: 4 screens, one of them on the retracted image; q and r on that image; r's surplus on another.
    assert changes["annotations_removed"] == {"annotator_excluded": 4, "retracted": 2, "surplus": 1}
    assert changes["annotators_gone"] == {}  # p still has ratings
    assert changes["images_removed"] == {"retracted": 1}
    assert len(rows(folder, "images")) == 3


def test_new_answers_and_new_people_are_in_the_changelog(marked, released):
    released(marked.study)
    newcomer = Annotator.objects.create(source="isles", source_id="s")
    task = marked.campaign.tasks.order_by("pk").first()
    Task.objects.filter(pk=task.pk).update(wanted=4)
    annotation = marked.submit(task, newcomer, 3, none=True)
    attribute = task.task_attributes.order_by("pk").first().attribute
    Judgement.objects.create(annotation=annotation, attribute=attribute, present=False)
    _, folder = released(marked.study)
    changes = json.loads((folder / "release.json").read_text())["changes"]
    assert (changes["annotations_added"], changes["annotators_new"]) == (1, 1)
    assert changes["rows"]["judgements"] == [48, 49]


def test_deleted_annotations_are_counted_separately(marked, released):
    released(marked.study)
    marked.campaign.annotations.order_by("pk").first().delete()
    _, folder = released(marked.study)
    changes = json.loads((folder / "release.json").read_text())["changes"]
    assert changes["annotations_removed"] == {"deleted": 1}


def test_pictures_are_re_encoded_and_named_by_their_digest(marked, released):
    source = io.BytesIO()
    exif = Picture.Exif()
    exif[0x010E] = "a secret description"
    Picture.new("RGB", (40, 30), "teal").save(source, "JPEG", exif=exif)
    image = store_image(
        study=marked.study,
        data=source.getvalue(),
        group=marked.study.groups.get(name="Velmari"),
        model_label="sketch",
        prompt="a Velmari person",
        provenance={"backend": "sketch", "model_id": "/srv/secret/model", "seed": 3, "device_name": "host 7"},
    ).image
    _, folder = released(marked.study)
    row = next(row for row in rows(folder, "images") if row["file"])
    data = (folder / row["file"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == row["sha256"] != image.sha256
    assert b"secret" not in data
    with Picture.open(io.BytesIO(data)) as picture:
        assert (picture.width, picture.height) == (row["width"], row["height"]) == (40, 30)
    assert json.loads(row["provenance"]) == {"backend": "sketch", "seed": 3}
    others = [row for row in rows(folder, "images") if not row["file"]]
    assert {row["reason"] for row in others} == {"labels were imported without the picture"}


def test_a_lost_file_is_reported_as_lost(marked, released):
    Image.objects.filter(pk=marked.images["v1"].pk).update(file="images/gone.png", sha256="ab" * 32)
    _, folder = released(marked.study)
    assert any("missing from the server" in (row["reason"] or "") for row in rows(folder, "images"))


def test_checksums_cover_every_other_file(marked, released):
    _, folder = released(marked.study)
    listed = dict(
        reversed(line.split("  ", 1)) for line in (folder / "checksums.sha256").read_text().splitlines()
    )
    files = tree(folder)
    assert listed.keys() == files.keys() - {"checksums.sha256"}
    assert all(hashlib.sha256(files[name]).hexdigest() == digest for name, digest in listed.items())


def test_justifications_are_withheld_unless_the_lead_includes_them(marked, released):
    _, without = released(marked.study)
    assert "justification" not in rows(without, "annotations")[0]
    assert json.loads((without / "privacy.json").read_text())["justifications"] == "withheld"
    _, included = released(marked.study, include_justifications=True)
    assert Counter(row["justification"] for row in rows(included, "annotations"))["?"] == 1
    assert json.loads((included / "privacy.json").read_text())["justifications"] == "released"


def test_a_release_is_the_same_whatever_annotators_of_another_study_wrote(marked, released):
    Annotation.objects.update(justification="")
    _, before = released(marked.study)
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    elsewhere = Campaign.objects.create(
        study=lakes, slug="round", name="Round", kind=marked.campaign.kind, seed=1
    )
    Annotation.objects.create(
        campaign=elsewhere,
        task=Task.objects.create(campaign=elsewhere, wanted=1),
        annotator=marked.annotators["p"],
        justification="The hat may be a lamp",
    )
    release, after = released(marked.study)
    assert (release.version, tree(after)) == (1, tree(before))
    assert json.loads(tree(after)["privacy.json"])["justifications"] == "none_written"


def test_an_empty_study_builds_and_says_what_is_missing(study, released):
    _, folder = released(study)
    manifest = json.loads((folder / "release.json").read_text())
    assert set(manifest["rows"].values()) == {0}
    assert "rows of judgements" in {one["what"] for one in manifest["missing"]}
    assert json.loads((folder / "coco/boxes.json").read_text())["annotations"] == []


@pytest.mark.parametrize("kind", [MARKING.key, RATING.key])
def test_studies_of_one_kind_of_campaign_build(marked, released, kind):
    marked.study.campaigns.exclude(kind=kind).delete()
    _, folder = released(marked.study)
    manifest = json.loads((folder / "release.json").read_text())
    other = "judgements" if kind == "attribute_likert" else "ratings"
    assert manifest["rows"][other] == 0
    assert manifest["rows"]["annotations"] == 12
    assert f"rows of {other}" in {one["what"] for one in manifest["missing"]}


def test_one_annotator_builds(marked, released):
    Annotation.objects.exclude(annotator=marked.annotators["p"]).delete()
    _, folder = released(marked.study)
    assert [row["judgements"] for row in rows(folder, "annotators")] == [16]


def test_two_campaigns_on_one_image_are_one_soft_label(marked, released):
    again = Campaign.objects.get(pk=marked.campaign.pk)
    again.pk, again.slug = None, "marking-again"
    again.save()
    task = Task.objects.create(campaign=again, image=marked.images["v1"])
    annotation = marked.submit(task, marked.annotators["p"], 0, none=False)
    Judgement.objects.create(
        annotation=annotation, attribute=Attribute.objects.get(text="tall hat"), present=True
    )
    _, folder = released(marked.study)
    images = {row["source_name"]: row["image"] for row in rows(folder, "images")}
    soft = [
        (row["n"], row["k"])
        for row in rows(folder, "soft_labels")
        if (row["image"], row["attribute"]) == (images["v1.png"], "tall hat")
    ]
    assert soft == [(4, 4)]


def test_somebody_elses_folder_is_refused(marked, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(Conflict) as refused:
        build(study=marked.study, parameters=ReleaseParameters(), output=tmp_path, by=None)
    assert refused.value.code == "output_taken"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["thesis.txt"]
    assert not Release.objects.exists()


def test_the_folder_of_a_release_of_another_study_is_refused(marked, released):
    _, folder = released(marked.study)
    before = tree(folder)
    other = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    with pytest.raises(Conflict) as refused:
        build(study=other, parameters=ReleaseParameters(), output=folder, by=None)
    assert refused.value.code == "output_taken"
    assert tree(folder) == before


def test_an_earlier_release_is_replaced_as_a_whole(marked, tmp_path):
    folder = tmp_path / "release"
    build(study=marked.study, parameters=ReleaseParameters(), output=folder, by=None)
    parameters = ReleaseParameters(formats=["parquet"])
    build(study=marked.study, parameters=parameters, output=folder, by=None)
    assert not (folder / "csv").exists()
    assert [path.name for path in tmp_path.iterdir()] == [
        "release",
        *(["media"] if (tmp_path / "media").exists() else []),
    ]


def test_a_failure_leaves_nothing_behind(marked, tmp_path, monkeypatch):
    def fail(**_):
        raise Conflict("no", "No.")

    monkeypatch.setattr("analysis.releases.assembly.build.write_documents", fail)
    with pytest.raises(Conflict):
        build(study=marked.study, parameters=ReleaseParameters(), output=tmp_path / "x" / "release", by=None)
    assert list((tmp_path / "x").iterdir()) == []
    assert not Release.objects.exists()


class StopAt(Unwatched):
    """Simulates a cancellation at the `last` check."""

    def __init__(self, last):
        self.left = last

    def check_cancelled(self):
        self.left -= 1
        if self.left < 0:
            raise Cancelled


@pytest.mark.parametrize("last", [0, 1, 2])
def test_a_build_that_is_cancelled_leaves_nothing_behind(marked, tmp_path, last):
    folder = tmp_path / "x" / "release"
    with pytest.raises(Cancelled):
        build(
            study=marked.study, parameters=ReleaseParameters(), output=folder, by=None, progress=StopAt(last)
        )
    assert list((tmp_path / "x").iterdir()) == []
    assert not Release.objects.exists()


def test_building_is_in_the_audit_trail(marked, tmp_path, lead):
    release = build(study=marked.study, parameters=ReleaseParameters(), output=tmp_path / "release", by=lead)
    entry = AuditEntry.objects.get(action="release.built")
    assert (entry.actor, entry.details["version"], entry.details["digest"]) == (
        lead,
        1,
        release.inputs_digest,
    )


def test_only_days_without_hours_are_released(marked, released):
    _, folder = released(marked.study)
    today = timezone.now().date()
    days = {row["submitted"] for row in rows(folder, "judgements")}
    assert all(abs((day - today).days) <= 1 for day in days)
    assert all(type(day).__name__ == "date" for day in days)
