"""Only the modules that declare kinds and the registry may name a kind."""

import re

import pytest

from annotation.kinds.registry import KINDS
from tests.project.test_layout import ROOT, tracked_files

pytestmark = pytest.mark.database_free

APPS = ("analysis/", "annotation/", "generation/", "platform/")
# The keys of the two built-in kinds are searched everywhere; other keys are words, searched as strings or modules.
BUILT_IN = [kind.key for kind in KINDS.values() if kind.about_attributes]
DECLARED = "|".join(key for key in KINDS if key not in BUILT_IN)
NAMED = re.compile(
    rf"\b({'|'.join(BUILT_IN)})\b|kind(\.key)? *[!=]?= *[\"']({DECLARED})[\"']"
    rf"|kinds(\.built_in)?(\.| import )({DECLARED})\b"
)


def names_a_kind(path: str) -> bool:
    return NAMED.search((ROOT / path).read_text(encoding="utf-8")) is not None


def test_no_other_file_names_a_kind():
    sources = [
        path
        for path in tracked_files()
        if path.startswith(APPS)
        and path.endswith((".py", ".html", ".js"))
        and "/migrations/" not in path
        and not path.startswith("annotation/kinds/")
    ]
    assert sorted(filter(names_a_kind, sources)) == []


@pytest.mark.parametrize("key", list(KINDS))
def test_a_kind_is_named_by_its_own_module_and_the_registry(key):
    module = f"annotation/kinds/built_in/{key}.py"
    assert f'key="{key}"' in (ROOT / module).read_text(encoding="utf-8")
    named = re.compile(rf"\b{key}\b(?!=)")
    folder = [path for path in tracked_files() if path.startswith("annotation/kinds/") and path != module]
    naming = {path for path in folder if named.search((ROOT / path).read_text(encoding="utf-8"))}
    assert naming == {"annotation/kinds/registry.py"}
