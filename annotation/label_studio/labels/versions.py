"""The versions of an annotation in Label Studio that were read here, and which of them counts.

Label Studio's Community Edition lets anybody change anybody's annotation. So each version is stored unchanged, with
its sender. Which version counts depends on the versions and on a lead's decision, not on the order of reading:

1. The version that a lead chose instead of the current version.
2. Otherwise the current version, if its author sent it.
3. Otherwise the last version that its author is known to have sent, or the one a lead chose after that.
4. None, if no version from its author was read.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.label_studio.models import LabelStudioAnnotation, LabelStudioUser, LabelStudioVersion

Edit = LabelStudioAnnotation.Edit
NOTHING = LabelStudioAnnotation.NOTHING
# Limit for one annotation: nobody changes an answer by hand this often, and each version may be large.
MOST_KEPT = 100


@dataclass(frozen=True, slots=True)
class Version:
    """The contents of an annotation at one time. `user` is the author named in it."""

    digest: str
    user_id: int | None
    updated_by: int | None
    changed_at: datetime
    cancelled: bool
    result: Any
    lead_time: float | None

    @classmethod
    def of(cls, row: LabelStudioAnnotation | LabelStudioVersion) -> "Version":
        """Return an earlier version, or the current version."""
        user = row.user_id
        if isinstance(row, LabelStudioAnnotation):
            user = row.given_to_id or row.user_id
        return cls(row.digest, user, row.updated_by, row.changed_at, row.cancelled, row.result, row.lead_time)

    def says_the_same(self, version: "Version") -> bool:
        """Return whether both contain the same answer of the same person."""
        return (self.user_id, self.cancelled, self.result) == (
            version.user_id,
            version.cancelled,
            version.result,
        )


@dataclass(frozen=True, slots=True)
class Counting:
    """The version that counts (None: no version), and the decision about the current version."""

    version: Version | None
    edit: str = ""


def is_own(version: Version, maker: LabelStudioUser | None) -> bool:
    """Return whether the author of an annotation sent this version."""
    if maker is None:
        return version.user_id is None
    # Label Studio names no author after deleting a user, and no sender of imported annotations.
    return version.user_id in (None, maker.pk) and version.updated_by in (None, maker.external_id)


def needs_history(row: LabelStudioAnnotation, maker: LabelStudioUser | None) -> bool:
    """Return whether earlier versions may decide which version counts."""
    return row.chosen != "" or not is_own(Version.of(row), maker)


def counting(
    row: LabelStudioAnnotation, earlier: Iterable[Version], maker: LabelStudioUser | None
) -> Counting:
    """Return the version of an annotation that counts."""
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
    """Return the version that counts while there is no decision about the current version."""
    current = Version.of(row)
    by_digest = {earlier_version.digest: earlier_version for earlier_version in earlier} | {
        current.digest: current
    }
    return current if is_own(current, maker) else _undecided(row, by_digest, maker)


def history_of(rows: Collection[int]) -> dict[int, list[Version]]:
    """Return the stored earlier versions of annotations, by their keys in the mirror."""
    versions: dict[int, list[Version]] = defaultdict(list)
    if rows:
        for version in LabelStudioVersion.objects.filter(mirrored__in=rows):
            versions[version.mirrored_id].append(Version.of(version))
    return versions


def keep(rows: Sequence[LabelStudioAnnotation]) -> None:
    """Store the contents of rows of the mirror before they are replaced. Call it in the same transaction."""
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
    """Delete the oldest versions if there are too many, but none that may count."""
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
    # A decision about the current version does not matter here: `counting` follows it, and `keep` replaces it.
    against = by_digest.get(row.chosen_against) if row.chosen_against not in ("", row.digest) else None
    if against is not None and (latest_version is None or latest_version.changed_at <= against.changed_at):
        return by_digest.get(row.chosen)
    return latest_version
