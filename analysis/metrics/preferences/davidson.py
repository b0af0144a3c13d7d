"""The Bradley–Terry model with ties: strengths of items by maximum likelihood."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.preferences.newton import Numbers, maximise


@dataclass(frozen=True, eq=False)
class Fit:
    """`strength`: log strengths of the items, mean zero. `tie`: log ν, −inf if there is no tie.

    `win[i, j]` is the fitted P(i over j), `tied[i, j]` the fitted P(tie). `covariance` is the inverse of the
    information about the strengths and log ν (items + 1, square). `converged` is true if there is a finite maximum;
    otherwise the other numbers are meaningless.
    """

    strength: Numbers
    tie: float
    win: Numbers
    tied: Numbers
    covariance: Numbers
    converged: bool


def davidson(wins: NDArray[Any], ties: NDArray[Any]) -> Fit:
    """Maximum likelihood of P(i over j) = πᵢ/D, P(tie) = ν√(πᵢπⱼ)/D, D = πᵢ + πⱼ + ν√(πᵢπⱼ).

    `wins[i, j]` counts how often i was preferred to j, `ties[i, j]` the ties, symmetric. The log likelihood is
    concave in λ = log π and log ν and is maximised by Newton's method with step halving. Without a tie this is
    the Bradley–Terry model.

    Source: Bradley & Terry 1952; Davidson 1970, *On extending the Bradley–Terry model to accommodate ties*.
    """
    counts = _Counts(np.asarray(wins, dtype=float), np.asarray(ties, dtype=float))
    theta, converged, _ = maximise(counts, len(counts.score) + 1)
    win, tied = counts.shares(theta)
    strength = theta[:-1] - theta[:-1].mean() if len(theta) > 1 else theta[:-1]
    return Fit(
        strength=strength,
        tie=float(theta[-1]) if counts.has_ties else -np.inf,
        win=win,
        tied=tied,
        covariance=np.asarray(np.linalg.inv(counts.derivatives(theta)[1]), dtype=float),
        converged=converged,
    )


class _Counts:
    """Sufficient statistics: comparisons of each pair, wins + ½ ties of each item, all ties."""

    def __init__(self, wins: Numbers, ties: Numbers) -> None:
        self.compared: Numbers = wins + wins.T + ties
        self.score: Numbers = wins.sum(axis=1) + ties.sum(axis=1) / 2
        self.ties = float(ties.sum() / 2)
        self.has_ties = self.ties > 0

    def shares(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """P(i over j) and P(tie) of every pair."""
        up, total = self._scaled(theta)
        return up / total, self._tie(theta) / total

    def log_likelihood(self, theta: Numbers) -> float:
        strength = theta[:-1]
        log_total = (strength[:, None] + strength) / 2 + np.log(self._scaled(theta)[1])
        tie = theta[-1] * self.ties if self.has_ties else 0.0
        return float(self.score @ strength + tie - (self.compared * log_total).sum() / 2)

    def derivatives(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """The gradient, and the information, made regular in directions in which the likelihood is constant."""
        win, tie = self.shares(theta)
        expected = win + tie / 2
        items = len(self.score)
        gradient = np.zeros(items + 1)
        gradient[:-1] = self.score - (self.compared * expected).sum(axis=1)
        spread = self.compared * (win + tie / 4 - expected**2)
        information = np.zeros((items + 1, items + 1))
        information[:-1, :-1] = np.diag(spread.sum(axis=1)) - spread
        # The likelihood does not change if a constant is added to all strengths; this term removes that part of the
        # step.
        information[:-1, :-1] += max(self.compared.sum(), 1.0) / max(items, 1) ** 2
        information[-1, -1] = 1.0
        if self.has_ties:
            gradient[-1] = self.ties - (self.compared * tie).sum() / 2
            information[:-1, -1] = (self.compared * (tie / 2 - expected * tie)).sum(axis=1)
            information[-1, :-1] = information[:-1, -1]
            information[-1, -1] = (self.compared * tie * (1 - tie)).sum() / 2
        # Items that were never compared would make it singular.
        information += 1e-12 * max(self.compared.sum(), 1.0) * np.eye(items + 1)
        return gradient, information

    def _scaled(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """πᵢ and D, divided by √(πᵢπⱼ)."""
        half = (theta[:-1, None] - theta[:-1]) / 2
        up = np.exp(half)
        return up, up + np.exp(-half) + self._tie(theta)

    def _tie(self, theta: Numbers) -> float:
        return float(np.exp(theta[-1])) if self.has_ties else 0.0
