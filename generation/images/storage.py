"""Validation and storage of image files."""

import errno
import hashlib
import io
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, Unpack

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from PIL import Image as Picture
from PIL import ImageOps

from catalog.models import Attribute
from foundation.errors import DomainError
from generation.backends.base import Drawn
from generation.images.decode import check_size, refusing_damage
from generation.models import Condition, Image, Phrase
from studies.models import Study, StudyGroup

_SUFFIXES = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp"}


@dataclass(frozen=True)
class ImageFile:
    """A file that was checked to be a whole picture; width and height apply after EXIF rotation."""

    sha256: str
    width: int
    height: int
    bytes: int
    name: str  # in storage


@dataclass(frozen=True)
class StoredImage:
    """An image of a study; `created` is False if the study already had the same image."""

    image: Image
    created: bool


class StorageUnusable(DomainError):
    """The storage cannot store any file at present."""


class Described(TypedDict):
    """The description of an image."""

    study: Study
    group: StudyGroup | None
    model_label: str
    condition: NotRequired[str]
    attribute: NotRequired[Attribute | None]
    phrase: NotRequired[Phrase | None]
    prompt: NotRequired[str]
    experiment: NotRequired[str]
    scenario: NotRequired[str]
    source_name: NotRequired[str]
    provenance: NotRequired[dict[str, Any]]


def inspect(data: bytes, *, subject: str = "The file") -> ImageFile:
    """Decode an image completely; raise DomainError, in one sentence, if it cannot be shown."""
    if not data:
        raise DomainError("image_empty", f"{subject} is empty.")
    if len(data) > settings.IMAGE_MAX_BYTES:
        raise _too_large(subject, len(data))
    suffix, width, height = _decode(data, subject)
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageFile(sha256, width, height, len(data), _name(sha256, suffix))


def _name(sha256: str, suffix: str) -> str:
    return f"images/{sha256[:2]}/{sha256[2:4]}/{sha256}.{suffix}"


def _too_large(subject: str, size: int) -> DomainError:
    limit = settings.IMAGE_MAX_BYTES / 1024 / 1024
    return DomainError(
        "image_too_large", f"{subject} has {size / 1024 / 1024:.1f} MiB; the limit is {limit:g} MiB."
    )


def _decode(data: bytes, subject: str) -> tuple[str, int, int]:
    """Return suffix, width and height of a picture; raise DomainError unless it decodes completely."""
    with refusing_damage(subject):
        with Picture.open(io.BytesIO(data), formats=(*_SUFFIXES, "GIF", "BMP", "TIFF")) as picture:
            _check_header(picture, subject)
            picture.verify()
        with Picture.open(io.BytesIO(data), formats=tuple(_SUFFIXES)) as picture:
            picture.load()
            if not _has_its_end(data, str(picture.format)):
                raise OSError("no end marker")
            upright = ImageOps.exif_transpose(picture) or picture
            return _SUFFIXES[str(picture.format)], upright.width, upright.height


def _has_its_end(data: bytes, kind: str) -> bool:
    """Return whether the end marker of the format is present, which decoders do not require."""
    if kind == "JPEG":
        return data.rfind(b"\xff\xd9") > data.rfind(b"\xff\xda")
    return kind != "PNG" or b"IEND\xaeB\x60\x82" in data


def _check_header(picture: Picture.Image, subject: str) -> None:
    check_size(picture, subject)
    if getattr(picture, "n_frames", 1) > 1:
        raise DomainError(
            "image_animated", f"{subject} contains more than one image (an animation or a sequence)."
        )
    if picture.format not in _SUFFIXES:
        raise DomainError(
            "image_format_unknown", f"{subject} is a {picture.format} file; PNG, JPEG and WebP can be shown."
        )


def keep(file: ImageFile, data: bytes) -> bool:
    """Store the file under the name of its hash; return whether it was new."""
    try:
        return _keep(file, data)
    except Exception as error:
        # Not only OSError: libraries for object storage raise their own exceptions.
        if not _of_storage(error):
            raise
        raise StorageUnusable("storage_unusable", _what_is_wrong(error)) from error


