"""The documentation as a site: `make site` builds it into var/site. Decision 0038 says why by Sphinx.

Pages keep links that also work where the repository is read as files, so the sources are the whole repository and
only the pages below take part. Their place in the navigation is declared here and not on the pages.
"""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]

project = "Stereoscope"
author = "the authors of Stereoscope"
language = "en"
root_doc = "docs/index"

extensions = ["myst_parser"]
include_patterns = ["docs/*.md", "docs/**/*.md", "*.md", "locale/README.md", "benchmarks/README.md"]
exclude_patterns = [".*", "var", "node_modules", "docs/site", "README.md"]
# Headings have the anchors that they have on code hosting sites.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
# Blocks hold shell lines, JSON and Python; only those that name their language are coloured.
highlight_language = "none"

html_theme = "furo"
html_title = "Stereoscope"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False  # the licence is not chosen yet
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}

USE = "Run studies"
OPERATE = "Operate a server"
DEVELOP = "Develop"
NAVIGATION = {
    "docs/index": {
        USE: [
            "use/tutorial",
            "use/running-a-study",
            "use/tasks/index",
            "use/questions",
            "use/troubleshooting",
            "use/glossary",
            "use/reference/index",
        ],
        OPERATE: [
            "operate/operating",
            "operate/settings",
            "operate/workers",
            "operate/proxy",
            "operate/sign-in",
            "operate/connections",
            "operate/monitoring",
            "operate/backup",
            "operate/updates",
            "operate/containers",
            "operate/personal-data",
            "operate/rights",
            "operate/licences",
        ],
        DEVELOP: [
            "/CONTRIBUTING",
            "develop/architecture",
            "develop/annotation",
            "develop/analysis",
            "develop/adding-a-kind",
            "develop/adding-a-backend",
            "develop/design",
            "/locale/README",
            "/benchmarks/README",
            "develop/decisions",
            "/CHANGELOG",
        ],
    },
    "docs/develop/decisions": {"": ["decisions/*"]},
    "docs/use/tasks/index": {
        "": [
            "import-a-resource",
            "create-a-study",
            "generate-images",
            "open-a-campaign",
            "invite-people",
            "recruit-from-a-panel",
            "watch-quality",
            "label-in-label-studio",
            "read-results",
            "compare-models",
            "score-images",
            "ask-a-language-model",
            "release-the-dataset",
            "withdraw-or-exclude-a-person",
        ]
    },
    "docs/use/reference/index": {
        "": [
            "importing",
            "generation",
            "annotation",
            "annotator-pages",
            "api",
            "recruitment",
            "erasing",
            "label-studio",
            "analysis",
            "metrics",
            "scoring",
            "probing",
            "releases",
        ]
    },
}


def with_navigation(_: Sphinx, docname: str, source: list[str]) -> None:
    """Append the tables of contents of a page to its text."""
    for caption, pages in NAVIGATION.get(docname, {}).items():
        options = [f":caption: {caption}", ":hidden:"] if caption else [":glob:"]
        source[0] += "\n".join(["", "", "```{toctree}", *options, "", *pages, "```"])


def list_external_links(app: Sphinx, error: Exception | None) -> None:
    """Write every address outside the site, with the pages that name it: nothing checks these without a network."""
    if error or app.builder.name != "html":
        return
    pages: dict[str, set[str]] = {}
    for docname in app.env.found_docs:
        for link in app.env.get_doctree(docname).findall(nodes.reference):
            if (address := link.get("refuri", "")).startswith(("http:", "https:")):
                pages.setdefault(address, set()).add(docname)
    lines = [f"{address}\t{', '.join(sorted(names))}\n" for address, names in sorted(pages.items())]
    (Path(app.outdir) / "external-links.tsv").write_text("".join(lines), encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("source-read", with_navigation)
    app.connect("build-finished", list_external_links)
