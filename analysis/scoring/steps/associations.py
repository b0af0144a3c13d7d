"""Scores of associations by classifiers and judges, in batches; no text is read and no rating given twice."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.db import transaction

from analysis.models import AssociationScore, Scorer
from analysis.scoring.backends.judge import Judge, Rating
from analysis.scoring.backends.memory import Batches
from analysis.scoring.inputs.pairs import ScoredPair, text_digest
from analysis.scoring.judge_budget import JudgePurse
from analysis.scoring.steps.classification import TextClassifier
from jobs.progress.reporter import Progress

_TEXTS_AT_ONCE = 1_000
WaitingRating = tuple[ScoredPair, int]  # a pair and the number of the repeat, from 0


def unread_texts(scorer: Scorer, pairs: Iterable[ScoredPair]) -> list[str]:
    """Return the distinct texts of `pairs` that the classifier has not read yet."""
    texts = {text_digest(pair.text): pair.text for pair in pairs}
    stored = set(scorer.association_scores.values_list("key", flat=True).iterator())
    # Texts of similar length go together: less padding, the same scores.
    return sorted(
        (text for key, text in texts.items() if key not in stored), key=lambda text: (len(text), text)
    )


def classify_texts(
    *, scorer: Scorer, classifier: TextClassifier, texts: Sequence[str], batch_size: int, progress: Progress
) -> None:
    """Classify the texts and store their scores, a thousand texts at a time."""
    batches = Batches(batch_size)
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        progress.check_cancelled()
        block = texts[start : start + _TEXTS_AT_ONCE]
        scores = batches.map(classifier.classify, block)
        with transaction.atomic():
            AssociationScore.objects.bulk_create(
                (
                    AssociationScore(
                        scorer=scorer, key=text_digest(text), text=text, label=label, score=score
                    )
                    for text, labels in zip(block, scores, strict=True)
                    for label, score in labels.items()
                ),
                batch_size=500,
                ignore_conflicts=True,
            )
        progress.advance(len(block), "reading texts")


def unrated(scorer: Scorer, pairs: Iterable[ScoredPair]) -> list[WaitingRating]:
    """Return the ratings that the judge has yet to give."""
    stored = set(scorer.association_scores.values_list("key", "repeat").iterator())
    repeats = range(scorer.parameters["repeats"])
    distinct = sorted(set(pairs))
    return [(pair, repeat) for pair in distinct for repeat in repeats if (pair.key, repeat) not in stored]


def rate_pairs(*, scorer: Scorer, judge: Judge, waiting: Sequence[WaitingRating], progress: Progress) -> int:
    """Rate the pairs and store the ratings, in blocks of parallel requests; return the number that failed.

    Raises DomainError if no other request would be answered or the budget is spent; earlier ratings are kept.
    """
    at_once, purse = settings.OPENAI_CHATS_AT_ONCE, JudgePurse(scorer)
    failed = start = 0
    with ThreadPoolExecutor(at_once) as threads:
        while start < len(waiting):
            progress.check_cancelled()
            block = waiting[start : start + at_once]
            amounts = purse.pay([pair for pair, _ in block])
            if not amounts:
                raise purse.refusal()
            block = block[: len(amounts)]
            ratings = list(threads.map(judge.rate, [pair for pair, _ in block]))
            rows = [
                _row(scorer, pair, repeat, rating)
                for (pair, repeat), rating in zip(block, ratings, strict=True)
                if not rating.failed
            ]
            with transaction.atomic():
                AssociationScore.objects.bulk_create(rows, ignore_conflicts=True)
                purse.settle(amounts, ratings)
            if unusable := next((rating.unusable for rating in ratings if rating.unusable), None):
                raise unusable
            failed += len(block) - len(rows)
            start += len(block)
            progress.advance(len(block), "rating associations")
    return failed


def _row(scorer: Scorer, pair: ScoredPair, repeat: int, rating: Rating) -> AssociationScore:
    return AssociationScore(
        scorer=scorer,
        key=pair.key,
        descriptor=pair.descriptor,
        text=pair.text,
        repeat=repeat,
        label=AssociationScore.BIAS_LEVEL,
        score=rating.level,
        reason=rating.reason,
        reply=rating.reply.replace("\0", "")[: AssociationScore.LONGEST_REPLY],
    )
