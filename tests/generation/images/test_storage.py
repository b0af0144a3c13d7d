"""The images that are accepted, and where they are stored."""

import io
import struct
import zlib

import pytest
from django.core.files.storage import default_storage
from PIL import Image as Picture
from PIL import PngImagePlugin

from catalog.models import Attribute
from foundation.errors import DomainError
from generation.images.storage import StoredImage, inspect, store_image
from generation.models import Condition, Image, Phrase

KINDS = ("PNG", "JPEG", "WEBP")


@pytest.fixture
def noisy():
    """Return a picture that compresses badly, so that truncating its file truncates its pixels."""

    def make(kind):
        picture = Picture.effect_noise((64, 64), 90).convert("RGB")
        file = io.BytesIO()
        picture.save(file, kind)
        return file.getvalue()

    return make


def refusal(data: bytes, what="“a.png”") -> str:
    with pytest.raises(DomainError) as refused:
        inspect(data, subject=what)
    return refused.value.message


def kept(image: Image) -> bytes:
    with default_storage.open(image.file) as file:
        return file.read()


@pytest.mark.parametrize(("kind", "suffix"), [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp")])
def test_three_formats_are_kept_under_the_hash_of_their_bytes(picture, kind, suffix):
    file = inspect(picture(kind=kind))
    assert (file.width, file.height) == (40, 30)
    assert file.name == f"images/{file.sha256[:2]}/{file.sha256[2:4]}/{file.sha256}.{suffix}"


@pytest.mark.parametrize(
    "data", [b"hello", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%PDF-1.7\n", b"\x89PNG"]
)
def test_files_that_are_not_images_are_refused(data):
    assert refusal(data) == "“a.png” is not an image."


def test_an_empty_file_is_refused():
    assert refusal(b"") == "“a.png” is empty."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("left", [0.05, 0.3, 0.5, 0.9, 0.98, -1, -2, -13])
def test_a_truncated_file_is_refused_wherever_it_was_cut(noisy, kind, left):
    data = noisy(kind)
    cut = data[:left] if left < 0 else data[: int(len(data) * left)]
    assert refusal(cut) in {"“a.png” is truncated or damaged.", "“a.png” is not an image."}


def test_a_png_with_a_wrong_checksum_is_refused(noisy):
    data = bytearray(noisy("PNG"))
    data[len(data) // 2] ^= 0xFF
    assert refusal(bytes(data)) == "“a.png” is truncated or damaged."


def test_a_file_over_the_size_limit_is_refused(noisy, settings):
    settings.IMAGE_MAX_BYTES = 1024
    assert refusal(noisy("PNG")).endswith("MiB; the limit is 0.000976562 MiB.")


def test_a_picture_over_the_pixel_limit_is_refused(picture, settings):
    settings.IMAGE_MAX_PIXELS = 1000
    assert refusal(picture()) == "“a.png” has 40 × 30 pixels; the limit is 1,000 in all."


@pytest.mark.parametrize("side", [10_000, 30_000])
def test_a_decompression_bomb_is_refused_without_unpacking_it(side):
    """A few hundred bytes that claim to be hundreds of millions of pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    assert "pixels; the limit is 40,000,000" in refusal(bomb)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_is_refused(kind):
    frames = [Picture.new("RGB", (20, 20), colour) for colour in ("red", "blue", "green")]
    file = io.BytesIO()
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    assert refusal(file.getvalue()) == "“a.png” contains more than one image (an animation or a sequence)."


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF"])
def test_other_formats_are_refused_by_name(picture, kind):
    assert refusal(picture(kind=kind)) == f"“a.png” is a {kind} file; PNG, JPEG and WebP can be shown."


def test_a_text_chunk_that_would_unpack_to_gigabytes_is_refused(picture):
    info = PngImagePlugin.PngInfo()
    info.add_text("comment", "x" * (2 * 1024 * 1024), zip=True)
    assert refusal(picture(pnginfo=info)) == "“a.png” is truncated or damaged."


def test_width_and_height_are_those_people_see(picture):
    exif = Picture.Exif()
    exif[0x0112] = 6  # turned by a quarter
    file = inspect(picture(kind="JPEG", exif=exif.tobytes()))
    assert (file.width, file.height) == (30, 40)


@pytest.mark.django_db
class TestStoring:
    def put(self, study, data, **more):
        arguments = {"group": study.groups.get(name="Velmari"), "model_label": "painter", **more}
        return store_image(study=study, data=data, **arguments)

    def test_the_same_picture_for_another_attribute_or_phrase_is_another_image(self, study, picture):
        data = picture()
        hat, kite = (Attribute.objects.get(text=text) for text in ("tall hat", "kite"))
        lamp = Phrase.objects.create(study=study, condition="target", name="Lamp", text="a lamp")
        first = self.put(study, data, attribute=hat)
        assert self.put(study, data, attribute=hat) == StoredImage(first.image, created=False)
        assert self.put(study, data, attribute=kite).created
        assert self.put(study, data, phrase=lamp).created
        assert self.put(study, data).created
        assert Image.objects.filter(sha256=first.image.sha256).count() == 4

    def test_the_file_and_its_metadata_are_stored(self, study, picture):
        data = picture()
        stored = self.put(study, data, prompt="a figure", provenance={"seed": 5})
        assert stored.created
        image = Image.objects.get()
        assert image == stored.image
        assert (image.width, image.height, image.bytes, image.prompt) == (40, 30, len(data), "a figure")
        assert kept(image) == data

    def test_the_same_bytes_in_the_same_place_are_one_image(self, study, picture):
        first = self.put(study, picture())
        again = self.put(study, picture())
        assert (again.image, again.created) == (first.image, False)

    @pytest.mark.parametrize(
        "other", [{"model_label": "other"}, {"condition": Condition.TARGET}, {"group": None}]
    )
    def test_the_same_bytes_elsewhere_are_another_image_with_the_same_file(self, study, picture, other):
        first = self.put(study, picture())
        second = self.put(study, picture(), **other)
        assert second.created
        assert second.image.file == first.image.file
        assert self.put(study, picture(), **other).created is False

    def test_a_file_that_a_dying_process_left_half_written_is_written_again(self, study, picture):
        data = picture()
        image = self.put(study, data).image
        with open(default_storage.path(image.file), "wb") as file:
            file.write(data[:20])
        self.put(study, data, model_label="other")
        assert kept(image) == data

    def test_a_refused_picture_leaves_nothing(self, study, settings):
        with pytest.raises(DomainError):
            self.put(study, b"nothing")
        assert not Image.objects.exists()
        assert not (settings.MEDIA_ROOT / "images").exists()
