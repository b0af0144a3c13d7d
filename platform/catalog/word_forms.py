"""English singular and plural names of groups of people, for files with only one of the forms."""

import re
from collections.abc import Iterator, Mapping

SINGULAR, PLURAL = "singular", "plural"
# Irregular last words of names; other words follow the rules below.
_IRREGULAR = {
    "person": "people",
    "child": "children",
    "grandchild": "grandchildren",
    "wife": "wives",
    "police": "police",
}
_NO_MEN = frozenset({"caiman", "german", "human", "norman", "ottoman", "roman", "shaman", "talisman"})
_SAME = re.compile("(?:ese|ish|dutch|french|swiss|people|men)$")
_SIBILANT = re.compile("(?:s|x|z|ch|sh)$")
_CONSONANT_Y = re.compile("[^aeiou]y$")
_PERSON = " person"


def plural_of(name: str) -> str:
    """Return the plural of a name: “old person” → “old people”, “fisherman” → “fishermen”, “Texan” → “Texans”."""
    *before, last = re.split("([ -])", name)
    lower = last.casefold()
    if lower in _IRREGULAR:
        last = _in_case_of(last, _IRREGULAR[lower])
    elif _SAME.search(lower):
        pass
    elif lower.endswith("man") and lower not in _NO_MEN:
        last = f"{last[:-2]}en"
    elif _CONSONANT_Y.search(lower):
        last = f"{last[:-1]}ies"
    else:
        last += "es" if _SIBILANT.search(lower) else "s"
    return "".join((*before, last))


def complete_forms(forms: Mapping[str, str]) -> dict[str, str]:
    """Return the forms, with a plural by rule if only the singular is given; no singular is added."""
    if PLURAL in forms or SINGULAR not in forms:
        return dict(forms)
    return {**forms, PLURAL: plural_of(forms[SINGULAR])}


def plurals_in_use(name: str) -> Iterator[str]:
    """Yield plurals used in lists, the likeliest first: “Polish people”, “Polish” for “Polish person”."""
    yield plural_of(name)
    if name.casefold().startswith("the "):
        yield plural_of(name[4:])
    if name.casefold().endswith(_PERSON):
        adjective = name[: -len(_PERSON)]
        yield plural_of(adjective)
        yield adjective
    else:
        yield f"{name} people"
        yield name


def _in_case_of(word: str, other: str) -> str:
    return other.capitalize() if word[:1].isupper() else other
