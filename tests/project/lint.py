"""Style, templates, scripts, types, imports between apps, migrations: `make lint`. Stops at the first failure."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
APPS = ["platform", "generation", "annotation", "analysis"]
COMMANDS = [
    [str(BIN / "ruff"), "check", "."],
    [str(BIN / "ruff"), "format", "--check", "."],
    [str(BIN / "djangofmt"), "--check", *APPS],
    [str(BIN / "oxlint"), "--deny-warnings", *APPS],
    [str(BIN / "mypy")],
    [str(BIN / "lint-imports"), "--no-cache"],
    [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
    [sys.executable, "tests/project/migrations/linter.py"],
    [sys.executable, "manage.py", "check", "--fail-level", "WARNING"],
]


def main() -> int:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(["platform", "."])}
    for command in COMMANDS:
        print("$", Path(command[0]).name, *command[1:], flush=True)
        # manage.py adds platform/ to the path itself; PYTHONPATH would add it twice, which is harmless.
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
