"""The output folder of a release: written whole or not at all, and never over other files."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from analysis.releases.contents import ReleasedFile
from foundation.errors import Conflict

MANIFEST = "release.json"
CHECKSUMS = "checksums.sha256"
_AT_ONCE = 1024 * 1024
# Errors of a full disk. Other errors of reading and writing do not concern the place of a release.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}


def require_folder(output: Path, *, study: str) -> None:
    """Refuse a path at which no release can be created, before computing for minutes."""
    output = _resolved(output)
    parent = next(p for p in (output, *output.parents) if p.exists())
    if not parent.is_dir():
        raise Conflict("output_is_a_file", f"{parent} is a file; --output must name a folder.")
    if os.path.ismount(output):
        raise Conflict(
            "output_is_a_mount", f"{output} is a mounted disk; --output must name a folder on this disk."
        )
    if not os.access(output.parent if output.exists() else parent, os.W_OK):
        raise Conflict("output_not_writable", f"{parent} cannot be written to.")
    if output.exists() and any(output.iterdir()) and _study_of(output) != study:
        raise Conflict(
            "output_taken",
            f"{output} contains other files. Enter a new folder, or the folder of an earlier release of this study.",
        )


@contextmanager
def workplace(output: Path) -> Iterator[Path]:
    """Yield an empty folder next to `output`, which is deleted afterwards unless `put_in_place` moved it."""
    output = _resolved(output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(
            prefix=f".{output.name}-", dir=output.parent, ignore_cleanup_errors=True
        )
    except OSError as error:
        raise _not_writable(output, error) from error
    with temporary as place:
        try:
            yield Path(place)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise _not_writable(output, error) from error


def put_in_place(ready: Path, output: Path) -> None:
    """Move a complete release into place. An earlier release there is deleted, or kept if this fails."""
    output = _resolved(output)
    try:
        if output.exists():
            _exchange(ready, output)
        else:
            ready.rename(output)
    except OSError as error:
        raise _not_writable(output, error) from error


def _exchange(ready: Path, output: Path) -> None:
    # Renaming takes two steps; between them there is no release, but never a partial one. The old release waits
    # outside the temporary folder, which is always deleted.
    old = output.parent / f"{ready.parent.name}-old"
    output.rename(old)
    try:
        ready.rename(output)
    except OSError:
        old.rename(output)
        raise
    shutil.rmtree(old, ignore_errors=True)


def files_of(folder: Path, *, without: Collection[PurePosixPath] = ()) -> tuple[ReleasedFile, ...]:
    """Return every file below `folder` with its digest, by path, except known files."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return tuple(
        ReleasedFile(PurePosixPath(path), sha256_of(folder / path), (folder / path).stat().st_size)
        for path in paths
        if PurePosixPath(path) not in without
    )


def write_checksums(folder: Path, files: tuple[ReleasedFile, ...]) -> None:
    """Write the file for `sha256sum --check`."""
    lines = "".join(
        f"{file.sha256}  {file.path}\n" for file in sorted(files, key=lambda file: str(file.path))
    )
    (folder / CHECKSUMS).write_text(lines, encoding="utf-8", newline="\n")


def sha256_of(path: Path) -> str:
    """Return the digest of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_AT_ONCE):
            digest.update(piece)
    return digest.hexdigest()


def _resolved(output: Path) -> Path:
    """Return the target if `output` is a link, because a link cannot be exchanged for a folder."""
    try:
        return output.resolve()
    except (OSError, RuntimeError) as error:
        raise Conflict("output_not_writable", f"{output} is a broken link.") from error


def _not_writable(output: Path, error: OSError) -> Conflict:
    return Conflict("output_not_writable", f"{output} cannot be written: {error.strerror or error}.")


def _study_of(folder: Path) -> str | None:
    """Return the slug of the study to which the release in the folder belongs, or None."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        slug: str = manifest["study"]["slug"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return slug
