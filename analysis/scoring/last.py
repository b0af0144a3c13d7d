"""Whether what machines say of a study changed: asked by every page of results, so no numerical library is here."""

from typing import Any

from django.db.models import Max, QuerySet

from analysis.models import ScoredImage, Scorer, TextScore
from studies.models import Study


def last_score(study: Study) -> str:
    """Return a value that changes whenever scores of the study do: results computed at another are old.

    Whatever writes a score writes the row that its image is done anew (`analysis.scoring.writing`).
    """
    tables: list[QuerySet[Any]] = [
        Scorer.objects.filter(study=study),
        ScoredImage.objects.filter(scorer__study=study),
        TextScore.objects.filter(scorer__study=study),
    ]
    return ".".join(str(table.aggregate(last=Max("pk"))["last"] or 0) for table in tables)
