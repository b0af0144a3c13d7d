"""The commands of all pages except those that test_pages types in a clone, run with the demo's studies.

A page is read from its beginning: the results of one command are available to the next. Files in examples are those
of the demo, or small files of the same form. A block is either run here or carries its reason.
"""

import csv
import io
import json
import shlex
import subprocess
import zipfile
from itertools import product
from pathlib import Path

import pytest
from django.core.management import execute_from_command_line
from PIL import Image as Picture

from accounts.models import Annotator
from annotation.models import Campaign
from catalog.imports.resources import import_resource
from demo import truth
from demo.seed import seed_demo
from jobs.progress.reporter import Unwatched
from tests.annotation.label_studio.format.test_importer import annotation, region
from tests.operations.commands.blocks import Block, blocks_in
from tests.operations.commands.test_pages import PAGES, ROOT

# Simulated annotators work over HTTP, and their server reads only committed data.
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LISTED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
    cwd=ROOT, check=True, capture_output=True, text=True,
).stdout.split()  # fmt: skip
BLOCKS = {
    name: blocks
    for name in sorted(set(LISTED))
    if ROOT / name not in PAGES and (ROOT / name).is_file() and (blocks := blocks_in(ROOT / name))
}
# The demo's study for each study name that a page does not create itself.
STUDIES = {
    **dict.fromkeys(("My study", "Isles", "isles", "SeeGULL"), "Invented peoples"),
    "Words": "Words about islanders",
}
PERSONS = ("black_man", "black_woman", "white_man", "white_woman")


@pytest.fixture
def demo(settings) -> None:
    settings.DEMO = True
    seed_demo(progress=Unwatched(), say=lambda line: None)
    import_resource(file=truth.PEOPLES, name="My stereotypes", by=None, invented=True)


def commands(block: Block) -> list[list[str]]:
    """Return the commands of a block as lists of words."""
    lines = "\n".join(block.lines).replace("\\\n", " ").split("\n")
    return [shlex.split(line, comments=True) for line in lines]


def adapted(words: list[str]) -> list[str]:
    """Return a command with the demo's names instead of the page's examples."""
    if "--create" not in words:
        words = [
            STUDIES.get(word, word) if before == "--study" else word
            for before, word in zip(["", *words], words, strict=False)
        ]
    campaign = str(Campaign.objects.filter(state="open").earliest("pk").pk)
    person = Annotator.objects.exclude(pseudonym="").earliest("pk").pseudonym
    names = {"A-7QK3M9XD": person}
    words = [names.get(word, word) for word in words]
    return [
        campaign if before == "--campaign" else word
        for before, word in zip(["", *words], words, strict=False)
    ]


@pytest.fixture
def files(tmp_path, monkeypatch, settings) -> None:
    """Create a working folder with the files that pages name, and the endpoint whose models they name."""
    settings.OPENAI_BASE_URLS = ["https://api.openai.com/v1"]
    settings.VAR = tmp_path / "var"
    monkeypatch.chdir(tmp_path)
    Path("stereotypes_global_v2.csv").write_bytes(truth.PEOPLES.read_bytes())
    Path("places.csv").write_bytes(truth.GEOGRAPHY.read_bytes())
    for name in ("t2t_setting1.csv", "t2t_setting2.csv"):
        Path(name).write_bytes(truth.DESCRIPTORS.read_bytes())
    with zipfile.ZipFile("pictures.zip", "w") as archive:
        archive.writestr("Velmari/1.png", picture(1))
    place = Path("data/pairs/occupations/computer")
    place.mkdir(parents=True)
    for number, person in enumerate(PERSONS):
        (place / f"{person}.png").write_bytes(picture(number))
    write_answers(Path("answers.csv"))
    Path("labels.csv").write_text("file,people,word,worker,answer\na.png,Velmari,tall hat,w1,yes\n")
    exported = {
        "data": {"image": "a.png", "people": "Velmari"},
        "annotations": [annotation(region("drum") | {"from_name": "label"})],
    }
    Path("export.json").write_text(json.dumps([exported]))


def picture(number: int) -> bytes:
    drawn = io.BytesIO()
    Picture.new("RGB", (48, 48), (20 * number, 90, 40)).save(drawn, "PNG")
    return drawn.getvalue()


def write_answers(file: Path) -> None:
    """Write answers to the first question of PAIRS about one scenario, one of them unclear."""
    with file.open("w", newline="") as target:
        table = csv.writer(target)
        table.writerow(["experiment", "scenario", "person", "question", "order", "run", "response"])
        for person, order in product(PERSONS, ("published", "reversed")):
            text = "A programmer." if "man" in person else "Somebody who codes or types."
            table.writerow(["occupations", "computer", person, "occupation", order, 1, text])


def test_the_commands_of_every_page_do_what_they_say(demo, files, subtests):
    for page, blocks in BLOCKS.items():
        with subtests.test(page):
            for block in blocks:
                run(block)


def run(block: Block) -> None:
    """Run each command of a block with the demo, unless it is left out."""
    if block.not_run:
        return
    for words in commands(block):
        assert words[:2] == ["python", "manage.py"], f"{block}: say why it is not run, or fence it"
        execute_from_command_line(["manage.py", *adapted(words[2:])])


def test_a_block_that_is_neither_run_nor_explained_is_noticed():
    with pytest.raises(AssertionError, match="say why it is not run"):
        run(Block("page.md", 1, ("make coffee",)))
