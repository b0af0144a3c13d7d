"""The contents of each release about its people, stored so that later releases can be checked against them."""

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from accounts.models import Annotator
from analysis.models import Release
from analysis.releases.privacy.coarsen import Coarsened, coarsen
from analysis.releases.privacy.levels import Profile
from analysis.releases.privacy.linkage import Earlier
from analysis.releases.privacy.people import People, profiles_of


def pack(coarsened: Coarsened, people: People, *, against: Sequence[Earlier]) -> bytes:
    """Return what a release shows about its people, in the form stored with the release."""
    classes: dict[tuple[str, Profile], list[int]] = {}
    for key, profile in sorted(coarsened.profiles.items()):
        classes.setdefault((people.origins[key], profile), []).append(key)
    stored = {
        "levels": coarsened.levels,
        "floor": coarsened.floor,
        "classes": [[origin, profile, keys] for (origin, profile), keys in classes.items()],
        "against": sorted(release.version for release in against),
        "left_out": sorted(coarsened.left_out),
    }
    return zlib.compress(json.dumps(stored, ensure_ascii=False).encode("utf-8", "surrogatepass"), 6)


def against_of(release: Release) -> tuple[list[int], list[int]]:
    """Return the versions that a release was checked against, and the people it left out."""
    if release.profiles is None:
        return [], []
    stored = _unpack(release)
    return stored["against"], stored["left_out"]


def earlier_of(releases: Sequence[Release], *, using: str) -> tuple[Earlier, ...]:
    """Return the contents of these releases, oldest first.

    For releases that were built before this was stored, the contents are derived from people's present profiles.
    """
    ordered = sorted(releases, key=lambda release: release.version)
    return tuple(
        _kept(release) if release.profiles is not None else _worked_out(release, using) for release in ordered
    )


def live(releases: Sequence[Release]) -> list[Release]:
    """Return the releases that readers may have: all but those that a lead set aside as never shared."""
    return [release for release in releases if release.set_aside_at is None]


def _kept(release: Release) -> Earlier:
    stored = _unpack(release)
    profiles = {key: (origin, tuple(profile)) for origin, profile, keys in stored["classes"] for key in keys}
    return Earlier(
        version=release.version,
        k=release.parameters["k"],
        levels=tuple(stored["levels"]),
        floor=tuple(stored["floor"]),
        profiles=profiles,
        without_profile=_members(release) - profiles.keys(),
    )


def _worked_out(release: Release, using: str) -> Earlier:
    members = _members(release)
    origins: dict[int, str] = {}
    for batch in _pieces(sorted(members)):
        origin_rows = Annotator.objects.using(using).filter(pk__in=batch).values_list("pk", "origin")
        origins.update(origin_rows)
    stated = profiles_of(origins, using=using)
    k = release.parameters["k"]
    coarsened = coarsen(stated, k=k, without_profile=0, origins=origins)
    profiles = {key: (origins[key], profile) for key, profile in coarsened.profiles.items()}
    return Earlier(release.version, k, coarsened.levels, coarsened.floor, profiles, members - profiles.keys())


def _members(release: Release) -> frozenset[int]:
    from analysis.releases.key_sets import unpack  # loads numerical libraries

    return frozenset(unpack(bytes(release.annotators)).nonzero()[0].tolist())


def _pieces(keys: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(keys), 500):
        yield keys[start : start + 500]


def _unpack(release: Release) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(
        zlib.decompress(bytes(release.profiles or b"")).decode("utf-8", "surrogatepass")
    )
    return stored
