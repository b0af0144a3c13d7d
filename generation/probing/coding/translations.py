"""Names of the options of PAIRS in other languages, for answers that are not in English."""

import tomllib
import unicodedata
from functools import lru_cache
from pathlib import Path

_ARTICLES = ("a ", "an ", "the ")
_FILE = Path(__file__).with_name("translations.toml")


def translations(option: str) -> tuple[str, ...]:
    """Return the names of an option in other languages, with and without accents; none for unknown options."""
    name = option.casefold().strip()
    for article in _ARTICLES:
        name = name.removeprefix(article)
    return _by_option().get(name, ())


@lru_cache(maxsize=1)
def _by_option() -> dict[str, tuple[str, ...]]:
    names: dict[str, list[str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        option: tuple(dict.fromkeys(form for word in words for form in (_composed(word), _bare(word))))
        for option, words in names.items()
    }


def _composed(word: str) -> str:
    return unicodedata.normalize("NFKC", word)


def _bare(word: str) -> str:
    """Return a word in Latin letters without accents, as many answers write it."""
    letters = unicodedata.normalize("NFD", word)
    if not all("LATIN" in unicodedata.name(letter, "") for letter in letters if letter.isalpha()):
        return _composed(word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
