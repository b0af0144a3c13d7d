"""Rows about one person, found through the inventory, and their values for the person's own copy."""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.db.models import QuerySet
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext

from accounts import profiles
from accounts.models import Annotator, AnnotatorProfile
from annotation.answers.questions.sentences import answered_questions
from annotation.kinds.registry import kind_of, work_in
from annotation.models import Annotation, Campaign, Enrolment
from annotation.people import addresses
from annotation.people.pay import digits_of, money_text
from annotation.quality import sentences
from annotation.recruitment import identities
from privacy.erasure.access import sign_ins_of
from privacy.inventory import PersonalTable, tables
from privacy.own_data.words import VALUES
from studies.personal_data import TableWords

# Tables without a key of the person; rows are found by the typed user name or address.
SIGN_INS = ("axes.AccessAttempt", "axes.AccessFailureLog", "axes.AccessLog")
# Relations fetched with the rows of a table, so that the number of queries is constant.
_RELATED = {
    "accounts.Consent": ("text",),
    "annotation.Annotation": ("campaign", "instrument", "task"),
    "annotation.Enrolment": ("campaign",),
    "annotation.PracticeRound": ("enrolment__campaign",),
    "annotation.QualityEvent": ("enrolment__campaign",),
    "annotation.Judgement": ("attribute",),
    "recruitment.PanelPayment": ("place",),
}
_PREFETCHED = {
    "annotation.Annotation": ("judgements__attribute", "task__stimuli"),
}


class OwnRecords:
    """The data stored about one annotator, by table."""

    def __init__(self, annotator: Annotator) -> None:
        self.annotator = annotator
        numbers = (
            Enrolment.objects.filter(annotator=annotator).order_by("pk").values_list("campaign", flat=True)
        )
        # The numbers on “Your tasks”; names of campaigns may reveal too much.
        self._numbers = {campaign: number for number, campaign in enumerate(numbers, start=1)}
        self._computed: Mapping[tuple[str, str], Callable[[Any], Any]] = {
            ("accounts.Consent", "version"): lambda consent: consent.text.version,
            ("annotation.Enrolment", "work"): lambda enrolment: self._work(enrolment.campaign),
            ("annotation.PracticeRound", "work"): lambda practice: self._work(practice.enrolment.campaign),
            ("annotation.Annotation", "work"): lambda annotation: self._work(annotation.campaign),
            ("annotation.Annotation", "answer"): _answer,
            ("annotation.Judgement", "about"): lambda judgement: (
                judgement.attribute and judgement.attribute.text
            ),
            ("annotation.QualityEvent", "sentence"): _sentence,
            ("annotation.InvitationLetter", "address"): addresses.address_of,
            ("recruitment.PanelPerson", "panel_id"): lambda person: _unsealed(person.id_sealed),
            ("recruitment.PanelPlace", "panel_id"): lambda place: _unsealed(place.submission_sealed),
            ("recruitment.PanelPayment", "sum"): _sum,
        }

    def tables(self) -> list[PersonalTable]:
        """Return the tables that may have rows about the person and have fields for the copy."""
        return [
            table for table in tables() if (table.person or table.model in SIGN_INS) and self.fields(table)
        ]

    def rows(self, model: str) -> QuerySet[Any]:
        """Return the rows of a table about the person, the oldest first."""
        if model in SIGN_INS:
            rows = sign_ins_of(self.annotator.user, apps.get_model(model))
        else:
            rows = next(table for table in tables() if table.model == model).rows_of(self.annotator)
        related, prefetched = _RELATED.get(model, ()), _PREFETCHED.get(model, ())
        return rows.select_related(*related).prefetch_related(*prefetched).order_by("pk")

    def fields(self, table: PersonalTable) -> list[str]:
        """Return the fields of a table in the copy: computed fields, then stored ones.

        Hidden fields, keys of the person, and keys of rows that are not about the person are left out.
        """
        about_person = {other.model for other in tables() if other.person} - {
            "accounts.User",
            "accounts.Annotator",
        }
        meta = apps.get_model(table.model)._meta
        stored = [
            name
            for name in table.about.split()
            if name not in table.hidden.split()
            and (not (related := meta.get_field(name).related_model) or related._meta.label in about_person)
        ]
        return [*(name for model, name in self._computed if model == table.model), *stored]

    def value(self, model: str, row: Any, name: str) -> Any:
        """Return a stored value, or a value computed from stored data."""
        compute = self._computed.get((model, name))
        if compute is not None:
            return compute(row)
        if model == "accounts.AnnotatorProfile" and name in AnnotatorProfile.FIELDS:
            return row.get_age_band_display() if name == "age_band" else profiles.shown(row, name)
        return getattr(row, row._meta.get_field(name).attname)

    def shown(self, words: TableWords, row: Any) -> list[tuple[Any, str]]:
        """Return (label, text) of a row's values for the page, without empty values."""
        pairs = ((label, self._shown(words.model, row, name)) for name, label in words.columns.items())
        return [(label, text) for label, text in pairs if text]

    def _shown(self, model: str, row: Any, name: str) -> str:
        value = self.value(model, row, name)
        if named := VALUES.get((model, name), {}).get(value):
            return str(named)
        field = None if (model, name) in self._computed else row._meta.get_field(name)
        if field is not None and field.choices and value and model != "accounts.AnnotatorProfile":
            return str(getattr(row, f"get_{name}_display")())
        if isinstance(value, bool):
            return gettext("Yes") if value else gettext("No")
        if isinstance(value, datetime):
            local = localtime(value)
            return f"{date_format(local, 'DATE_FORMAT')}, {date_format(local, 'H:i T')}"
        if isinstance(value, float):
            return f"{value:.0f}"
        return "" if value is None else str(value)

    def _work(self, campaign: Campaign) -> str:
        number = self._numbers.get(campaign.pk)
        title = work_in(campaign)
        return (
            title
            if number is None
            else gettext("%(work)s no. %(number)s") % {"work": title, "number": number}
        )


def _answer(annotation: Annotation) -> str:
    """Return an answer as one line, in the words of the screen."""
    kind = kind_of(annotation.campaign)
    if not kind.about_attributes:
        return "; ".join(f"{part.label} {part.answer}" for part in answered_questions(annotation, kind))
    parts = [_judged(judgement) for judgement in annotation.judgements.all() if judgement.attribute]
    if annotation.none_of_the_above:
        parts.append(gettext("None of the above"))
    return "; ".join(parts)


def _judged(judgement: Any) -> str:
    if judgement.present is None:
        return f"{judgement.attribute.text}: {judgement.rating}"
    return f"{judgement.attribute.text}: {gettext('Yes') if judgement.present else gettext('No')}"


def _sentence(event: Any) -> str:
    return sentences.for_annotator(event)


def _unsealed(sealed: str) -> str:
    return identities.unseal(sealed) if sealed else ""


def _sum(payment: Any) -> str:
    digits = digits_of(payment.currency)
    return money_text(Decimal(payment.amount) / 10**digits, payment.currency)
