"""Files in S3-compatible storage, read in ranges, with outages as expected errors."""

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
        """The parts of django-storages, which has no types, that `ObjectStorage` uses."""

        bucket_name: str
        connection: Any
        location: str

        def _open(self, name: str, mode: str) -> Any: ...

        def _save(self, name: str, content: File[Any]) -> str: ...

else:
    from storages.backends.s3 import S3Storage

    _BytesFile = File

_PIECE = 4 * 1024 * 1024  # bytes per request


class StorageUnavailable(DomainError, OSError):
    """The storage refuses or does not answer. It is also an OSError, for code that handles file errors."""

    status = 503

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        # For callers that distinguish errors of the disk from errors of the file.
        self.errno = errno.EIO

    def __str__(self) -> str:
        return self.message


def client_settings() -> Config:
    """Return the settings of the S3 client: timeouts, and compatibility with other stores than Amazon's."""
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
    """S3 storage of django-storages, with errors of one sentence and files read in ranges."""

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
        """Yield name, size and entity tag of every file, 1,000 per request."""
        prefix = f"{self.location}/" if self.location else ""
        with _in_one_sentence():
            pages = self.connection.meta.client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket_name, Prefix=prefix):
                for entry in page.get("Contents", ()):
                    yield entry["Key"].removeprefix(prefix), int(entry["Size"]), str(entry["ETag"])

    def ping(self) -> None:
        """Check that the bucket exists; raise StorageUnavailable if it cannot be reached."""
        with _in_one_sentence():
            self.connection.meta.client.head_bucket(Bucket=self.bucket_name)

    def make_bucket(self) -> bool:
        """Create the bucket if it does not exist; return whether it was created."""
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
    """A file in storage, open for reading."""

    def __init__(self, pieces: "_Pieces", name: str) -> None:
        super().__init__(io.BufferedReader(pieces, _PIECE), name)
        self.size = pieces.size


class _Pieces(io.RawIOBase):
    """An object read in ranges, so that reading a zip of gigabytes or only its index starts at once."""

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
            # Never mix parts of two versions of a file.
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
