"""Every mutant applies to the current code; one that does not would switch nothing off."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.project.run_mutants import Mutant

ROOT = Path(__file__).resolve().parents[3]
PATCHES = sorted(Path(__file__).parent.rglob("*.patch"))


def test_there_are_mutants():
    assert len(PATCHES) > 100


@pytest.mark.parametrize(
    "folder", sorted({patch.parent for patch in PATCHES}), ids=lambda folder: folder.name
)
def test_mutants_apply(folder):
    patches = [patch for patch in PATCHES if patch.parent == folder]
    assert [patch.name for patch in patches if not _applies(patch)] == []


@pytest.mark.parametrize(
    "folder", sorted({patch.parent for patch in PATCHES}), ids=lambda folder: folder.name
)
def test_the_tests_of_mutants_exist(folder):
    patches = [patch for patch in PATCHES if patch.parent == folder]
    assert {patch.name: lost for patch in patches if (lost := _words_without_tests(Mutant.read(patch)))} == {}


def _words_without_tests(mutant):
    """Return the words of `-k` that no named file contains, for example because the test was renamed."""
    files, _, expression = " ".join(mutant.tests).partition(" -k ")
    paths = [ROOT / name.partition("::")[0] for name in files.split() if not name.startswith("--")]
    if not all(path.exists() for path in paths):
        return [files]
    modules = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
    text = mutant.patch.partition("\n--- ")[2] + " ".join(
        module.stem + module.read_text().lower() for module in modules
    )
    words = set(re.findall(r"\w+", expression.lower())) - {"and", "or", "not"}
    return sorted(word for word in words if word not in text)


def _applies(patch):
    command = ["git", "apply", "--check", str(patch)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
