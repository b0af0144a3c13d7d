"""Guidelines as a lead writes them, arranged for the page: paragraphs, headings, lists, **strong**, *emphasis*.

An allow-list and not a subset of HTML: every character of the lead's is escaped, and nothing else becomes markup.
No links and no pictures: neither may lead an annotator away from the task, nor tell them what is not in it.
"""

import re
from collections.abc import Collection

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

_HEADING = re.compile(r"#{1,4} +(.+)")
_ITEM = re.compile(r"(?:[-*•]|(\d{1,2})[.)]) +(.+)")
_STRONG = re.compile(r"(?<!\*)\*\*(?=[^\s*])([^*]+)(?<=\S)\*\*(?!\*)")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])")


def as_html(text: str, labels: Collection[str] = ()) -> SafeString:
    """Return `text` as HTML; a paragraph that begins with one of `labels` and a colon explains that answer."""
    parts = (part.strip("\n") for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")))
    return format_html_join("\n", "{}", ((_block(part, labels),) for part in parts if part.strip()))


def _block(part: str, labels: Collection[str]) -> SafeString:
    """Return a part without empty lines: its lines of one kind stand together."""
    runs: list[tuple[str, list[str]]] = []
    for line in (line.strip() for line in part.splitlines()):
        kind, words = _line(line)
        if runs and runs[-1][0] == kind and kind != "h2":
            runs[-1][1].append(words)
        else:
            runs.append((kind, [words]))
    return format_html_join("\n", "{}", ((_element(kind, lines, labels),) for kind, lines in runs))


def _line(line: str) -> tuple[str, str]:
    if found := _HEADING.fullmatch(line):
        return "h2", found[1]
    if found := _ITEM.fullmatch(line):
        return ("ol" if found[1] else "ul"), found[2]
    return "p", line


def _element(kind: str, lines: list[str], labels: Collection[str]) -> SafeString:
    if kind in {"ul", "ol"}:
        items = format_html_join("", "<li>{}</li>", ((_inline(line),) for line in lines))
        return format_html("<{0}>{1}</{0}>", mark_safe(kind), items)  # noqa: S308 -- one of two words of ours
    if kind == "h2":
        return format_html("<h2>{}</h2>", _inline(lines[0]))
    label, colon, rest = "\n".join(lines).partition(":")
    if colon and label.strip() in set(labels):
        return format_html(
            '<p class="explains"><strong>{}:</strong> {}</p>', label.strip(), _lines(rest.strip().split("\n"))
        )
    return format_html("<p>{}</p>", _lines(lines))


def _lines(lines: list[str]) -> SafeString:
    return format_html_join(mark_safe("<br>"), "{}", ((_inline(line),) for line in lines))


def _inline(line: str) -> SafeString:
    """Return a line with its stars as markup. Escaping comes first and writes no star."""
    strong = _STRONG.sub(r"<strong>\1</strong>", escape(line))
    return mark_safe(_EMPHASIS.sub(r"<em>\1</em>", strong))  # noqa: S308 -- escaped above
