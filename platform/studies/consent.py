"""Consent to take part in a study, and withdrawal from it.

A study names its text (`study.consent_text`) or else uses the newest text of the series `default`. Consent is
to a text: a person who agreed to it in one campaign is not asked again in another that uses it. A withdrawal is from a
study. It remains in force when the study's text changes, until the person agrees again in that study. It also withdraws
the consents on which the study relied, so that other studies ask for them again.
"""

from typing import Any

from django.db import transaction
from django.db.models import Case, QuerySet, When
from django.db.models.functions import Now

from accounts import consent_texts
from accounts.consent_texts import ErasurePromise
from accounts.models import Annotator, Consent, ConsentText, User
from studies import audit
from studies.models import Study, Withdrawal


def current_text(study: Study) -> ConsentText:
    """Return the text to which annotators of `study` must agree before they see anything."""
    return study.consent_text or consent_texts.default_text()


@transaction.atomic
def publish_consent(
    *,
    study: Study,
    body: str,
    content_notice: str,
    support: str = "",
    promise: ErasurePromise | None = None,
    by: User | None,
) -> ConsentText:
    """Publish the study's next consent text and use it from now on; an unchanged text publishes nothing.

    `promise` states the effect of erasure on answers; without it, the promise of the current text is kept.
    """
    current = current_text(study)
    promise = promise or ErasurePromise.of(current)
    texts: dict[str, Any] = {
        "body": body.strip(),
        "content_notice": content_notice.strip(),
        "support": support.strip(),
    }
    wanted = texts | promise.as_fields()
    if all(getattr(current, name) == value for name, value in wanted.items()):
        return current
    text = consent_texts.publish(series=_series(study), promise=promise, **texts)
    study.consent_text = text
    study.save(update_fields=["consent_text"])
    audit.record(by=by, action="consent.published", subject=text, study=study, version=text.version)
    return text


def translation_of(text: ConsentText, *, study: Study, language: str) -> ConsentText | None:
    """Return the newest translation of a text: the study’s, else the built-in one, else None."""
    translations = text.translations.filter(series__in=[_series(study), text.series], language=language)
    of_study = Case(When(series=_series(study), then=1), default=0)
    return translations.order_by(of_study.desc(), "-version").first()


def text_for(study: Study, language: str) -> ConsentText:
    """Return the current text in a person's language, or in its original language if there is no translation."""
    text = current_text(study)
    if language == text.language:
        return text
    return translation_of(text, study=study, language=language) or text


@transaction.atomic
def publish_translation(
    *, study: Study, language: str, body: str, content_notice: str, support: str = "", by: User | None
) -> ConsentText:
    """Publish the study's current text in another language; an unchanged translation publishes nothing."""
    current = current_text(study)
    texts: dict[str, Any] = {
        "body": body.strip(),
        "content_notice": content_notice.strip(),
        "support": support.strip(),
    }
    earlier = translation_of(current, study=study, language=language)
    if earlier is not None and all(getattr(earlier, name) == value for name, value in texts.items()):
        return earlier
    text = consent_texts.publish(series=_series(study), language=language, translates=current, **texts)
    audit.record(
        by=by,
        action="consent.translated",
        subject=text,
        study=study,
        language=language,
        version=text.version,
        of_version=current.version,
    )
    return text


def _series(study: Study) -> str:
    """Return the series of the study's own texts, which is never the default series shared by all studies."""
    series = study.slug[:80]
    return f"study-{study.pk}" if series == consent_texts.DEFAULT_SERIES else series


@transaction.atomic
def give(*, annotator: Annotator, text: ConsentText, study: Study | None = None) -> Consent:
    """Record that `annotator` agrees to `text`; agreeing again renews a withdrawn consent.

    Agreeing to a translation is agreeing to the text that it translates; both are stored. A withdrawal
    from `study`, where they were asked, ends; withdrawals from other studies remain in force.
    """
    agreed, translation = (text, None) if text.translates is None else (text.translates, text)
    consent, created = Consent.objects.select_for_update(of=("self",)).get_or_create(
        annotator=annotator, text=agreed, defaults={"translation": translation}
    )
    if not created and consent.withdrawn_at is not None:
        Consent.objects.filter(pk=consent.pk).update(
            given_at=Now(), withdrawn_at=None, translation=translation
        )
        consent.refresh_from_db()
    if study is not None:
        _active_withdrawals(study).filter(annotator=annotator).update(ended_at=Now())
    return consent


@transaction.atomic
def withdraw(*, annotator: Annotator, study: Study) -> bool:
    """Withdraw `annotator` from `study`; return False, without changes, if they had already withdrawn."""
    _, created = _active_withdrawals(study).get_or_create(
        annotator=annotator, study_id=study.pk, ended_at=None
    )
    if created:
        rests_on(annotator, study).update(withdrawn_at=Now())
    return created


def of_series(annotator: Annotator, study: Study) -> QuerySet[Consent]:
    """Return the consents of `annotator`, not withdrawn, to any version of the study's current series."""
    consents = Consent.objects.filter(annotator=annotator, withdrawn_at=None)
    return consents.filter(text__series=current_text(study).series)


def rests_on(annotator: Annotator, study: Study) -> QuerySet[Consent]:
    """Return the consents on which the annotator's part in `study` rests; none if all were withdrawn.

    Until they agree to the study's own text, their consents to the default text count.
    """
    own_consents = of_series(annotator, study)
    if own_consents.exists():
        return own_consents
    return Consent.objects.filter(
        annotator=annotator, withdrawn_at=None, text__series=consent_texts.DEFAULT_SERIES
    )


def has_consented(annotator: Annotator, study: Study) -> bool:
    """Return whether `annotator` agreed to the study's current text and did not withdraw."""
    return _agreed(study).filter(annotator=annotator).exists()


def consenting(study: Study) -> QuerySet[Annotator]:
    """Return the annotators for whom `has_consented` is true."""
    return Annotator.objects.filter(pk__in=_agreed(study).values("annotator"))


def withdrawal_of(annotator: Annotator, study: Study) -> Withdrawal | None:
    """Return the annotator's withdrawal from `study` in force, or None."""
    return _active_withdrawals(study).filter(annotator=annotator).first()


def withdrawn_from(study: Study) -> QuerySet[Annotator]:
    """Return the annotators who withdrew from `study` and did not agree again there. Their labels do not count."""
    return Annotator.objects.filter(pk__in=_active_withdrawals(study).values("annotator"))


def _active_withdrawals(study: Study) -> QuerySet[Withdrawal]:
    return Withdrawal.objects.filter(study=study.pk, ended_at=None)


def _agreed(study: Study) -> QuerySet[Consent]:
    # `annotation.assignment.sql` says the same in SQL.
    agreed = Consent.objects.filter(text=current_text(study), withdrawn_at=None)
    return agreed.exclude(annotator__in=_active_withdrawals(study).values("annotator"))
