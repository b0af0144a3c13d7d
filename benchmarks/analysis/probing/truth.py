"""Comparison of the measures of invented models with their planted parameters.

python -m benchmarks planted_probes        (make bench)
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.table import Row

MODELS = 400  # a share of 0.95 has a standard error of 0.011
WORD_MODELS = 20
ALLOWED = (0.93, 0.995)
LARGEST_ERROR = 0.01
MOST_FALSE = 0.05
LEAST_FOUND = 0.85
ROOT = Path(__file__).resolve().parents[3]


def run() -> Iterable[Row]:
    sys.path.insert(0, str(ROOT / "platform"))
    from benchmarks.analysis.probing.invented_models import coverage, discoveries

    low, high = ALLOWED
    for name, share, error in coverage(MODELS):
        claim = f"script models: coverage of {name}"
        yield Row(claim, f"{share:.3f}", f"{low} … {high}", low <= share <= high)
        yield Row("  mean error", f"{error:+.4f}", f"± {LARGEST_ERROR}", abs(error) <= LARGEST_ERROR)
    for rule, title in (("significant", "published rule"), ("significant_exact", "exact test")):
        found, false = discoveries(WORD_MODELS, rule)
        kept = rule == "significant" or (false <= MOST_FALSE and found >= LEAST_FOUND)
        limit = "for comparison" if rule == "significant" else f"≥ {LEAST_FOUND}, ≤ {MOST_FALSE}"
        claim = f"script models, {title}: planted words found, false discovery rate"
        yield Row(claim, f"{found:.2f}, {false:.3f}", limit, kept)
