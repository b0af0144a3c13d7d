"""The statistics of one paired comparison, from its differences."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analysis.metrics.data.arrays import Array
from analysis.metrics.probing.paired.cells import spread, t_interval
from analysis.metrics.probing.paired.permutation import sign_flip_p

ALPHA = 0.05
POWER = 0.8
EQUIVALENCE_BOUND = 0.2
MOST_T = 500
NO_VARIATION = "no_variation"
NO_PAIRS = "no_pairs"
ONE_PAIR = "one_pair"
STATISTICS = (
    *("difference", "ci_low", "ci_high", "sd", "t", "df", "p", "d_z", "d_z_low", "d_z_high", "p_permutation"),
    "p_equivalence",
)


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """Values are NaN if null; `reason` states why the test is null, '' if it is not."""

    n: int
    difference: float = np.nan
    ci_low: float = np.nan
    ci_high: float = np.nan
    sd: float = np.nan
    t: float = np.nan
    df: float = np.nan
    p: float = np.nan
    d_z: float = np.nan
    d_z_low: float = np.nan
    d_z_high: float = np.nan
    p_permutation: float = np.nan
    p_equivalence: float = np.nan
    reason: str = ""


def paired_test(
    differences: Array, *, bound: float = EQUIVALENCE_BOUND, permutations: int = 10_000, seed: int = 0
) -> PairedTest:
    """Paired t test of differences d (in codes, so −2 … 2), with its further statistics.

    t = mean(d)/(sd/√n), sd with ddof 1, df = n − 1, two-sided p and 95 % interval; d_z = mean/sd; its interval is the
    non-centralities of t at which t is the 97.5 % and the 2.5 % point, divided by √n; `p_permutation`: `sign_flip_p`;
    `p_equivalence`: TOST, the larger p of the two one-sided tests of −`bound` and `bound`.

    Null: `no_pairs`; `one_pair` (the difference is given); `no_variation` if all d are equal (the difference and the
    sign-flip p are given).

    Source: Cohen 1988 (d_z); Cumming & Finch 2001; Schuirmann 1987.
    """
    values = np.asarray(differences, dtype=float)
    n = len(values)
    if not n:
        return PairedTest(n=0, reason=NO_PAIRS)
    mean, low, high = t_interval(values)
    flips = sign_flip_p(values, permutations=permutations, seed=seed)
    if n < 2:
        return PairedTest(n=n, difference=mean, reason=ONE_PAIR)
    sd = spread(values)
    if sd == 0:
        return PairedTest(n=n, difference=mean, sd=0.0, p_permutation=flips, reason=NO_VARIATION)
    from scipy.special import stdtr  # 0.1 s to import

    error = sd / np.sqrt(n)
    t = mean / error
    d_z_low, d_z_high = _effect_interval(t, n)
    return PairedTest(
        n=n,
        difference=mean,
        ci_low=low,
        ci_high=high,
        sd=sd,
        t=t,
        df=n - 1,
        p=float(2 * stdtr(n - 1, -abs(t))),
        d_z=mean / sd,
        d_z_low=d_z_low,
        d_z_high=d_z_high,
        p_permutation=flips,
        p_equivalence=float(stdtr(n - 1, (abs(mean) - bound) / error)),
    )


def _effect_interval(t: float, n: int) -> tuple[float, float]:
    """Ends of the 95 % interval of d_z; NaN for a t so large that the distribution cannot be computed in time."""
    if abs(t) > MOST_T:
        return float("nan"), float("nan")
    low, high = (_noncentrality(t, n - 1, share) for share in (1 - ALPHA / 2, ALPHA / 2))
    return low / np.sqrt(n), high / np.sqrt(n)


def _noncentrality(t: float, df: int, share: float) -> float:
    """The non-centrality at which P(T ≤ t) is `share`; NaN if the distribution cannot be computed."""
    from scipy.optimize import brentq
    from scipy.stats import nct  # half a second to import

    def excess(noncentrality: float) -> float:
        below = float(nct.cdf(t, df, noncentrality))
        # Far out in the tails the series of the distribution fails; the value there is 0 or 1.
        return (float(noncentrality < t) if np.isnan(below) else below) - share

    step = 2 + abs(t) / np.sqrt(df)
    low, high = t - step, t + step
    while excess(low) <= 0 or excess(high) >= 0:
        step *= 2
        low, high = t - step, t + step
    root = float(brentq(excess, low, high, xtol=1e-12, rtol=1e-14))
    return root if abs(excess(root)) < 1e-6 else float("nan")


@lru_cache(maxsize=4096)
def detectable_effect(n: int, *, level: float = ALPHA, power: float = POWER) -> float:
    """The |d_z| that a two-sided paired t test of n pairs at `level` finds with probability `power`.

    NaN for fewer than two pairs. Source: Cohen 1988, ch. 2, with the non-central t distribution.
    """
    if n < 2:
        return float("nan")
    from scipy.optimize import brentq
    from scipy.special import stdtrit
    from scipy.stats import nct

    critical = float(stdtrit(n - 1, 1 - level / 2))

    def excess(effect: float) -> float:
        shift = effect * np.sqrt(n)
        reached = np.array([nct.sf(critical, n - 1, shift), nct.cdf(-critical, n - 1, shift)])
        return float(np.where(np.isnan(reached), (1.0, 0.0), reached).sum()) - power

    high = 2 * (critical + 1) / np.sqrt(n)
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-12, rtol=1e-14))
