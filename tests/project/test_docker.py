"""The images and the compose file: tools accept them, and they start the documented and tested commands.

No container engine is needed. `docker compose config` and hadolint are used if they are installed.
"""

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
DOCS = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "operate").glob("*.md"))
IMAGES = ["web", "worker"]
ENDS = {"prepare"}  # others wait for it to end, so it has no health check
pytestmark = pytest.mark.database_free


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def services(compose):
    return compose["services"]


@pytest.fixture
def made(tmp_path):
    """Return a copy of the docker folder with secrets made by the script."""
    shutil.copytree(DOCKER, tmp_path / "docker", ignore=shutil.ignore_patterns("secrets"))
    subprocess.run([tmp_path / "docker" / "make_secrets.sh"], check=True, timeout=60)
    return tmp_path / "docker"


def image_lines(name):
    return (DOCKER / f"{name}.Dockerfile").read_text(encoding="utf-8").splitlines()


def command_of(name):
    line = next(line for line in image_lines(name) if line.startswith("CMD "))
    return yaml.safe_load(line.removeprefix("CMD "))


def in_docs(command):
    """Return the command as docs show it: on this machine's loopback."""
    line = shlex.join(command).replace("0.0.0.0", "127.0.0.1")
    return re.search(rf"^    {re.escape(line)}$", DOCS, re.MULTILINE) is not None


@pytest.mark.parametrize("name", IMAGES)
def test_hadolint_finds_nothing_in_an_image(name):
    beside = Path(sys.executable).parent / "hadolint"
    hadolint = str(beside) if beside.exists() else shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    found = subprocess.run(
        [hadolint, "--no-color", DOCKER / f"{name}.Dockerfile"], capture_output=True, text=True, timeout=60
    )
    assert (found.returncode, found.stdout) == (0, "")


