"""The comparison of decision 0009: a plot of 40 groups by our own code, and a file of it by altair and vl-convert."""

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable

import django

from benchmarks.table import Row
from benchmarks.web_server import ROOT

GROUPS = 40
_RUNS = 5


def run() -> Iterable[Row]:
    """Time both ways in this process, after a warm-up; neither has a limit."""
    sys.path.insert(0, str(ROOT / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from vl_convert import vegalite_to_svg

    from analysis.plots.figures.judgements import theta_plot

    rows = [
        {
            "identity_group": f"People {number}",
            "theta": 1 + number / 10,
            "theta_low": 0.5 + number / 20,
            "theta_high": 2 + number / 5,
            "reason": None,
        }
        for number in range(GROUPS)
    ]
    plot = theta_plot(rows, {})
    spec = plot.spec()
    ways: dict[str, Callable[[], object]] = {
        "drawn by analysis/plots in two widths": lambda: theta_plot(rows, {}),
        "Vega-Lite specification by altair": plot.spec,
        "one SVG of it by vl-convert": lambda: vegalite_to_svg(spec),
    }
    for name, way in ways.items():
        yield Row(f"θ of {GROUPS} groups: {name}", f"{_milliseconds(way):.1f} ms", "", True)


def _milliseconds(way: Callable[[], object]) -> float:
    way()
    seconds = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        way()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds) * 1000
