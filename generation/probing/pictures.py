"""The picture that a model sees: the pixels of an image, without the metadata or name of its file."""

import hashlib
import io
import struct
from functools import lru_cache

from django.core.files.storage import default_storage
from PIL import Image as Picture
from PIL import ImageOps

from foundation.errors import DomainError
from generation.answerers.base import AskedPicture
from generation.images.decode import refusing_damage
from generation.models import Image

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Chunks for pixels and colours; texts, times and other metadata are left out.
_KEPT = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB"})
_ORIENTATION = b"eXIf"
_MOST_KEPT = 16  # pictures; questions about one picture are consecutive


def asked_picture(image: Image, *, largest_edge: int) -> AskedPicture:
    """Return the picture of an image for a model; raises DomainError if its file is missing or damaged."""
    return _picture(image.file, largest_edge)


@lru_cache(maxsize=_MOST_KEPT)
def _picture(file_name: str, largest_edge: int) -> AskedPicture:
    try:
        with default_storage.open(file_name) as file:
            source: bytes = file.read()
    except FileNotFoundError:
        raise DomainError(
            "image_file_missing", "The file of this image is missing from the server's storage."
        ) from None
    data = _bare_png(source, largest_edge)
    if data is None:
        with refusing_damage("The file of this image"):
            data = _encoded(source, largest_edge)
    return AskedPicture(data, "image/png", hashlib.sha256(data).hexdigest())


def _bare_png(source: bytes, largest_edge: int) -> bytes | None:
    """Return a PNG without its metadata if it is small enough; None if it must be encoded again.

    Encoding a picture takes 50 times as long as removing parts of its file.
    """
    if not source.startswith(_SIGNATURE):
        return None
    kept, position = [_SIGNATURE], len(_SIGNATURE)
    while position + 12 <= len(source):
        length, kind = struct.unpack_from(">I4s", source, position)
        end = position + 12 + length
        if end > len(source) or kind == _ORIENTATION:
            return None
        if kind == b"IHDR" and (
            length != 13 or max(struct.unpack_from(">II", source, position + 8)) > largest_edge
        ):
            return None
        if kind in _KEPT:
            kept.append(source[position:end])
        if kind == b"IEND":
            return b"".join(kept)
        position = end
    return None


def _encoded(source: bytes, largest_edge: int) -> bytes:
    with Picture.open(io.BytesIO(source)) as opened:
        picture = ImageOps.exif_transpose(opened)
        picture = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
        picture.thumbnail((largest_edge, largest_edge))
        picture.info.clear()
        file = io.BytesIO()
        picture.save(file, "PNG")
    return file.getvalue()
