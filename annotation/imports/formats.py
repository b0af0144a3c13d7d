"""Files, besides tables, that `import_annotations` reads: an outside tool registers the format of its exports here."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

if TYPE_CHECKING:  # the importer loads pandas, a quarter of the time in which a process starts
    from annotation.imports.importer import ImportReport


class ImportFormat(ABC):
    """The files that a tool exports. The command's options for tables hold for them as far as they apply."""

    tool: str  # as messages name it
    flag: str  # the option that says that a file has this format, whatever its name
    options: tuple[str, ...]  # further options that only this format has
    help: str  # sentences for the help of the command

    @abstractmethod
    def add_arguments(self, parser: CommandParser) -> None:
        """Add `flag` and `options` to the command."""

    @abstractmethod
    def recognises(self, file: Path) -> bool:
        """Return whether a file looks like one of this format."""

    @abstractmethod
    def importer(self, options: Mapping[str, Any]) -> "Callable[..., ImportReport]":
        """Return the verb that imports a file, with the options of the command that it takes.

        It is called with what every import takes: target, file and progress.
        """


_registered: list[ImportFormat] = []


def register(import_format: ImportFormat) -> None:
    """Add a format. Call it once, in the `ready` of the tool's app."""
    _registered.append(import_format)


def registered() -> tuple[ImportFormat, ...]:
    """Return every format besides tables, in the order of the installed apps."""
    return tuple(_registered)
