#!/usr/bin/env python3
"""Run a Stereoscope management command."""

import atexit
import gc
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def main() -> None:
    # Loaded modules never become garbage. By default, Python searches them for garbage many times while they load, and
    # once more when the process exits. These searches find nothing and slow down every command.
    gc.set_threshold(50_000, 10, 10)
    atexit.register(gc.freeze)
    # `platform/` is a folder of apps, not a package: a package of that name would shadow the standard library.
    sys.path.insert(1, str(ROOT / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.bytecode import keep_bytecode

    keep_bytecode()
    from django.core.management import execute_from_command_line

    from foundation.call_stack import in_one_chunk

    in_one_chunk(execute_from_command_line)(sys.argv)


if __name__ == "__main__":
    main()
