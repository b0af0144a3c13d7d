"""The platform contains no integration's name: Label Studio's parts are registered, and are in their own folders."""

import re

from annotation import integrations
from annotation.label_studio import SLUG
from annotation.models import Campaign
from tests.project.test_layout import ROOT, tracked_files

NAMED = re.compile(r"label.?studio|\bbridges?\b", re.IGNORECASE)
# Its folder, and migrations from before it was a separate app.
ITS_OWN = re.compile(r"^annotation/label_studio/|^annotation/migrations/000[1345]_")
# Where it is registered, and how many lines that takes.
REGISTRATION = {
    "platform/config/api_urls.py": 1,
    "platform/config/settings.py": 11,
    "platform/config/urls.py": 1,
}
# Words for annotators in code that knows only one tool; they are translated unchanged.
WORDS = {
    "annotation/annotator/translation/refusals.py",
    "annotation/templates/annotation/annotator/done.html",
    "annotation/templates/annotation/annotator/home.html",
}


def lines_that_name_it(path: str) -> list[str]:
    return [line for line in (ROOT / path).read_text().splitlines() if NAMED.search(line)]


def test_only_registration_names_label_studio():
    # `analysis` is above annotation: Label Studio's JSON is one of the formats of its releases.
    sources = [
        path
        for path in tracked_files()
        if path.startswith(("platform/", "annotation/", "generation/"))
        and path.endswith((".py", ".html", ".js", ".css"))
        and not ITS_OWN.search(path)
        and path not in WORDS
    ]
    named = {path: lines for path in sources if (lines := lines_that_name_it(path))}
    assert {path: len(lines) for path, lines in named.items()} == REGISTRATION, named


def test_the_search_finds_what_it_looks_for():
    for line in ("from annotation.label_studio import x", "LabelStudioUser", "a Label Studio", "bridge = 1"):
        assert NAMED.search(line)


def test_a_campaign_knows_its_tool_by_the_slug():
    assert integrations.tool_of(Campaign(labelled_in="")) is None
    tool = integrations.tool_of(Campaign(labelled_in=SLUG))
    assert tool in integrations.registered()
    assert (tool.name, integrations.tool_name(SLUG), integrations.tool_name("")) == (
        "Label Studio",
        "Label Studio",
        "",
    )
