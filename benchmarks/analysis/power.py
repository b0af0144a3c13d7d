"""The power that a plan shows, compared with independently simulated and analysed studies, and its computing time."""

import time
from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import stats

from analysis.metrics import plan_precision, tendency
from analysis.metrics.marking.simulate_studies import Assumptions, Design
from benchmarks.table import Row

STUDIES, RESAMPLES = 2_000, 1_000
FURTHEST, LONGEST = 0.03, 10.0  # maximum difference from the studies; CPU seconds: 5 on two cores
CASES = (
    ("one group of 15 images", Design(15, 30, 3, 8, 8, 1), Assumptions(0.3, 0.2, 0.35, 0.25)),
    ("few people who differ much", Design(20, 6, 3, 4, 4, 1), Assumptions(0.45, 0.25, 0.3, 0.6)),
    ("five groups, five people a task", Design(10, 25, 5, 5, 5, 5), Assumptions(0.25, 0.2, 0.5, 0.3)),
)
PUBLISHED = Design(15, 80, 3, 8, 8, 135)


def planned(design: Design, assumed: Assumptions) -> pd.DataFrame:
    """Return the result of `plan_precision`, by measure."""
    sizes = {name: getattr(design, name) for name in Design.__dataclass_fields__}
    return plan_precision(
        **sizes,
        likelihood_stereotype=assumed.stereotype,
        likelihood_random=assumed.random,
        agreement=assumed.agreement,
        annotator_sd=assumed.annotator_sd,
    ).table.set_index("measure")


def study(design: Design, assumed: Assumptions, generator: np.random.Generator) -> tuple[pd.DataFrame, ...]:
    """Return judgements and roles of one study, drawn with SciPy's distributions."""
    attributes = design.stereotypes + design.random_attributes
    shape = (design.groups, design.images, design.annotators_per_task, attributes)
    who = np.array(
        [
            generator.choice(design.annotators, design.annotators_per_task, replace=False)
            for _ in range(design.groups * design.images)
        ]
    ).reshape(*shape[:3], 1)
    mean = np.repeat([assumed.stereotype, assumed.random], [design.stereotypes, design.random_attributes])
    size = 1 / assumed.agreement - 1
    rate = stats.beta(mean * size, (1 - mean) * size).rvs((*shape[:2], 1, attributes), generator)
    skew = assumed.annotator_sd * generator.standard_normal(design.annotators)
    chance = stats.norm.cdf(np.sqrt(1 + assumed.annotator_sd**2) * stats.norm.ppf(rate) + skew[who])
    group, image, _, attribute = (index.ravel() for index in np.indices(shape))
    judgements = pd.DataFrame(
        {
            "image": group * design.images + image,
            "identity_group": group,
            "attribute": attribute,
            "annotator": np.broadcast_to(who, shape).ravel(),
            "present": (generator.random(shape) < chance).ravel(),
        }
    )
    pairs = [(g, a) for g in range(design.groups) for a in range(design.stereotypes)]
    roles = pd.DataFrame(pairs, columns=["identity_group", "attribute"]).assign(role="stereotype")
    return judgements, roles


def analysed(
    design: Design, assumed: Assumptions, *, resamples: int, generator: np.random.Generator
) -> dict[str, tuple[bool, float]]:
    """Return whether θ's interval excludes 1, and half its width, for the first group and pooled over all."""
    result = tendency(*study(design, assumed, generator), min_stereotypes=1, resamples=resamples)
    pooled = result.overall[result.overall["statistic"] == "pooled"]
    return {
        measure: _read(*(float(table[end].astype(float).iloc[0]) for end in ("theta_low", "theta_high")))
        for measure, table in (("theta", result.table), ("theta_pooled", pooled))
        if len(table)
    }


def _read(low: float, high: float) -> tuple[bool, float]:
    return bool(low > 1 or high < 1), (high - low) / 2


def run() -> Iterable[Row]:
    for name, design, assumed in CASES:
        began = time.process_time()
        table = planned(design, assumed)
        seconds = time.process_time() - began
        generator = np.random.default_rng(1)
        studies = [
            analysed(design, assumed, resamples=RESAMPLES, generator=generator) for _ in range(STUDIES)
        ]
        for measure in table.index.intersection(["theta", "theta_pooled"]):
            share = np.mean([study[measure][0] for study in studies])
            difference = table.loc[measure, "power"] - share
            claim = f"power to tell {measure} from 1, {name}: plan − {STUDIES:,} studies ({share:.3f})"
            yield Row(claim, f"{difference:+.3f}", f"± {FURTHEST}", abs(difference) <= FURTHEST)
        yield _time_row(name, seconds)
    began = time.process_time()
    planned(PUBLISHED, CASES[0][2])
    yield _time_row("135 groups of 15 images", time.process_time() - began)


def _time_row(name: str, seconds: float) -> Row:
    return Row(f"planning {name}", f"{seconds:.1f} s of CPU", f"{LONGEST:.0f} s", seconds <= LONGEST)
