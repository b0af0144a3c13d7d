"""`make bench`: every performance claim of the README and docs, measured and compared with its limit.

Each benchmark is a module here with `run() -> Iterable[Row]`. To run only some, name them:
`make bench ARGS="metrics_speed"`. Those of `LARGE` run only when they are named.
"""

import importlib
import signal
import sys

from benchmarks.table import print_row, print_title

# Name on the command line → module under `benchmarks`.
BENCHMARKS = {
    "import_visage": "import_visage",
    "analyze": "analysis.analyze",
    "call_stack": "call_stack",
    "pages": "pages",
    "results_pages": "analysis.results_pages",
    "plots": "analysis.plots",
    "screen": "annotation.screen",
    "metrics_speed": "analysis.metrics_speed",
    "automated_measures": "analysis.automated_measures",
    "release": "analysis.release",
    "coverage": "analysis.coverage.marks",
    "coverage_automated": "analysis.coverage.automated",
    "coverage_answers": "analysis.coverage.answers",
    "coverage_choices": "analysis.coverage.choices",
    "preferences": "analysis.preferences",
    "power": "analysis.power",
    "probe_measures": "analysis.probing.speed",
    "coverage_probes": "analysis.probing.coverage",
    "association_tests": "analysis.probing.association_tests",
    "planted_probes": "analysis.probing.truth",
    "annotation_load": "annotation.load",
    "quality_rules": "annotation.quality_rules",
    "walks": "annotation.walks",
    "jobs": "jobs",
    "generation": "generation.overhead",
    "generation_workers": "generation.workers",
    "probe_requests": "generation.probing.requests",
    "probe_killed": "generation.probing.kills",
    "probe_pages": "generation.probing.pages",
    "coding": "generation.coding",
    "scoring": "analysis.scoring",
    "label_studio_push": "label_studio.push",
    "label_studio_settle": "label_studio.settle",
    "label_studio_pull": "label_studio.pull",
    "label_studio_arrival": "label_studio.arrival",
}
# Each takes minutes and gigabytes, and runs only when named.
LARGE = {
    "results_pages_large": "analysis.results_pages_large",
    "pages_large": "annotation.pages_large",
    "judgement_migration": "annotation.judgement_migration",
    "backup": "backup",
    "upgrade": "upgrade",
    "recruitment": "annotation.recruitment",
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all except the large ones; return 0 if every limit was kept."""
    modules = BENCHMARKS | LARGE
    unknown = set(names) - set(modules)
    if unknown:
        available = ", ".join(modules)
        print(
            f"No benchmark is named {', '.join(sorted(unknown))}; choose from {available}.", file=sys.stderr
        )
        return 2
    # SIGTERM raises SystemExit, so that processes are stopped and databases dropped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    within_limits = True
    print_title()
    for name in names or BENCHMARKS:
        for row in importlib.import_module(f"benchmarks.{modules[name]}").run():
            print_row(row)
            within_limits = within_limits and row.kept is not False
    return 0 if within_limits else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
