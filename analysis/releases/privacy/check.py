"""Whether a release may be built, given the earlier ones, and the remedies if it may not."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.releases.privacy.coarsen import Coarsened, coarsen, without_exposed
from analysis.releases.privacy.levels import WITHHELD
from analysis.releases.privacy.linkage import Earlier
from analysis.releases.privacy.people import People
from foundation.errors import Conflict

# With more people, remedies are only listed, not tried.
_MOST_TRIED = 2_000
_SMALLER_K = (2, 3, 5, 10)


@dataclass(frozen=True)
class PrivacyCheck:
    """The profiles that a release would show. `refusal` is empty if it may be built; `remedies` are sentences."""

    coarsened: Coarsened
    refusal: str = ""
    remedies: tuple[str, ...] = ()

    def require(self) -> Coarsened:
        """Return the profiles; raises Conflict `joined_below_k` if the release may not be built."""
        if self.refusal:
            raise Conflict("joined_below_k", " ".join((self.refusal, "What would help:", *self.remedies)))
        return self.coarsened


def check(
    people: People,
    *,
    k: int,
    earlier: Sequence[Earlier],
    leave_out_people: bool,
    justifications: str = WITHHELD,
) -> PrivacyCheck:
    """Coarsen the profiles of a release and check the table of all live releases joined by person."""
    choose = without_exposed if leave_out_people else coarsen
    coarsened = choose(
        people.stated,
        k=k,
        without_profile=len(people.origins) - len(people.stated),
        origins=people.origins,
        justifications=justifications,
        earlier=earlier,
    )
    if not coarsened.exposed:
        return PrivacyCheck(coarsened)
    versions = _listed([str(release.version) for release in earlier])
    number = len(coarsened.exposed)
    strictest = max(k, *(release.k for release in earlier))
    refusal = (
        f"Readers can match people in release{'s' if len(earlier) > 1 else ''} {versions} with people in this one by "
        f"their answers. {number:,} {'people' if number > 1 else 'person'} would then be recognizable within "
        f"a group of fewer than {strictest}, so this release is refused."
    )
    return PrivacyCheck(coarsened, refusal, _remedies(people, coarsened, k=k, earlier=earlier))


def _remedies(people: People, refused: Coarsened, *, k: int, earlier: Sequence[Earlier]) -> tuple[str, ...]:
    tried = len(people.stated) <= _MOST_TRIED
    remedies = []
    left_out = len(_without(people, k, earlier).left_out) if tried else len(refused.exposed)
    if left_out < len(people.origins):
        remedies.append(
            f"Leave out {'' if tried else 'at least '}{left_out:,} {'people' if left_out > 1 else 'person'} with "
            "their answers (leave_out_people)."
        )
    smaller = {release.k for release in earlier} | set(_SMALLER_K)
    for smaller_k in (
        sorted((smaller_k for smaller_k in smaller if smaller_k < k), reverse=True) if tried else ()
    ):
        if not _exposed(people, smaller_k, earlier):
            remedies.append(f"Choose k = {smaller_k}.")
            break
    for index, release in enumerate(earlier):
        remaining = [*earlier[:index], *earlier[index + 1 :]]
        if not tried or not _exposed(people, k, remaining):
            remedies.append(
                f"If nobody ever received release {release.version}, remove its files and set it aside on its page."
            )
    if not any(
        key in release.profiles or key in release.without_profile
        for key in refused.exposed
        for release in earlier
    ):
        remedies.append("Wait until more people have joined.")
    return tuple(remedies)


def _exposed(people: People, k: int, earlier: Sequence[Earlier]) -> frozenset[int]:
    return coarsen(people.stated, k=k, without_profile=0, origins=people.origins, earlier=earlier).exposed


def _without(people: People, k: int, earlier: Sequence[Earlier]) -> Coarsened:
    return without_exposed(people.stated, k=k, without_profile=0, origins=people.origins, earlier=earlier)


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
