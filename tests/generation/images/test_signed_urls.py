"""Images as annotators receive them: addresses that reveal nothing, and pixels without metadata."""

import base64
import io

import pytest
import time_machine
from django.core.files.storage import default_storage
from django.test import Client
from PIL import Image as Picture
from PIL import PngImagePlugin

from foundation.errors import NotFound
from generation.images.signed_urls import FULL, SMALL, image_url, open_token
from generation.images.storage import store_image
from generation.models import Image

pytestmark = pytest.mark.django_db


@pytest.fixture
def put(study, picture):
    def put(data=None, *, group="Velmari", **more):
        arguments = {"group": study.groups.get(name=group), "model_label": "painter", **more}
        return store_image(study=study, data=data or picture(), **arguments).image

    return put


def token(url: str) -> str:
    return url.rpartition("/")[2]


def secret_metadata(kind: str) -> bytes:
    """Return a picture that names its group in every metadata field of its format."""
    words = "Velmari prompt secret"
    exif = Picture.Exif()
    exif[0x010E] = words
    options = {"exif": exif.tobytes(), "icc_profile": b"Velmari profile " * 20}
    if kind == "PNG":
        text = PngImagePlugin.PngInfo()
        text.add_text("parameters", words)
        text.add_itxt("prompt", words)
        options["pnginfo"] = text
    elif kind == "JPEG":
        options |= {"comment": words.encode()}
    else:
        options |= {"xmp": words.encode(), "lossless": True}
    file = io.BytesIO()
    Picture.effect_noise((50, 40), 60).convert("RGB").save(file, kind, **options)
    assert b"Velmari" in file.getvalue()
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("size", [FULL, SMALL])
def test_metadata_of_a_file_is_not_served(put, kind, size):
    image = put(secret_metadata(kind))
    answer = Client().get(image_url(image, viewer="user:1", size=size))
    assert answer.status_code == 200
    assert b"Velmari" not in answer.content
    assert b"secret" not in answer.content
    shown = Picture.open(io.BytesIO(answer.content))
    shown.load()
    assert not shown.getexif()
    assert set(shown.info) <= {"loop", "background", "timestamp", "duration"}
    # RIFF holds one chunk of pixels and no other.
    assert answer.content[12:16] == b"VP8 "
    assert int.from_bytes(answer.content[16:20], "little") + 20 == len(answer.content)


def test_the_answer_is_a_private_picture_without_a_name(put):
    answer = Client().get(image_url(put(), viewer="user:1"))
    assert answer["Content-Type"] == "image/webp"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"] == "inline"
    assert "Set-Cookie" not in answer
    assert "Last-Modified" not in answer
    private, age, immutable = answer["Cache-Control"].split(", ")
    assert (private, immutable) == ("private", "immutable")
    assert 12 * 3600 < int(age.removeprefix("max-age=")) <= 24 * 3600


def test_headers_do_not_identify_the_image(put):
    image = put(prompt="a Velmari person", source_name="Velmari/5.png")
    answer = Client().get(image_url(image, viewer="user:1"))
    headers = str(dict(answer.headers))
    for word in ("Velmari", "painter", image.sha256, image.sha256[:16], str(image.public_id)):
        assert word not in headers


def test_a_browser_that_has_the_picture_gets_no_second_copy(put):
    url = image_url(put(), viewer="user:1")
    first = Client().get(url)
    second = Client().get(url, headers={"If-None-Match": first["ETag"]})
    assert (second.status_code, second.content) == (304, b"")
    assert second["ETag"] == first["ETag"]


def test_the_address_holds_neither_id_nor_hash_nor_group_nor_time(put):
    with time_machine.travel("2026-11-21T10:00:00Z", tick=False):
        image = put()
        url = image_url(image, viewer="user:1")
    raw = base64.urlsafe_b64decode(token(url) + "=")
    for secret in (image.public_id.bytes, bytes.fromhex(image.sha256)[:8], b"Velmari", b"user:1"):
        assert secret not in raw
    assert image.public_id.hex not in url


def test_addresses_have_one_length_and_no_order(put, picture):
    images = [put(picture((shade, 10, 10))) for shade in range(40)]
    tokens = [token(image_url(image, viewer="user:1")) for image in images]
    assert len({len(text) for text in tokens}) == 1
    assert len(set(tokens)) == 40
    assert tokens != sorted(tokens)
    assert len({text[:4] for text in tokens}) > 35


def test_a_viewer_gets_the_same_address_on_every_page_and_another_viewer_another(put):
    image = put()
    with time_machine.travel("2026-11-21T12:01:00Z", tick=False):
        first = image_url(image, viewer="user:1")
    with time_machine.travel("2026-11-21T23:58:00Z", tick=False):
        assert image_url(image, viewer="user:1") == first
        assert image_url(image, viewer="user:2") != first
        assert image_url(image, viewer="user:1", size=SMALL) != first


