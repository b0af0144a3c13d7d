"""The common parts of management commands: exit codes, an example in the help, and progress."""

import sys
import time
from pathlib import Path
from typing import Any, Literal, NoReturn

from django.core.checks import Tags
from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
    OutputWrapper,
)
from django.db import OperationalError, ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor

from foundation.disks import NO_ROOM, no_room
from foundation.errors import DomainError

_BAR_WIDTH = 30
_SECONDS_BETWEEN_DRAWS = 0.1
_SECONDS_BETWEEN_LINES = 5.0


class ConsoleProgress:
    """Progress as a bar on a terminal, and elsewhere as a plain line every few seconds.

    It has the same methods as the progress reporter of jobs, so operations can use either.
    """

    def __init__(self, stream: OutputWrapper, *, title: str = "") -> None:
        self._stream = stream
        self._title = title
        self._terminal = stream.isatty()
        self._total: int | None = None
        self._done = 0
        self._message = ""
        self._part = ""
        self._drawn_at = float("-inf")
        self._line_open = False

    def step(self, name: str) -> None:
        """Begin a named part of the work."""
        self.start()
        self._part = name

    def start(self, total: int | None = None) -> None:
        """Set the count to 0 of `total` steps; None if the total is unknown."""
        self.finish()
        self._total, self._done, self._message = total, 0, ""
        # Delay the first plain line, because short parts need none.
        self._drawn_at = time.monotonic()

    def advance(self, n: int = 1, message: str = "") -> None:
        """Count `n` more steps as done; `message` describes the current work."""
        self._done += n
        changed = bool(message) and message != self._message
        self._message = message or self._message
        complete = self._total is not None and self._done >= self._total
        waited = time.monotonic() - self._drawn_at
        if self._terminal:
            if complete or changed or waited >= _SECONDS_BETWEEN_DRAWS:
                self._draw()
        elif waited >= _SECONDS_BETWEEN_LINES:
            self._draw()

    def log(self, text: str) -> None:
        """Write a line of its own, above the bar."""
        if self._line_open:
            self._write("\r\x1b[2K")
        self._write(f"{text}\n")
        if self._line_open:
            self._draw()

    def check_cancelled(self) -> None:
        """Do nothing: at a console, people cancel with Ctrl-C."""

    def rest(self, seconds: float) -> None:
        """Sleep for `seconds`."""
        time.sleep(seconds)

    def finish(self) -> None:
        """End the line of the bar."""
        if self._line_open:
            self._draw()
            self._write("\n")
            self._line_open = False

    def _draw(self) -> None:
        self._drawn_at = time.monotonic()
        count = f"{self._done:,}" if self._total is None else f"{self._done:,} of {self._total:,}"
        words = " ".join(word for word in (self._title, self._part, count, self._message) if word)
        if not self._terminal:
            self._write(words + "\n")
        else:
            share = min(1.0, self._done / self._total) if self._total else 0.0
            filled = round(share * _BAR_WIDTH)
            bar = "█" * filled + "░" * (_BAR_WIDTH - filled)
            self._write(f"\r\x1b[2K{bar} {share:4.0%} {words}")
            self._line_open = True

    def _write(self, text: str) -> None:
        # `str` disables the style of the stream, because progress is not an error.
        self._stream.write(text, str, ending="")
        self._stream.flush()


class DomainCommand(BaseCommand):
    """A command of this platform. Exit codes: 0 success, 1 expected failure, 2 wrong usage.

    Subclasses set `help` and `example` (a whole command line), write `add_arguments` and `handle`, and raise
    DomainError for expected failures. `call_command` passes the DomainError on to its caller.

    Before a command runs, only models are checked, because checking URLs imports every page. Commands that serve
    requests or run jobs check everything (`requires_system_checks = "__all__"`).
    """

    example = ""
    requires_system_checks: list[str] | tuple[str, ...] | Literal["__all__"] = (Tags.models,)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs.setdefault("formatter_class", _HelpFormatter)
        if self.example:
            kwargs.setdefault("epilog", f"example:\n  {self.example}")
        parser: CommandParser = super().create_parser(prog_name, subcommand, **kwargs)
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except DomainError as error:
            self.stderr.write(error.message, self.style.ERROR)
            sys.exit(1)
        except (OperationalError, ProgrammingError) as error:
            problem = NO_ROOM if no_room(error) else _database_problem()
            if not problem:
                raise
            self.stderr.write(problem.format(error=str(error).partition("\n")[0]), self.style.ERROR)
            sys.exit(1)
        except KeyboardInterrupt:
            self.stderr.write("Stopped.", self.style.ERROR)
            sys.exit(130)

    def execute(self, *args: Any, **options: Any) -> str | None:
        for name, value in options.items():
            if not _is_text(value):
                self.usage_error(f"{name} is not UTF-8 text.")
        return super().execute(*args, **options)

    def progress(self, title: str = "") -> ConsoleProgress:
        """Return a progress reporter on standard error, so that standard output contains only results."""
        return ConsoleProgress(self.stderr, title=title)

    def usage_error(self, message: str) -> NoReturn:
        """Exit with code 2 because of a wrong command line."""
        raise CommandError(message, returncode=2)


def _is_text(value: Any) -> bool:
    """Return whether an option is UTF-8 text; Python represents other bytes as lone surrogates."""
    if isinstance(value, list):
        return all(map(_is_text, value))
    if not isinstance(value, str | Path):
        return True
    return not any("\ud800" <= character <= "\udfff" for character in str(value))


def _database_problem() -> str:
    """Return the problem of the whole database, or "" if only a single statement failed."""
    try:
        executor = MigrationExecutor(connection)
    except OperationalError:
        return "The database does not answer: {error}"
    waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    return (
        f"The database lacks {waiting} migrations; run “python manage.py migrate” first." if waiting else ""
    )


class _HelpFormatter(DjangoHelpFormatter):
    """Django's formatter, which keeps the line of the example unchanged."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("example:"):
            return text
        return super()._fill_text(text, width, indent)
