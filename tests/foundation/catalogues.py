"""Reading of translation catalogues, both sources and compiled files."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import polib

from foundation.languages import LOCALE

DOMAINS = ("django", "djangojs", "texts")


class Message(NamedTuple):
    """A text and its translation; the plural of a text with a number is a separate message."""

    source: str
    words: str


def path_of(language: str, domain: str, suffix: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.{suffix}"


def compiled(language: str, *domains: str) -> list[Message]:
    """Return the messages of the compiled catalogues that a server reads."""
    files = (polib.mofile(str(path_of(language, domain, "mo"))) for domain in domains)
    return [message for file in files for message in messages(file)]


def messages(entries: Iterable[polib.POEntry | polib.MOEntry]) -> list[Message]:
    found = []
    for entry in entries:
        if entry.msgid_plural:
            texts = (entry.msgid, *[entry.msgid_plural] * (len(entry.msgstr_plural) - 1))
            found += map(Message, texts, (entry.msgstr_plural[form] for form in sorted(entry.msgstr_plural)))
        else:
            found.append(Message(entry.msgid, entry.msgstr))
    return found
