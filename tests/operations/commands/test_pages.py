"""The commands of README and docs/operate, typed line by line in a fresh clone.

The clone installs its requirements from the packages of the environment that runs the tests, without any network.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.operations.commands.blocks import Block, blocks_in
from tests.operations.commands.terminal import Terminal
from tests.services.clusters import private_cluster

ROOT = Path(__file__).resolve().parents[3]
OPERATE = ROOT / "docs" / "operate"
SERVER = "operating.md"  # the first of the pages for operators; all are typed in one clone
PAGES = [
    ROOT / "README.md",
    *(OPERATE / SERVER, OPERATE / "workers.md", OPERATE / "proxy.md", OPERATE / "sign-in.md"),
    *(OPERATE / "connections.md", OPERATE / "monitoring.md", OPERATE / "backup.md", OPERATE / "updates.md"),
    OPERATE / "containers.md",
]
BLOCKS = [block for page in PAGES for block in blocks_in(page)]
# Commands that run until Ctrl-C, with the output that shows that they are ready.
STAY = {
    "make demo": "Press Ctrl-C to stop",
    "manage.py serve": "Press Ctrl-C to stop the web server and the worker",
    "-m gunicorn": "Booting worker",
    "manage.py worker": "runs jobs of these queues",
}
ANSWERS = {
    "manage.py createsuperuser": {
        "Username": "ada",
        "Email address": "ada@example.org",
        "Password:": "seven invented isles",
        "Password (again):": "seven invented isles",
    }
}
POSTGRESQL = "postgresql://stereoscope:password@127.0.0.1:5432/stereoscope"
BACKUPS = "/srv/backups/stereoscope"

pytestmark = [
    pytest.mark.services,
    pytest.mark.slow,
    pytest.mark.database_free,
]


@pytest.fixture(scope="module")
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# A Python whose new environments see the packages of the tests' environment as if installed there.
PYTHON = f"""#!/bin/sh
{sys.executable} "$@" || exit
[ "$1 $2" != "-m venv" ] || for packages in "$3"/lib/python*/site-packages; do
    echo {sysconfig.get_paths()["purelib"]} > "$packages/tests.pth"
done
"""


@pytest.fixture(scope="module")
def env(port, tmp_path_factory) -> dict[str, str]:
    """Return a newcomer's environment; packages come from the environment that runs the tests, not from a registry."""
    home = tmp_path_factory.mktemp("home")
    (home / "python").write_text(PYTHON)
    (home / "python").chmod(0o755)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PORT": str(port),
        "PYTHON": str(home / "python"),
        "PIP_NO_INDEX": "1",
    }


def cloned(place: Path) -> Path:
    """Clone the repository in its current state, with uncommitted changes and without ignored files."""
    subprocess.run(["git", "clone", "--quiet", ROOT, place], check=True, timeout=120)
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    shown = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, shown.split("\0")):
        (place / name).unlink(missing_ok=True)
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    return place


@pytest.fixture(scope="module")
def clones(env, tmp_path_factory) -> Callable[[str], Path]:
    """Return two clones: README begins with an empty one, the other pages are about an installed server."""
    made: dict[str, Path] = {}

    def clone(page: str) -> Path:
        page = page if page == "README.md" else SERVER
        if page not in made:
            made[page] = cloned(tmp_path_factory.mktemp("clone") / "stereoscope")
            if page != "README.md":
                type_lines(made[page], env, ["make install", *ACTIVATE, "python manage.py migrate"])
        return made[page]

    return clone


ACTIVATE = [". .venv/bin/activate"]


@pytest.fixture
def postgresql() -> Iterator[str]:
    """Yield the address of an empty database on a separate server."""
    with private_cluster() as cluster:
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE stereoscope")
        yield cluster.url.removesuffix("postgres") + "stereoscope"


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_of_commands_does_what_it_says(block: Block, request, env, port, clones, tmp_path):
    if block.not_run:
        pytest.skip(f"{block}: {block.not_run}")
    text = "\n".join(block.lines)
    folder = clones(block.page)
    lines = list(block.lines)
    if POSTGRESQL in text:
        lines = [line.replace(POSTGRESQL, request.getfixturevalue("postgresql")) for line in lines]
    if BACKUPS in text:
        env = {**env, **with_backup(folder, env, tmp_path, lost="manage.py restore" in text)}
        lines = [line.replace(BACKUPS, str(tmp_path / "backups")) for line in lines]
    lines = [line.replace("127.0.0.1:8000", f"127.0.0.1:{port}") for line in lines]
    first = [] if block.page == "README.md" else ACTIVATE
    if (
        "make install" not in lines and not (folder / ".venv").exists()
    ):  # the preceding block may not have run
        first = ["make install", *first]
    type_lines(folder, env, [*first, *lines])


def with_backup(folder: Path, env: dict[str, str], place: Path, *, lost: bool) -> dict[str, str]:
    """Back up the clone's server; if the server is lost, return the settings of an empty one with its key."""
    type_lines(folder, env, [*ACTIVATE, f"python manage.py backup {place / 'backups'}"])
    if not lost:
        return {}
    key = (folder / "var" / "secret_key").read_text().strip()
    return {"SECRET_KEY": key, "STEREOSCOPE_VAR": str(place / "new")}


def type_lines(folder: Path, env: dict[str, str], lines: list[str]) -> None:
    """Type each line; fail at the first with a status other than 0."""
    with contextlib.closing(Terminal(folder, env)) as terminal:
        for line in lines:
            stays = next((sign for command, sign in STAY.items() if command in line), None)
            if stays is not None and not line.endswith("\\"):
                terminal.write(line)
                said = terminal.read_until(re.compile(rf"{re.escape(stays)}|<ready \d+>"))
                assert said.endswith(stays), f"{line}\n{said}"
                if "worker" not in line or "gunicorn" in line:
                    assert ready(int(env["PORT"])), line
                # Some commands report that they were interrupted (130); none may fail.
                status, said = terminal.press_ctrl_c()
                assert status in {0, 130}, f"{line}\n{said}"
                continue
            answers = next((given for command, given in ANSWERS.items() if command in line), None)
            status, said = terminal.type(line, answers=answers)
            assert status in {0, None}, f"{line}\n{said}"


def ready(port: int) -> bool:
    """Return whether the server reports that database, queue and files work."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=30) as answer:
        return bool(answer.status == 200)


def test_a_line_that_fails_is_noticed(env, tmp_path):
    with pytest.raises(AssertionError, match="no-such-file"):
        type_lines(tmp_path, env, ["echo fine", "cat no-such-file"])
    with pytest.raises(AssertionError, match=r"manage\.py serve"):
        type_lines(tmp_path, env, ["python manage.py serve"])
