"""Damaged files for tests: valid files with random changes, reproducible by seed.

`STEREOSCOPE_MUTATIONS=20000` sets the number of files for every test that uses them.
"""

import io
import json
import os
import random
import struct
import zlib
from collections.abc import Callable, Iterator

from PIL import Image as Picture
from PIL import ImageCms, PngImagePlugin

_NASTY_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_NASTY_TEXTS = (
    b"\0",
    b"\xed\xa0\x80",  # a lone surrogate as invalid UTF-8
    rb"\ud800",
    rb"\u0000",
    b"1e999",
    b"NaN",
    b"[" * 3000,
    b'{"a":' * 3000,
    b'"',
    b",",
    b"\n",
    b"\r",
    "\u2028".encode(),
    b"9" * 400,
)


def how_many(usually: int) -> int:
    """Return the number of damaged files that a test tries."""
    return int(os.environ.get("STEREOSCOPE_MUTATIONS", usually))


def mutated(data: bytes, count: int, *, seed: int) -> Iterator[bytes]:
    """Yield `count` damaged copies of a file, each changed in one to four ways."""
    chance = random.Random(seed)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 4))):
            chance.choice(_CHANGES)(changed, chance)
        yield bytes(changed)


def _place(data: bytearray, chance: random.Random) -> int:
    # Decoders rely on headers, so half of all changes are near the beginning.
    end = len(data) if chance.random() < 0.5 else min(len(data), 200)
    return chance.randrange(end) if end else 0


def _flip(data: bytearray, chance: random.Random) -> None:
    if data:
        data[_place(data, chance)] ^= 1 << chance.randrange(8)


def _overwrite(data: bytearray, chance: random.Random) -> None:
    size, letter = chance.choice(((1, "B"), (2, "H"), (4, "I")))
    number = chance.choice(_NASTY_NUMBERS) & (256**size - 1)
    start = _place(data, chance)
    data[start : start + size] = struct.pack(chance.choice("<>") + letter, number)


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[_place(data, chance) :]


def _remove(data: bytearray, chance: random.Random) -> None:
    start = _place(data, chance)
    del data[start : start + chance.choice((1, 2, 3, 8, 40))]


def _repeat(data: bytearray, chance: random.Random) -> None:
    start = _place(data, chance)
    data[start:start] = data[start : start + chance.choice((1, 4, 16, 64))]


def _insert(data: bytearray, chance: random.Random) -> None:
    start = _place(data, chance)
    data[start:start] = chance.choice(_NASTY_TEXTS)


_CHANGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flip,
    _flip,
    _overwrite,
    _overwrite,
    _cut,
    _remove,
    _repeat,
    _insert,
)


def with_valid_checksums(png: bytes) -> bytes:
    """Return a damaged PNG with correct checksums of its chunks, so that decoders read the damaged data."""
    repaired, at = bytearray(png[:8]), 8
    while at + 12 <= len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        body = png[at + 4 : at + 8 + length]
        repaired += png[at : at + 4] + body + zlib.crc32(body).to_bytes(4, "big")
        at += 12 + length
    return bytes(repaired)


def sound_pictures() -> dict[str, bytes]:
    """Return small valid pictures of every accepted format in many modes, with the metadata that cameras write."""
    noise = Picture.effect_noise((24, 18), 90)
    colour = Picture.merge("RGB", (noise, noise.rotate(90, expand=False), noise.rotate(180)))
    exif = Picture.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "A maker"
    exif[0x011A] = 72.0
    exif.get_ifd(0x8769).update({0x829A: (1, 60), 0x9000: b"0232", 0x927C: b"\x01\x02\x03\x04" * 8})
    exif.get_ifd(0x8825).update({1: "N", 2: (10.0, 20.0, 30.0)})
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    text = PngImagePlugin.PngInfo()
    text.add_text("Title", "a kite", zip=True)
    text.add_itxt("Comment", "a tall hat", lang="en", zip=True)
    palette = colour.quantize(16)
    deep = Picture.new("I;16", (24, 18), 40_000)
    variants: dict[str, tuple[Picture.Image, str, dict[str, object]]] = {
        "grey.png": (noise, "PNG", {}),
        "colour.png": (colour, "PNG", {"exif": exif, "icc_profile": profile, "pnginfo": text}),
        "palette.png": (palette, "PNG", {"transparency": 3}),
        "alpha.png": (colour.convert("RGBA"), "PNG", {"dpi": (72, 72)}),
        "deep.png": (deep, "PNG", {}),
        "bits.png": (noise.convert("1"), "PNG", {}),
        "plain.jpg": (colour, "JPEG", {"exif": exif, "icc_profile": profile, "comment": b"a kite"}),
        "progressive.jpg": (colour, "JPEG", {"progressive": True, "exif": exif}),
        "grey.jpg": (noise, "JPEG", {"dpi": (72, 72)}),
        "cmyk.jpg": (colour.convert("CMYK"), "JPEG", {"exif": exif}),
        "lossy.webp": (colour, "WEBP", {"exif": exif, "icc_profile": profile, "xmp": b"<x/>"}),
        "lossless.webp": (colour.convert("RGBA"), "WEBP", {"lossless": True, "exif": exif}),
    }
    files = {}
    for name, (picture, kind, options) in variants.items():
        file = io.BytesIO()
        picture.save(file, kind, **options)
        files[name] = file.getvalue()
    return files


def mutated_pictures(count: int, *, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield at least `count` damaged pictures, equally many of each kind; some PNGs have valid checksums."""
    sound = sound_pictures()
    each = -(-count // len(sound))
    for offset, (name, data) in enumerate(sound.items()):
        for number, damaged in enumerate(mutated(data, each, seed=seed * 1000 + offset)):
            repair = name.endswith(".png") and number % 2
            yield f"{number}-{name}", with_valid_checksums(damaged) if repair else damaged


def mutated_json(value: object, count: int, *, seed: int = 1) -> Iterator[bytes]:
    """Yield damaged copies of a JSON document; some are valid JSON with values of another type or unstorable ones."""
    chance = random.Random(seed)
    text = json.dumps(value).encode()
    damaged = mutated(text, count, seed=seed)
    for number in range(count):
        if number % 2:
            yield next(damaged)
        else:
            yield json.dumps(_replaced(value, chance)).encode()


_ODD_VALUES: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    2**63,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "\ud800",
    "a\0b",
    "\u202e",
    "x" * 5000,
    "\U0001f600",
    [],
    {},
    [[]],
    {"": None},
    {"\ud800": "\0"},
    [None, 1, "a"],
)


def _replaced(value: object, chance: random.Random) -> object:
    """Return the value with an odd value somewhere in it."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        if chance.random() < 0.1:
            return {name: inner for name, inner in value.items() if name != key}
        return {**value, key: _replaced(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        return [*value[:place], _replaced(value[place], chance), *value[place + 1 :]]
    return chance.choice(_ODD_VALUES)
