"""Consent texts of annotators, versioned in series.

A study without a text of its own uses the newest of the series `default`.
"""

from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from accounts.models import ConsentText
from foundation.errors import Conflict, DomainError
from foundation.languages import translations

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
class ErasurePromise:
    """A text's promise about the answers of a person who is erased."""

    labels: str = ConsentText.LabelsWhenErased.DELETE
    by_self: bool = False  # whether people may erase themselves without a request

    @classmethod
    def of(cls, text: ConsentText) -> "ErasurePromise":
        return cls(text.labels_when_erased, text.may_erase_self)

    def as_fields(self) -> dict[str, Any]:
        return {"labels_when_erased": self.labels, "may_erase_self": self.by_self}


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of a text, with an optional heading."""

    heading: str
    text: str


def default_text() -> ConsentText:
    """Return the newest text of the default series; the first call writes version 1."""
    newest = ConsentText.objects.filter(series=DEFAULT_SERIES, translates=None).order_by("-version").first()
    if newest is not None:
        return newest
    text, _ = ConsentText.objects.get_or_create(
        series=DEFAULT_SERIES,
        version=1,
        language="en",
        defaults={"body": DEFAULT_BODY, "content_notice": DEFAULT_NOTICE, "support": DEFAULT_SUPPORT},
    )
    translate_built_in()
    return text


def translate_built_in(model: Any = ConsentText) -> None:
    """Add the built-in text in each language that lacks it, as a version that people can agree to.

    For migrations of databases that had the text before the platform had a translation of it.
    """
    fields = {"body": DEFAULT_BODY, "content_notice": DEFAULT_NOTICE, "support": DEFAULT_SUPPORT}
    text = model.objects.filter(series=DEFAULT_SERIES, translates=None, **fields).first()
    if text is None:
        return
    translated = {name: translations(source) for name, source in fields.items()}
    for language in set.intersection(*map(set, translated.values())):
        model.objects.get_or_create(
            series=DEFAULT_SERIES,
            version=text.version,
            language=language,
            defaults={name: words[language] for name, words in translated.items()} | {"translates": text},
        )


def parts(body: str) -> tuple[Paragraph, ...]:
    """Return the paragraphs of `body`. A short first line without a full stop is the paragraph's heading."""
    paragraphs = []
    for paragraph in filter(None, (block.strip() for block in body.replace("\r\n", "\n").split("\n\n"))):
        heading, newline, text = paragraph.partition("\n")
        is_heading = (
            bool(newline) and len(heading) <= 60 and not heading.rstrip().endswith((".", ",", ";", ":"))
        )
        paragraphs.append(
            Paragraph(heading.strip(), text.strip()) if is_heading else Paragraph("", paragraph)
        )
    return tuple(paragraphs)


@transaction.atomic
def publish(
    *,
    series: str,
    body: str,
    content_notice: str,
    support: str = "",
    language: str = "en",
    translates: ConsentText | None = None,
    promise: ErasurePromise | None = None,
) -> ConsentText:
    """Publish the next version of a series, numbered per language. Earlier versions stay as people agreed to them.

    A translation has the same promise as the text that it translates.
    """
    promise = ErasurePromise.of(translates) if translates else promise or ErasurePromise()
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
                translates=translates,
                **promise.as_fields(),
            )
    except IntegrityError:
        raise Conflict(
            "consent_text_published_meanwhile",
            "Somebody else published a version of this text just now; read that version, and publish again.",
        ) from None
