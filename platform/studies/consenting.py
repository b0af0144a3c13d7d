"""The consent text of a study: publishing a version of its own."""

from django.db import transaction

from accounts import consent
from accounts.models import ConsentText, User
from studies import audit
from studies.models import Study


@transaction.atomic
def publish_consent(
    *, study: Study, body: str, content_notice: str, support: str = "", by: User | None
) -> ConsentText:
    """Publish the study's next consent text and use it from now on; an unchanged text publishes nothing."""
    current = consent.current_text(study)
    wanted = {"body": body.strip(), "content_notice": content_notice.strip(), "support": support.strip()}
    if all(getattr(current, name) == value for name, value in wanted.items()):
        return current
    text = consent.publish(series=_series(study), **wanted)
    study.consent_text = text
    study.save(update_fields=["consent_text"])
    audit.record(by=by, action="consent.published", subject=text, study=study, version=text.version)
    return text


def _series(study: Study) -> str:
    """Return the series of the study's own texts; a study called “default” must not edit everybody's."""
    series = study.slug[:80]
    return f"study-{study.pk}" if series == consent.DEFAULT_SERIES else series
