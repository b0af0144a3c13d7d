"""Bundles for machines without network: created by `bundle/make.sh`, installed by the script in them."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ("requirements.txt", "requirements/web.txt", "requirements/label-studio-client.txt")
pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.database_free]

# Typed in a namespace whose only network is its loopback interface, which `ioctl` switches on.
SESSION = """
set -eu
"$PYTHON" -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))'
test "$(tail -n +3 /proc/net/dev | wc -l)" = 1
./install.sh "$TARGET"
cd "$TARGET"
. .venv/bin/activate
python manage.py migrate --verbosity 0
python manage.py serve --port 8000 >serve.log &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
python - <<'END'
import time, urllib.request
for _ in range(600):
    try:
        answer = urllib.request.urlopen("http://127.0.0.1:8000/readyz", timeout=10)
    except OSError:
        time.sleep(0.2)
    else:
        break
assert answer.status == 200
END
# The web server may answer the request above before "serve" reports that the server is ready.
for _ in $(seq 300); do
    if grep -q "Stereoscope is at" serve.log; then break; fi
    sleep 0.2
done
kill -TERM "$server"
wait "$server"
trap - EXIT
cat serve.log
"""


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHON": sys.executable, **more}


def unpacked(archive: Path, place: Path) -> Path:
    with tarfile.open(archive) as bundle:
        bundle.extractall(place, filter="data")
    (folder,) = place.iterdir()
    return folder


def install(bundle: Path, target: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["./install.sh", target],
        cwd=bundle,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """Return a bundle of a repository that requires no package, made and installed without a registry."""
    repository = tmp_path_factory.mktemp("repository")
    (repository / "requirements").mkdir()
    for name in REQUIREMENTS:
        (repository / name).write_text("# none\n")
    (repository / "manage.py").write_text("print('version 1')\n")
    (repository / ".gitignore").write_text("var/\n")
    shutil.copytree(ROOT / "bundle", repository / "bundle")
    git = ["git", "-C", repository, "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "Begin"]):
        subprocess.run([*git, *command], check=True, timeout=60)
    (repository / "var").mkdir()
    (repository / "var" / "secret_key").write_text("not for a bundle")
    made = subprocess.run(
        ["bundle/make.sh", sys.executable],
        cwd=repository,
        env=environment(PIP_NO_INDEX="1"),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert made.returncode == 0, made.stderr
    (archive,) = (repository / "var" / "bundle").iterdir()
    assert str(archive.relative_to(repository)) in made.stdout
    return archive


@pytest.fixture
def bundle(small, tmp_path) -> Path:
    return unpacked(small, tmp_path / "bundle")


def test_a_bundle_installs_what_git_knows_and_nothing_else(bundle, tmp_path):
    done = install(bundle, tmp_path / "target")
    assert done.returncode == 0, done.stderr
    assert "manage.py migrate" in done.stdout
    made = {path.name for path in (tmp_path / "target").iterdir()}
    assert made == {".gitignore", ".venv", "bundle", "manage.py", "requirements", "requirements.txt"}


def test_an_update_keeps_data_and_removes_what_the_version_before_had(bundle, tmp_path):
    target = tmp_path / "target"
    assert install(bundle, target).returncode == 0
    (target / "var").mkdir()
    (target / "var" / "stereoscope.sqlite3").write_text("labels")
    (target / "requirements" / "outdated.txt").write_text("of a version before")
    assert install(bundle, target).returncode == 0
    assert (target / "var" / "stereoscope.sqlite3").read_text() == "labels"
    assert not (target / "requirements" / "outdated.txt").exists()


def test_a_damaged_bundle_is_refused(bundle, tmp_path):
    with (bundle / "source.tar").open("r+b") as file:
        file.seek(600)
        file.write(b"damage")
    done = install(bundle, tmp_path / "target")
    assert (done.returncode, (tmp_path / "target").exists()) == (1, False)
    assert done.stderr.endswith("This bundle is damaged. Copy it again.\n")


def test_a_bundle_for_another_python_is_refused(bundle, tmp_path):
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 3 9 linux-x86_64\n")
    other.chmod(0o755)
    done = install(bundle, tmp_path / "target", PYTHON=str(other))
    assert (done.returncode, (tmp_path / "target").exists()) == (1, False)
    assert "is Python 3 9 linux-x86_64. Set PYTHON" in done.stderr


def test_a_folder_with_other_things_is_left_alone(bundle, tmp_path):
    target = tmp_path / "target"
    (target / "requirements").mkdir(parents=True)
    done = install(bundle, target)
    assert done.returncode == 1
    assert done.stderr == f"{target} is neither empty nor an installation of Stereoscope.\n"
    assert list(target.iterdir()) == [target / "requirements"]


def namespace() -> list[str]:
    """Return the command that enters a namespace without network, or skip."""
    for command in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if (
            shutil.which("unshare")
            and subprocess.run([*command, "true"], capture_output=True).returncode == 0
        ):
            return command
    pytest.skip("this machine lets nobody make a network namespace")


def latest_bundle(place: Path) -> Path:
    """Return the unpacked bundle that `make bundle` made of this state of the repository, or skip."""
    archives = sorted((ROOT / "var" / "bundle").glob("*.tar"), key=lambda path: path.stat().st_mtime)
    if not archives:
        pytest.skip("“make bundle” was not run: it needs a package registry")
    folder = unpacked(archives[-1], place)
    subprocess.run(["tar", "-xf", "source.tar", "--one-top-level=source"], cwd=folder, check=True, timeout=60)
    for name in (*REQUIREMENTS, "requirements/constraints.txt", "bundle/install.sh", "manage.py"):
        kept = folder / "source" / name
        if not kept.exists() or kept.read_bytes() != (ROOT / name).read_bytes():
            pytest.skip(f"the bundle is of another state: {name} differs")
    return folder


def test_the_platform_is_installed_and_serves_where_there_is_no_network(tmp_path):
    command = namespace()
    folder = latest_bundle(tmp_path / "bundle")
    done = subprocess.run(
        [*command, "sh", "-c", SESSION],
        cwd=folder,
        env=environment(TARGET=str(tmp_path / "target")),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Stereoscope is at http://127.0.0.1:8000." in done.stdout
