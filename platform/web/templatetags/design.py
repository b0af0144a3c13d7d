"""Template tags for pages; docs/develop/design.md shows each with its markup."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django import forms, template
from django.core.paginator import Page
from django.forms import BoundField
from django.template import Context
from django.template.defaultfilters import date as format_moment
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import get_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import get_language, gettext

from foundation.formats import DASH, as_number, format_duration, format_number, format_percent, is_null
from foundation.formats import reason_text as words_of_reason
from web.design.interval_svg import has_no_upper_end, interval_svg
from web.design.tones import tone_of
from web.keyset import KeyPage

register = template.Library()

COMPONENTS = "web/components"


def _pairs(values: tuple[Any, ...], tag: str) -> list[tuple[Any, Any]]:
    if len(values) % 2:
        raise template.TemplateSyntaxError(
            f"{tag} takes labels and addresses in pairs, not {len(values)} values"
        )
    return list(zip(values[::2], values[1::2], strict=True))


# Numbers: built without templates, because tables contain thousands of them.


def _null(reason: object) -> SafeString:
    words = words_of_reason(reason)
    if words:
        return format_html('<span class="null">{}<span class="null-reason">{}</span></span>', DASH, words)
    return format_html('<span class="null">{}</span>', DASH)


@register.simple_tag(name="number")
def number_tag(value: object, digits: int | None = None, reason: str = "", unit: str = "") -> SafeString:
    """Return a number, or a dash with the reason for its absence."""
    if is_null(value):
        return _null(reason)
    if unit:
        return format_html('{}<span class="unit">{}</span>', format_number(value, digits), unit)
    return format_html("{}", format_number(value, digits))


@register.simple_tag(name="percent")
def percent_tag(share: object, digits: int = 0, reason: str = "") -> SafeString:
    """Return a share between 0 and 1 as a percentage, or a dash with the reason."""
    return _null(reason) if is_null(share) else format_html("{}", format_percent(share, digits))


@register.simple_tag
def num_cell(value: object, digits: int | None = None, reason: str = "", unit: str = "") -> SafeString:
    """Return a right-aligned table cell with a number, sorted by its unrounded value."""
    key = "" if is_null(value) else str(as_number(value))
    return format_html(
        '<td class="num" data-value="{}">{}</td>', key, number_tag(value, digits, reason, unit)
    )


@register.simple_tag
def percent_cell(share: object, digits: int = 0, reason: str = "") -> SafeString:
    """Return a table cell with a percentage."""
    key = "" if is_null(share) else str(as_number(share))
    return format_html('<td class="num" data-value="{}">{}</td>', key, percent_tag(share, digits, reason))


@register.filter(name="number")
def number_filter(value: object, digits: int | None = None) -> str:
    return format_number(value, digits)


register.filter("duration", format_duration)


@register.filter(name="percent")
def percent_filter(share: object, digits: int = 0) -> str:
    return format_percent(share, digits)


@register.filter
def signed(value: object, digits: int | None = None) -> str:
    """Return a number with its sign."""
    return format_number(value, digits, signed=True)


@register.filter
def reason_text(reason: object) -> str:
    return words_of_reason(reason)


@register.simple_tag
def status(state: object, label: object = "", tone: str = "") -> SafeString:
    """Return a state in its tone; `label` replaces the word."""
    words = label or words_of_reason(state)
    return format_html('<span class="status {}">{}</span>', tone or tone_of(str(state)), words)


@register.simple_tag
def interval(
    low: object,
    estimate: object,
    high: object,
    minimum: object,
    maximum: object,
    reference: object = None,
    scale: str = "linear",
    digits: int | None = 2,
    values: bool = False,
    level: int = 95,
    reason: str = "",
) -> SafeString:
    """Return an inline drawing of an interval, with its numbers as title and, with `values`, beside it."""
    if is_null(estimate):
        return _null(reason)
    drawing = interval_svg(
        low, estimate, high, minimum, maximum,
        reference=reference, scale=scale, digits=digits, level=level, reason=reason,
    )  # fmt: skip
    beside = SafeString("")
    if has_no_upper_end(low, high, reason):
        if values:
            numbers = (format_number(value, digits) for value in (estimate, low))
            beside = format_html('<span class="interval-values">{} ({} to ∞)</span>', *numbers)
    elif is_null(low) or is_null(high):
        beside = format_html(
            '<span class="null-reason">{}</span>', f"no interval: {words_of_reason(reason) or 'not computed'}"
        )
    elif values:
        numbers = (format_number(value, digits) for value in (estimate, low, high))
        beside = format_html('<span class="interval-values">{} ({} to {})</span>', *numbers)
    return format_html('<span class="interval">{}{}</span>', drawing, beside)


@register.simple_tag
def interval_cell(
    low: object, estimate: object, high: object, minimum: object, maximum: object, **options: Any
) -> SafeString:
    """Return a table cell with an interval, sorted by its estimate."""
    key = "" if is_null(estimate) else str(as_number(estimate))
    drawn = interval(low, estimate, high, minimum, maximum, **options)
    return format_html('<td class="interval-cell" data-value="{}">{}</td>', key, drawn)


@register.simple_tag
def label_mark(number: int) -> SafeString:
    """Return the colour and stroke pattern of one of the five labels, which only supplement its text."""
    if number not in range(1, 6):
        raise ValueError(f"the number of a label colour is 1 to 5, not {number!r}")
    return format_html(
        '<svg class="label-mark label-{}" viewBox="0 0 36 12" aria-hidden="true" focusable="false">'
        '<line x1="1" y1="6" x2="35" y2="6"></line></svg>',
        number,
    )


@register.simple_tag
def when(moment: datetime | None, missing: str = "never") -> SafeString:
    """Return a moment with time zone; its title is the distance from now."""
    if moment is None:
        return format_html('<span class="null">{}</span>', missing)
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(),
        _distance(moment),
        f"{format_moment(local, _day_format())}, {format_moment(local, 'H:i T')}",
    )


def _day_format() -> str:
    """Return the date format of the page's language (4 Nov 2026 in English)."""
    return str(get_format("DATE_FORMAT", lang=get_language() or "en"))


