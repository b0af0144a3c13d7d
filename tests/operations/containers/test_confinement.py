"""The containers of compose.yaml: no unnecessary rights, images by digest, and storage that is maintained."""

import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
DOCKER = ROOT / "docker"
SERVICES = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))["services"]
IMAGE = re.compile(r"(?:[a-z0-9.-]+/)*[a-z-]+:[\w.-]+@sha256:[0-9a-f]{64}")
BUILT = {"stereoscope-web", "stereoscope-worker"}
NEW = f"sha256:{'7' * 64}"
pytestmark = pytest.mark.database_free


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_container_has_no_capability_no_root_and_a_file_system_that_it_cannot_write(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    user, _, group = service["user"].partition(":")
    assert int(user) > 0
    assert int(group) > 0


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_container_can_write_to_its_temporary_folder_and_its_volumes_alone(name):
    service = SERVICES[name]
    places = [volume.split(":") for volume in service.get("volumes", [])]
    temporary = [place.partition(":")[0] for place in service.get("tmpfs", [])]
    assert name == "broker" or "/tmp" in {*temporary, *(place[1] for place in places)}
    assert all(place[-1] == "ro" for place in places if place[0].startswith("."))


def test_images_of_others_are_pinned_by_digest():
    for name, service in SERVICES.items():
        assert service["image"] in BUILT or IMAGE.fullmatch(service["image"]), name
    for name in ("web", "worker"):
        first = next(
            line
            for line in (DOCKER / f"{name}.Dockerfile").read_text().splitlines()
            if line.startswith("FROM")
        )
        assert IMAGE.fullmatch(first.removeprefix("FROM "))


def test_only_the_proxy_is_in_the_network_that_is_reached_from_outside():
    assert [name for name, service in SERVICES.items() if "outside" in service["networks"]] == ["proxy"]


def test_the_storage_knows_one_identity_with_the_keys_of_the_platform(tmp_path):
    script = tmp_path / "make_secrets.sh"
    script.write_bytes((DOCKER / "make_secrets.sh").read_bytes())
    subprocess.run(["sh", script], check=True, timeout=60)
    made = {path.name: path.read_text().strip() for path in (tmp_path / "secrets").iterdir()}
    (identity,) = json.loads(made["storage_identities"])["identities"]
    assert identity["credentials"] == [
        {"accessKey": made["files_access_key"], "secretKey": made["files_secret_key"]}
    ]
    command = SERVICES["storage"]["command"]
    assert "-s3.config=/run/secrets/storage_identities" in command
    port = next(part.partition("=")[2] for part in command if part.startswith("-s3.port="))
    assert SERVICES["web"]["environment"]["FILES_ENDPOINT_URL"] == f"http://storage:{port}"


class Registry(BaseHTTPRequestHandler):
    """A registry that gives everybody a token and has one image."""

    def do_HEAD(self):
        host = self.headers["Host"]
        if self.headers.get("Authorization") != "Bearer for everybody":
            self.send_response(401)
            challenge = f'Bearer realm="http://{host}/token",service="here",scope="repository:pull"'
            self.send_header("WWW-Authenticate", challenge)
        elif self.path == "/v2/things/database/manifests/17":
            self.send_response(200)
            self.send_header("Docker-Content-Digest", NEW)
        else:
            self.send_response(404)
        self.end_headers()

    def do_GET(self):
        asked = "service=here" in self.path and "scope=repository" in self.path
        body = json.dumps({"token": "for everybody" if asked else ""}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def registry():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def files(tmp_path, registry):
    """Create a folder of files that name an image of this registry."""
    image = f"{registry}/things/database:17@sha256:{'0' * 64}"
    (tmp_path / "kubernetes").mkdir()
    for name in ("web.Dockerfile", "worker.Dockerfile"):
        (tmp_path / name).write_text(f"FROM {image}\nRUN true\n")
    for name in ("compose.yaml", "kubernetes/proxy.yaml"):
        (tmp_path / name).write_text(f"image: {image}\nother: stereoscope-web\n")
    return tmp_path


def pin(folder):
    command = [sys.executable, DOCKER / "pin_images.py", folder]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_pinning_writes_the_digest_that_the_registry_names_now(files, registry):
    done = pin(files)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"new        {registry}/things/database:17  {NEW}\n"
    pinned = f"{registry}/things/database:17@{NEW}"
    assert (files / "compose.yaml").read_text() == f"image: {pinned}\nother: stereoscope-web\n"
    assert (files / "web.Dockerfile").read_text() == f"FROM {pinned}\nRUN true\n"
    assert pinned in (files / "kubernetes" / "proxy.yaml").read_text()
    assert pin(files).stdout.startswith("unchanged")


def test_pinning_changes_nothing_if_one_image_is_not_there(files, registry):
    text = f"FROM {registry}/things/unknown:1@sha256:{'0' * 64}\n"
    (files / "worker.Dockerfile").write_text(text)
    before = (files / "compose.yaml").read_text()
    done = pin(files)
    assert done.returncode == 1
    assert done.stderr.startswith("Nothing was changed: HTTP Error 404")
    assert (files / "compose.yaml").read_text() == before
