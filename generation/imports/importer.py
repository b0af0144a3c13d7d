"""Importing images into a study; all valid images are added in one transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction

from accounts.models import User
from catalog.attributes import normalise
from catalog.models import Attribute
from foundation.errors import DomainError
from generation.images.storage import ImageFile, inspect, keep
from generation.imports.entries import Entry
from generation.imports.layouts import LAYOUTS
from generation.imports.manifest import find_manifest, read_manifest
from generation.imports.options import ImageImportOptions
from generation.imports.sources import FolderSource, Source, ZipSource
from generation.models import Condition, Image
from generation.runs.planning import clean_label
from jobs.progress.reporter import Progress, Unwatched
from studies import audit
from studies.models import Study, StudyGroup

DEFAULTS = ImageImportOptions()
_MANIFESTS = (".csv", ".jsonl")


@dataclass(frozen=True)
class Remark:
    """A note about one file in the report."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True)
class ImageImportReport:
    """Every file is counted once in kept, duplicates or rejected; repaired files are among the kept."""

    kept: int
    repaired: tuple[Remark, ...]
    duplicates: tuple[Remark, ...]
    rejected: tuple[Remark, ...]
    new_groups: tuple[str, ...]

    @property
    def files(self) -> int:
        return self.kept + len(self.duplicates) + len(self.rejected)

    def __str__(self) -> str:
        return (
            f"{self.files:,} files: {self.kept:,} kept ({len(self.repaired):,} of them repaired), "
            f"{len(self.duplicates):,} duplicates, {len(self.rejected):,} rejected."
        )


@dataclass(frozen=True)
class _Ready:
    """A valid image whose file is stored and whose row is not yet written."""

    entry: Entry
    file: ImageFile


def import_images(
    *,
    study: Study,
    path: Path | IO[bytes],
    by: User | None,
    options: ImageImportOptions = DEFAULTS,
    progress: Progress | None = None,
) -> ImageImportReport:
    """Import a folder, a zip archive, or the images that a CSV/JSONL manifest lists.

    A study without groups gets those of the import. Otherwise, unknown groups are rejected unless
    `options.create_groups` is set.
    """
    progress = progress or Unwatched()
    source, entries = _open(path, options.layout)
    if not entries:
        raise DomainError("nothing_to_import", "There is no file to import.")
    importer = _Importer(study, source, options)
    try:
        importer.read(entries, progress)
        return importer.write(by=by)
    except BaseException:
        importer.forget()
        raise


