"""A random sample of judged associations for people to rate, as even as possible over the judge's levels."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median_low

from django.db.models import QuerySet

from analysis.models import AssociationScore, Scorer
from annotation.campaigns.planning.shuffle import keyed_hash
from studies.models import Study


class JudgedAssociations:
    """The associations that the newest judge of a study rated."""

    def has_ratings(self, study: Study) -> bool:
        return _ratings(study).exists()

    def draw(self, study: Study, *, number: int, seed: int) -> list[str]:
        """Return the texts of at most `number` pairs; a single word follows its descriptor and a colon."""
        levels = _levels(study)
        by_level: dict[int, list[str]] = defaultdict(list)
        for text in sorted(levels, key=lambda text: keyed_hash(seed, "judged", text)):
            by_level[levels[text]].append(text)
        return evenly(by_level, number)


def evenly(by_level: Mapping[int, Sequence[str]], number: int) -> list[str]:
    """Return `number` texts, or all if there are fewer, taking the next text of each level in turn."""
    longest = max(map(len, by_level.values()), default=0)
    turns = (
        texts[turn] for turn in range(longest) for _, texts in sorted(by_level.items()) if turn < len(texts)
    )
    return [text for text, _ in zip(turns, range(number), strict=False)]


def _ratings(study: Study) -> QuerySet[AssociationScore]:
    judge = (
        study.scorers.filter(kind=Scorer.Kind.JUDGE, association_scores__isnull=False).order_by("-pk").first()
    )
    return AssociationScore.objects.filter(scorer=judge, score__isnull=False)


def _levels(study: Study) -> dict[str, int]:
    """Return the median level of each text that people would read; the lower of two middle levels."""
    levels: dict[str, list[float]] = defaultdict(list)
    for descriptor, text, level in _ratings(study).values_list("descriptor", "text", "score").iterator():
        if level is not None:
            levels[text if " " in text else f"{descriptor}: {text}"].append(level)
    return {text: int(median_low(values)) for text, values in levels.items()}
