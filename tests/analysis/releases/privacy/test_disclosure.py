"""Data that no table or document of a release may contain."""

import errno
import io

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Picture

from accounts.models import Annotator, AnnotatorProfile
from analysis.models import Release
from analysis.releases.tables.image_names import published_name
from annotation.models import QuotaRule
from generation.images.storage import store_image
from generation.models import Image
from tests.analysis.releases.conftest import rows, tree

pytestmark = pytest.mark.django_db


def readable(folder) -> str:
    """Return all text of a release in lower case; Parquet has the same content as CSV."""
    return (
        b"\n".join(content for name, content in tree(folder).items() if name[:5] != "data/").decode().lower()
    )


def test_values_of_quotas_stay_and_their_fields_are_named(marked, released):
    AnnotatorProfile.objects.create(annotator=marked.annotators["p"], nationality="Orsanian")
    QuotaRule.objects.create(
        campaign=marked.campaign, kind="at_least", field="nationality", k=1, values=["orsanian"]
    )
    _, folder = released(marked.study, k=5)
    assert "orsanian" not in readable(folder)
    assert "by nationality" in (folder / "README.md").read_text()


def test_the_only_imported_id_has_no_profile_beside_its_origin(marked, released):
    for annotator in marked.annotators.values():
        AnnotatorProfile.objects.create(annotator=annotator, gender="Woman")
    Annotator.objects.filter(pk=marked.annotators["p"].pk).update(origin="imported")
    _, folder = released(marked.study, k=2)
    said = sorted((row["origin"], row["gender"]) for row in rows(folder, "annotators") if row["gender"])
    assert said == [("person", "Woman")] * 2
    assert [row["gender"] for row in rows(folder, "annotators") if row["origin"] == "imported"] == [None]


@pytest.mark.parametrize(
    ("source", "released"),
    [
        ("velmari/v1.png", "velmari/v1.png"),
        ("a/b/c/who is it?.png", "a/b/c/who is it?.png"),
        ("https://alice:word@store.example/velmari/v1.png?X-Signature=abc#top", "velmari/v1.png"),
        ("//store.example/v1.png?token=abc", "v1.png"),
        ("s3://secret-bucket/velmari/v1.png", "velmari/v1.png"),
        ("velmari/v1.png?X-Signature=abc", "velmari/v1.png"),
        ("/srv/data/velmari/v1.png", "velmari/v1.png"),
        ("/home/alice/v1.png", "v1.png"),
        ("/home/alice/study/velmari/v1.png", "velmari/v1.png"),
        ("file:///home/alice/v1.png", "v1.png"),
        ("C:\\Users\\alice\\v1.png", "v1.png"),
        ("D:/v1.png", "v1.png"),
        ("~alice/v1.png", "v1.png"),
        ("../../home/alice/v1.png", "v1.png"),
        ("https://store.example", None),
        ("https://[store/v1.png", None),
        ("", None),
    ],
)
def test_names_of_images_reveal_neither_host_nor_account(source, released):
    assert published_name(source) == released


def test_a_signed_address_is_in_no_file(marked, released):
    signed = "https://store.example/velmari/v1.png?X-Signature=abcdef"
    Image.objects.filter(pk=marked.images["v1"].pk).update(source_name=signed)
    _, folder = released(marked.study)
    assert "store.example" not in readable(folder)
    assert "abcdef" not in readable(folder)
    assert "velmari/v1.png" in {row["source_name"] for row in rows(folder, "images")}


def stored(study) -> Image:
    """An image of noise: its file does not fit into a few hundred bytes."""
    file = io.BytesIO()
    Picture.effect_noise((64, 64), 50).save(file, "PNG")
    group = study.groups.order_by("pk").first()
    return store_image(study=study, data=file.getvalue(), group=group, model_label="sketch").image


@pytest.mark.parametrize("kept", [0, 20, 40, 500])
def test_a_damaged_picture_is_reported_and_stops_nothing(marked, released, kept):
    image = stored(marked.study)
    with default_storage.open(image.file) as file:
        whole = file.read()
    default_storage.delete(image.file)
    default_storage.save(image.file, ContentFile(whole[:kept]))
    _, folder = released(marked.study)
    reasons = [row["reason"] for row in rows(folder, "images") if row["model"] == "sketch"]
    assert "its file is damaged" in reasons
    assert "its file is damaged" in (folder / "README.md").read_text()


def test_a_full_disk_is_not_taken_for_a_damaged_picture(marked, released, monkeypatch):
    stored(marked.study)

    def full(image, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("analysis.releases.tables.image_rows.shown_bytes", full)
    with pytest.raises(Exception, match="No space left"):
        released(marked.study)
    assert not Release.objects.exists()
