"""The blocks of commands in a page of the documentation.

Every indented block is one. Other text, such as units of systemd, is fenced with its language. A comment
`<!-- not run: reason -->` before a block explains why no test can run it; readers do not see it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

NOT_RUN = re.compile(r"<!-- not run: (.+) -->")


@dataclass(frozen=True)
class Block:
    """Consecutive lines to type in a shell."""

    page: str
    line_number: int
    lines: tuple[str, ...]
    not_run: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line_number}"


def blocks_in(page: Path) -> list[Block]:
    """Return the blocks of a page in their order."""
    found = []
    reason = ""
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "code_block":
            assert token.map is not None
            lines = tuple(token.content.rstrip().split("\n"))
            found.append(Block(page.name, token.map[0] + 1, lines, reason))
        comment = NOT_RUN.fullmatch(token.content.strip()) if token.type == "html_block" else None
        reason = comment[1] if comment else ""
    return found
