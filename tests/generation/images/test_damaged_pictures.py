"""Damaged and unusual pictures are refused one by one, and accepted pictures can always be shown."""

import io
import zipfile

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from PIL import Image as Picture

from foundation.errors import DomainError
from generation.images.reencode import reencode
from generation.images.signed_urls import FULL, SMALL, image_url
from generation.images.storage import inspect
from generation.imports.importer import import_images
from generation.models import Image
from tests.foundation.damage import how_many, mutated, mutated_pictures, sound_pictures

# On a server, a warning of Pillow is a line on the console; here it would hide later errors.
pytestmark = pytest.mark.filterwarnings("ignore")


def encoded(picture: Picture.Image, kind: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def with_exif_of_the_wrong_type() -> bytes:
    """Return a JPEG whose EXIF declares its resolution as text: Pillow raises TypeError or AttributeError for it."""
    exif = Picture.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "A maker of cameras"
    data = bytearray(encoded(Picture.new("RGB", (20, 10), "red"), "JPEG", exif=exif))
    entry = data.index(b"\x01\x0f\x00\x02")  # the tag 0x010F and its type, a text
    data[entry + 2 : entry + 4] = b"\x00\x0a"  # … which now claims to be signed fractions
    data[entry + 4 : entry + 8] = b"\x00\x00\x00\x01"
    return bytes(data)


def archive(files: dict[str, bytes]) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for name, data in files.items():
            target.writestr(name, data)
    packed.seek(0)
    return packed


@pytest.mark.parametrize("size", [(16_384, 1), (1, 16_384), (20_000, 3)])
def test_a_picture_with_a_side_longer_than_can_be_shown_is_refused(size):
    with pytest.raises(DomainError) as refusal:
        inspect(encoded(Picture.new("L", size)), subject="“a.png”")
    assert refusal.value.code == "image_side_too_long"
    assert refusal.value.message == (
        f"“a.png” has {size[0]:,} × {size[1]:,} pixels; neither side may be longer than 16,383."
    )


@pytest.mark.parametrize("size", [(16_383, 1), (1, 16_383)])
def test_the_longest_side_that_is_taken_can_be_shown(size):
    data = encoded(Picture.new("L", size))
    file = inspect(data)
    assert (file.width, file.height) == size
    for edge in (FULL, SMALL):
        assert Picture.open(io.BytesIO(reencode(data, size=edge))).format == "WEBP"


@pytest.mark.parametrize("name", sorted(sound_pictures()))
def test_every_mode_of_an_accepted_format_is_taken_and_shown(name):
    data = sound_pictures()[name]
    file = inspect(data)
    shown = Picture.open(io.BytesIO(reencode(data, size=FULL)))
    assert (shown.width, shown.height, shown.mode) == (file.width, file.height, "RGB")


def test_damaged_pictures_are_shown_or_refused_in_one_sentence():
    refused = 0
    for name, data in mutated_pictures(how_many(2_400)):
        try:
            file = inspect(data, subject=f"“{name}”")
        except DomainError as refusal:
            assert refusal.message.startswith(f"“{name}” ")  # noqa: PT017 -- being taken is as good
            refused += 1
            continue
        shown = Picture.open(io.BytesIO(reencode(data, size=FULL)))
        assert (shown.width, shown.height) == (file.width, file.height), name
        reencode(data, size=SMALL)
    assert refused > 1_000


@pytest.mark.django_db
class TestImporting:
    def run(self, study, files):
        return import_images(study=study, path=archive(files), by=None)

    def test_a_jpeg_with_damaged_exif_rejects_that_file_and_no_other(self, study, picture):
        report = self.run(
            study, {"Velmari/broken.jpg": with_exif_of_the_wrong_type(), "Velmari/whole.png": picture()}
        )
        assert report.kept == 1
        assert [str(remark) for remark in report.rejected] == [
            "Velmari/broken.jpg: it is truncated or damaged."
        ]

    def test_a_picture_too_long_to_be_shown_is_rejected_with_the_reason(self, study, picture):
        long = encoded(Picture.new("L", (20_000, 2)))
        report = self.run(study, {"Velmari/long.png": long, "Velmari/whole.png": picture()})
        assert report.kept == 1
        assert "neither side may be longer than 16,383" in report.rejected[0].reason

    def test_damaged_pictures_in_an_archive_are_rejected_one_by_one(self, study):
        files = {f"Velmari/{name}": data for name, data in mutated_pictures(how_many(240), seed=2)}
        report = self.run(study, files)
        assert report.files == len(files)
        assert report.kept
        assert report.rejected

    def test_a_damaged_archive_is_refused_or_its_intact_files_are_imported(self, study, picture):
        whole = archive({"Velmari/a.png": picture(), "Orsani/b.jpg": picture(kind="JPEG")}).getvalue()
        for damaged in mutated(whole, how_many(300), seed=3):
            try:
                import_images(study=study, path=io.BytesIO(damaged), by=None)
            except DomainError as refusal:
                assert refusal.message.endswith(".")  # noqa: PT017 -- being taken is as good

    @pytest.mark.parametrize(
        ("suffix", "text"),
        [
            ("csv", b"path,group,prompt\na.png,Velmari,a kite\nb.png,Velmari,a drum\n"),
            ("jsonl", b'{"path": "a.png", "group": "Velmari"}\n{"path": "b.png", "group": "Velmari"}\n'),
        ],
    )
    @pytest.mark.parametrize("packed", [True, False])
    def test_a_damaged_manifest_is_refused_or_its_intact_rows_are_imported(
        self, study, picture, tmp_path, suffix, text, packed
    ):
        data = picture()
        for name in ("a.png", "b.png"):
            (tmp_path / name).write_bytes(data)
        for damaged in mutated(text, how_many(150), seed=4):
            manifest = tmp_path / f"manifest.{suffix}"
            manifest.write_bytes(damaged)
            files = {"a.png": data, "b.png": data, manifest.name: damaged}
            try:
                import_images(study=study, path=archive(files) if packed else manifest, by=None)
            except DomainError as refusal:
                assert refusal.message.endswith(".")  # noqa: PT017 -- being taken is as good

    def test_a_manifest_of_20_000_columns_is_refused_at_once(self, study, tmp_path):
        (tmp_path / "manifest.csv").write_text("path," + ",".join(f"column {n}" for n in range(20_000)))
        with pytest.raises(DomainError, match="has 20,001 columns; 1,000 are allowed"):
            import_images(study=study, path=tmp_path / "manifest.csv", by=None)

    def test_a_picture_that_was_kept_before_and_is_too_long_is_shown_smaller(self, study):
        image = self.put(study, encoded(Picture.new("L", (20_000, 2))))
        answer = Client().get(image_url(image, viewer="user:1"))
        assert answer.status_code == 200
        assert Picture.open(io.BytesIO(answer.content)).width == 16_383

    def test_a_file_damaged_in_storage_is_reported_without_a_server_error(self, study):
        image = self.put(study, with_exif_of_the_wrong_type())
        answer = Client().get(image_url(image, viewer="user:1"))
        assert answer.status_code == 404
        assert (
            answer.content.decode()
            == "The file of this image is truncated or damaged in the server's storage."
        )

    def put(self, study, data: bytes) -> Image:
        name = default_storage.save("images/aa/bb/kept.png", ContentFile(data))
        return Image.objects.create(
            study=study,
            group=study.groups.first(),
            model_label="painter",
            sha256="ab" * 32,
            file=name,
            width=10,
            height=10,
            bytes=len(data),
        )
