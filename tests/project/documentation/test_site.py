"""The documentation's site: it builds without warnings, internal links work, and nothing external is loaded."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILDER = ROOT / "var" / "docs" / "bin" / "sphinx-build"
# What a browser loads by itself, unlike the address of a link.
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=["']((?:https?:)?//[^"']+)""")

pytestmark = [
    pytest.mark.database_free,
    pytest.mark.slow,
    pytest.mark.skipif(not BUILDER.exists(), reason="Sphinx is not installed in var/docs: run `make site`"),
]


def build(source: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as `make site` does, from a repository in `source` into `folder`."""
    options = ["-n", "-W", "--keep-going", "-E", "-q", "-b", "html", "-c", str(source / "docs" / "site")]
    return subprocess.run(
        [BUILDER, *options, "-d", str(folder / ".pages"), source, folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stderr
    return folder


def test_nothing_is_loaded_from_other_hosts(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 50
    loaded = {page.name: LOADED.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: addresses for name, addresses in loaded.items() if addresses} == {}
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^\"')]+", styles) == []


def test_addresses_elsewhere_are_listed_with_the_pages_that_name_them(site):
    rows = [
        line.split("\t") for line in (site / "external-links.tsv").read_text(encoding="utf-8").splitlines()
    ]
    pages = dict(rows)
    assert "CHANGELOG" in pages["https://keepachangelog.com/en/1.1.0/"].split(", ")
    assert all(address.startswith("http") and names for address, names in rows)


def test_search_finds_words_of_the_pages(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert re.search(r'"krippendorff"\s*:', index)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a page](missing.md)", "missing.md"),
        ("[a heading](#no-such-heading)", "no-such-heading"),
        ("[a heading of another page](page.md#no-such-heading)", "no-such-heading"),
        ("![a picture](images/missing.png)", "missing.png"),
    ],
)
def test_a_broken_link_is_an_error(text, problem, tmp_path):
    (tmp_path / "docs").mkdir()
    shutil.copytree(ROOT / "docs" / "site", tmp_path / "docs" / "site")
    (tmp_path / "docs" / "page.md").write_text("# Page\n", encoding="utf-8")
    (tmp_path / "docs" / "index.md").write_text(f"# Start\n\n{text}\n", encoding="utf-8")
    built = build(tmp_path, tmp_path / "site")
    assert built.returncode != 0
    assert any(problem in line for line in built.stderr.splitlines())
