"""No template asks for what the content security policy forbids."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FORBIDDEN = {
    "a style attribute": re.compile(r"""<[^>]*\sstyle\s*=""", re.IGNORECASE),
    "a style element": re.compile(r"<style\b", re.IGNORECASE),
    "an inline script": re.compile(
        r"<script\b(?![^>]*\bsrc\s*=)(?![^>]*\btype=[\"']application/json)", re.IGNORECASE
    ),
    "an event attribute": re.compile(r"""<[^>]*\son[a-z]+\s*=\s*["']""", re.IGNORECASE),
    "a javascript address": re.compile(r"""(href|action)\s*=\s*["']\s*javascript:""", re.IGNORECASE),
    "something from another server": re.compile(
        r"""<(script|link|img|iframe)\b[^>]*(src|href)\s*=\s*["'](https?:)?//""", re.IGNORECASE
    ),
}
# A file that people download and open without a server: it contains its own style, and nothing else.
SELF_CONTAINED = {"analysis/templates/analysis/report/report.html": ["a style element"]}
APPS = ("platform", "generation", "annotation", "analysis")
TEMPLATES = sorted(path for app in APPS for path in (ROOT / app).rglob("templates/**/*.html"))


def offences(text: str) -> list[str]:
    return [name for name, pattern in FORBIDDEN.items() if pattern.search(text)]


def test_there_are_templates_to_look_at():
    assert ROOT / "platform/web/templates/web/base_frame.html" in TEMPLATES


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_template_keeps_to_the_content_security_policy(path):
    assert offences(path.read_text()) == SELF_CONTAINED.get(str(path.relative_to(ROOT)), [])


@pytest.mark.parametrize(
    ("markup", "offence"),
    [
        ('<p style="color: red">', "a style attribute"),
        ("<p class='x' style='y'>", "a style attribute"),
        ("<style>p {}</style>", "a style element"),
        ("<script>alert(1)</script>", "an inline script"),
        ('<script type="module">x</script>', "an inline script"),
        ('<button onclick="x()">', "an event attribute"),
        ('<a href="javascript:x()">', "a javascript address"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "something from another server"),
    ],
)
def test_the_scan_finds_what_is_forbidden(markup, offence):
    assert offence in offences(markup)


@pytest.mark.parametrize(
    "markup",
    [
        '<script type="module" src="/static/web/js/main.js"></script>',
        '<script type="application/json" id="data">{}</script>',
        '<p data-style="roomy">a style of its own</p>',
        '<a href="https://example.org/">',
    ],
)
def test_the_scan_accepts_what_is_allowed(markup):
    assert offences(markup) == []