def test_an_address_works_for_the_time_promised_and_then_expires(put, settings):
    settings.IMAGE_URL_MINUTES = 60
    with time_machine.travel("2026-11-21T12:59:00Z", tick=False) as clock:
        url = image_url(put(), viewer="user:1")
        clock.shift(60 * 60)
        assert Client().get(url).status_code == 200
        clock.shift(60)  # to 14:00, the moment in the address
        answer = Client().get(url)
    assert answer.status_code == 404
    assert (
        answer.content.decode()
        == "The address of this image has expired. Reload the page that showed the image."
    )


@pytest.mark.parametrize("place", [0, 10, 20, 30, 50])
def test_an_altered_address_shows_nothing(put, place):
    text = token(image_url(put(), viewer="user:1"))
    altered = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
    assert Client().get(f"/images/{altered}").status_code == 404


@pytest.mark.parametrize("text", ["x", "AAAA", "%00", "é", "A" * 60, "A" * 61, "A" * 5000])
def test_an_invented_address_shows_nothing(db, text):
    with pytest.raises(NotFound):
        open_token(text)
    assert Client().get(f"/images/{text}").status_code == 404


def test_an_address_of_another_server_shows_nothing(put, settings):
    url = image_url(put(), viewer="user:1")
    settings.SECRET_KEY = "another key, of another server"
    assert Client().get(url).status_code == 404


def test_an_image_without_a_file_has_no_address(study):
    image = Image.objects.create(study=study, source_name="published/5.png")
    assert image_url(image, viewer="user:1") == ""


def test_a_missing_file_is_reported_in_one_sentence(put):
    image = put()
    default_storage.delete(image.file)
    answer = Client().get(image_url(image, viewer="user:1"))
    assert answer.status_code == 404
    assert "missing from the server's storage" in answer.content.decode()


def test_a_picture_is_encoded_once_and_a_broken_copy_is_made_again(put):
    image = put()
    url = image_url(image, viewer="user:1")
    first = Client().get(url).content
    (cached,) = (
        default_storage.path(f"shown/{image.sha256[:2]}/{image.sha256[2:4]}/{image.sha256}-1-0.webp"),
    )
    with open(cached, "wb") as file:
        file.write(first[:30])
    assert Client().get(url).content == first


def test_small_pictures_fit_the_contact_sheet_and_full_ones_keep_their_size(put, picture):
    image = put(picture(size=(900, 450)))
    sizes = []
    for size in (SMALL, FULL):
        answer = Client().get(image_url(image, viewer="user:1", size=size))
        sizes.append(Picture.open(io.BytesIO(answer.content)).size)
    assert sizes == [(360, 180), (900, 450)]


@pytest.mark.parametrize(
    ("mode", "colour", "seen"),
    [
        ("RGBA", (255, 0, 0, 0), (255, 255, 255)),
        ("LA", (0, 0), (255, 255, 255)),
        ("L", 128, (128, 128, 128)),
        ("1", 1, (255, 255, 255)),
        ("I;16", 128 * 256, (128, 128, 128)),
        ("P", 0, (0, 0, 0)),
        ("CMYK", (0, 255, 255, 0), (254, 0, 0)),
    ],
)
def test_every_kind_of_pixels_looks_as_it_should(put, mode, colour, seen):
    file = io.BytesIO()
    Picture.new(mode, (32, 32), colour).save(file, "JPEG" if mode == "CMYK" else "PNG")
    answer = Client().get(image_url(put(file.getvalue()), viewer="user:1"))
    pixel = Picture.open(io.BytesIO(answer.content)).convert("RGB").getpixel((16, 16))
    assert all(abs(a - b) <= 3 for a, b in zip(pixel, seen, strict=True))


def test_a_turned_photograph_is_shown_upright(put):
    exif = Picture.Exif()
    exif[0x0112] = 6
    picture = Picture.new("RGB", (60, 30), "white")
    picture.paste("black", (0, 0, 30, 30))
    file = io.BytesIO()
    picture.save(file, "JPEG", exif=exif.tobytes())
    shown = Picture.open(
        io.BytesIO(Client().get(image_url(put(file.getvalue()), viewer="u")).content)
    ).convert("L")
    assert shown.size == (30, 60)
    assert shown.getpixel((15, 10)) < 40
    assert shown.getpixel((15, 50)) > 215


def test_one_picture_is_one_query(put, django_assert_num_queries):
    url = image_url(put(), viewer="user:1")
    with django_assert_num_queries(1):
        Client().get(url)
