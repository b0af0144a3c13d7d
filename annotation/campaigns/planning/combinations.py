"""Which stimuli are on a screen together, and in which order. Pure: independent of the database.

Stimuli come in sets, such as the images of one prompt. Within a set, screens are spread evenly over the combinations of
traits (such as pairs of models), over the whole plan too, and over the stimuli that have them. Only the order of keyed
hashes is random.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

from annotation.campaigns.planning.places import balanced
from annotation.campaigns.planning.shuffle import keyed_hash
from annotation.kinds.stimuli import Stimuli

Traits = tuple[str, ...]
# If there are at most this many times the wanted combinations, all of them are sorted; otherwise blocks are drawn.
_FEW = 4
_ENOUGH_TRAITS = 1_000  # combinations of models or groups; a plan draws among so many times `_FEW`


@dataclass(frozen=True)
class Candidate:
    """A stimulus that a screen may show. `key` is derived from its content; `trait` must differ between the stimuli of
    a screen."""

    key: str
    trait: str


@dataclass(frozen=True)
class Arrangement:
    """The contents of a screen, the maximum number of screens from a set, and the seed."""

    stimuli: Stimuli
    most_screens: int
    seed: int

    def size(self, candidates: Sequence[Candidate]) -> int:
        """Return the number of candidates of a set on a screen; 0 if there are too few different ones."""
        different_count = len({candidate.trait for candidate in candidates})
        size = min(self.stimuli.most, different_count)
        return size if size >= self.stimuli.least else 0

    def shuffled(self, candidates: Iterable[Candidate], *parts: str) -> list[Candidate]:
        return sorted(candidates, key=lambda candidate: keyed_hash(self.seed, *parts, candidate.key))


def screens(sets: Mapping[str, Sequence[Candidate]], arrangement: Arrangement) -> list[tuple[Candidate, ...]]:
    """Return the screens of all sets, each in the order in which it is shown, the screens in an order by chance."""
    drawn = list(_drawn(sets, arrangement))
    ordered = _in_order(drawn, arrangement)
    return sorted(ordered, key=lambda screen: keyed_hash(arrangement.seed, "screens", *sorted(_keys(screen))))


def _drawn(
    sets: Mapping[str, Sequence[Candidate]], arrangement: Arrangement
) -> Iterator[tuple[str, tuple[Candidate, ...]]]:
    """Yield each set's screens, not ordered yet."""
    used: Counter[Traits] = Counter()
    for name in sorted(sets):
        size = arrangement.size(sets[name])
        if size == 0:
            continue
        if arrangement.stimuli.differ is None:
            chosen = _any_of(name, sets[name], size, arrangement)
        else:
            chosen = _of_different_traits(name, sets[name], size, arrangement, used)
        yield from ((name, screen) for screen in chosen)


def _of_different_traits(
    name: str, candidates: Sequence[Candidate], size: int, arrangement: Arrangement, used: Counter[Traits]
) -> Iterator[tuple[Candidate, ...]]:
    """Yield screens of a set, first those of the combinations of traits that were used least so far."""
    by_trait: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_trait[candidate.trait].append(candidate)
    left = {
        traits: _one_of_each([by_trait[trait] for trait in traits], name, arrangement)
        for traits in _trait_combinations(name, sorted(by_trait), size, arrangement)
    }
    by_chance = sorted(left, key=lambda traits: keyed_hash(arrangement.seed, "traits", name, *traits))
    for _ in range(arrangement.most_screens):
        while by_chance:
            traits = min(by_chance, key=used.__getitem__)
            screen = next(left[traits], None)
            if screen is not None:
                used[traits] += 1
                yield screen
                break
            by_chance.remove(traits)


def _trait_combinations(
    name: str, traits: Sequence[str], size: int, arrangement: Arrangement
) -> Iterator[Traits]:
    """Yield the combinations of traits to draw from: all or, if there are very many, a random selection for the
    plan."""
    enough = _FEW * max(arrangement.most_screens, _ENOUGH_TRAITS)
    if comb(len(traits), size) <= enough:
        yield from combinations(traits, size)
        return
    seen: set[Traits] = set()
    turn = 0
    while len(seen) < enough:
        order = sorted(
            traits, key=lambda trait: keyed_hash(arrangement.seed, "traits", name, str(turn), trait)
        )
        turn += 1
        for start in range(0, len(order) - size + 1, size):
            chosen = tuple(sorted(order[start : start + size]))
            if chosen not in seen and len(seen) < enough:
                seen.add(chosen)
                yield chosen


