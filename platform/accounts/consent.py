"""What annotators agree to: versioned texts, who agreed to which, and withdrawal.

A study names its text (`study.consent_text`); one that names none uses the newest of the series `default`.
Consent is to a text: a person who agreed to it in one campaign is not asked again in another that uses it.
A withdrawal is from a study. It stands whatever texts the study has later, until the person agrees again in that
study. It also takes back the consents that the study rested on, so that other studies ask for them again.
"""

from dataclasses import dataclass
from typing import Protocol

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from accounts.errors import Conflict, DomainError
from accounts.models import Annotator, Consent, ConsentText, Withdrawal

DEFAULT_SERIES = "default"

DEFAULT_BODY = "\n\n".join(
    (
        "This is research on how computer programs that make pictures show people. Your answers help "
        "to measure it.",
        "What you do\n"
        "You look at short descriptions, or at pictures that a program made, and say "
        "what you see. Sometimes you draw a box around it. There is no answer to guess: we want to "
        "know what you see.",
        "What we keep\n"
        "Your answers, when you gave them and how long you worked on each. They are "
        "stored under a random code, never under your name. If you choose to tell us something about "
        "yourself, it is kept apart from your answers and used only to compare groups of people, "
        "never to describe you alone.",
        "What may be published\nAnswers under random codes, so that other researchers can check the results.",
        "You decide\n"
        "Taking part is voluntary. You may skip anything, take a break or stop at any "
        "time, without giving a reason. You may withdraw your consent later: your answers are then "
        "left out of every result and release made from that day on. What was published before cannot "
        "be called back.",
    )
)

DEFAULT_NOTICE = (
    "Some words and pictures repeat prejudices about groups of people. Some may be insulting, and now "
    "and then a picture may be strange or unpleasant. They are shown so that they can be measured; "
    "nobody here claims that they are true."
)

DEFAULT_SUPPORT = (
    "If something you saw stays with you, stop and take a break; talking to someone you trust often "
    "helps. For questions about the work, or to report a picture, write to the person who sent you "
    "the invitation."
)


@dataclass(frozen=True)
class Part:
    """A paragraph of a text, and its heading if it has one."""

    heading: str
    text: str


class HasConsentText(Protocol):
    """What consent needs to know of a study; accounts import nothing of studies."""

    @property
    def pk(self) -> int: ...

    @property
    def consent_text(self) -> ConsentText | None: ...


def default_text() -> ConsentText:
    """Return the newest text of the default series; the first call writes version 1."""
    newest = ConsentText.objects.filter(series=DEFAULT_SERIES).order_by("-version").first()
    if newest is not None:
        return newest
    text, _ = ConsentText.objects.get_or_create(
        series=DEFAULT_SERIES,
        version=1,
        language="en",
        defaults={"body": DEFAULT_BODY, "content_notice": DEFAULT_NOTICE, "support": DEFAULT_SUPPORT},
    )
    return text


def current_text(study: HasConsentText) -> ConsentText:
    """Return what annotators of `study` must have agreed to before they see anything."""
    return study.consent_text or default_text()


def parts(body: str) -> tuple[Part, ...]:
    """Return the paragraphs of `body`. A short first line without a full stop is the paragraph's heading."""
    found = []
    for paragraph in filter(None, (one.strip() for one in body.replace("\r\n", "\n").split("\n\n"))):
        first, newline, rest = paragraph.partition("\n")
        is_heading = bool(newline) and len(first) <= 60 and not first.rstrip().endswith((".", ",", ";", ":"))
        found.append(Part(first.strip(), rest.strip()) if is_heading else Part("", paragraph))
    return tuple(found)