def _keep(file: ImageFile, data: bytes) -> bool:
    if default_storage.exists(file.name):
        if default_storage.size(file.name) == file.bytes:
            return False
        # A process died while writing: the content does not match the name.
        default_storage.delete(file.name)
    written = default_storage.save(file.name, ContentFile(data))
    if written != file.name:
        # Another worker wrote the same bytes at the same time, and the storage chose a second name.
        default_storage.delete(written)
        return False
    return True


def _of_storage(error: Exception) -> bool:
    return isinstance(error, OSError) or type(error).__module__.startswith(("botocore.", "boto3."))


def _what_is_wrong(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return (
            "The storage for images is full. Free some space and try again. All images made so far are kept."
        )
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"Images cannot be stored: {message.splitlines()[0][:200]}. Images made so far are kept."


class BlankImage(DomainError):
    """The picture has a single colour, as a model returns when its computation fails."""


def keep_drawn(drawn: Drawn, *, subject: str) -> ImageFile:
    """Store a model's picture, or its file after a check; raise BlankImage if it has a single colour."""
    if drawn.picture is None:
        file, data = inspect(drawn.data, subject=subject), drawn.data
        with refusing_damage(subject), Picture.open(io.BytesIO(data), formats=tuple(_SUFFIXES)) as picture:
            blank = _is_one_colour(picture)
    else:
        file, data = _encoded(drawn.picture, subject)
        blank = _is_one_colour(drawn.picture)
    if blank:
        raise BlankImage("image_blank", f"{subject} is blank: a single colour throughout.")
    keep(file, data)
    return file


def _is_one_colour(picture: Picture.Image) -> bool:
    if picture.mode == "P":
        picture = picture.convert("RGBA")
    bands = picture.getextrema()
    pairs = bands if isinstance(bands[0], tuple) else (bands,)
    return all(low == high for low, high in pairs)


def _encoded(picture: Picture.Image, subject: str) -> tuple[ImageFile, bytes]:
    """Return a picture as PNG, which needs no check by decoding."""
    check_size(picture, subject)
    written = io.BytesIO()
    # Level 1 takes a third of the default level's time, for files a tenth larger.
    picture.save(written, "PNG", compress_level=1)
    data = written.getvalue()
    if len(data) > settings.IMAGE_MAX_BYTES:
        raise _too_large(subject, len(data))
    sha256 = hashlib.sha256(data).hexdigest()
    return ImageFile(sha256, picture.width, picture.height, len(data), _name(sha256, "png")), data


def store_image(*, data: bytes, subject: str = "The image", **described: Unpack[Described]) -> StoredImage:
    """Store a picture in a study. The same bytes from one model for the same purpose are one image.

    The file is written before the row, so a crash may leave a file without a row but never the reverse.
    """
    file = inspect(data, subject=subject)
    keep(file, data)
    return record_image(file, **described)


def record_image(file: ImageFile, **described: Unpack[Described]) -> StoredImage:
    """Write the row of a stored file. Its purpose is its condition, group, attribute and phrase."""
    cell = {
        "study": described["study"],
        "model_label": described["model_label"],
        "condition": described.get("condition", Condition.DEFAULT),
        "group": described["group"],
        "attribute": described.get("attribute"),
        "phrase": described.get("phrase"),
        "sha256": file.sha256,
    }
    image = Image(
        **cell,
        prompt=described.get("prompt", ""),
        experiment=described.get("experiment", ""),
        scenario=described.get("scenario", ""),
        file=file.name,
        source_name=described.get("source_name", ""),
        width=file.width,
        height=file.height,
        bytes=file.bytes,
        provenance=described.get("provenance") or {},
    )
    try:
        # The image is nearly always new, and a query first would cost more than the rest.
        with transaction.atomic():
            image.save(force_insert=True)
    except IntegrityError:
        existing = Image.objects.filter(**cell).first()
        if existing is None:
            raise
        return StoredImage(existing, created=False)
    return StoredImage(image, created=True)
