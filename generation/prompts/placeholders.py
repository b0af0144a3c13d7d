"""Rendering of prompts: placeholders in a template are replaced by values."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from foundation.errors import DomainError

if TYPE_CHECKING:
    import inflect

_ARTICLES = ("a_an", "A_an")
FORMS = ("singular", "plural")
PLACES = ("id", "attr", "phrase", "person", *FORMS, *_ARTICLES)
_TOKEN = re.compile(r"\{([^{}]*)\}|([{}])|([^{}]+)")
_WORD = re.compile(r"[^\W_]\S*")


def check(template_text: str) -> frozenset[str]:
    """Return the placeholders of a template; refuse an unknown placeholder and an unmatched brace."""
    return places_of(template_text, PLACES)


def places_of(template_text: str, allowed: Collection[str]) -> frozenset[str]:
    """Return the placeholders of a template; refuse one that is not allowed and an unmatched brace."""
    return frozenset(place for place, _ in _tokens(template_text, allowed) if place)


def render(
    template_text: str,
    *,
    group: str | None = None,
    attribute: str | None = None,
    phrase: str | None = None,
    forms: Mapping[str, str] | None = None,
) -> str:
    """Render a template: {id} and {person} group, {attr} attribute, {phrase} phrase, {a_an} article of the next word.

    `forms`: the values of {singular} and {plural} for a descriptor. Text outside placeholders stays unchanged, even
    if its article is wrong: `an {id} person` is intended.
    """
    fillings = {"id": group, "attr": attribute, "phrase": phrase, "person": group}
    return fill(template_text, fillings | {form: (forms or {}).get(form) for form in FORMS})


def fill(template_text: str, fillings: Mapping[str, str | None]) -> str:
    """Replace the placeholders in `fillings`, and {a_an} and {A_an} by the article of the next word."""
    parts: list[tuple[str, str]] = []
    for place, text in _tokens(template_text, (*fillings, *_ARTICLES)):
        if place in fillings:
            filling = fillings[place]
            if filling is None:
                raise DomainError(
                    "prompt_place_empty", f"The prompt “{template_text}” has no value for {{{place}}}."
                )
            parts.append(("", filling))
        else:
            parts.append((place, text))
    # From the end, because an article depends on the text after it.
    prompt = ""
    for place, text in reversed(parts):
        prompt = (_article(prompt, template_text, capital=place == "A_an") if place else text) + prompt
    return prompt


def _tokens(template_text: str, allowed: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (placeholder, "") for a placeholder and ("", text) for text."""
    for match in _TOKEN.finditer(template_text):
        place, brace, text = match.groups()
        if brace:
            raise DomainError(
                "prompt_brace_alone",
                f"The prompt “{template_text}” has a “{brace}” without the matching brace.",
            )
        if place is None:
            yield "", text
        elif place in allowed:
            yield place, ""
        else:
            places = ", ".join(f"{{{name}}}" for name in allowed)
            raise DomainError(
                "prompt_place_unknown",
                f"The prompt “{template_text}” has {{{place}}}, which is not one of the placeholders "
                f"{places}.",
            )


def _article(following: str, template_text: str, *, capital: bool) -> str:
    word = _WORD.search(following)
    if word is None:
        raise DomainError(
            "prompt_article_alone",
            f"The prompt “{template_text}” has a placeholder for an article with no word after it.",
        )
    article = _article_of(word.group())
    return article.capitalize() if capital else article


@lru_cache(maxsize=4096)
def _article_of(word: str) -> str:
    article: str = _engine().a(word).split()[0]
    return article


@lru_cache(maxsize=1)
def _engine() -> "inflect.engine":
    import inflect  # imported here, because it takes two seconds, which no other command should wait

    engine = inflect.engine()
    engine.defa("uyghurs?")  # pronounced with a w, which its spelling hides
    return engine
