"""Formats, besides tables, that `import_annotations` reads; external tools register their formats here."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

if TYPE_CHECKING:  # the importer loads pandas, a quarter of the start-up time of a process
    from annotation.imports.importer import ImportReport


class ImportFormat(ABC):
    """The format of a tool's exports. The command's options for tables apply where they make sense."""

    tool: str  # the tool's name in messages
    flag: str  # the option that selects this format, whatever the file's name
    options: tuple[str, ...]  # additional options that only this format has
    help: str  # sentences for the command's help

    @abstractmethod
    def add_arguments(self, parser: CommandParser) -> None:
        """Add `flag` and `options` to the command."""

    @abstractmethod
    def recognises(self, file: Path) -> bool:
        """Return whether a file seems to have this format."""

    @abstractmethod
    def importer(self, options: Mapping[str, Any]) -> "Callable[..., ImportReport]":
        """Return a function that imports a file, with the relevant `options` of the command bound.

        It takes the arguments of every import: target, file and progress.
        """


_registered: list[ImportFormat] = []


def register(import_format: ImportFormat) -> None:
    """Register a format. Call this once, in `ready` of the tool's app."""
    _registered.append(import_format)


def registered() -> tuple[ImportFormat, ...]:
    """Return all formats besides tables, in the order of the installed apps."""
    return tuple(_registered)
