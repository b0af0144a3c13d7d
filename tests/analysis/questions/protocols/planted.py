"""The limits of the tables of results for infinitely many answers, computed from the probabilities of answers."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, sqrt
from typing import Any

import numpy as np

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question, ScaleQuestion
from tests.analysis.questions.protocols.screens import Screen, Shares

Value = frozenset[int | str]
JITTER, SIDE, NEAR = 0.02, 0.2, 0.05  # jitter of points, side of boxes, distance of matching points


@dataclass(frozen=True)
class Planted:
    """The value of a column in the row of a table that `where` names; `low` and `high` name its interval."""

    table: str
    where: dict[str, Any]
    value: float
    column: str = "value"
    low: str = "ci_low"
    high: str = "ci_high"


def planted_values(kind: Kind, screens: Sequence[Screen]) -> Iterator[Planted]:
    """Return every planted value that a declared measure of the kind estimates."""
    for question in kind.questions:
        for measure in kind.measures:
            values = _BY_MEASURE.get((question.type, measure))
            for planted in values(screens, question) if values else ():
                yield Planted(
                    planted.table,
                    {"question": question.name, **planted.where},
                    planted.value,
                    planted.column,
                    planted.low,
                    planted.high,
                )


@dataclass
class Mean:
    total: float = 0.0
    weight: float = 0.0

    def add(self, value: float, weight: float) -> None:
        self.total += value * weight
        self.weight += weight

    @property
    def value(self) -> float:
        return self.total / self.weight


Slice = tuple[str, str]


def _slices(screen: Screen, question: Question, place: int) -> Iterator[Slice]:
    at = place if question.each else None
    yield "all", ""
    if screen.model(at):
        yield "model", screen.model(at)
    if screen.group(at):
        yield "identity_group", screen.group(at)


def _on_scale(question: ScaleQuestion) -> set[int]:
    return {point.code for point in question.points if not point.apart}


def _scale_means(
    screens: Sequence[Screen], question: Question
) -> tuple[dict[Slice, Mean], dict[Slice, Mean]]:
    assert isinstance(question, ScaleQuestion)
    on_scale = _on_scale(question)
    means: dict[Slice, Mean] = defaultdict(Mean)
    apart: dict[Slice, Mean] = defaultdict(Mean)
    for screen in screens:
        for place in screen.places(question):
            asked = screen.asked(question, place)
            shares = {code: share for (code,), share in screen.answers(question, place).items()}
            for part in _slices(screen, question, place):
                for code, share in shares.items():
                    apart[part].add(code not in on_scale, asked * share)
                    if code in on_scale:
                        means[part].add(float(code), asked * share)
    return means, apart


def _means(screens: Sequence[Screen], question: Question) -> Iterator[Planted]:
    means, apart = _scale_means(screens, question)
    for (by, item), mean in means.items():
        yield Planted("scales", {"by": by, "item": item}, mean.value, "mean")
        if apart[by, item].value > 0:
            where = {"by": by, "item": item}
            yield Planted("scales", where, apart[by, item].value, "apart_share", "apart_low", "apart_high")


def _code_shares(screens: Sequence[Screen], question: Question) -> dict[str, dict[Slice, Mean]]:
    shares: dict[str, dict[Slice, Mean]] = {str(code): defaultdict(Mean) for code in question.codes}
    for screen in screens:
        for place in screen.places(question):
            asked = screen.asked(question, place)
            given = screen.answers(question, place)
            for code in question.codes:
                share = sum(part for codes, part in given.items() if code in codes)
                for part in _slices(screen, question, place):
                    shares[str(code)][part].add(share, asked)
    return shares


def _shares(screens: Sequence[Screen], question: Question) -> Iterator[Planted]:
    for code, by_slice in _code_shares(screens, question).items():
        for (by, item), mean in by_slice.items():
            yield Planted("choices", {"by": by, "item": item, "code": code}, mean.value, "share")


def _differences(by: str) -> Callable[[Sequence[Screen], Question], Iterator[Planted]]:
    def differences(screens: Sequence[Screen], question: Question) -> Iterator[Planted]:
        if isinstance(question, ScaleQuestion):
            values = {None: _scale_means(screens, question)[0]}
        else:
            values = dict(_code_shares(screens, question))
        for code, by_slice in values.items():
            means = {item: mean.value for (kind, item), mean in by_slice.items() if kind == by}
            pairs = list(combinations(sorted(means), 2))
            if by == "identity_group":  # against the mean of all others
                rows = [
                    (item, None, np.mean([means[other] for other in means if other != item]))
                    for item in means
                ]
            else:
                rows = [(item, other, means[other]) for item, other in pairs]
            for item, other, compared in rows:
                where = {"by": by, "item": item, "other": other, "code": code}
                yield Planted("question_differences", where, means[item] - float(compared), "difference")

    return differences


def _alpha(name: str, distance: Callable[[Sequence[Value], np.ndarray], np.ndarray]) -> Any:
    """α = 1 − D_o/D_e of two other people's answers about the same, and about any."""

    def alpha(screens: Sequence[Screen], question: Question) -> Iterator[Planted]:
        if question.when is not None or getattr(question, "several", False) != (name == "masi"):
            return
        units = [
            _without_apart(screen.answers(question, place), question)
            for screen in screens
            for place in screen.places(question)
        ]
        values = sorted(
            {value for unit in units for value in unit}, key=lambda value: sorted(map(str, value))
        )
        if isinstance(question, ScaleQuestion):
            values = sorted(values, key=lambda value: int(next(iter(value))))
        table = np.array([[unit.get(value, 0.0) for value in values] for unit in units])
        apart = distance(values, table.mean(axis=0))
        observed = np.einsum("uc,uk,ck->", table, table, apart) / len(table)
        expected = table.mean(axis=0) @ apart @ table.mean(axis=0)
        where = {"by": "all", "code": None, "measure": f"krippendorff_alpha_{name}"}
        yield Planted("question_agreement", where, 1 - observed / expected)

    return alpha