@pytest.mark.parametrize("profile", [[], ["--profile", "gpu"]])
def test_docker_compose_accepts_the_file(made, profile):
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("docker compose is not installed")
    read = subprocess.run(
        [docker, "compose", "-f", made / "compose.yaml", *profile, "config", "--services"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert read.returncode == 0, read.stderr
    expected = {"database", "broker", "storage", "prepare", "web", "worker", "proxy"}
    assert set(read.stdout.split()) == (expected | {"gpu-worker"} if profile else expected)


def test_every_service_that_stays_has_a_health_check(services):
    for name, service in services.items():
        check = service["healthcheck"]
        if name in ENDS:
            assert check == {"disable": True}
        else:
            assert check["test"][0] in {"CMD", "CMD-SHELL"}
            assert service["restart"] == "unless-stopped"


def test_whoever_waits_waits_for_a_service_that_can_be_ready(services):
    for service in services.values():
        for other, how in service.get("depends_on", {}).items():
            expected = "service_completed_successfully" if other in ENDS else "service_healthy"
            assert how["condition"] == expected


def test_only_the_gpu_worker_needs_a_profile_and_a_card(services):
    assert {name: service["profiles"] for name, service in services.items() if "profiles" in service} == {
        "gpu-worker": ["gpu"]
    }
    (device,) = services["gpu-worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]


def test_only_the_proxy_is_reachable_from_outside_and_only_from_this_machine(services):
    assert {name: service["ports"] for name, service in services.items() if "ports" in service} == {
        "proxy": ["127.0.0.1:${PORT:-8000}:8080"]
    }


def test_the_proxy_is_given_every_variable_of_its_configuration(services):
    template = (DOCKER / "nginx.conf.template").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{(\w+)\}", template))
    assert used == set(services["proxy"]["environment"])
    assert used == set(re.findall(r"\$\$([A-Z_]+)", services["proxy"]["command"][-1].split("<")[0]))
    *others, last = (f"`{name}`" for name in services["proxy"]["environment"])
    assert f"{', '.join(others)} and {last}" in DOCS


def test_images_and_servers_keep_compiled_modules():
    for name in IMAGES:
        assert "DONTWRITEBYTECODE" not in "\n".join(image_lines(name))
        assert any("compileall" in line for line in image_lines(name))
    program = (
        "import config.wsgi, sys, os; print(sys.dont_write_bytecode, 'PYTHONDONTWRITEBYTECODE' in os.environ)"
    )
    for command in (
        ["-c", program],
        ["manage.py", "shell", "-v", "0", "-c", program.replace("config.wsgi, ", "")],
    ):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "platform"}
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.stdout.split() == ["False", "False"], done.stderr


def test_secrets_come_as_files_and_each_that_is_used_is_declared_and_made(compose, services, made):
    declared = {name: Path(secret["file"]) for name, secret in compose["secrets"].items()}
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            if name.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in service["secrets"]
            else:
                assert not re.search("KEY|PASSWORD|TOKEN|SECRET", name), name
        assert set(service.get("secrets", [])) <= set(declared)
    given = {"openai_api_key", "vision_api_key", "email_host_password"}  # from elsewhere, or none
    for name, path in declared.items():
        assert bool((made / path).read_text().strip()) == (name not in given)
    assert stat.S_IMODE((made / "secrets").stat().st_mode) == 0o700


def test_secrets_made_once_stay_and_fit_together(made):
    before = {path.name: path.read_text() for path in (made / "secrets").iterdir()}
    subprocess.run([made / "make_secrets.sh"], check=True, timeout=60)
    assert before == {path.name: path.read_text() for path in (made / "secrets").iterdir()}
    assert urlsplit(before["database_url"].strip()).password == before["postgres_password"].strip()
    assert urlsplit(before["broker_url"].strip()).password == before["redis_password"].strip()


def test_the_platform_reads_its_settings_from_those_secrets(services, made):
    environment = {
        name: value.replace("/run/secrets", str(made / "secrets"))
        for name, value in services["web"]["environment"].items()
        if not value.startswith("${")
    }
    program = (
        "from config import settings as s; "
        "print(s.DATABASES['default']['HOST'], s.CELERY_BROKER_URL.rpartition('@')[2], "
        "s.TASKS['default']['BACKEND'], s.STORAGES['default']['OPTIONS']['endpoint_url'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": "platform",
            "STEREOSCOPE_VAR": str(made / "var"),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == [
        *("database", "broker:6379/0", "jobs.engine.celery_backend.CeleryBackend", "http://storage:9000"),
    ], done.stderr


def test_images_and_services_start_the_commands_of_the_docs(services):
    for name in IMAGES:
        assert in_docs(command_of(name)), name
    for name in ("worker", "gpu-worker"):
        assert in_docs(services[name]["command"]), name
    assert "command" not in services["web"]
    for part in services["prepare"]["command"][-1].split(" && "):
        assert part.removesuffix(" --noinput") in DOCS


def test_every_command_that_is_started_is_one_of_ours(compose):
    text = "\n".join(
        [(DOCKER / "compose.yaml").read_text(), *(line for name in IMAGES for line in image_lines(name))]
    )
    started = set(re.findall(r"manage\.py(?:\", \"| )(\w+)", text))
    assert started >= {
        "migrate",
        "prepare_files",
        "collectstatic",
        "worker",
        "check_worker",
        "createsuperuser",
    }
    assert started <= set(get_commands())


def test_images_hold_the_code_and_not_the_tests_and_run_as_nobody_in_particular():
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {"docker/secrets", "var", "tests", ".git"} <= set(ignored)
    for name in IMAGES:
        copied = [line.split()[1] for line in image_lines(name) if line.startswith("COPY ")]
        assert {"platform/", "generation/", "annotation/", "analysis/", "manage.py"} <= set(copied)
        assert all((ROOT / path).exists() for path in copied)
        assert "USER 10001" in image_lines(name)
    assert any("requirements/web.txt" in line for line in image_lines("web"))
    assert any("--no-deps -r requirements/label-studio-client.txt" in line for line in image_lines("web"))
    assert any("-r requirements.txt" in line for line in image_lines("worker"))
