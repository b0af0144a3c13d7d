"""The versions of an annotation in Label Studio that were seen here, and which of them counts.

Label Studio's Community Edition lets anybody change anybody's annotation. So each version is stored unchanged, with
its sender. What counts depends on the versions and on what a lead decided, not on the order in which they were seen:

1. The version a lead chose against the one that is there now.
2. Otherwise the version that is there, if its author sent it.
3. Otherwise the last version that its author is known to have sent, or the one a lead chose after that.
4. Nothing, if no version from its author was seen.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser, LabelStudioVersion

Edit = LabelStudioAnnotation.Edit
NOTHING = LabelStudioAnnotation.NOTHING
# Of one annotation; nobody changes an answer as often by hand, and each may be large.
MOST_KEPT = 100


@dataclass(frozen=True, slots=True)
class Version:
    """What an annotation said at some time. `user` is whom it named as its maker."""

    digest: str
    user_id: int | None
    updated_by: int | None
    changed_at: datetime
    cancelled: bool
    result: Any
    lead_time: float | None

    @classmethod
    def of(cls, row: LabelStudioAnnotation | LabelStudioVersion) -> "Version":
        """Return what an earlier version said, or what stands there now."""
        user = row.user_id
        if isinstance(row, LabelStudioAnnotation):
            user = row.given_to_id or row.user_id
        return cls(row.digest, user, row.updated_by, row.changed_at, row.cancelled, row.result, row.lead_time)

    def says_the_same(self, version: "Version") -> bool:
        """Return whether both give the same answer of the same person."""
        return (self.user_id, self.cancelled, self.result) == (
            version.user_id,
            version.cancelled,
            version.result,
        )


@dataclass(frozen=True, slots=True)
class Counting:
    """Which version counts (None: none does), and what was decided about what stands there."""

    version: Version | None
    edit: str = ""


def is_own(version: Version, maker: LabelStudioUser | None) -> bool:
    """Return whether the maker of an annotation sent a version of it themselves."""
    if maker is None:
        return version.user_id is None
    # Label Studio names nobody where it deleted a user, and no sender of what was imported.
    return version.user_id in (None, maker.pk) and version.updated_by in (None, maker.external_id)


def needs_history(row: LabelStudioAnnotation, maker: LabelStudioUser | None) -> bool:
    """Return whether earlier versions can have a say in what counts."""
    return row.chosen != "" or not is_own(Version.of(row), maker)


def counting(
    row: LabelStudioAnnotation, earlier: Iterable[Version], maker: LabelStudioUser | None
) -> Counting:
    """Return which version of an annotation counts."""
    current = Version.of(row)
    by_digest = {earlier_version.digest: earlier_version for earlier_version in earlier} | {
        current.digest: current
    }
    is_makers = is_own(current, maker)
    if row.chosen and row.chosen_against == current.digest:
        return Counting(by_digest.get(row.chosen), _decision(row.chosen, current, by_maker=is_makers))
    if is_makers:
        return Counting(current)
    version = _undecided(row, by_digest, maker)
    if version is None:
        return Counting(None)
    return Counting(version, "" if version.says_the_same(current) else Edit.OPEN)


def undecided(
    row: LabelStudioAnnotation, earlier: Iterable[Version], maker: LabelStudioUser | None
) -> Version | None:
    """Return what counts while nothing is decided about what stands there."""
    current = Version.of(row)
    by_digest = {earlier_version.digest: earlier_version for earlier_version in earlier} | {
        current.digest: current
    }
    return current if is_own(current, maker) else _undecided(row, by_digest, maker)


def history_of(rows: Collection[int]) -> dict[int, list[Version]]:
    """Return the earlier versions of annotations that were seen, by their keys in the mirror."""
    versions: dict[int, list[Version]] = defaultdict(list)
    if rows:
        for version in LabelStudioVersion.objects.filter(mirrored__in=rows):
            versions[version.mirrored_id].append(Version.of(version))
    return versions


def keep(rows: Sequence[LabelStudioAnnotation]) -> None:
    """Keep what rows of the mirror say, which is about to be replaced. Call it in the transaction that does."""
    worth_keeping = [row for row in rows if row.digest and isinstance(row.result, list)]
    LabelStudioVersion.objects.bulk_create(
        (_kept(row) for row in worth_keeping), batch_size=500, ignore_conflicts=True
    )
    _limit(worth_keeping)


def _kept(row: LabelStudioAnnotation) -> LabelStudioVersion:
    version = Version.of(row)
    return LabelStudioVersion(
        mirrored=row,
        user_id=version.user_id,
        updated_by=version.updated_by,
        changed_at=version.changed_at,
        cancelled=version.cancelled,
        result=version.result,
        lead_time=version.lead_time,
        digest=version.digest,
    )


def _limit(rows: Sequence[LabelStudioAnnotation]) -> None:
    """Let go of the oldest versions where there are too many, but of none that may count."""
    makers: Mapping[int, LabelStudioUser] = LabelStudioUser.objects.in_bulk(
        {version.user_id for version in rows if version.user_id is not None}
    )
    numbers: dict[int, int] = defaultdict(int)
    for pk in LabelStudioVersion.objects.filter(mirrored__in=rows).values_list("mirrored", flat=True):
        numbers[pk] += 1
    for row in rows:
        if numbers[row.pk] <= MOST_KEPT:
            continue
        versions = list(LabelStudioVersion.objects.filter(mirrored=row).order_by("changed_at", "digest"))
        maker = makers.get(row.user_id or 0)
        needed = {row.chosen, row.chosen_against, versions[0].digest}
        needed |= {version.digest for version in [v for v in versions if is_own(Version.of(v), maker)][-1:]}
        spare = [version.pk for version in versions if version.digest not in needed]
        LabelStudioVersion.objects.filter(pk__in=spare[: numbers[row.pk] - MOST_KEPT]).delete()


def _decision(chosen: str, current: Version, *, by_maker: bool) -> str:
    if by_maker:
        return "" if chosen == current.digest else Edit.RESTORED
    return Edit.TAKEN if chosen == current.digest else Edit.KEPT


def _undecided(
    row: LabelStudioAnnotation, by_digest: Mapping[str, Version], maker: LabelStudioUser | None
) -> Version | None:
    own_versions = [version for version in by_digest.values() if is_own(version, maker)]
    latest_version = max(own_versions, key=lambda version: (version.changed_at, version.digest), default=None)
    # A decision about what stands there now is not asked here: `counting` follows it, and `keep` replaces it.
    against = by_digest.get(row.chosen_against) if row.chosen_against not in ("", row.digest) else None
    if against is not None and (latest_version is None or latest_version.changed_at <= against.changed_at):
        return by_digest.get(row.chosen)
    return latest_version
