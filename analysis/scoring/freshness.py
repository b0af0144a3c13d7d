"""Whether what machines say of a study changed: asked by every page of results, so no numerical library is here."""

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, Exists, OuterRef, Subquery

from analysis.models import AssociationScore, ScoredImage, Scorer
from studies.models import Study


def last_score(study: Study | int, *, using: str = DEFAULT_DB_ALIAS) -> str:
    """Return a value that changes whenever scores of the study do: results computed at another are old.

    Code that writes a score also rewrites the row that says its image is done (`analysis.scoring.steps.store`). A
    scorer that found nothing yet changes no table, nor does a failure, nor what classifiers say of captions.
    """
    scored = ScoredImage.objects.filter(outcome=ScoredImage.Outcome.DONE)
    newest = scored.filter(scorer__study=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    # A scorer that was removed may leave the newest row as it was.
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