def _distance(moment: datetime) -> str:
    now = timezone.now()
    if abs((now - moment).total_seconds()) < 60:
        return gettext("just now")
    if moment < now:
        return gettext("%(time)s ago") % {"time": timesince(moment, now, depth=1)}
    return gettext("in %(time)s") % {"time": timeuntil(moment, now, depth=1)}


# Page elements.


@register.simple_block_tag
def page_header(content: str, title: str, lead: str = "") -> SafeString:
    return render_to_string(
        f"{COMPONENTS}/navigation/page_header.html",
        {"title": title, "lead": lead, "actions": SafeString(content.strip())},
    )


@register.inclusion_tag(f"{COMPONENTS}/navigation/breadcrumbs.html")
def breadcrumbs(*labels_and_urls: Any) -> dict[str, object]:
    return {"crumbs": _pairs(labels_and_urls, "breadcrumbs")}


@register.simple_tag(takes_context=True)
def nav_link(context: Context, label: str, url: str) -> SafeString:
    """Return a link of the main navigation, marked if the current page is at or below it."""
    path = context["request"].path
    if not path.startswith(url):
        return format_html('<a href="{}">{}</a>', url, label)
    return format_html('<a href="{}" aria-current="{}">{}</a>', url, "page" if path == url else "true", label)


@register.inclusion_tag(f"{COMPONENTS}/navigation/tabs.html", takes_context=True)
def tabs(context: Context, label: str, *labels_and_urls: Any) -> dict[str, object]:
    """Show sections as links. The current tab is the one with the longest address that the page's address starts with.

    A first tab whose address is a prefix of all others, such as an overview, is current only on its own page. A tab
    with an empty address is left out.
    """
    path = context["request"].path
    pairs = [(name, url) for name, url in _pairs(labels_and_urls, "tabs") if url]
    starts = [str(url).partition("?")[0] for _, url in pairs]
    above_all = (
        starts[0] if len(starts) > 1 and all(start.startswith(starts[0]) for start in starts) else None
    )
    near = [start for start in starts if start == path or (path.startswith(start) and start != above_all)]
    nearest = max(near, key=len, default="")
    items = [
        {
            "label": name,
            "url": url,
            "current": ("page" if start == path else "true") if start == nearest else "",
        }
        for (name, url), start in zip(pairs, starts, strict=True)
    ]
    return {"label": label, "items": items}


@register.inclusion_tag(f"{COMPONENTS}/navigation/stage_bar.html")
def stage_bar(stages: Iterable[object], label: str = "Stages of the study") -> dict[str, object]:
    words = {
        "done": "Done",
        "current": "Under way",
        "ready": "Ready to start",
        "waiting": "Not yet",
        "stuck": "Needs you",
        "skipped": "Not needed",
    }
    return {"stages": stages, "label": label, "words": words.items()}


@register.inclusion_tag(f"{COMPONENTS}/navigation/pagination.html", takes_context=True)
def pagination(context: Context, page_obj: "Page[Any]", param: str = "page") -> dict[str, object]:
    """Link to the previous and next page, keeping other query parameters."""

    def address(page: int) -> str:
        query = context["request"].GET.copy()
        query[param] = str(page)
        return f"?{query.urlencode()}"

    return {
        "page": page_obj,
        "previous": address(page_obj.previous_page_number()) if page_obj.has_previous() else "",
        "next": address(page_obj.next_page_number()) if page_obj.has_next() else "",
    }


@register.inclusion_tag(f"{COMPONENTS}/navigation/key_pagination.html")
def key_pagination(page: KeyPage[Any]) -> dict[str, object]:
    """Link to the adjacent, first and last pages of a page of `web.keyset`."""
    return {"page": page}


@register.inclusion_tag(f"{COMPONENTS}/facts.html")
def facts(items: Iterable[tuple[object, object]]) -> dict[str, object]:
    return {"items": items}


