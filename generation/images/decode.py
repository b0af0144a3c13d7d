"""Decoding untrusted pictures; every fault of a picture is a DomainError."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from PIL import Image as Picture
from PIL import UnidentifiedImageError

from foundation.errors import DomainError

# Pictures are shown as WebP, which allows no longer sides.
LONGEST_SIDE = 16_383
_BOMBS = (Picture.DecompressionBombError, Picture.DecompressionBombWarning)


@contextmanager
def refusing_damage(subject: str) -> Iterator[None]:
    """Turn any exception of the decoder into a DomainError with a sentence about the file.

    On damaged bytes, Pillow's plugins raise nearly any exception (TypeError and AttributeError for EXIF data,
    KeyError, OverflowError, struct.error, zlib.error …), and no list of them is documented. The block must
    therefore contain only decoding.
    """
    try:
        yield
    except DomainError:
        raise
    except UnidentifiedImageError:
        raise DomainError("not_an_image", f"{subject} is not an image.") from None
    except _BOMBS:
        raise too_many_pixels(subject) from None
    except Exception:
        raise DomainError("image_truncated", f"{subject} is truncated or damaged.") from None


def check_size(picture: Picture.Image, subject: str) -> None:
    """Raise DomainError if a picture is too large to decode or show."""
    if picture.width * picture.height > settings.IMAGE_MAX_PIXELS:
        raise too_many_pixels(subject, picture)
    if max(picture.size) > LONGEST_SIDE:
        raise DomainError(
            "image_side_too_long",
            f"{subject} has {picture.width:,} × {picture.height:,} pixels; "
            f"neither side may be longer than {LONGEST_SIDE:,}.",
        )


def too_many_pixels(subject: str, picture: Picture.Image | None = None) -> DomainError:
    size = f"{picture.width:,} × {picture.height:,}" if picture else "too many"
    return DomainError(
        "image_too_many_pixels",
        f"{subject} has {size} pixels; the limit is {settings.IMAGE_MAX_PIXELS:,} in all.",
    )
