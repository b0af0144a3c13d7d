"""Places on screens, such that a stimulus on several screens is in each place equally often.

Screens and stimuli are the two sides of a bipartite graph, and a place is the colour of an edge. A frequent stimulus is
split into parts with as many edges as there are places. In a bipartite graph with at most as many edges at a node as
colours, edges can be coloured so that all edges of a node differ (Kőnig 1916). A full part then has each place once,
and the rest has no place twice.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Part = tuple[str, int]


@dataclass
class _Places:
    """The assignment: the part in each place of a screen, and the screen on which a part has each place."""

    by_screen: dict[int, dict[int, Part]] = field(default_factory=lambda: defaultdict(dict))
    by_part: dict[Part, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def put(self, screen: int, part: Part, size: int) -> None:
        """Give a part a place on a screen; if they have no common free place, others move."""
        free = [place for place in range(size) if place not in self.by_screen[screen]]
        place = next((place for place in free if place not in self.by_part[part]), None)
        if place is None:
            place = free[0]
            self._exchange(
                part, place, next(other for other in range(size) if other not in self.by_part[part])
            )
        self._set(screen, part, place)

    def _exchange(self, part: Part, place: int, other: int) -> None:
        """Free `place` of a part for `other`, moving other parts along the path."""
        moved: list[tuple[int, Part, int]] = []
        following: Part | None = part
        while following is not None and (screen := self.by_part[following].get(place)) is not None:
            moved.append((screen, following, other))
            following = self.by_screen[screen].get(other)
            if following is not None:
                moved.append((screen, following, place))
        for screen, mover, after in moved:
            before = place if after == other else other
            del self.by_screen[screen][before], self.by_part[mover][before]
        for screen, mover, after in moved:
            self._set(screen, mover, after)

    def _set(self, screen: int, part: Part, place: int) -> None:
        self.by_screen[screen][place] = part
        self.by_part[part][place] = screen


def balanced(screens: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield screens of equal size, each key in each place as often as in any other, or once more or less."""
    places, shown = _Places(), Counter[str]()
    for number, screen in enumerate(screens):
        for key in screen:
            places.put(number, (key, shown[key] // len(screen)), len(screen))
            shown[key] += 1
    for number in range(len(screens)):
        yield tuple(key for _, (key, _) in sorted(places.by_screen[number].items()))
