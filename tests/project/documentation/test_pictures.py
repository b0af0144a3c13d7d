"""The pictures of README and docs: each is shown on a page, small, and taken by `make pictures`."""

import re
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from tests.project.documentation.pictures.files import FOLDER, SIZE, look_the_same

ROOT = FOLDER.parents[1]
PICTURES = sorted(FOLDER.glob("*.png"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MOST_BYTES = 600_000
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)]+\.png)\)")

pytestmark = pytest.mark.database_free


def test_every_picture_is_shown_with_a_description():
    shown = {
        (page.parent / path).resolve(): text
        for page in PAGES
        for text, path in SHOWN.findall(page.read_text(encoding="utf-8"))
    }
    assert sorted(shown) == PICTURES
    assert all(len(text) > 10 for text in shown.values())


def test_pictures_have_one_size_and_few_bytes():
    for path in PICTURES:
        with Image.open(path) as picture:
            assert picture.size == SIZE, path.name
    assert sum(path.stat().st_size for path in PICTURES) <= MOST_BYTES


def test_the_script_takes_every_picture():
    script = Path(ROOT / "tests/project/documentation/pictures/tutorial.py").read_text(encoding="utf-8")
    taken = set(re.findall(r'\.take\(\s*"([\w-]+)"', script))
    assert taken == {path.stem for path in PICTURES}


def test_another_code_leaves_a_picture_alone_and_another_sentence_does_not():
    before = Image.new("RGB", SIZE, "white")
    code, sentence = before.copy(), before.copy()
    ImageDraw.Draw(code).rectangle((10, 10, 90, 26), fill="black")
    ImageDraw.Draw(sentence).rectangle((10, 10, 500, 26), fill="black")
    assert look_the_same(before, code)
    assert not look_the_same(before, sentence)
