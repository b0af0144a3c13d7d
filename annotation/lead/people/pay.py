"""Time and pay of a campaign's annotators, as a page and as a file."""

import csv
import io
from datetime import date, timedelta

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.rights import Capability, requires
from annotation.campaigns.settings_text import rate_in_words
from annotation.kinds.options import Options
from annotation.lead.page_context import campaign_context, page_of
from annotation.people.pay import Statement, shown_statement, statement
from studies.audit.files import CSV, recorded_file

COLUMNS = (
    "annotator",
    "screens",
    "screens_without_time",
    "active_hours",
    "amount",
    "currency",
    "first",
    "last",
)


class DaysForm(forms.Form):
    """The first and last day of a statement, both included."""

    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))

    def clean(self) -> dict[str, date | None]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and until < since:
            self.add_error("until", "The last day is before the first day.")
        return cleaned


@requires(get=Capability.SEE_INVITATIONS)
def pay_page(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Show each annotator's work and pay."""
    context = campaign_context(request, study, campaign)
    form, days = _days(request)
    pay_statement, counted_at = shown_statement(context["campaign"], **days)
    today = timezone.localdate()
    last_month = today.replace(day=1) - timedelta(days=1)
    context |= {
        "form": form,
        "statement": pay_statement,
        "counted_at": counted_at,
        "page": page_of(request, list(pay_statement.lines) if pay_statement else []),
        "rate": rate_in_words(Options.of(context["campaign"])),
        "filtered": bool(request.GET.get("since") or request.GET.get("until")),
        "this_month": (today.replace(day=1), today),
        "last_month": (last_month.replace(day=1), last_month),
    }
    return render(request, "annotation/lead/people/pay.html", context, status=400 if form.errors else 200)


@requires(get=Capability.SEE_INVITATIONS)
def pay_table(request: HttpRequest, study: str, campaign: str) -> HttpResponse:
    """Return the statement as CSV with totals in the last row."""
    context = campaign_context(request, study, campaign)
    form, days = _days(request)
    if form.errors:
        return HttpResponse("Write days like this: 2026-01-31.", status=400, content_type="text/plain")
    pay_statement = statement(context["campaign"], **days)  # counted now, not cached: payments rely on it
    return recorded_file(
        _as_csv(pay_statement),
        by=request.user,
        study=context["study"],
        name=f"{campaign}-pay.csv",
        content_type=CSV,
    )


def _as_csv(pay_statement: Statement) -> str:
    """Return the lines of a statement as CSV, with their totals in the last row."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    currency = pay_statement.rate.currency if pay_statement.rate else ""
    for line in pay_statement.lines:
        work = line.work
        moments = (moment.isoformat() if moment else "" for moment in (work.first, work.last))
        writer.writerow(
            (
                line.pseudonym,
                work.tasks,
                work.untimed,
                f"{work.hours:.4f}",
                _cell(line.amount),
                currency,
                *moments,
            )
        )
    writer.writerow(
        (
            "total",
            pay_statement.tasks,
            pay_statement.untimed,
            f"{pay_statement.hours:.4f}",
            _cell(pay_statement.amount),
            currency,
            "",
            "",
        )
    )
    return table.getvalue()


def _days(request: HttpRequest) -> tuple[DaysForm, dict[str, date | None]]:
    form = DaysForm(request.GET)
    days = form.cleaned_data if form.is_valid() else {}
    return form, {name: days.get(name) for name in ("since", "until")}


def _cell(amount: object) -> str:
    return "" if amount is None else str(amount)
