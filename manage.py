#!/usr/bin/env python3
"""Run a Stereoscope management command."""

import gc
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def main() -> None:
    # Modules that are loaded are no garbage: to look for some after every 700 new objects takes 0.2 s of the 1.5 s in
    # which a command starts.
    gc.set_threshold(10_000, 10, 10)
    # `platform/` is a folder of apps, not a package: a package of that name would shadow the standard library.
    sys.path.insert(1, str(ROOT / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.bytecode import keep_bytecode

    keep_bytecode()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
