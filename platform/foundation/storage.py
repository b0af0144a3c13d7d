"""Files in S3-compatible storage: read piece by piece, and away for a while without breaking anything for good."""

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import File

from foundation.errors import DomainError

if TYPE_CHECKING:
    from django.core.files.storage import Storage

    _BytesFile = File[bytes]

    class S3Storage(Storage):
        """What `ObjectStorage` uses of django-storages, which has no types."""

        bucket_name: str
        connection: Any
        location: str

        def _open(self, name: str, mode: str) -> Any: ...

        def _save(self, name: str, content: File[Any]) -> str: ...

else:
    from storages.backends.s3 import S3Storage

    _BytesFile = File

_PIECE = 4 * 1024 * 1024  # bytes fetched at once


class StorageUnavailable(DomainError, OSError):
    """The storage refuses or does not answer; also an OSError, for code that handles errors of files."""

    status = 503

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        # An error of the disk and not of the file: callers that distinguish the two read this.
        self.errno = errno.EIO

    def __str__(self) -> str:
        return self.message


def client_settings() -> Config:
    """Return how long to wait for the storage, and what stores other than Amazon's understand."""
    return Config(
        signature_version="s3v4",
        s3={"addressing_style": "path"},
        connect_timeout=3,
        read_timeout=30,
        retries={"mode": "standard", "max_attempts": 3},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


class ObjectStorage(S3Storage):
    """django-storages for S3, with errors in one sentence and files that need not be fetched whole."""

    def exists(self, name: str) -> bool:
        with _in_one_sentence():
            return super().exists(name)

    def size(self, name: str) -> int:
        with _in_one_sentence():
            return super().size(name)

    def delete(self, name: str) -> None:
        with _in_one_sentence():
            super().delete(name)

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        with _in_one_sentence():
            folders, files = super().listdir(name)
            return folders, files

    def entries(self) -> Iterator[tuple[str, int, str]]:
        """Yield name, size and entity tag of every file, a thousand a request."""
        prefix = f"{self.location}/" if self.location else ""
        with _in_one_sentence():
            pages = self.connection.meta.client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket_name, Prefix=prefix):
                for entry in page.get("Contents", ()):
                    yield entry["Key"].removeprefix(prefix), int(entry["Size"]), str(entry["ETag"])

    def ping(self) -> None:
        """Ask for the bucket; StorageUnavailable when it cannot be reached."""
        with _in_one_sentence():
            self.connection.meta.client.head_bucket(Bucket=self.bucket_name)

    def make_bucket(self) -> bool:
        """Make the bucket unless it is there; return whether it was made."""
        client = self.connection.meta.client
        with _in_one_sentence():
            try:
                client.head_bucket(Bucket=self.bucket_name)
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] != 404:
                    raise
                client.create_bucket(Bucket=self.bucket_name)
                return True
        return False

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        with _in_one_sentence():
            opened: Any = super()._open(name, mode)
        if mode != "rb":
            return cast("File[bytes]", opened)
        return _ObjectFile(_Pieces(opened.obj), name)

    def _save(self, name: str, content: "File[Any]") -> str:
        with _in_one_sentence():
            return super()._save(name, content)


class _ObjectFile(_BytesFile):
    """A file in storage, opened to be read."""

    def __init__(self, pieces: "_Pieces", name: str) -> None:
        super().__init__(io.BufferedReader(pieces, _PIECE), name)
        self.size = pieces.size


class _Pieces(io.RawIOBase):
    """An object read by ranges: a zip of gigabytes starts at once, and its table of contents is read alone."""

    def __init__(self, stored: Any) -> None:
        self._object = stored
        self._at = 0
        self.size = int(stored.content_length)
        self._version = stored.e_tag

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        end = min(self._at + len(view), self.size)
        if end <= self._at:
            return 0
        with _in_one_sentence():
            answer = self._object.get(Range=f"bytes={self._at}-{end - 1}")
            data = answer["Body"].read()
        if answer["ETag"] != self._version:
            # Never half of one file and half of another.
            raise StorageUnavailable("file_changed", "The file was replaced while it was read; try again.")
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


@contextmanager
def _in_one_sentence() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        raise StorageUnavailable(
            "storage_unavailable", f"The file storage refused ({code or 'no reason given'})."
        ) from error
    except BotoCoreError as error:
        # Only the type, because the text may contain addresses.
        raise StorageUnavailable(
            "storage_unavailable", f"The file storage does not answer ({type(error).__name__})."
        ) from error
