"""Counters of processes, summed over all processes of this web server when /metrics is read.

Web processes share a folder (`config.counters`), in which each has a file with its counters that outlives it. Without
the folder, as under `runserver`, there is only one process, which reports its own counters.
"""

import os
from collections.abc import Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.values import MutexValue, ValueClass

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # read by prometheus_client at import
REGISTRY = CollectorRegistry(auto_describe=False)


def collect() -> Iterable[Metric]:
    """Return the counters of all processes."""
    if ValueClass is MutexValue:
        return REGISTRY.collect()
    shared: Iterable[Metric] = MultiProcessCollector(None, path=os.environ[FOLDER]).collect()  # type: ignore[no-untyped-call]
    return shared
