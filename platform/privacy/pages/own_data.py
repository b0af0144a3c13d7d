"""“Your data”: the data stored about the signed-in annotator, on pages and as a file."""

from dataclasses import dataclass
from typing import Any, cast

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from accounts.models import Annotator, User
from accounts.rights import Capability, requires
from annotation.annotator.access import annotator_of
from foundation.errors import NotFound
from privacy.erasure import promises
from privacy.own_data.download import write_zip
from privacy.own_data.records import OwnRecords
from privacy.own_data.words import NOT_SHOWN, subjects
from studies import audit
from studies.personal_data import TableWords
from web.keyset import key_page

_SHOWN_AT_ONCE = 3  # rows of a table on the overview; more have pages of their own
_PER_PAGE = 25


@dataclass(frozen=True)
class TablePart:
    """A table on the overview, with its rows if they are few, else with only their number."""

    words: TableWords
    count: int
    rows: list[list[tuple[Any, str]]]


@requires(get=Capability.ANNOTATE)
@never_cache
def overview(request: HttpRequest) -> HttpResponse:
    """Show all data about the annotator, by subject; long lists have pages of their own."""
    annotator = own_annotator(request)
    records = OwnRecords(annotator)
    sections = [
        (subject, parts)
        for subject in subjects()
        if (parts := [part for words in subject.tables if (part := _part(records, words)) is not None])
    ]
    context = {
        "annotator": annotator,
        "sections": sections,
        "not_shown": NOT_SHOWN,
        "promise": promises.of_annotator(annotator),
    }
    return render(request, "privacy/own_data/overview.html", context)


def _part(records: OwnRecords, words: TableWords) -> TablePart | None:
    """Return a table for the overview, or None if it has no rows."""
    rows = records.rows(words.model)
    few = list(rows[: _SHOWN_AT_ONCE + 1]) if words.columns else []
    if words.columns and len(few) <= _SHOWN_AT_ONCE:
        return TablePart(words, len(few), [records.shown(words, row) for row in few]) if few else None
    count = rows.count()
    return TablePart(words, count, []) if count else None


@requires(get=Capability.ANNOTATE)
@never_cache
def table(request: HttpRequest, file: str) -> HttpResponse:
    """List all rows of one table, the newest first."""
    words = next((words for part in subjects() for words in part.tables if words.file == file), None)
    if words is None or not words.columns:
        raise Http404(gettext("This list does not exist."))
    records = OwnRecords(own_annotator(request))
    page = key_page(request, records.rows(words.model), size=_PER_PAGE)
    rows = [records.shown(words, row) for row in page]
    return render(request, "privacy/own_data/table.html", {"words": words, "page": page, "rows": rows})


@requires(get=Capability.ANNOTATE)
@never_cache
def download(request: HttpRequest) -> FileResponse:
    """Send all data about the annotator as a zip, and record the download in the audit trail."""
    annotator = own_annotator(request)
    audit.record(by=cast("User", request.user), action="own_data.downloaded", subject=annotator, study=None)
    return FileResponse(
        write_zip(annotator),
        as_attachment=True,
        filename=f"your-data-{annotator.pseudonym}.zip",
        content_type="application/zip",
    )


def own_annotator(request: HttpRequest) -> Annotator:
    """Return the signed-in annotator; raise NotFound for other users."""
    annotator = annotator_of(request.user)
    if annotator is None:
        raise NotFound("not_an_annotator", gettext("You are not an annotator, so nothing is listed here."))
    return annotator
