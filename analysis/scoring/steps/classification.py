"""Scores of captions by text classifiers: sentiment, toxicity."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from analysis.models import Caption, Scorer, TextScore
from analysis.scoring.backends.memory import Batches, device_of
from analysis.scoring.backends.model_files import (
    loading_failures,
    local_path,
    require,
    transformers_revision,
    unloadable,
)
from jobs.progress.reporter import Progress

_DIGITS = 6
_CAPTIONS_AT_ONCE = 1_000
LabelScores = dict[str, float]  # score by label


class TextClassifier:
    """A transformers model that gives each of its labels a score between 0 and 1."""

    def __init__(self, model_id: str, *, device: str = "") -> None:
        require("torch", "transformers")
        import transformers.utils.logging
        from transformers import pipeline

        transformers.utils.logging.disable_progress_bar()
        place, where = device_of(device), local_path(model_id)
        try:
            self._pipeline: Callable[..., Any] = pipeline(
                "text-classification", where, device=place, dtype="float32"
            )
        except loading_failures() as error:
            raise unloadable(model_id, error) from None
        self.revision = transformers_revision(model_id)

    def classify(self, texts: Sequence[str]) -> list[LabelScores]:
        """Return the score of every label for each text; texts too long for the model are cut."""
        predictions = self._pipeline(list(texts), top_k=None, truncation=True, batch_size=len(texts))
        return [
            {prediction["label"][:80]: round(float(prediction["score"]), _DIGITS) for prediction in scores}
            for scores in predictions
        ]


def captions_to_classify(scorer: Scorer) -> QuerySet[Caption]:
    """Return the captions of the study that `scorer` has not classified yet."""
    captions = Caption.objects.filter(scorer__study=scorer.study_id, image__retracted_at=None)
    if scorer.parameters["captions_of"]:
        captions = captions.filter(scorer__model_label=scorer.parameters["captions_of"])
    scores = TextScore.objects.filter(scorer=scorer, caption=OuterRef("pk"))
    return captions.filter(~Exists(scores)).order_by("pk")


def classify_captions(
    *, scorer: Scorer, classifier: TextClassifier, batch_size: int, progress: Progress
) -> int:
    """Classify the remaining captions, a thousand at a time; equal captions among these are read once."""
    batches, n_read, last_pk = Batches(batch_size), 0, 0
    waiting = captions_to_classify(scorer)
    while rows := list(waiting.filter(pk__gt=last_pk).values_list("pk", "text")[:_CAPTIONS_AT_ONCE]):
        progress.check_cancelled()
        last_pk = rows[-1][0]
        # Texts of similar length go together: less padding, the same scores.
        texts = sorted({text for _, text in rows}, key=lambda text: (len(text), text))
        scores_by_text = dict(zip(texts, batches.map(classifier.classify, texts), strict=True))
        with transaction.atomic():
            TextScore.objects.bulk_create(
                (
                    TextScore(scorer=scorer, caption_id=pk, label=label, score=score)
                    for pk, text in rows
                    for label, score in scores_by_text[text].items()
                ),
                batch_size=500,
                ignore_conflicts=True,
            )
        n_read += len(rows)
        progress.advance(len(rows), "reading captions")
    return n_read
