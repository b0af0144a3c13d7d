"""A folder in which the processes of one web server share their counters for /metrics."""

import atexit
import os
import shutil
import sys
import tempfile


def share_counters() -> None:
    """Make the folder and have prometheus_client use it, which it decides when it is imported.

    gunicorn's processes are forks of the one that calls this (`--preload`). Its end removes the folder; a process
    that is killed leaves it, a few hundred kilobytes in the folder of temporary files.
    """
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ or "prometheus_client" in sys.modules:
        return
    folder, owner = tempfile.mkdtemp(prefix="stereoscope-counters-"), os.getpid()
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder

    def remove() -> None:
        if os.getpid() == owner:  # forks end, too
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