class _Importer:
    """The state of an import: stored files, unwritten rows, remarks."""

    def __init__(self, study: Study, source: Source, options: ImageImportOptions) -> None:
        self._study = study
        self._source = source
        self._options = options
        self._groups = list(study.groups.all())
        self._create_groups = options.create_groups or not self._groups
        self._ready: list[_Ready] = []
        self._seen: dict[tuple[str, ...], str] = {}
        self._stored: list[str] = []
        self._repaired: list[Remark] = []
        self._duplicates: list[Remark] = []
        self._rejected: list[Remark] = []

    def read(self, entries: list[Entry], progress: Progress) -> None:
        """Check each file and store the valid ones."""
        progress.step("Looking at each file")
        progress.start(len(entries))
        for entry in entries:
            progress.check_cancelled()
            where = entry.where.encode(errors="backslashreplace").decode()
            try:
                self._read_one(self._described(entry))
            except DomainError as error:
                if error.code == "archive_too_large":
                    raise
                self._rejected.append(Remark(where, _reason(error, entry)))
            progress.advance(1, where)
        if not self._ready and not self._duplicates:
            rejection = self._rejected[0]
            raise DomainError(
                "nothing_imported",
                f"None of {len(entries):,} files could be imported. {rejection.where}: {rejection.reason}",
            )

    def _read_one(self, entry: Entry) -> None:
        subject = f"“{entry.name}”"
        data = self._source.read(entry.name, limit=settings.IMAGE_MAX_BYTES, subject=subject)
        file = inspect(data, subject=subject)
        cell = (entry.model_label, entry.condition, entry.group, entry.attribute, file.sha256)
        if cell in self._seen:
            self._duplicates.append(Remark(entry.where, f"the same picture as {self._seen[cell]}"))
            return
        self._seen[cell] = entry.where
        if keep(file, data):
            self._stored.append(file.name)
        self._ready.append(_Ready(entry, file))

    def _described(self, entry: Entry) -> Entry:
        """Return the entry with the options of the import filled in; raise DomainError if it is invalid."""
        if entry.problem:
            raise DomainError("entry_invalid", f"{entry.problem}.")
        texts = (entry.name, entry.group, entry.model_label, entry.condition, entry.prompt, entry.attribute)
        if not all(map(_is_text, texts)):
            raise DomainError("not_text", "The path or description of the file is not UTF-8 text.")
        condition = entry.condition or self._options.condition
        if condition not in Condition.values:
            raise DomainError(
                "condition_unknown",
                f"The condition “{condition}” is not one of {', '.join(Condition.values)}.",
            )
        if len(entry.name) > 500 or len(entry.prompt) > 1000:
            raise DomainError(
                "text_too_long",
                "The path of the file has more than 500 characters, or its prompt has more than 1000.",
            )
        if len(entry.experiment) > 60 or len(entry.scenario) > 120:
            raise DomainError(
                "text_too_long",
                "The name of the experiment’s folder has more than 60 characters, or the name of the "
                "scenario’s folder has more than 120.",
            )
        group, repair = self._group(entry.group, condition)
        return replace(
            entry,
            group=group,
            condition=condition,
            model_label=clean_label(entry.model_label or self._options.model_label),
            attribute=normalise(entry.attribute) if entry.attribute else "",
            repaired="; ".join(filter(None, (entry.repaired, repair))),
        )

    def _group(self, name: str, condition: str) -> tuple[str, str]:
        """Return the study's name of the group, and a note if it differs from `name`."""
        if not name:
            if condition in {Condition.TARGET, Condition.ATTRIBUTE}:
                return "", ""
            raise DomainError("group_missing", "The image has no identity group.")
        if any(group.name == name for group in self._groups):
            return name, ""
        alike = [
            group.name
            for group in self._groups
            if _folded(name) in {_folded(group.name), _folded(group.display_name)}
        ]
        if len(alike) == 1:
            return alike[0], f"group “{name}” read as “{alike[0]}”"
        if not self._create_groups:
            raise DomainError("group_unknown", f"The study has no identity group “{name}”.")
        if len(name) > 120:
            raise DomainError(
                "group_name_too_long", "The name of the image’s group has more than 120 characters."
            )
        return name, ""

    def write(self, *, by: User | None) -> ImageImportReport:
        """Write all rows in one transaction."""
        with transaction.atomic():
            # Lock the study: two concurrent imports would both find the same images missing.
            Study.objects.select_for_update().get(pk=self._study.pk)
            new_groups = self._make_groups()
            image_count = self._make_images()
            report = ImageImportReport(
                kept=image_count,
                repaired=tuple(self._repaired),
                duplicates=tuple(self._duplicates),
                rejected=tuple(self._rejected),
                new_groups=new_groups,
            )
            audit.record(
                by=by,
                action="images.imported",
                subject=self._study,
                study=self._study,
                kept=report.kept,
                duplicates=len(report.duplicates),
                rejected=len(report.rejected),
            )
        return report

    def _make_groups(self) -> tuple[str, ...]:
        group_names = set(self._study.groups.values_list("name", flat=True))
        factors = {ready.entry.group: ready.entry.factors for ready in self._ready}
        new = sorted(factors.keys() - group_names - {""})
        StudyGroup.objects.bulk_create(
            StudyGroup(study=self._study, name=name, display_name=_display_name(name), factors=factors[name])
            for name in new
        )
        return tuple(new)

    def _make_images(self) -> int:
        groups = dict(self._study.groups.values_list("name", "pk"))
        attributes = _attributes(ready.entry.attribute for ready in self._ready)
        present = set(
            Image.objects.filter(study=self._study)
            .exclude(sha256="")
            .values_list("model_label", "condition", "group", "attribute", "sha256")
        )
        images = []
        for ready in self._ready:
            entry = ready.entry
            group, attribute = groups.get(entry.group), attributes.get(entry.attribute)
            if (entry.model_label, entry.condition, group, attribute, ready.file.sha256) in present:
                self._duplicates.append(Remark(entry.where, "the study already has this image"))
                continue
            if entry.repaired:
                self._repaired.append(Remark(entry.where, entry.repaired))
            images.append(self._image(ready, group, attribute))
        Image.objects.bulk_create(images, batch_size=500)
        return len(images)

    def _image(self, ready: _Ready, group: int | None, attribute: int | None) -> Image:
        entry, file = ready.entry, ready.file
        return Image(
            study=self._study,
            group_id=group,
            attribute_id=attribute,
            condition=entry.condition,
            model_label=entry.model_label,
            prompt=entry.prompt,
            experiment=entry.experiment,
            scenario=entry.scenario,
            sha256=file.sha256,
            file=file.name,
            source_name=entry.name,
            width=file.width,
            height=file.height,
            bytes=file.bytes,
            provenance={"imported": True, **entry.provenance},
        )

    def forget(self) -> None:
        """Remove the files of a failed import, unless an image uses them meanwhile."""
        referenced = set(Image.objects.filter(file__in=self._stored).values_list("file", flat=True))
        for name in self._stored:
            if name not in referenced:
                default_storage.delete(name)


def _open(path: Path | IO[bytes], layout: str) -> tuple[Source, list[Entry]]:
    if isinstance(path, Path):
        if not path.exists():
            raise DomainError("path_missing", f"There is nothing at {path}.")
        if path.is_file() and path.suffix.lower() in _MANIFESTS:
            folder = FolderSource(path.parent)
            return folder, read_manifest(folder, path.name)
    source: Source = FolderSource(path) if isinstance(path, Path) and path.is_dir() else ZipSource(path)
    manifest = find_manifest(source) if layout == "groups" else ""
    return source, read_manifest(source, manifest) if manifest else LAYOUTS[layout](source)


def _attributes(texts: Iterable[str]) -> dict[str, int]:
    names = sorted(set(texts) - {""})
    Attribute.objects.bulk_create((Attribute(text=text) for text in names), ignore_conflicts=True)
    return dict(Attribute.objects.filter(text__in=names).values_list("text", "pk"))


def _reason(error: DomainError, entry: Entry) -> str:
    """Return the reason without the file name, which the report puts in front."""
    text = error.message.removeprefix(f"“{entry.name}” ")
    return f"it {text}" if text != error.message else text


def _is_text(text: str) -> bool:
    """Return whether a database can store the text; file names that are not UTF-8 contain lone surrogates."""
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text)


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())


def _display_name(name: str) -> str:
    words = " ".join(name.replace("_", " ").split())
    return words[:1].upper() + words[1:]
