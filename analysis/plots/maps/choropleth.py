"""A world map of classes; countries with a group link to it and name its value, interval and n."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from analysis.plots.axis import nice_step
from analysis.plots.maps.world import HEIGHT, WIDTH, Country, countries
from foundation.formats import format_number

SMALL_RADIUS = 4
_DIVERGING = tuple(f"map-d{n}" for n in range(1, 8))
_SEQUENTIAL = tuple(f"map-s{n}" for n in range(1, 6))


@dataclass(frozen=True)
class Scale:
    """Classes between thresholds, each with a colour; `label` names the quantity."""

    label: str
    thresholds: tuple[float, ...]
    colours: tuple[str, ...]
    digits: int = 2

    def colour(self, value: float) -> str:
        return self.colours[sum(value >= threshold for threshold in self.thresholds)]

    def legend(self) -> list[tuple[str, str]]:
        """Return (colour, words) of each class, lowest first."""
        ends = [self._write(threshold) for threshold in self.thresholds]
        between = [f"{low} to {high}" for low, high in pairwise(ends)]
        return list(zip(self.colours, [f"below {ends[0]}", *between, f"{ends[-1]} or more"], strict=True))

    def _write(self, value: float) -> str:
        return format_number(value, self.digits).rstrip("0").rstrip(".") if self.digits else f"{value:g}"


def ratio_scale(label: str) -> Scale:
    """Return a fixed scale around 1, so that maps of studies can be compared."""
    return Scale(label, (0.25, 0.5, 0.8, 1.25, 2.0, 4.0), _DIVERGING)


def signed_scale(values: Sequence[float], label: str) -> Scale:
    """Return a scale around 0 if some values are negative, otherwise from 0."""
    largest = _large([abs(value) for value in values])
    if min(values, default=0.0) >= 0:
        return _from_nothing(nice_step(largest / 5), label, 3)
    step = nice_step(largest / 3)
    middle = _DIVERGING[:3] + _DIVERGING[4:]
    return Scale(label, tuple(round(step * n, 9) for n in (-2, -1, 0, 1, 2)), middle, 3)


def count_scale(values: Sequence[float], label: str) -> Scale:
    """Return a scale of whole numbers from 0."""
    return _from_nothing(max(1.0, float(round(nice_step(_large(values) / 5)))), label, 0)


def _large(sizes: Sequence[float]) -> float:
    """Return the 90th percentile: with the maximum, one outlier would leave all others in one class."""
    return (sorted(sizes)[int(0.9 * (len(sizes) - 1))] if sizes else 0.0) or 1.0


def _from_nothing(step: float, label: str, digits: int) -> Scale:
    return Scale(label, tuple(round(step * n, 9) for n in range(1, 5)), _SEQUENTIAL, digits)


@dataclass(frozen=True)
class CountryValue:
    """A country with a group. `value` is None if undefined; `says` has the numbers or the reason."""

    code: str
    value: float | None
    says: str
    url: str = ""


def world_map(places: Sequence[CountryValue], scale: Scale, *, title: str) -> str:
    """Return the map as SVG. Countries without a group are drawn together as plain land."""
    by_code: Mapping[str, CountryValue] = {place.code: place for place in places}
    land_paths, linked = [], []
    for country in countries():
        place = by_code.get(country.code)
        if place is not None:
            linked.append(_named(country, place, scale))
        elif country.path:
            land_paths.append(country.path)
    land = f'<path class="map-land" d="{"".join(land_paths)}"></path>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="group" aria-label="{escape(title)}">{land}{"".join(linked)}</svg>'
    )


def _named(country: Country, place: CountryValue, scale: Scale) -> str:
    colour = "map-undefined" if place.value is None else scale.colour(place.value)
    says = escape(f"{country.name}: {place.says}")
    if country.path:
        element, where = "path", f'd="{country.path}"'
    else:
        element, where = "circle", f'cx="{country.x}" cy="{country.y}" r="{SMALL_RADIUS}"'
    shape = f'<{element} class="{colour}" {where}><title>{says}</title></{element}>'
    return f'<a href="{escape(place.url)}" aria-label="{says}">{shape}</a>' if place.url else shape
