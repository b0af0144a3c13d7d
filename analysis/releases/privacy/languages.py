"""For which annotators a release may show the languages that they read: those who share them with enough others."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from annotation.answers.inclusion import counted
from annotation.models import Campaign

Languages = Mapping[int, frozenset[str]]  # by annotator


def languages_read(campaigns: Sequence[Campaign], *, using: str) -> Languages:
    """Return the languages of each annotator's counted answers; empty if all are in one language."""
    read: dict[int, set[str]] = defaultdict(set)
    for campaign in campaigns:
        rows = counted(campaign).using(using).filter(language__isnull=False).order_by()
        for annotator, language in rows.values_list("annotator", "language").distinct():
            read[annotator].add(str(language))
    if len(set().union(*read.values())) < 2:
        return {}
    return {key: frozenset(languages) for key, languages in sorted(read.items())}


def shown_readers(read: Languages, everybody: Collection[int], *, k: int) -> frozenset[int]:
    """Return the annotators whose languages may be shown.

    At least `k` annotators must have read exactly the same languages. If fewer than `k` others remain, no languages are
    shown, because the gaps would identify them.
    """
    sizes = Counter(read.get(key, frozenset()) for key in everybody)
    shown = frozenset(key for key in everybody if key in read and sizes[read[key]] >= k)
    return frozenset() if 0 < len(everybody) - len(shown) < k else shown
