"""Search for words in all rows of all tables (decrypted), in files and in Redis."""

import base64
import gzip
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from redis import Redis

from annotation.models import InvitationLetter
from annotation.people import addresses
from annotation.recruitment import identities
from annotation.recruitment.models import PanelEvent, PanelPerson, PanelPlace
from annotation.recruitment.prolific import access


def in_database(words: Iterable[str]) -> list[str]:
    """Return the tables that contain the words, and the words."""
    return [
        f"{table}: {word}"
        for table, content in _contents()
        for word in words
        if _is_in(word.encode(), content)
    ]


def in_files(words: Iterable[str], *folders: Path) -> list[str]:
    """Return the files in these folders, and words found in their bytes or names, also where they are compressed."""
    return [
        f"{path}: {word}"
        for folder in folders
        for path in folder.rglob("*")
        for content in (_readable(path) if path.is_file() else ())
        for word in words
        if word in path.name or _is_in(word.encode(), content)
    ]


def in_redis(words: Iterable[str], url: str) -> list[str]:
    """Return the keys of a Redis and words found in their names or values, also in the bodies of messages."""
    with Redis.from_url(url) as redis:
        return [
            f"{key!r}: {word}"
            for key in redis.scan_iter()
            for content in (key, *_values(redis, key))
            for word in words
            if _is_in(word.encode(), content)
        ]


def _values(redis: Redis, key: bytes) -> Iterator[bytes]:
    kind = redis.type(key)
    if kind == b"string":
        yield redis.get(key)
    elif kind == b"list":
        for message in redis.lrange(key, 0, -1):
            yield message
            yield base64.b64decode(json.loads(message)["body"])
    elif kind == b"hash":
        yield from (part for pair in redis.hgetall(key).items() for part in pair)
    else:
        yield from redis.smembers(key) if kind == b"set" else redis.zrange(key, 0, -1)


def _readable(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, and of the files packed in it."""
    yield path.read_bytes()
    if path.suffix == ".parquet":
        yield repr(parquet.read_table(path).to_pydict()).encode()
    if path.suffix == ".gz":
        yield gzip.decompress(path.read_bytes())
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name) for name in archive.namelist())


def _is_in(word: bytes, content: bytes) -> bool:
    escaped = json.dumps(word.decode())[1:-1].encode()
    return any(form.lower() in content.lower() for form in (word, escaped))


def _contents() -> Iterator[tuple[str, bytes]]:
    """Yield all rows of each table as bytes, then the compressed, signed or sealed values in clear."""
    for table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                yield table, b" ".join(map(_bytes, row))
    for session in Session.objects.all():
        yield "sessions", repr(session.get_decoded()).encode()
    for person in PanelPerson.objects.exclude(id_sealed=""):
        yield "panel ids", identities.unseal(person.id_sealed).encode()
    for place in PanelPlace.objects.exclude(submission_sealed=""):
        yield "panel places", identities.unseal(place.submission_sealed).encode()
    for letter in InvitationLetter.objects.exclude(address_sealed=""):
        yield "letters", addresses.address_of(letter).encode()
    for event in PanelEvent.objects.all():
        yield "panel events", base64.b64decode(access.unseal(event.body_sealed))
    for table in apps.get_model("analysis.ReportTable").objects.all():
        yield "results", zlib.decompress(bytes(table.content))


def _bytes(value: Any) -> bytes:
    if isinstance(value, memoryview | bytes):
        return bytes(value)
    return str(value).encode()


__all__ = ["in_database", "in_files", "in_redis"]
