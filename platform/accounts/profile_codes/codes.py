"""Canonical codes for people's details about themselves, recognised in many spellings.

Quotas, results and releases compare codes: `woman`, the ISO 3166 code `DEU`, the UN M49 code `030`, the
language code `qu`. An answer has a code only if its spelling is unambiguous. A spelling that two codes share
has no code, nor has a misspelt word, a struck-out word or a word that a mark may negate; nothing is guessed.
An answer without a code stays in the person's own words.

Names in 70 languages are from the Unicode CLDR 47 (country_names.tsv, region_names.tsv, language_names.tsv;
Unicode License v3). Demonyms and words for genders are our own lists (nationality_words.tsv,
gender_words.tsv): `~` marks a German adjective and `^` a German noun, which take endings. Words in
ambiguous_words.tsv have no code: names of several countries, of a country and a town elsewhere, family names,
or words that describe looks.
"""

import re
import unicodedata

from django.utils.translation import get_language

from accounts.profile_codes.code_tables import (
    COUNTRIES,
    DROPPED,
    alpha_codes,
    code_names,
    exact_codes,
    field_codes,
    fold,
    spelling_table,
)
from foundation.languages import of_locale

CODED = ("gender", "region_of_origin", "nationality", "country_of_residence", "languages")
# Represents languages without a code in a list of languages.
UNCODED = "?"

# Without its accents, “român” is a person from Rome, “féminine” describes looks, and “Réunion” is a meeting.
_ONLY_WITH_ACCENTS = frozenset({"roman", "feminine", "reunion"})
# The German name of Iceland and the French name of Chile; in lower case, these are English words.
_ONLY_IN_CAPITALS = frozenset({"island", "chili"})
# M is “mujer” (woman) in Spanish forms and “male” in English ones. It has a code only in “M (male)”.
_NEVER_ALONE = frozenset({"m"})
# Codes that are also words unless they are in capitals; the last ones never mean a country.
_CODE_WORDS = frozenset(
    re.findall(
        r"\w+",
        "ad ai al am an as at be bi by cc do eh er es ga hm hr id ie il im in io is it je la li ma mm mo my "
        "ne ni nu pa pe pm se si so sr st sv th to tv ve",
    )
)
# South Africans also write SA. Many codes are also states of the USA: CA is California as well as Canada.
_NEVER_CODES = frozenset(
    re.findall(
        r"\w+",
        "na no me mr ms om sa al ar az ca co ga id il in ky la ma md mn mo mt nc ne pa sc sd tn va ba",
    )
)
# Language codes that people write; most others are words: “hi”, “so”, “man”, “see”.
_WRITTEN_LANGUAGE_CODES = frozenset(
    re.findall(r"\w+", "ar bg bn cs de en es fi fr hr hu ja ko nl pl pt ro ru sr sv sw th tr ur vi zh")
)
_SMALL_LETTER_CODES = frozenset(
    re.findall(
        r"\w+", "usa gbr deu fra esp ita pol tur ind chn bra mex jpn rus ukr nga zaf aus aut che nld swe "
    )
)
_OVERLAY = 1  # canonical combining class
# Controls that display letters in another order than they were typed.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DASHES = "-‐–—\u2011\u2212"
_ALLOWED = frozenset('-‐–—(),·"“”„&') | frozenset(DROPPED)
_ENDING = re.compile(r"(?P<stem>.+?)[(/:*_·]\s*-?(?P<ending>innen|in|er|ne|r|e|a|o|n)\)?")
_PARTS = re.compile(r"[/,()|]")
_BEFORE = re.compile(
    r"(?:(?:i am|im|ich bin|je suis|soy|sono|i come|ich komme) )?"
    r"(?:(?:an?|the|eine?|une?|from(?: the)?|aus(?: de[rmn])?) )?"
)
_FIRST_WITH_HYPHEN = re.compile(rf"\s*\w+[{_DASHES}]")
_NOT_AFTER_WORDS = frozenset({"soy india"})
_AFTER = re.compile(
    r" (?:citizen|citizenship|national|nationality|staatsburger|staatsburgerin|staatsburgerschaft|"
    r"staatsangehorigkeit|staatsangehoriger?)$"
)


