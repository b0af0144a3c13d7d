"""Newton's method with step halving, for log likelihoods that are concave."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 60
MOST_HALVINGS = 30
SMALL_STEP = 1e-8  # of a log strength. Toward infinity, Newton's steps remain near 1
UNBOUNDED_STRENGTH = 20.0  # log odds: a larger value is diverging

Numbers = NDArray[np.float64]


class Likelihood(Protocol):
    """A log likelihood of parameters, with its gradient and its information (regular)."""

    def log_likelihood(self, theta: Numbers) -> float: ...

    def derivatives(self, theta: Numbers) -> tuple[Numbers, Numbers]: ...


class Maximum(NamedTuple):
    """The parameters with the largest likelihood. If `converged` is false there is no finite maximum, and `theta` is
    meaningless."""

    theta: Numbers
    converged: bool
    steps: int


def maximise(likelihood: Likelihood, parameters: int) -> Maximum:
    """Find the maximum of a concave log likelihood, starting at zero."""
    theta = np.zeros(parameters)
    value = likelihood.log_likelihood(theta)
    for steps in range(MOST_STEPS):
        gradient, information = likelihood.derivatives(theta)
        step = np.linalg.solve(information, gradient)
        if np.abs(step).max(initial=0.0) <= SMALL_STEP:
            return Maximum(theta, converged=True, steps=steps)
        if np.abs(theta).max(initial=0.0) > UNBOUNDED_STRENGTH:
            return Maximum(theta, converged=False, steps=steps)
        for _ in range(MOST_HALVINGS):
            after = likelihood.log_likelihood(theta + step)
            if after >= value - 1e-12 * abs(value):
                break
            step /= 2
        theta, value = theta + step, after
    return Maximum(theta, converged=False, steps=MOST_STEPS)
