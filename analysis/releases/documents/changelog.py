"""The changes from release to release, in words."""

from collections.abc import Iterator, Mapping

from analysis.releases.contents import Changes, Contents
from analysis.releases.documents.markdown import amount, bullets, code, plain, sections, table
from analysis.releases.tables.columns import ALL_TABLES
from annotation.answers.inclusion import Reason

_GONE = {
    "withdrawn": "they withdrew their consent",
    "annotator_excluded": "the lead excluded them",
    "simulated": "they are simulated",
    "deleted": "they were deleted",
    "other": "none of their labels counts any more",
}
_REASONS = {str(reason.value): str(reason.label) for reason in Reason} | {"deleted": "deleted"}


def changelog(contents: Contents) -> str:
    """Return CHANGELOG.md: this release first, then the earlier ones."""
    parts = [
        f"# Changelog of {plain(contents.study.name)}",
        "Annotators have new ids in each release. A reader with two releases can still match people by "
        "their answers about images. People who withdraw their consent are not in later releases.",
        *_release(
            contents.version,
            str(contents.last_day or ""),
            contents.inputs_digest,
            contents.changes,
            {release_table.name: release_table.rows for release_table in contents.tables},
        ),
    ]
    for past in contents.history:
        parts += _release(past.version, str(past.last_day or ""), past.inputs_digest, past.changes, past.rows)
    return sections(parts)


def _release(version: int, day: str, digest: str, changes: Changes, rows: Mapping[str, int]) -> Iterator[str]:
    until = f"labels until {day}" if day else "no labels"
    yield f"## Release {version} ({until})"
    yield f"Digest of the labels: {code(digest)}"
    if changes.previous is None:
        yield "The first release."
        if changes.annotators_erased:
            yield bullets(list(changed(changes)))
        yield table(
            ("table", "rows"), [(code(name), f"{rows[name]:,}") for name in ALL_TABLES if name in rows]
        )
        return
    lines = list(changed(changes))
    yield f"Since release {changes.previous}:"
    yield bullets(lines or ["nothing that this list covers has changed"])
    moved = {
        name: changes.rows[name]
        for name in ALL_TABLES
        if name in changes.rows and changes.rows[name][0] != changes.rows[name][1]
    }
    if moved:
        yield table(
            ("table", f"rows in release {changes.previous}", f"rows in release {version}"),
            [(code(name), f"{then:,}", f"{now:,}") for name, (then, now) in moved.items()],
        )


def changed(changes: Changes) -> Iterator[str]:
    """Yield changes, one per line, people first, in an order that does not depend on the database."""
    for reason, number in sorted(changes.annotators_gone.items()):
        yield f"{amount(number, 'annotator')} left out: {_GONE.get(reason, plain(reason))}"
    if changes.annotators_erased:
        yield f"{amount(changes.annotators_erased, 'annotator')} erased"
    if changes.annotators_new:
        yield f"{amount(changes.annotators_new, 'new annotator')}"
    for reason, number in sorted(changes.annotations_removed.items()):
        yield f"{amount(number, 'submission')} removed: {_REASONS.get(reason, plain(reason))}"
    if changes.annotations_added:
        yield f"{amount(changes.annotations_added, 'submission')} added"
    for reason, number in sorted(changes.images_removed.items()):
        yield f"{amount(number, 'image')} removed: {plain(reason)}"
    if changes.images_added:
        yield f"{amount(changes.images_added, 'image')} added"
    for name in changes.campaigns_new:
        yield f"new campaign: {plain(name)}"
    for name, versions in sorted(changes.guidelines_new.items()):
        which = ", ".join(str(version) for version in versions)
        yield f"new guidelines in {plain(name)}: version {which}"
    for name, (then, now) in sorted(changes.parameters.items()):
        yield f"{code(name)} is now {plain(_value(now))}; it was {plain(_value(then))}"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(str(choice) for choice in value) or "none"
    return "none" if value in ("", None) else str(value)
