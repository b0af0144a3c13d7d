"""Scores of a group's images or of one image, to show beside people's answers."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Avg

from analysis.models import AttributeScore
from analysis.pages.results_page import ResultsPage
from generation.models import Condition, Image
from studies.models import StudyGroup


def mean_scores(
    page: ResultsPage, group: StudyGroup, attributes: Iterable[str]
) -> dict[str, dict[str, float]]:
    """Return for each scorer the mean score of each attribute over the group's images by the model shown."""
    scores = AttributeScore.objects.filter(
        scorer__study=page.study,
        image__group=group,
        image__model_label=page.model,
        image__condition=Condition.DEFAULT,
        image__retracted_at=None,
        attribute__text__in=set(attributes),
    )
    return _by_scorer(
        scores.values_list("scorer__model_label", "attribute__text").annotate(Avg("probability"))
    )


def scores_of(page: ResultsPage, image: Image) -> dict[str, dict[str, float]]:
    """Return for each scorer the score of each attribute of one image."""
    scores = AttributeScore.objects.filter(scorer__study=page.study, image=image)
    return _by_scorer(scores.values_list("scorer__model_label", "attribute__text", "probability"))


def _by_scorer(rows: Any) -> dict[str, dict[str, float]]:
    scores_by_scorer: dict[str, dict[str, float]] = {}
    for scorer, attribute, score in rows.order_by():
        scores_by_scorer.setdefault(scorer, {})[attribute] = score
    return dict(sorted(scores_by_scorer.items()))
