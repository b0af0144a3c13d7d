"""The documentation of settings, commands and make targets agrees with the code."""

import ast
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[3]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
# Decisions describe the state at their date.
CURRENT = [page for page in DOCS if page.parent.name != "decisions"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *CURRENT]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
TABLES = (ROOT / "docs" / "operate" / "settings.md").read_text(encoding="utf-8")
SETTINGS = [ROOT / "platform" / "config" / name for name in ("settings.py", "sign_in.py")]
UNITS = {"": 1, "MiB": 1024**2, "GiB": 1024**3, "million": 10**6}
# A command line in a code block or in backquotes, with lines continued by a backslash.
COMMAND_LINE = re.compile(r"manage\.py ([a-z_]+)((?:\\\n|[^\n`#|])*)")

pytestmark = pytest.mark.database_free


def _variables() -> dict[str, ast.Call]:
    """Return every environment variable that the settings read, with the call that reads it."""
    return {
        call.args[0].value: call
        for file in SETTINGS
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "env"
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }


def _rows() -> dict[str, str]:
    """Return each variable in the tables of settings with its default there."""
    rows = re.findall(r"^\| (`[A-Z_`, ]+`)(?: \([^|]*\))? \| ([^|]*) \|", TABLES, re.MULTILINE)
    table = {}
    for names, text in rows:
        variables = re.findall(r"[A-Z_]+", names)
        defaults = text.split(", ")
        shared = [text] * len(variables)
        table |= dict(zip(variables, defaults if len(defaults) == len(variables) else shared, strict=True))
    return table


def _project_commands() -> list[str]:
    folders = {config.name: Path(config.path) for config in apps.get_app_configs()}
    sources = [ROOT / "platform", ROOT / "generation", ROOT / "annotation", ROOT / "analysis"]
    return sorted(
        command
        for command, app in get_commands().items()
        if any(folders.get(str(app), Path()).is_relative_to(source) for source in sources)
    )


def _options(command: str) -> set[str]:
    parser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
    return {text for action in parser._actions for text in action.option_strings}


def test_every_setting_has_its_row_and_every_row_its_setting():
    assert sorted(_rows()) == sorted(_variables())


@pytest.mark.parametrize(
    "name", sorted(name for name, call in _variables().items() if call.func.attr == "integer")
)
def test_the_table_gives_the_default_of_a_number(name):
    default = eval(compile(ast.Expression(_variables()[name].args[1]), name, "eval"))
    number, _, unit = _rows()[name].partition(" ")
    assert int(number) * UNITS[unit] == default


@pytest.mark.parametrize(
    "name", sorted(name for name, call in _variables().items() if call.func.attr == "flag")
)
def test_the_table_gives_the_default_of_a_switch(name):
    assert {"False": "no", "True": "yes"}[ast.unparse(_variables()[name].args[1])] == _rows()[name]


def test_every_command_is_documented():
    documented = {name for name, _ in COMMAND_LINE.findall(TEXT)} | set(re.findall(r"`make ([a-z-]+)`", TEXT))
    assert [name for name in _project_commands() if name not in documented] == []


@pytest.mark.parametrize(
    ("command", "arguments"), sorted(set(COMMAND_LINE.findall(TEXT))), ids=lambda part: part.strip()[:40]
)
def test_a_command_line_in_the_documentation_can_be_typed(command, arguments):
    assert command in get_commands()
    options = re.findall(r"(?<!\S)--[a-z][a-z-]*", arguments)
    assert [option for option in options if option not in _options(command)] == []


def test_every_make_target_in_the_documentation_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    typed = re.findall(r"`make ([a-z-]+)|^(?:    )?make ([a-z-]+)", TEXT, re.MULTILINE)
    for target in {name for names in typed for name in names if name}:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"
