"""The house stands: nothing shadows the standard library, constraints are in the migrations."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-c", "import platform; print(platform.python_version())"],
        [
            sys.executable,
            "manage.py",
            "shell",
            "-v",
            "0",
            "-c",
            "import platform; print(platform.python_version())",
        ],
    ],
    ids=["from the repository root", "under manage.py"],
)
def test_platform_is_the_module_of_the_standard_library(command, tmp_path):
    env = {"STEREOSCOPE_VAR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    printed = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == ".".join(map(str, sys.version_info[:3]))


def test_platform_is_a_folder_and_never_a_package():
    assert not (ROOT / "platform" / "__init__.py").exists()


@pytest.mark.django_db
def test_migrations_match_the_models():
    call_command("makemigrations", "--check", "--dry-run", stdout=StringIO())
