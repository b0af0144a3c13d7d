"""Re-encoding of pictures before they are served: the same look, new bytes, no metadata."""

import hashlib
import io
import logging

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Picture
from PIL import ImageOps

from foundation.errors import DomainError, NotFound
from generation.images.decode import LONGEST_SIDE, refusing_damage
from generation.images.signed_urls import FULL, SMALL
from generation.models import Image

logger = logging.getLogger(__name__)

CONTENT_TYPE = "image/webp"
CACHE_FOLDER = "shown"  # in storage; recreated from the images if deleted
# Part of the cached file's name; increase it when the encoding changes.
_VERSION = 1
_SMALL_EDGE = 360
_QUALITY = 90


def shown_bytes(image: Image, *, size: int) -> bytes:
    """Return the image as WebP without metadata, from the cache if possible. Raises NotFound.

    All images are served in one format, so that the source format cannot reveal the group.
    """
    name = _shown_name(image.sha256, size)
    if default_storage.exists(name):
        with default_storage.open(name) as file:
            cached: bytes = file.read()
        if _is_whole(cached):
            return cached
        default_storage.delete(name)  # the process that wrote it died
    try:
        with default_storage.open(image.file) as file:
            source = file.read()
    except FileNotFoundError:
        raise NotFound(
            "image_file_missing", "The file of this image is missing from the server's storage."
        ) from None
    try:
        with refusing_damage("The file of this image"):
            data = reencode(source, size=size)
    except DomainError as error:
        raise NotFound(
            "image_file_damaged", f"{error.message.rstrip('.')} in the server's storage."
        ) from None
    _keep_shown(name, data)
    return data


def _shown_name(sha256: str, size: int) -> str:
    return f"{CACHE_FOLDER}/{sha256[:2]}/{sha256[2:4]}/{sha256}-{_VERSION}-{size}.webp"


def shown_names(sha256: str) -> list[str]:
    """Return the names of an image's cached copies in all sizes."""
    return [_shown_name(sha256, size) for size in (FULL, SMALL)]


def _keep_shown(name: str, data: bytes) -> None:
    try:
        written = default_storage.save(name, ContentFile(data))
        if written != name:
            default_storage.delete(written)  # another request wrote it at the same time
    except OSError as error:
        # On a full or read-only disk, pictures are slower but still shown.
        logger.warning(
            "An image was shown, but its converted copy could not be stored: %s", error.strerror or error
        )


def reencode(source: bytes, *, size: int) -> bytes:
    """Return a picture as WebP, upright and on a white background."""
    with Picture.open(io.BytesIO(source)) as opened:
        picture = ImageOps.exif_transpose(opened) or opened
        picture = _opaque(picture)
    # Longer sides are refused now, but older studies may contain them.
    edge = _SMALL_EDGE if size == SMALL else LONGEST_SIDE
    if max(picture.size) > edge:
        picture.thumbnail((edge, edge), Picture.Resampling.LANCZOS)
    # A new picture from the pixels only, without anything that a decoder attached.
    bare = Picture.frombytes("RGB", picture.size, picture.tobytes())
    file = io.BytesIO()
    bare.save(file, "WEBP", quality=_QUALITY, method=4)
    return file.getvalue()


def etag(data: bytes) -> str:
    """Return the ETag of the bytes served, which does not reveal the hash of the source."""
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def _opaque(picture: Picture.Image) -> Picture.Image:
    if picture.mode.startswith("I"):  # 16 bits per pixel: Pillow would clip instead of scale
        picture = picture.convert("I").point(lambda value: value / 256).convert("L")
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        ground = Picture.new("RGBA", layer.size, "white")
        ground.alpha_composite(layer)
        picture = ground
    return picture.convert("RGB")


def _is_whole(data: bytes) -> bool:
    return len(data) > 12 and int.from_bytes(data[4:8], "little") + 8 == len(data)
