"""Management commands: exit codes, the example in their help, and progress."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management.base import CommandParser, OutputWrapper

from accounts.commands import person
from foundation.commands import ConsoleProgress, DomainCommand
from foundation.errors import DomainError, NotFound

ROOT = Path(__file__).resolve().parents[2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Refusing(DomainCommand):
    help = "Refuses."
    example = "python manage.py refuse --row 3"
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--row", type=int, default=0)
        parser.add_argument("--study", default="")

    def handle(self, *args, **options) -> None:
        if options["row"] < 0:
            self.usage_error("--row counts from 0.")
        if options["row"]:
            raise DomainError("row_bad", f"Row {options['row']} is bad.")


def run(*arguments: str) -> tuple[int, str]:
    stderr = io.StringIO()
    command = Refusing(stderr=stderr)
    command._called_from_command_line = True
    try:
        command.run_from_argv(["manage.py", "refuse", *arguments])
    except SystemExit as stopped:
        return int(stopped.code or 0), stderr.getvalue()
    return 0, stderr.getvalue()


def test_success_exits_with_0():
    assert run() == (0, "")


def test_a_domain_error_exits_with_1_and_one_sentence():
    assert run("--row", "3") == (1, "Row 3 is bad.\n")


def test_a_wrong_command_line_exits_with_2(capsys):
    assert run("--row", "x")[0] == 2
    assert run("--row=-1")[0] == 2


def test_an_argument_that_is_not_utf_8_is_wrong_usage_by_name():
    assert run("--study", "x\udcff") == (2, "CommandError: study is not UTF-8 text.\n")


def test_a_database_without_tables_is_said_in_one_sentence(tmp_path):
    process = subprocess.run(
        [sys.executable, "manage.py", "analyze", "--study", "x", "--output", "nowhere"],
        cwd=ROOT,
        env=os.environ
        | {"STEREOSCOPE_VAR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/new.sqlite3"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 1
    assert re.fullmatch(
        r"The database lacks \d+ migrations; run .python manage.py migrate. first.\n", process.stderr
    )


def test_the_help_ends_with_the_example_on_its_own_line():
    text = Refusing().create_parser("manage.py", "refuse").format_help()
    assert text.rstrip().endswith("example:\n  python manage.py refuse --row 3")


def test_an_unknown_person_is_refused_by_name(db):
    with pytest.raises(NotFound, match="“nobody”"):
        person("nobody")


def test_progress_on_a_terminal_is_a_bar_that_ends_with_a_new_line():
    stream = Terminal()
    progress = ConsoleProgress(OutputWrapper(stream), title="Importing")
    progress.start(4)
    progress.advance(2, message="reading")
    progress.advance(2, message="writing")
    progress.finish()
    drawn = stream.getvalue()
    assert "50% Importing 2 of 4 reading" in drawn
    assert "100% Importing 4 of 4 writing" in drawn
    assert drawn.endswith("\n")
    assert drawn.count("\n") == 1


def test_progress_elsewhere_is_plain_and_rare():
    stream = io.StringIO()
    progress = ConsoleProgress(OutputWrapper(stream))
    progress.start(1000)
    for _ in range(1000):
        progress.advance()
    progress.finish()
    assert stream.getvalue() == ""
    progress.start(10)
    progress._drawn_at -= 6
    progress.advance(3, message="reading")
    assert stream.getvalue() == "3 of 10 reading\n"


IMPORTED = """
import atexit, runpy, sys
atexit.register(lambda: print(*sys.modules, sep="\\n"))
runpy.run_path("manage.py", run_name="__main__")
"""


def test_a_command_that_serves_no_requests_imports_no_page(tmp_path):
    process = subprocess.run(
        [sys.executable, "-c", IMPORTED, "analyze", "--study", "none", "--output", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"STEREOSCOPE_VAR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1, process.stderr
    imported = set(process.stdout.split())
    assert "analysis.management.commands.analyze" in imported
    assert not imported & {"config.urls", "front.studies.views"}


def test_a_command_that_runs_no_job_imports_neither_jobs_nor_the_libraries_of_pages(tmp_path):
    process = subprocess.run(
        [sys.executable, "-c", IMPORTED, "help"],
        cwd=ROOT,
        env=os.environ | {"STEREOSCOPE_VAR": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = set(process.stdout.split())
    assert "annotation.models" in imported
    assert not imported & {
        "generation.background",
        "rest_framework.serializers",
        "botocore",
        "kombu",
        "lxml",
        "numpy",
    }
