"""The Plackett–Luce model with ties: strengths of ranked items by maximum likelihood."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from analysis.metrics.preferences.newton import Numbers, maximise
from analysis.metrics.preferences.rankings import Rankings

HELD_AT_ONCE = 2_000_000  # numbers in one working array


@dataclass(frozen=True, eq=False)
class RankingFit:
    """`strength`: log strengths of the items, mean zero. `ties`: δ for each number of tied items that occurs.

    `covariance` is the inverse of the information about the strengths and log δ; `scores` the gradient of each
    ranking's log likelihood (rankings × parameters). `converged` is true if there is a finite maximum, reached in
    `steps`; otherwise the other numbers are meaningless.
    """

    strength: Numbers
    ties: dict[int, float]
    covariance: Numbers
    scores: csr_array
    converged: bool
    steps: int


def plackett_luce(rankings: Rankings) -> RankingFit:
    """Maximum likelihood of the model of `ranking_strengths`.

    Each place of a ranking is a choice of a set C of the remaining items, with P(C) = f(C) / Σ f(S) over their subsets
    S, and log f(S) = mean of λᵢ over S + log δ of its size. The log likelihood is concave in λ and log δ and is
    maximised by Newton's method with step halving. Choices among the same items are counted once.
    """
    choices = _Choices.of(rankings)
    theta, converged, steps = maximise(choices, choices.parameters)
    items = len(rankings.items)
    strength = theta[:items] - theta[:items].mean() if items else theta[:items]
    return RankingFit(
        strength=strength,
        ties={
            order: float(np.exp(value)) for order, value in zip(choices.orders, theta[items:], strict=True)
        },
        covariance=np.asarray(np.linalg.inv(choices.derivatives(theta)[1]), dtype=float),
        scores=choices.scores(theta),
        converged=converged,
        steps=steps,
    )


@dataclass(frozen=True, eq=False)
class _Remaining:
    """The distinct sets of `size` items that remained when a place was assigned.

    `columns` are the parameters of a choice from each set: its items, then log δ of every possible order (sets ×
    columns). `design` is the weight of each parameter in each subset that may be chosen (subsets × columns). `times`
    counts the choices from each set; `choice[c]` is the set of choice c, of `ranking[c]`.
    """

    columns: NDArray[Any]
    design: Numbers
    times: NDArray[Any]
    choice: NDArray[Any]
    ranking: NDArray[Any]

    def parts(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """The columns and times of the sets, in parts."""
        subsets, width = self.design.shape
        at_once = max(HELD_AT_ONCE // (subsets + width**2), 1)
        for begin in range(0, len(self.columns), at_once):
            yield self.columns[begin : begin + at_once], self.times[begin : begin + at_once]

    def log_weights(self, theta: Numbers, columns: NDArray[Any]) -> Numbers:
        """log f of each subset of each set (sets × subsets)."""
        return np.asarray(theta[columns] @ self.design.T)

    def shares(self, theta: Numbers, columns: NDArray[Any]) -> Numbers:
        """P of each subset of each set (sets × subsets)."""
        weights = self.log_weights(theta, columns)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class _Choices:
    """Sufficient statistics of rankings: the `total` of each parameter over the choices, and the items that remained.

    `entries` are the ranking, column and value of the parameters of the choices.
    """

    items: int
    rankings: int
    orders: tuple[int, ...]
    entries: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    total: Numbers
    remaining: tuple[_Remaining, ...]

    @property
    def parameters(self) -> int:
        return self.items + len(self.orders)

    @classmethod
    def of(cls, rankings: Rankings) -> "_Choices":
        tied, size = rankings.tied, rankings.size[rankings.ranking]
        # The last item always takes the last place.
        chosen = size - rankings.place > 1
        begins = np.diff(rankings.ranking * (size.max(initial=0) + 1) + rankings.place, prepend=-1) > 0
        starts = np.flatnonzero(begins & chosen)
        orders = tuple(int(order) for order in np.unique(tied[starts]) if order > 1)
        ties = starts[tied[starts] > 1]
        entries = (
            np.concatenate([rankings.ranking[chosen], rankings.ranking[ties]]),
            np.concatenate(
                [rankings.item[chosen], len(rankings.items) + np.searchsorted(orders, tied[ties])]
            ),
            np.concatenate([1 / tied[chosen], np.ones(len(ties))]),
        )
        total = np.zeros(len(rankings.items) + len(orders))
        np.add.at(total, entries[1], entries[2])
        left = (size - rankings.place)[starts]
        return cls(
            items=len(rankings.items),
            rankings=len(rankings),
            orders=orders,
            entries=entries,
            total=total,
            remaining=tuple(
                _remaining(rankings, starts[left == number], int(number), orders)
                for number in np.unique(left)
            ),
        )

    def log_likelihood(self, theta: Numbers) -> float:
        value = float(self.total @ theta)
        for sets in self.remaining:
            for columns, times in sets.parts():
                weights = sets.log_weights(theta, columns)
                most = weights.max(axis=1)
                value -= float(times @ (most + np.log(np.exp(weights - most[:, None]).sum(axis=1))))
        return value

    def derivatives(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """The gradient, and the information, made regular in directions in which the likelihood is constant."""
        width = self.parameters
        gradient = self.total.copy()
        information = np.zeros(width * width)
        for sets in self.remaining:
            products = sets.design[:, :, None] * sets.design[:, None, :]
            for columns, times in sets.parts():
                share = sets.shares(theta, columns)
                expected = share @ sets.design
                spread = np.tensordot(share, products, 1) - expected[:, :, None] * expected[:, None, :]
                gradient -= np.bincount(
                    columns.ravel(), weights=(times[:, None] * expected).ravel(), minlength=width
                )
                information += np.bincount(
                    (columns[:, :, None] * width + columns[:, None, :]).ravel(),
                    weights=(times[:, None, None] * spread).ravel(),
                    minlength=width * width,
                )
        matrix = information.reshape(width, width)
        scale = max(float(sum(sets.times.sum() for sets in self.remaining)), 1.0)
        # The likelihood does not change if a constant is added to all strengths; this term removes that part of the
        # step.
        matrix[: self.items, : self.items] += scale / max(self.items, 1) ** 2
        # Items that were never ranked with others would make it singular.
        return gradient, matrix + 1e-12 * scale * np.eye(width)

    def scores(self, theta: Numbers) -> csr_array:
        """For each ranking, the observed minus the expected value of each parameter."""
        rows, columns, values = ([part] for part in self.entries)
        for sets in self.remaining:
            expected = np.concatenate([sets.shares(theta, part) @ sets.design for part, _ in sets.parts()])
            rows.append(np.repeat(sets.ranking, expected.shape[1]))
            columns.append(sets.columns[sets.choice].ravel())
            values.append(-expected[sets.choice].ravel())
        scores: csr_array = coo_array(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
            shape=(self.rankings, self.parameters),
        ).tocsr()
        return scores


def _remaining(rankings: Rankings, starts: NDArray[Any], size: int, orders: tuple[int, ...]) -> _Remaining:
    """The sets of `size` items that begin at these entries, with the subsets of the sizes that occur."""
    members = np.sort(rankings.item[starts[:, None] + np.arange(size)], axis=1)
    key = members @ len(rankings.items) ** np.arange(size) if len(rankings.items) ** size < 2**62 else members
    _, where, choice, times = np.unique(
        key, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    fitting = np.array([order for order in orders if order <= size], dtype=int)
    of_orders = len(rankings.items) + np.arange(len(fitting))  # orders ascend
    subsets = np.arange(1, 2**size)[:, None] >> np.arange(size) & 1
    number = subsets.sum(axis=1)
    allowed = np.isin(number, [1, *orders])
    return _Remaining(
        columns=np.concatenate(
            [members[where], np.broadcast_to(of_orders, (len(where), len(fitting)))], axis=1
        ),
        design=np.concatenate([subsets / number[:, None], number[:, None] == fitting], axis=1)[allowed],
        times=times,
        choice=choice.ravel(),
        ranking=rankings.ranking[starts],
    )
