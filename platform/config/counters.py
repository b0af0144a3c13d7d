"""A folder in which the processes of one web server share their counters for /metrics."""

import atexit
import os
import shutil
import sys
import tempfile


def share_counters() -> None:
    """Create the folder and set it for prometheus_client, which reads the setting when it is imported.

    gunicorn's processes are forks of the process that calls this (`--preload`). The folder is removed when that
    process exits; a killed process leaves it, with a few hundred kilobytes, in the folder of temporary files.
    """
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ or "prometheus_client" in sys.modules:
        return
    folder, owner = tempfile.mkdtemp(prefix="stereoscope-counters-"), os.getpid()
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder

    def remove() -> None:
        if os.getpid() == owner:  # forks exit, too
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
