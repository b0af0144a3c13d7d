"""Detection of changed scores. Every results page calls this, so no numerical library is imported here."""

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, Exists, OuterRef, Subquery

from analysis.models import AssociationScore, ScoredImage, Scorer
from studies.models import Study


def last_score(study: Study | int, *, using: str = DEFAULT_DB_ALIAS) -> str:
    """Return a value that changes whenever the study's scores do; results with another value are outdated.

    Code that writes a score also rewrites its image's `ScoredImage` row (`analysis.scoring.steps.store`).
    Scorers without scores, failures, and classifications of captions do not change the value.
    """
    scored = ScoredImage.objects.filter(outcome=ScoredImage.Outcome.DONE)
    newest = scored.filter(scorer__study=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    # Removing a scorer need not change the newest row, so scorers are counted too.
    scorers = Scorer.objects.filter(Exists(scored.filter(scorer=OuterRef("pk"))), study=OuterRef("pk"))
    number = scorers.order_by().values("study").annotate(number=Count("pk")).values("number")
    columns = [Subquery(newest), Subquery(number)]
    key = study.pk if isinstance(study, Study) else study
    of_associations = (
        AssociationScore.objects.filter(scorer__study=OuterRef("pk")).order_by("-pk").values("pk")
    )
    columns.append(Subquery(of_associations[:1]))
    newest_values = Study.objects.using(using).filter(pk=key).values_list(*columns).get()
    image, scorer_count, association = (str(value or 0) for value in newest_values)
    return ".".join([image, scorer_count, *([association] if association != "0" else [])])