def code_of(field: str, text: str) -> str:
    """Return the code of a typed answer, "" if it has none or is ambiguous."""
    if _is_struck_out(text) or _REORDERING & set(text):
        return ""
    text = _without_marks(unicodedata.normalize("NFKC", text)).strip()
    # “-German” may be an item of a list or mean all except German.
    if not text or text[0] in _DASHES or text[-1] in _DASHES or fold(text) in _NEVER_ALONE:
        return ""
    if code := _ending_left_open(spelling_table(field), text) or _code_of_words(field, text):
        return code
    parts = [part for part in _PARTS.split(text) if part.strip()]
    return _code_of_all(field, parts) if len(parts) > 1 else ""


def _code_of_all(field: str, parts: list[str]) -> str:
    """Return the code of “männlich/male” or “Germany (DE)”: two unambiguous forms of the same answer."""
    matches = {_code_of_words(field, part.strip()) for part in parts}
    return matches.pop() if len(matches) == 1 else ""


def _code_of_words(field: str, text: str) -> str:
    if not _is_plain(text):
        return ""
    table = spelling_table(field)
    if field in COUNTRIES and (code := _iso_code(text)):
        return code
    key = fold(text)
    # “un German” begins with an article; “un-German” does not, and “soy india” may mean “I am indigenous”.
    is_bare = _FIRST_WITH_HYPHEN.match(text) or key in _NOT_AFTER_WORDS
    for candidate in (key,) if is_bare else (key, _AFTER.sub("", _BEFORE.sub("", key, count=1))):
        if candidate in table:
            return table[candidate] if _is_written_out(candidate, text) else ""
    if field in COUNTRIES or (field == "languages" and key not in _WRITTEN_LANGUAGE_CODES):
        return ""
    return exact_codes(field).get(text.casefold(), "")


def _is_written_out(candidate: str, text: str) -> bool:
    """Return whether a word that becomes another word without its accents or capitals has them."""
    if candidate in _ONLY_WITH_ACCENTS:
        return not text.isascii()
    return candidate not in _ONLY_IN_CAPITALS or not text.islower()


def label(field: str, code: str, *, language: str | None = None) -> str:
    """Return the name of a code in `language` (by default the active one), in English if it has no name there.

    A code that is not in our lists (a people that one resource invented) is its own name.
    """
    return code_names(field, of_locale(language or get_language())).get(code.casefold()) or code_names(
        field, "en"
    ).get(code.casefold(), code)


def labels(field: str) -> tuple[str, ...]:
    """Return the suggestions for a field, named and sorted in the person's language."""
    named = code_names(field, of_locale(get_language()))
    names = (named[code.casefold()] for code in field_codes(field) if code.casefold() in named)
    return tuple(names) if field == "gender" else tuple(sorted(names, key=fold))


def canonical(field: str, code: str) -> str:
    """Return a code in its standard case, "" if there is no such code. Two letters suffice for a country."""
    listed = alpha_codes() if field in COUNTRIES else exact_codes(field)
    return listed.get(code.strip().casefold(), "")


def _is_struck_out(text: str) -> bool:
    """Return whether a mark covers letters: a line through them, or the circle of a prohibition."""
    return any(unicodedata.combining(char) == _OVERLAY or unicodedata.category(char) == "Me" for char in text)


def _without_marks(text: str) -> str:
    """Remove invisible characters, such as the mark at the end of a copied Arabic word; joiners stay."""
    return "".join(char for char in text if unicodedata.category(char) != "Cf" or char in "\u200c\u200d")


def _is_plain(text: str) -> bool:
    """Return whether `text` consists only of words: a question mark, a slash or a star may change the meaning."""
    return all(
        char in _ALLOWED or unicodedata.category(char)[0] in "LMNZ" or char == "\u200c" for char in text
    )


def _iso_code(text: str) -> str:
    folded = text.casefold()
    codes_by_alpha = alpha_codes()
    if folded in _NEVER_CODES or folded not in codes_by_alpha:
        return ""
    if not text.isupper() and (
        folded in _CODE_WORDS or (len(folded) == 3 and folded not in _SMALL_LETTER_CODES)
    ):
        return ""
    return codes_by_alpha[folded]


def _ending_left_open(table: dict[str, str], text: str) -> str:
    """Return the code of “Italiener/in”, “deutsche(r)”, “italiano/a”: one word with two endings."""
    match = _ENDING.fullmatch(text)
    if match is None or not _is_plain(match["stem"]):
        return ""
    stem, ending = fold(match["stem"]), match["ending"]
    forms = {stem + ending, stem[:-1] + ending, f"{stem} {ending}"} & table.keys()
    matches = {table[form] for form in forms} | ({table[stem]} if stem in table else set())
    return matches.pop() if len(matches) == 1 and stem in table and forms else ""
