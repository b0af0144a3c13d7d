"""Every mutant applies to the current code; one that does not would switch nothing off."""

import ast
import re
import subprocess
from functools import cache
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
    """Return the words of `-k` in the name of no test of the files, for example because the test was renamed."""
    files, _, expression = " ".join(mutant.tests).partition(" -k ")
    paths = [ROOT / name.partition("::")[0] for name in files.split() if not name.startswith("--")]
    if not all(path.exists() for path in paths):
        return [files]
    modules = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
    text = " ".join([mutant.patch.partition("\n--- ")[2], *(_names_in(module) for module in modules)])
    words = set(re.findall(r"\w+", expression.lower())) - {"and", "or", "not"}
    return sorted(word for word in words if word not in text)


@cache
def _names_in(module):
    """Return the names of a file's tests and classes, and what may be the id of a parameter."""
    names = [module.stem]
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                names += [name] if name.startswith("test") else []
                names += [part.id for part in _parts(decorators) if isinstance(part, ast.Name)]
            case ast.Assign(
                value=ast.List() | ast.Tuple() | ast.Dict()
            ):  # parameters with a name of their own
                names += [part.id for part in _parts([node.value]) if isinstance(part, ast.Name)]
            case ast.ClassDef(name=name) | ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
                names.append(name)
            case ast.Attribute(attr=name):  # members of an enumeration, as `Kind.MARKING`
                names.append(name)
    return " ".join(names).lower()


def _parts(trees):
    return (part for tree in trees for part in ast.walk(tree))


def _applies(patch):
    command = ["git", "apply", "--check", str(patch)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