@register.inclusion_tag(f"{COMPONENTS}/copyable.html")
def copyable(text: str, label: str = "Copy") -> dict[str, object]:
    return {"text": text, "label": label}


# Components with a body.


@register.simple_block_tag
def notice(content: str, tone: str = "info", title: str = "") -> SafeString:
    return render_to_string(f"{COMPONENTS}/notice.html", {"tone": tone, "title": title, "body": content})


@register.simple_block_tag
def content_warning(
    content: str, text: str = "The following shows stereotypes about groups of people.", open: bool = False
) -> SafeString:
    return render_to_string(
        f"{COMPONENTS}/content_warning.html", {"text": text, "open": open, "body": content}
    )


@register.simple_block_tag
def empty_state(content: str, title: str) -> SafeString:
    return render_to_string(f"{COMPONENTS}/empty_state.html", {"title": title, "body": content})


@register.simple_block_tag
def data_table(
    content: str,
    caption: str,
    id: str = "",
    sortable: bool = False,
    filter: str = "",
    caption_hidden: bool = False,
    tall: bool = False,
    classes: str = "",
) -> SafeString:
    """Return a table with a caption and horizontal scrolling; `filter` labels its filter box and needs an `id`."""
    if filter and not id:
        raise template.TemplateSyntaxError("data_table needs an id to be filtered")
    values = {
        "body": content, "caption": caption, "id": id, "sortable": sortable, "filter": filter,
        "caption_hidden": caption_hidden, "tall": tall, "classes": classes,
    }  # fmt: skip
    return render_to_string(f"{COMPONENTS}/data_table.html", values)


@register.simple_block_tag
def plot(
    content: str,
    title: str,
    units: str = "",
    n: object = None,
    downloads: Iterable[tuple[str, str]] = (),
    table_id: str = "",
) -> SafeString:
    values = {
        "body": content,
        "title": title,
        "units": units,
        "n": n,
        "downloads": downloads,
        "table_id": table_id,
    }
    return render_to_string(f"{COMPONENTS}/plot.html", values)


# Progress.


@register.inclusion_tag(f"{COMPONENTS}/progress.html")
def progress(done: int, total: int, label: str = "") -> dict[str, object]:
    share = done / total if total else None
    return {"done": done, "total": total, "label": label, "share": share, "maximum": max(total, 1)}


@register.inclusion_tag(f"{COMPONENTS}/progress_segments.html")
def progress_segments(
    segments: Iterable[tuple[str, int, str]], total: int, label: str = ""
) -> dict[str, object]:
    """Show a segmented bar, with segments in the given order; the rest of `total` stays empty."""
    parts: list[dict[str, object]] = []
    start = 0.0
    for name, count, tone in segments:
        width = 100 * count / total if total else 0.0
        parts.append(
            {"name": name, "count": count, "tone": tone, "x": f"{start:.3f}", "width": f"{width:.3f}"}
        )
        start += width
    return {"parts": parts, "total": total, "label": label}


# Forms.


def _kind(bound: BoundField) -> str:
    if isinstance(bound.field.widget, forms.CheckboxInput):
        return "check"
    return "group" if bound.use_fieldset else "control"


@register.inclusion_tag(f"{COMPONENTS}/forms/field.html")
def field(bound: BoundField, label: str = "") -> dict[str, object]:
    """Show a field with its label, help, control and error."""
    if not isinstance(bound, BoundField):
        raise template.TemplateSyntaxError(f"field takes a form's field, not {bound!r}: is its name right?")
    kind = _kind(bound)
    return {
        "field": bound,
        "kind": kind,
        "label": label or bound.label,
        "optional": kind != "check" and not bound.field.required,
        "many": kind == "group" and len(getattr(bound.field, "choices", ())) > 12,
    }


@register.inclusion_tag(f"{COMPONENTS}/forms/form_errors.html")
def form_errors(form: forms.BaseForm) -> dict[str, object]:
    with_errors = [(bound, bound.errors) for bound in form if bound.errors]
    return {"form": form, "named": with_errors, "general": form.non_field_errors()}


@register.inclusion_tag(f"{COMPONENTS}/forms/form_fields.html")
def form_fields(form: forms.BaseForm) -> dict[str, object]:
    return {"form": form}


@register.simple_tag
def hidden_inputs(form: forms.BaseForm) -> SafeString:
    """Return hidden inputs with the values of a form, without ids, labels and help."""
    inputs = (bound.field.hidden_widget().render(bound.html_name, bound.value()) for bound in form)
    return format_html_join("", "{}", ((element,) for element in inputs))


@register.inclusion_tag(f"{COMPONENTS}/forms/post_button.html")
def post_button(
    address: str, *arguments: object, label: str, tone: str = "", busy: str = "", inline: bool = False
) -> dict[str, object]:
    """Show a form with only a button; `address` and `arguments` are as for `url`."""
    url = reverse(address, args=arguments)
    return {"url": url, "label": label, "tone": tone, "busy": busy, "inline": inline}