@transaction.atomic
def publish(
    *, series: str, body: str, content_notice: str, support: str = "", language: str = "en"
) -> ConsentText:
    """Publish the next version of a series. Earlier versions stay as they were agreed to."""
    missing = {
        name: "empty"
        for name, value in (("series", series), ("body", body), ("content_notice", content_notice))
        if not value.strip()
    }
    if missing:
        raise DomainError(
            "consent_text_incomplete", f"A consent text needs its {' and '.join(missing)}.", fields=missing
        )
    newest = ConsentText.objects.filter(series=series, language=language).order_by("-version").first()
    try:
        with transaction.atomic():
            return ConsentText.objects.create(
                series=series,
                version=newest.version + 1 if newest else 1,
                language=language,
                body=body.strip(),
                content_notice=content_notice.strip(),
                support=support.strip(),
            )
    except IntegrityError:
        raise Conflict(
            "consent_text_published_meanwhile",
            "Somebody else published a version of this text just now; read theirs and publish again.",
        ) from None


@transaction.atomic
def give(*, annotator: Annotator, text: ConsentText, study: HasConsentText | None = None) -> Consent:
    """Record that `annotator` agrees to `text`; agreeing again renews a consent that was taken back.

    `study` is where they were asked. If they had withdrawn from it, that ends; other studies stay withdrawn from.
    """
    consent, created = Consent.objects.select_for_update().get_or_create(annotator=annotator, text=text)
    if not created and consent.withdrawn_at is not None:
        Consent.objects.filter(pk=consent.pk).update(given_at=Now(), withdrawn_at=None)
        consent.refresh_from_db()
    if study is not None:
        _standing(study).filter(annotator=annotator).update(ended_at=Now())
    return consent


@transaction.atomic
def withdraw(*, annotator: Annotator, study: HasConsentText) -> bool:
    """Withdraw `annotator` from `study`; return False if they had withdrawn before, which changes nothing."""
    _, created = _standing(study).get_or_create(annotator=annotator, study_id=study.pk, ended_at=None)
    if created:
        rests_on(annotator, study).update(withdrawn_at=Now())
    return created


def of_series(annotator: Annotator, study: HasConsentText) -> QuerySet[Consent]:
    """Return the consents of `annotator` to any version of the study's current series, without those taken back."""
    consents = Consent.objects.filter(annotator=annotator, withdrawn_at=None)
    return consents.filter(text__series=current_text(study).series)


def rests_on(annotator: Annotator, study: HasConsentText) -> QuerySet[Consent]:
    """Return the consents that the annotator's part in `study` rests on, none if all were taken back.

    Until they agree to the study's own text, these are their consents to the default one.
    """
    own = of_series(annotator, study)
    if own.exists():
        return own
    return Consent.objects.filter(annotator=annotator, withdrawn_at=None, text__series=DEFAULT_SERIES)


def has_consented(annotator: Annotator, study: HasConsentText) -> bool:
    """Return whether `annotator` agreed to the study's current text and did not withdraw."""
    return _agreed(study).filter(annotator=annotator).exists()


def consenting(study: HasConsentText) -> QuerySet[Annotator]:
    """Return the annotators of whom `has_consented` holds."""
    return Annotator.objects.filter(pk__in=_agreed(study).values("annotator"))


def withdrawal_of(annotator: Annotator, study: HasConsentText) -> Withdrawal | None:
    """Return the annotator's withdrawal from `study` that stands, if there is one."""
    return _standing(study).filter(annotator=annotator).first()


def withdrawn_from(study: HasConsentText) -> QuerySet[Annotator]:
    """Return the annotators who withdrew from `study` and did not agree again there. Their labels do not count."""
    return Annotator.objects.filter(pk__in=_standing(study).values("annotator"))


def _standing(study: HasConsentText) -> QuerySet[Withdrawal]:
    return Withdrawal.objects.filter(study=study.pk, ended_at=None)


def _agreed(study: HasConsentText) -> QuerySet[Consent]:
    # `annotation.answering` says the same in SQL.
    agreed = Consent.objects.filter(text=current_text(study), withdrawn_at=None)
    return agreed.exclude(annotator__in=_standing(study).values("annotator"))