def _answer_alphas(screens: Sequence[Screen], question: Question) -> Iterator[Planted]:
    for code in map(str, question.codes if getattr(question, "several", False) else ()):
        chosen = np.array(
            [
                sum(part for codes, part in screen.answers(question, place).items() if code in codes)
                for screen in screens
                for place in screen.places(question)
            ]
        )
        observed, expected = (2 * chosen * (1 - chosen)).mean(), 2 * chosen.mean() * (1 - chosen.mean())
        where = {"by": "all", "code": code, "measure": "krippendorff_alpha_nominal"}
        yield Planted("question_agreement", where, 1 - observed / expected)


def _without_apart(shares: Shares, question: Question) -> Shares:
    if not isinstance(question, ScaleQuestion):
        return shares
    on_scale = _on_scale(question)
    kept = {value: share for value, share in shares.items() if value <= on_scale}
    return {value: share / sum(kept.values()) for value, share in kept.items()}


def _nominal(values: Sequence[Value], _: np.ndarray) -> np.ndarray:
    return 1 - np.eye(len(values))


def _ordinal(_: Sequence[Value], number: np.ndarray) -> np.ndarray:
    middle = np.cumsum(number) - number / 2
    return np.subtract.outer(middle, middle) ** 2


def _masi(values: Sequence[Value], _: np.ndarray) -> np.ndarray:
    def apart(one: Value, other: Value) -> float:
        if one == other:
            return 0.0
        contained = one <= other or other <= one
        return 1 - len(one & other) / len(one | other) * (2 / 3 if contained else 1 / 3)

    return np.array([[apart(one, other) for other in values] for one in values])


def _word_alpha(screens: Sequence[Screen], _: Question) -> Iterator[Planted]:
    marked = np.array([screen.marked(word) for screen in screens for word in range(screen.words)])
    mean = marked.mean()
    observed, expected = (2 * marked * (1 - marked)).mean(), 2 * mean * (1 - mean)
    where = {"by": "all", "code": None, "measure": "krippendorff_alpha_nominal"}
    yield Planted("question_agreement", where, 1 - observed / expected)


def _marked_words(screens: Sequence[Screen], question: Question) -> Iterator[Planted]:
    means: dict[Slice, Mean] = defaultdict(Mean)
    for screen in screens:
        share = float(np.mean([screen.marked(word) for word in range(screen.words)]))
        for part in _slices(screen, question, 0):
            means[part].add(share, 1.0)
    for (by, item), mean in means.items():
        yield Planted("marked_words", {"by": by, "item": item}, mean.value, "share")


