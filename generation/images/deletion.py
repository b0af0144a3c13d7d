"""Removing the files of deleted images."""

from collections.abc import Iterable

from django.core.files.storage import default_storage

from generation.images.reencode import shown_names
from generation.models import Image

_AT_ONCE = 500


def remove_files(files: Iterable[tuple[str, str]]) -> int:
    """Delete files, given by name and SHA-256, and their cached copies; return the number of files deleted.

    Files are named after their content, so a file that another image uses is kept.
    """
    rows = sorted(set(files))
    removed = 0
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        used = set(Image.objects.filter(file__in=[name for name, _ in some]).values_list("file", flat=True))
        for name, sha256 in some:
            if name in used:
                continue
            for unused in (name, *shown_names(sha256)):
                default_storage.delete(unused)
            removed += 1
    return removed
