"""Guidelines as a lead writes them, arranged for the page: CommonMark's paragraphs, headings, lists and emphasis.

All other rules of Markdown are off: no links and no pictures, which could lead annotators away from the task or give
additional information, and no HTML. The lead's text is escaped.
"""

import re
from collections.abc import Collection

from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("zero", {"breaks": True}).enable(["heading", "list", "emphasis", "escape", "newline"])
_BULLET = re.compile(r"^( *)• ", re.MULTILINE)  # as word processors write it


def as_html(text: str, labels: Collection[str] = ()) -> SafeString:
    """Return `text` as HTML; a paragraph that begins with one of `labels` and a colon explains that answer."""
    tokens = _MARKDOWN.parse(_BULLET.sub(r"\1- ", text))
    for place, token in enumerate(tokens):
        if token.type in {"heading_open", "heading_close"}:
            token.tag = "h2"  # the page has a heading of the first rank
        elif token.type == "paragraph_open":
            _mark_explanation(token, tokens[place + 1], set(labels))
    html: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return SafeString(html.strip())  # the renderer escapes all text, and raw HTML is off


def _mark_explanation(paragraph: Token, inline: Token, labels: set[str]) -> None:
    label, colon, explanation = inline.content.partition(":")
    if not colon or label.strip() not in labels:
        return
    paragraph.attrSet("class", "explains")
    named = Token("text", "", 0, content=f"{label.strip()}:")
    strong = [Token("strong_open", "strong", 1), named, Token("strong_close", "strong", -1)]
    (rest,) = _MARKDOWN.parseInline(explanation.strip())
    inline.children = [*strong, Token("text", "", 0, content=" "), *(rest.children or [])]
