"""Write the tables of parameters in the documentation from their declarations: `make docs`.

A page marks the place with `<!-- parameters: analysis.results.parameters.Parameters -->` (`options:` for the options
of a command) and `<!-- end -->`. `<!-- table: tests.front.addresses.role_table -->` marks the place of a table that a
function returns.
"""

import os
import re
import sys
from pathlib import Path

from django.utils.module_loading import import_string

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
PLACE = re.compile(r"(<!-- (parameters|options|table): (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str) -> str:
    """Return a page with its tables as currently declared."""

    def table(place: re.Match[str]) -> str:
        begin, kind, name, end = place.groups()
        declared = import_string(name)
        written = declared() if kind == "table" else declared.markdown(options=kind == "options")
        return f"{begin}{written}\n{end}"

    return PLACE.sub(table, text)


def main() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (current := with_tables(text)) != text:
            page.write_text(current, encoding="utf-8")


if __name__ == "__main__":
    import django

    sys.path[:0] = [str(ROOT / "platform"), str(ROOT)]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main()
