"""Names are meaningful: few fillers, and no class name with two meanings."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.database_free

ROOT = Path(__file__).resolve().parents[2]
APPS = ("analysis", "annotation", "generation", "platform", "benchmarks")
MOST_FILLERS = 0.01
# fmt: off
FILLERS = frozenset({
    "anew", "asked", "came", "come", "done", "due", "each", "every", "found", "given", "gone", "got", "had",
    "held", "here", "it", "kept", "known", "last", "left", "made", "mine", "named", "one", "other", "others",
    "ours", "own", "read", "rest", "said", "same", "seen", "set_", "shown", "some", "taken", "theirs", "them",
    "there", "these", "they", "thing", "things", "told", "wanted", "what", "whatever", "wherever", "whoever",
    "whose", "wrote",
})
# fmt: on
# Names that Django or the application's registries expect, and pairs that two apps' glossaries share.
SHARED_CLASSES = {
    "Answer": "what is sent by a screen, and what is read from a Label Studio file",
    "Choice": "an answer on a screen, and the task chosen for an annotator",
    "CodedAnswer": "an answer to choose by its code, and what a model's answer is coded as",
    "Command": "the name that Django looks for in a management command",
    "DatabaseWrapper": "the name that Django looks for in a database engine",
    "Part": "of a statement of pay, and of the labels of a task",
    "Place": "of a task that an assignment holds, and of a task in a Label Studio project",
    "Places": "of tasks that a replacement gives back, and those that labels are allotted",
    "Screen": "what an annotator sees, and what is written to a Label Studio file",
}


def _modules(app: str) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((ROOT / app).rglob("*.py")):
        if "migrations" not in path.parts:
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def _bound_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg) and node.arg not in {"self", "cls"}:
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name


@pytest.mark.parametrize("app", APPS)
def test_names_are_seldom_fillers(app):
    names = [name for _, tree in _modules(app) for name in _bound_names(tree)]
    assert len(names) > 1_000
    assert sum(name in FILLERS for name in names) / len(names) < MOST_FILLERS


def test_a_class_name_stands_for_one_thing():
    places = defaultdict(list)
    for app in APPS[:-1]:
        for path, tree in _modules(app):
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(path.relative_to(ROOT)))
    shared = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert {name: paths for name, paths in shared.items() if name not in SHARED_CLASSES} == {}
    assert sorted(set(SHARED_CLASSES) - set(shared)) == []
