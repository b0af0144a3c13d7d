"""The consents whose promises about erasure are kept."""

from django.db.models import Min, Q, QuerySet

from accounts import consent_texts
from accounts.models import Annotator, Consent, ConsentText
from annotation.models import Annotation
from studies import consent
from studies.models import Study


def binding(annotator: Annotator, study: Study) -> QuerySet[Consent]:
    """Return the consents whose promises about erasure hold for the annotator in `study`.

    These are the consents on which their part rests. If they answered before the study had a text of its own, they did
    so under the default text, whose promise remains valid when they agree to the study's text later.
    """
    current = consent.rests_on(annotator, study)
    if not _answered_under_default_text(annotator, study):
        return current
    earlier = Q(annotator=annotator, withdrawn_at=None, text__series=consent_texts.DEFAULT_SERIES)
    return Consent.objects.filter(Q(pk__in=current.values("pk")) | earlier)


def withdrawn(annotator: Annotator, study: Study) -> QuerySet[Consent]:
    """Return the consents on which the annotator's part in `study` rested before they withdrew."""
    series = {consent.current_text(study).series, consent_texts.DEFAULT_SERIES}
    return Consent.objects.filter(annotator=annotator, text__series__in=series).exclude(withdrawn_at=None)


def _answered_under_default_text(annotator: Annotator, study: Study) -> bool:
    series = ConsentText.objects.filter(series=consent.current_text(study).series, translates=None)
    published = series.aggregate(first=Min("created_at"))["first"]
    answers = Annotation.objects.filter(annotator=annotator, campaign__study=study, assignment__isnull=False)
    return answers.filter(submitted_at__lt=published).exists()
