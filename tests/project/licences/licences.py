"""Write the table of licences of all packages that ours install: `make licences`.

Each licence is the package's own declaration: its licence expression, else its classifiers, else its licence field,
else the first words of its licence file. Packages that are not installed here keep their line if their version has
not changed.
"""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "operate" / "licences.md"
FOLDER = ROOT / "requirements"
# Use of packages: each file and its dependencies, without those of earlier files.
FILES = {
    "server": (FOLDER / "web.txt", FOLDER / "label-studio-client.txt"),
    "worker": (ROOT / "requirements.txt",),
    "observability": (FOLDER / "observability.txt",),
    "saml": (FOLDER / "saml.txt",),
    "tests": (FOLDER / "test.txt",),
}
# Installed with --no-deps on a server; a worker also installs their dependencies.
_ALONE = {"label-studio-sdk"}
_LINE = re.compile(r"^\| ([\w.-]+) \| (\S+) \| (.+) \| (\w+) \|$", re.MULTILINE)
_KNOWN_TEXTS = {"Apache License": "Apache-2.0", "MIT License": "MIT", "Permission is hereby granted": "MIT"}
UNDECLARED = "not declared by the package"
_HEAD = """\
# Licences of dependencies

`make licences` writes this page from what each package declares. A test fails if this page is outdated. The last column
says who needs a package: *server*, web servers; *worker*, model code; *observability*, servers that use Sentry or
OpenTelemetry; *saml*, servers with sign-in through SAML; *tests*, developers. Label Studio, a browser, PostgreSQL,
Redis and the object store are separate programs. The platform talks to them but does not contain them.

## Licences of the GNU family

{gnu}

## All packages

| package | version | licence | installed for |
|---|---|---|---|
"""


class LicenceLine(NamedTuple):
    package: str
    version: str
    licence: str
    use: str


def versions() -> dict[str, str]:
    """Return the version of each package that is pinned."""
    pins: dict[str, str] = {}
    for file in (
        FOLDER / "constraints.txt",
        FOLDER / "web.txt",
        FOLDER / "test.txt",
        *FILES["observability"],
        *FILES["saml"],
        *FILES["worker"],
        *FILES["server"],
    ):
        for requirement in _requirements(file):
            for specifier in requirement.specifier:
                pins[canonicalize_name(requirement.name)] = specifier.version
    return pins


def lines() -> Iterator[LicenceLine]:
    """Yield a line for each package that is installed with ours, by its first use."""
    seen: set[str] = set()
    for use, files in FILES.items():
        names = [requirement for file in files for requirement in _requirements(file)]
        # Unpinned packages, such as setuptools, come with Python's own tools.
        closure = _closure(names, alone=_ALONE if use == "server" else set()) & versions().keys()
        for name in sorted(closure - seen):
            seen.add(name)
            package = distribution(name)
            yield LicenceLine(name, package.version, licence_of(package), use)


def licence_of(package: Distribution) -> str:
    """Return the licence that a package declares."""
    metadata = package.metadata
    classifiers = [
        classifier.rpartition(" :: ")[2]
        for classifier in metadata.get_all("Classifier") or []
        if classifier.startswith("License :: ") and not classifier.endswith("OSI Approved")
    ]
    field = (metadata.get("License") or "").strip().partition("\n")[0][:60]
    declared = metadata.get("License-Expression") or "; ".join(classifiers) or field or _of_file(package)
    return " ".join(declared.replace("|", "or").split()) or UNDECLARED


def page() -> str:
    """Return the current content of the page."""
    pins = versions()
    rows = {line.package: line for line in lines()}
    if PAGE.exists():
        for line in stored(PAGE.read_text(encoding="utf-8")):
            if line.package not in rows and pins.get(line.package) == line.version:
                rows[line.package] = line
    ordered = sorted(rows.values())
    gnu = "\n".join(
        f"- **{line.package}** {line.version}: {line.licence} ({line.use})"
        for line in ordered
        if re.search(r"GPL|GNU", line.licence)
    )
    return _HEAD.format(gnu=gnu) + "".join(f"| {' | '.join(line)} |\n" for line in ordered)


def stored(text: str) -> list[LicenceLine]:
    """Return the lines of a page."""
    return [LicenceLine(*cells) for cells in _LINE.findall(text)]


def _requirements(file: Path) -> Iterator[Requirement]:
    for line in file.read_text(encoding="utf-8").splitlines():
        content = line.partition("#")[0].strip()
        if content and not content.startswith("-"):
            yield Requirement(content)


def _closure(requirements: Iterable[Requirement], *, alone: set[str]) -> set[str]:
    """Return the names of these packages and of all their dependencies that are installed."""
    names: set[str] = set()
    waiting = [(requirement, extra) for requirement in requirements for extra in ("", *requirement.extras)]
    visited: set[tuple[str, str]] = set()
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, extra) in visited:
            continue
        visited.add((name, extra))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        names.add(name)
        for text in [] if name in alone else package.requires or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(needed, inner) for inner in ("", *needed.extras)]
    return names


def _of_file(package: Distribution) -> str:
    for file in package.files or []:
        if "licen" in file.name.lower() and file.locate().is_file():
            text = Path(str(file.locate())).read_text(encoding="utf-8", errors="replace")[:2000]
            return next((licence for words, licence in _KNOWN_TEXTS.items() if words in text), "")
    return ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
