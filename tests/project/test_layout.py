"""Layout: no module shadows the standard library, no app names a page of a higher app, folders stay small."""

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path, PurePosixPath

import pytest
from django.core.management import call_command
from django.urls import URLResolver, get_resolver

ROOT = Path(__file__).resolve().parents[2]
# Each app may name its own pages and those of earlier apps.
LAYERS = (
    *("foundation", "web", "accounts", "jobs", "catalog", "studies"),
    *("generation", "annotation", "analysis", "privacy", "operations", "front", "config", "demo"),
)
# A study's page shows counts of all apps below `front`, so its views are there; every app links to it.
OWNERS_OF_NAMESPACES = {"studies": "studies"}
PAGE_CALL = re.compile(
    r"""(?:\{% (?:url|post_button)|\b(?:reverse|reverse_lazy|redirect|resolve_url)\() *["']([\w-]+)["']"""
)
# The maximum number of entries in a folder, without `__init__.py`.
MOST_ENTRIES = 15
MORE_ENTRIES = {
    # Its ten Django entries (admin, apps, background, management, migrations, models, static, templates,
    # templatetags, urls), the registry of integrations, and fifteen packages, each a part of labelling.
    "annotation": 26,
    # Its seven Django entries (apps, background, management, migrations, static, templates, templatetags), and ten
    # packages, each a step from measures to pages.
    "analysis": 17,
    # Its eight Django entries, what it registers, the view of images, and nine packages.
    "annotation/label_studio": 19,
    "tests/analysis/metrics": 17,  # a folder for each package of measures, and shared helpers
    "tests/annotation": 19,  # a folder for each package of the app, and shared helpers
    "tests/project": 17,  # rules for the whole repository, one file for each
    "tests": 17,  # a folder for each app, and shared helpers
    # Its six Django entries (admin, apps, migrations, models, static, templates), pages, and what concerns people:
    # codes of their details, consent, rights and permissions, signing in, tokens.
    "platform/accounts": 16,
    # Its eight Django entries (api, apps, background, management, migrations, models, static, templates), and a
    # package for each part of generation and probing.
    "generation": 19,
}
UNLIMITED = {"", "docs/develop/decisions"}


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-c", "import platform; print(platform.python_version())"],
        [
            sys.executable,
            "manage.py",
            "shell",
            "-v",
            "0",
            "-c",
            "import platform; print(platform.python_version())",
        ],
    ],
    ids=["from the repository root", "under manage.py"],
)
def test_platform_is_the_module_of_the_standard_library(command, tmp_path):
    env = {"STEREOSCOPE_VAR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    printed = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == ".".join(map(str, sys.version_info[:3]))


def test_platform_is_a_folder_and_never_a_package():
    assert not (ROOT / "platform" / "__init__.py").exists()


@pytest.mark.django_db
def test_migrations_match_the_models():
    call_command("makemigrations", "--check", "--dry-run", stdout=StringIO())


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for path in listed.splitlines() if (ROOT / path).is_file()]


def app_of(path: str) -> str:
    return path.removeprefix("platform/").partition("/")[0]


def page_owners(resolver: URLResolver, namespaces: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the app of each page by its full name: the app whose `urls` define it, or `web` without a namespace."""
    owners: dict[str, str] = {}
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            inner = (*namespaces, pattern.namespace) if pattern.namespace else namespaces
            owners |= page_owners(pattern, inner)
        elif pattern.name:
            # Pages of packages, such as the admin, are not in our modules.
            module = getattr(resolver.urlconf_module, "__name__", "web")
            app = OWNERS_OF_NAMESPACES.get(namespaces[-1], module.partition(".")[0]) if namespaces else "web"
            owners[":".join((*namespaces, pattern.name))] = app
    return owners


def upward_names(path: str, text: str, owners: dict[str, str]) -> list[str]:
    """Return the names of pages in the text that belong to apps above that of the path."""
    # A name that code composes counts by its namespace.
    of_namespaces = {name.partition(":")[0]: app for name, app in owners.items() if ":" in name}
    named = re.findall(rf"""["'](({"|".join(of_namespaces)}):[\w-]+)""", text)
    apps = [(name, owners.get(name, of_namespaces[namespace])) for name, namespace in named]
    apps += [(name, "web") for name in PAGE_CALL.findall(text)]
    return [name for name, app in apps if LAYERS.index(app) > LAYERS.index(app_of(path))]


def test_no_app_names_a_page_of_an_app_above_it():
    owners = page_owners(get_resolver())
    assert owners["api:assignment-submit"] == owners["annotate:home"] == "annotation"
    sources = [path for path in tracked_files() if path.endswith((".py", ".html", ".txt", ".js"))]
    upward = {
        path: names
        for path in sources
        if app_of(path) in LAYERS and (names := upward_names(path, (ROOT / path).read_text(), owners))
    }
    assert upward == {}


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("platform/jobs/templates/jobs/list.html", "{% url 'studies:list' as url %}", ["studies:list"]),
        ("platform/jobs/pages/views.py", 'redirect("studies:list")', ["studies:list"]),
        ("generation/pages/runs.py", 'reverse("scoring:list", args=[slug])', ["scoring:list"]),
        ("platform/studies/api/views.py", 'reverse("api:assignment-submit")', ["api:assignment-submit"]),
        ("generation/pages/runs.py", 'reverse(f"scoring:go_{way}")', ["scoring:go_"]),
        ("platform/foundation/errors.py", 'redirect("home")', ["home"]),
        ("platform/web/templates/web/base.html", "{% url 'home' %}{% url 'admin:index' %}", []),
        ("generation/pages/runs.py", 'redirect("studies:detail", slug)', []),
        ("annotation/templatetags/unsent.py", 'reverse("api:assignment-submit")', []),
        ("platform/front/views.py", 'redirect("annotate:home")', []),
    ],
)
def test_the_search_finds_names_of_pages_above(path, text, names):
    assert upward_names(path, text, page_owners(get_resolver())) == names


def test_no_folder_holds_more_than_can_be_taken_in_at_a_glance():
    entries: dict[str, set[str]] = {}
    for path in tracked_files():
        for folder in PurePosixPath(path).parents:
            name = "" if folder == PurePosixPath() else str(folder)
            entries.setdefault(name, set()).add(PurePosixPath(path).relative_to(folder).parts[0])
    crowded = {
        folder: len(names)
        for folder, names in entries.items()
        if len(names - {"__init__.py"}) > MORE_ENTRIES.get(folder, MOST_ENTRIES)
        and folder not in UNLIMITED
        and not folder.endswith("/migrations")
    }
    assert crowded == {}
