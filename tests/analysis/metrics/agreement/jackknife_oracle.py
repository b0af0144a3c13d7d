"""The two-way jackknife with loops, directly from its definition (decision 0015)."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from scipy.stats import t as student

Row = dict[str, Any]
Measure = Callable[[Sequence[Row]], float | None]


def interval(rows: Sequence[Row], measure: Measure) -> tuple[float, float] | str:
    """Return both ends, or the reason for none. Rows have unit, image, stratum, annotator and `measure`'s input."""
    whole = measure(rows)
    assert whole is not None
    raters = defaultdict(int)
    for row in rows:
        raters[row["unit"]] += 1
    people = sorted({row["annotator"] for row in rows if raters[row["unit"]] > 1})
    if len(people) < 3:
        return "too_few_annotators"
    by_person = [("", _without(rows, measure, lambda r, who=who: r["annotator"] == who)) for who in people]
    images = sorted({(row["stratum"], row["image"]) for row in rows})
    by_image = [
        (stratum, _without(rows, measure, lambda r, i=image: r["image"] == i)) for stratum, image in images
    ]
    if any(value is None for _, value in (*by_person, *by_image)):
        return "too_sparse"
    cells = {(row["annotator"], row["image"]) for row in rows}
    chance = sum(
        (
            _none_is(_without(rows, measure, lambda r, c=cell: (r["annotator"], r["image"]) == c), whole)
            - whole
        )
        ** 2
        for cell in cells
    )
    person, image = _moments(by_person, whole), _moments(by_image, whole)
    between = max(person["variance"] - chance, 0)
    variance = image["variance"] + between
    if not variance > 0:
        return "zero_width"
    weighed = 0.75 * person["variance"] ** 2 + 0.25 * between**2
    terms = 0.0
    if person["variance"]:
        terms += weighed / _freedom_of_people(person)
    if image["variance"]:
        terms += image["variance"] ** 2 / _freedom_of_images(image)
    freedom = max(variance**2 / terms, 1)
    half = float(student.ppf(0.975, freedom)) * variance**0.5
    share = (between / person["variance"]) ** 1.5 if person["variance"] else 0
    skew = (share * person["third"] + image["third"]) / variance
    bias = person["bias"] + image["bias"]
    low = whole - half + min(skew, 0) - max(bias, 0)
    return low, whole + half + max(skew, 0) - min(bias, 0)


def _without(rows: Sequence[Row], measure: Measure, leaves: Callable[[Row], bool]) -> float | None:
    return measure([row for row in rows if not leaves(row)])


def _none_is(value: float | None, instead: float) -> float:
    return instead if value is None else value


def _moments(left_out: list[tuple[Hashable, float]], whole: float) -> dict[str, float]:
    strata = defaultdict(list)
    for stratum, value in left_out:
        strata[stratum].append(value)
    lone = [values[0] for values in strata.values() if len(values) == 1]
    groups = [values for values in strata.values() if len(values) > 1] + ([lone] if lone else [])
    influence, bias = [], 0.0
    for values in groups:
        n, mean = len(values), sum(values) / len(values)
        influence += [(mean - value) * ((n - 1) / n) ** 0.5 for value in values]
        bias += (n - 1) * (mean - whole)
    number = len(influence)
    second = sum(u**2 for u in influence)
    return {
        "number": number,
        "free": max(number - len(groups), 1),
        "variance": second,
        "third": sum(u**3 for u in influence),
        "kurtosis": number * sum(u**4 for u in influence) / second**2 if second else 1.0,
        "bias": bias,
    }


def _freedom_of_images(side: dict[str, float]) -> float:
    if side["kurtosis"] <= 1:
        return side["free"]
    return min(2 * side["number"] / (side["kurtosis"] - 1), side["free"])


def _freedom_of_people(side: dict[str, float]) -> float:
    n = side["number"]
    excess = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (side["kurtosis"] - 3) + 6)
    return min(2 / (excess / n + 2 / side["free"]), side["free"]) if excess > 0 else side["free"]
