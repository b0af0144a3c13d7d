"""Whether what machines say of a study changed: asked by every page of results, so no numerical library is here."""

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, OuterRef, Subquery

from analysis.models import ScoredImage, Scorer, TextScore
from studies.models import Study


def last_score(study: Study | int, *, using: str = DEFAULT_DB_ALIAS) -> str:
    """Return a value that changes whenever scores of the study do: results computed at another are old.

    Whatever writes a score writes the row that its image is done anew (`analysis.scoring.writing`).
    """
    newest = (
        Scorer.objects.filter(study=OuterRef("pk")),
        ScoredImage.objects.filter(scorer__study=OuterRef("pk")),
        TextScore.objects.filter(scorer__study=OuterRef("pk")),
    )
    asked = [Subquery(rows.order_by("-pk").values("pk")[:1]) for rows in newest]
    # A scorer that was removed may leave the newest rows as they were.
    scorers = Scorer.objects.filter(study=OuterRef("pk")).order_by().values("study")
    asked.append(Subquery(scorers.annotate(number=Count("pk")).values("number")))
    key = study.pk if isinstance(study, Study) else study
    last = Study.objects.using(using).filter(pk=key).values_list(*asked).get()
    return ".".join(str(one or 0) for one in last)
