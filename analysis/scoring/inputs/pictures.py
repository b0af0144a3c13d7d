"""Image files prepared for models: threads read and decode them a few batches ahead of the model."""

import io
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.files.storage import default_storage
from PIL import Image as Picture
from PIL import ImageOps

from foundation.errors import DomainError
from generation.images.decode import refusing_damage

_BATCHES_AHEAD = 2
_MOST_THREADS = 16


@dataclass(frozen=True)
class StoredFile:
    """A stored image file: the hash of its bytes and its name in storage."""

    sha256: str
    name: str


@dataclass(frozen=True)
class Prepared:
    """A file prepared for a model, or the reason why it cannot be read."""

    file: StoredFile
    value: Any = None
    reason: str = ""


def prepared_batches(
    files: Sequence[StoredFile], prepare: Callable[[Picture.Image], Any], *, size: int
) -> Iterator[list[Prepared]]:
    """Yield batches of prepared files in order; while the caller works, threads read the next batches."""
    threads = min(_MOST_THREADS, (os.cpu_count() or 1) + 1)
    with ThreadPoolExecutor(threads, thread_name_prefix="pictures") as pool:
        waiting: deque[list[Future[Prepared]]] = deque()
        try:
            for start in range(0, len(files), size):
                batch = files[start : start + size]
                waiting.append([pool.submit(_prepared, file, prepare) for file in batch])
                if len(waiting) > _BATCHES_AHEAD:
                    yield [future.result() for future in waiting.popleft()]
            while waiting:
                yield [future.result() for future in waiting.popleft()]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def read_picture(file: StoredFile) -> Picture.Image:
    """Return the picture as people see it: upright, in RGB, transparent parts on white.

    Raises DomainError if the file is damaged.
    """
    with default_storage.open(file.name) as opened:
        data = opened.read()
    with refusing_damage("Its file"), Picture.open(io.BytesIO(data)) as picture:
        upright = ImageOps.exif_transpose(picture) or picture
        return _in_colour(upright)


def _in_colour(picture: Picture.Image) -> Picture.Image:
    if picture.mode.startswith("I"):
        # Pillow would treat 16-bit values as 8-bit values and make nearly all of the picture white.
        grey = np.asarray(picture).astype(np.float64) / 257
        return Picture.fromarray(grey.clip(0, 255).round().astype(np.uint8)).convert("RGB")
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    behind = Picture.new("RGBA", picture.size, "white")
    behind.alpha_composite(picture.convert("RGBA"))
    return behind.convert("RGB")


def _prepared(file: StoredFile, prepare: Callable[[Picture.Image], Any]) -> Prepared:
    try:
        return Prepared(file, prepare(read_picture(file)))
    except FileNotFoundError:
        return Prepared(file, reason="The image file is missing.")
    except DomainError as error:
        return Prepared(file, reason=error.message)
    except (OSError, ValueError):
        # Remote storage may raise any of these errors for a missing file.
        missing = not default_storage.exists(file.name)
        return Prepared(
            file, reason="The image file is missing." if missing else "The image file is damaged."
        )
