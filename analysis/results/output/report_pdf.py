"""report.pdf: the contents of report.html as pages to attach to a paper, tagged for screen readers (PDF/UA-1).

Nothing is fetched while it is made: names and answers in a report come from strangers, and addresses in them must not
be opened.
"""

import ctypes
import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from PIL import ImageFile

from analysis.plots.colours import light, stylesheet
from foundation.errors import Conflict

# Lays out text for WeasyPrint. It is a system library that no Python requirement installs; it needs all the others.
PANGO = ("libpangoft2-1.0.so.0", "libpangoft2-1.0.dylib", "libpangoft2-1.0-0.dll")
_DRAWING = re.compile(r"<svg\b(?P<attributes>[^>]*)>(?P<content>.*?)</svg>", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_SYMBOL = "Symbol of the legend"
_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
_SYMBOL_SIZE = 'width="14" height="14"'

# Of every rule for screens that it leaves out it would write a line.
logging.getLogger("weasyprint").setLevel(logging.CRITICAL)


@lru_cache(maxsize=1)
def can_make_pdf() -> bool:
    """Whether the system library that lays out text is installed."""
    return any(_loads(name) for name in PANGO)


def report_pdf(html: str) -> bytes:
    """Return a report as PDF; raises DomainError if the server lacks Pango."""
    if not can_make_pdf():
        raise Conflict(
            "pdf_needs_pango",
            "This server cannot make PDF files: it lacks the library Pango. Download the report as HTML and print it "
            "to a file from your browser.",
        )
    import weasyprint  # loads the system libraries

    # WeasyPrint tells Pillow to read damaged images; uploads that are damaged must stay refused in this process.
    ImageFile.LOAD_TRUNCATED_IMAGES = False

    text, drawings = _with_pictures(html)
    document = weasyprint.HTML(string=text, url_fetcher=_fetcher(drawings))
    made: bytes = document.write_pdf(pdf_variant="pdf/ua-1")
    return made


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _fetcher(drawings: Mapping[str, str]) -> Any:
    """Return the function that gives WeasyPrint the content of an address: only the report's own drawings."""
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class DrawingsOnly(URLFetcher):  # type: ignore[misc]  # WeasyPrint states no types
        def fetch(self, url: str, headers: Any = None) -> Any:
            del headers  # there is no server to send them to
            if url not in drawings:
                raise ValueError(f"a report must not load other files: {url}")
            return URLFetcherResponse(url, drawings[url], {"Content-Type": "image/svg+xml"})

    return DrawingsOnly()


def _with_pictures(html: str) -> tuple[str, dict[str, str]]:
    """Return the page with a picture in place of each drawing, and the drawings by the picture's address.

    In WeasyPrint, drawings within a page do not use the page's stylesheet, so each drawing gets the rules that it
    needs.
    """
    drawings: dict[str, str] = {}
    style = f"<style>{_plot_style()}</style>"

    def picture(drawing: re.Match[str]) -> str:
        attributes, content = drawing["attributes"], drawing["content"]
        title = _TITLE.search(content)
        if title is None:
            attributes = f"{attributes} {_SYMBOL_SIZE}"
        if "xmlns" not in attributes:
            attributes = f"{attributes} {_NAMESPACE}"
        address = f"drawing:{len(drawings)}"
        drawings[address] = f"<svg {attributes}>{style}{content}</svg>"
        kind = "symbol" if title is None else "plot"
        return f'<img class="{kind}" src="{address}" alt="{_SYMBOL if title is None else title[1]}">'

    return _DRAWING.sub(picture, html), drawings


@lru_cache(maxsize=1)
def _plot_style() -> str:
    """The plots' stylesheet for a separate drawing: for paper, and with colours instead of their names."""
    rules = re.sub(r"@media screen[^{]*\{.*\}\s*$", "", stylesheet("analysis/plots.css"), flags=re.MULTILINE)
    rules = re.sub(r"\.drawing svg \{[^}]*\}", "", rules).replace(".drawing ", "")
    return re.sub(r"var\(--([\w-]+)\)", lambda name: light()[name[1]], rules)