def _one_of_each(
    lists: Sequence[Sequence[Candidate]], name: str, arrangement: Arrangement
) -> Iterator[tuple[Candidate, ...]]:
    """Yield every way to take one candidate from each list, such that each is taken early and about equally often."""
    # The digits of a number in mixed radix, each moved on by the first, run through all ways; while the first digit
    # runs through the longest list, so do the others through theirs.
    longest_first = sorted(lists, key=lambda members: (-len(members), members[0].trait))
    shuffled = [arrangement.shuffled(members, "draw", name) for members in longest_first]
    for number in range(prod(map(len, shuffled))):
        rest, chosen, first = number, [], number % len(shuffled[0])
        for place, members in enumerate(shuffled):
            rest, digit = divmod(rest, len(members))
            chosen.append(members[digit if place == 0 else (digit + first) % len(members)])
        yield tuple(chosen)


def _any_of(
    name: str, candidates: Sequence[Candidate], size: int, arrangement: Arrangement
) -> Iterator[tuple[Candidate, ...]]:
    """Yield different combinations of a set's candidates."""
    most = min(arrangement.most_screens, comb(len(candidates), size))
    if comb(len(candidates), size) <= _FEW * most:
        ways = combinations(sorted(candidates, key=lambda candidate: candidate.key), size)
        by_chance = sorted(
            ways, key=lambda screen: keyed_hash(arrangement.seed, "draw", name, *_keys(screen))
        )
        yield from by_chance[:most]
        return
    # For many combinations: one random order after another, cut into screens, so that each is shown equally often.
    seen: set[frozenset[str]] = set()
    turn = 0
    while len(seen) < most:
        order = arrangement.shuffled(candidates, "draw", name, str(turn))
        turn += 1
        for start in range(0, len(order) - size + 1, size):
            screen = tuple(order[start : start + size])
            if len(seen) < most and frozenset(_keys(screen)) not in seen:
                seen.add(frozenset(_keys(screen)))
                yield screen


def _in_order(
    drawn: Sequence[tuple[str, tuple[Candidate, ...]]], arrangement: Arrangement
) -> Iterator[tuple[Candidate, ...]]:
    """Yield the screens with their candidates in the order in which they are shown."""
    order = arrangement.stimuli.order
    if order == "fixed":
        yield from (tuple(sorted(screen, key=lambda candidate: candidate.key)) for _, screen in drawn)
    elif order == "shuffled":
        yield from (
            tuple(arrangement.shuffled(screen, "order", *sorted(_keys(screen)))) for _, screen in drawn
        )
    elif arrangement.stimuli.differ is None:
        yield from _in_balanced_places(drawn, arrangement)
    else:
        yield from _by_traits_in_turn([screen for _, screen in drawn], arrangement)


def _by_traits_in_turn(
    drawn: Sequence[tuple[Candidate, ...]], arrangement: Arrangement
) -> Iterator[tuple[Candidate, ...]]:
    """Give each trait each place equally often among the screens of the same traits.

    A block has as many screens as there are places: one random order, shifted by one place from screen to screen.
    """
    alike: dict[Traits, list[tuple[Candidate, ...]]] = defaultdict(list)
    for screen in drawn:
        alike[tuple(sorted(candidate.trait for candidate in screen))].append(screen)
    for traits, members in alike.items():
        by_chance = sorted(
            members, key=lambda screen: keyed_hash(arrangement.seed, "turns", *sorted(_keys(screen)))
        )
        for number, screen in enumerate(by_chance):
            block, turn = divmod(number, len(traits))
            places = sorted(
                traits, key=lambda trait: keyed_hash(arrangement.seed, "order", *traits, str(block), trait)
            )
            places = places[turn:] + places[:turn]
            yield tuple(sorted(screen, key=lambda candidate: places.index(candidate.trait)))


def _in_balanced_places(
    drawn: Sequence[tuple[str, tuple[Candidate, ...]]], arrangement: Arrangement
) -> Iterator[tuple[Candidate, ...]]:
    """Give each candidate of a set each place equally often, or once more or less."""
    by_set: dict[str, list[list[Candidate]]] = defaultdict(list)
    for name, screen in drawn:
        by_set[name].append(arrangement.shuffled(screen, "order", *sorted(_keys(screen))))
    for members in by_set.values():
        by_key = {candidate.key: candidate for screen in members for candidate in screen}
        for keys in balanced([_keys(screen) for screen in members]):
            yield tuple(by_key[key] for key in keys)


def _keys(screen: Iterable[Candidate]) -> list[str]:
    return [candidate.key for candidate in screen]