def _win_rates(screens: Sequence[Screen], question: Any) -> Iterator[Planted]:
    rates: dict[str, Mean] = defaultdict(Mean)
    for screen in screens:
        first, second, tie = screen.outcomes(question)
        rates[screen.items[0].model].add(first + tie / 2, 1.0)
        rates[screen.items[1].model].add(second + tie / 2, 1.0)
    for item, rate in rates.items():
        where = {"item": item}
        yield Planted("preferences", where, rate.value, "win_rate", "win_rate_low", "win_rate_high")


def _position(screens: Sequence[Screen], question: Any) -> Iterator[Planted]:
    first, second, _ = np.sum([screen.outcomes(question) for screen in screens], axis=0)
    yield Planted("position_bias", {}, first / (first + second), "share")


def _strengths(table: str) -> Callable[[Sequence[Screen], Question], Iterator[Planted]]:
    def strengths(screens: Sequence[Screen], question: Question) -> Iterator[Planted]:
        truth = screens[0].truth
        models = sorted({item.model for screen in screens for item in screen.items})
        planted = {model: truth.of_model(question.name, model) for model in models}
        middle = float(np.mean(list(planted.values())))
        for model, strength in planted.items():
            yield Planted(table, {"item": model}, strength - middle, "strength")
        for item, other in combinations(models, 2):
            where = {"item": item, "other": other}
            yield Planted("preference_pairs", where, planted[item] - planted[other], "difference")

    return strengths


def _concordance(screens: Sequence[Screen], question: Any) -> Iterator[Planted]:
    """ρ of two rankings of a set: |E(r − mean)|² over E|r − mean|²."""
    sets = []
    for screen in screens:
        ranks, share = zip(*screen.rankings(question), strict=True)
        centred = np.array(ranks) - (len(screen.items) - 1) / 2
        sets.append(
            (np.array(share) @ centred) @ (np.array(share) @ centred) / (share @ (centred**2).sum(axis=1))
        )
    where = {"by": "all", "code": None, "measure": "mean_spearman"}
    yield Planted("question_agreement", where, float(np.mean(sets)))


def _points(_: Sequence[Screen], question: Question) -> Iterator[Planted]:
    if question.region is not None:
        # Two points differ by JITTER √2 in x and in y; images are square.
        share = 1 - exp(-((NEAR * sqrt(2)) ** 2) / (2 * 2 * JITTER**2))
        yield Planted("question_agreement", {"by": "all", "code": None, "measure": "points_any_near"}, share)


def _boxes(_: Sequence[Screen], question: Question) -> Iterator[Planted]:
    if question.region is not None:
        step = np.linspace(0, 8 * JITTER, 801)
        density = np.exp(-(step**2) / (4 * JITTER**2))
        density /= density.sum()
        side = np.maximum(SIDE - step, 0)
        overlap = np.outer(side, side)
        iou = overlap / (2 * SIDE**2 - overlap)
        where = {"by": "all", "code": None, "measure": "box_mean_iou"}
        yield Planted("question_agreement", where, float(density @ iou @ density))


_BY_MEASURE: dict[tuple[str, str], Callable[..., Iterator[Planted]]] = {
    ("scale", "means"): _means,
    ("scale", "point_shares"): _shares,
    ("choice", "shares"): _shares,
    ("scale", "group_differences"): _differences("identity_group"),
    ("choice", "group_differences"): _differences("identity_group"),
    ("scale", "model_differences"): _differences("model"),
    ("choice", "model_differences"): _differences("model"),
    ("scale", "alpha_ordinal"): _alpha("ordinal", _ordinal),
    ("choice", "alpha_nominal"): _alpha("nominal", _nominal),
    ("choice", "alpha_answers"): _answer_alphas,
    ("choice", "alpha_masi"): _alpha("masi", _masi),
    ("span", "word_shares"): _marked_words,
    ("span", "word_agreement"): _word_alpha,
    ("compare", "win_rate"): _win_rates,
    ("compare", "bradley_terry_ties"): _strengths("preferences"),
    ("compare", "position_bias"): _position,
    ("rank", "plackett_luce"): _strengths("rankings"),
    ("rank", "kendall_w"): _concordance,
    ("choice", "point_agreement"): _points,
    ("choice", "box_agreement"): _boxes,
}
