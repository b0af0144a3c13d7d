"""A web server with only the lean set of packages can connect, check and send."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.services, pytest.mark.database_free]
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("kind", ["token", "personal_token"])
def test_all_that_is_asked_is_asked_with_the_lean_set(label_studio, kind):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.services.label_studio.lean",
            label_studio.url,
            getattr(label_studio.owner, kind),
        ],
        cwd=ROOT,
        env=os.environ
        | {"PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}", "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "all of it\n"), done.stderr
