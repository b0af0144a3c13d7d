"""Paths that the documentation names exist, and its tables of parameters are current."""

import re
from pathlib import Path

import pytest

from tests.project.option_tables import PLACE, with_tables

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FOLDERS = (
    "platform",
    "generation",
    "annotation",
    "analysis",
    "tests",
    "benchmarks",
    "docker",
    "bundle",
    "docs",
    "requirements",
    "locale",
)
CODE = re.compile(r"`([^`\n]+)`")
# A path of a file, a single module, or a folder of ours. Excludes patterns (<name>, {id}, *), addresses and var/.
PATH = re.compile(
    r"(?!var/)[\w.-]+(?:/[\w.-]+)*/[\w.-]*\w\.[a-z]\w{0,4}|\w+\.py"
    r"|(?:platform|foundation|web|accounts|jobs|catalog|studies|front|generation|annotation|analysis|tests|benchmarks)"
    r"/(?:\w+/)+"
)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.fixture(scope="module")
def endings() -> set[str]:
    """Return every trailing part of every path in the repository, because docs name some files from their app on."""
    paths = [*ROOT.glob("*.*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    parts = [(*path.relative_to(ROOT).parts, *([""] if path.is_dir() else [])) for path in paths]
    return {"/".join(path[start:]) for path in parts for start in range(len(path))}


@pytest.mark.database_free
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_in_the_documentation_exists(page, endings):
    text = page.read_text(encoding="utf-8")
    words = {word.strip(".,;:()") for code in CODE.findall(text) for word in code.split()}
    assert sorted(word for word in words if PATH.fullmatch(word) and word not in endings) == []
    assert sorted(link for link in LINK.findall(text) if not (page.parent / link).exists()) == []


@pytest.mark.database_free
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_of_parameters_are_as_declared(page):
    text = page.read_text(encoding="utf-8")
    assert with_tables(text) == text, "Run “make docs”."


@pytest.mark.database_free
def test_a_changed_declaration_changes_its_table():
    page = (ROOT / "docs" / "use" / "reference" / "analysis.md").read_text(encoding="utf-8")
    assert PLACE.search(page)
    assert with_tables(page.replace("| `2000` |", "| `1000` |")) == page
