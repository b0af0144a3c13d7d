"""Canonical codes for what people say of themselves, found from the many ways it is spelt.

Quotas, results and releases compare codes: `woman`, the ISO 3166 code `DEU`, the UN M49 code `030`, the language code
`qu`. An answer has a code only where its spelling leaves no doubt. A spelling that two codes share has none, nor has
one with a typing error, one that is struck out or one that a mark may negate; nothing here guesses. What has no code
stays in the person's own words.

Names in 70 languages are from the Unicode CLDR 47 (country_names.tsv, region_names.tsv, language_names.tsv; Unicode
License v3). Demonyms and words for genders are lists of our own (nationality_words.tsv, gender_words.tsv): `~` marks
a German adjective and `^` a German noun, which take endings. Words in ambiguous_words.tsv have no code: names of
several countries, of a country and a town elsewhere, family names, or words about how somebody looks.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path

from django.utils.translation import get_language

from foundation.languages import of_locale
from foundation.m49 import SUBREGIONS

_DATA = Path(__file__).with_name("data")
# The languages of names in the files of spellings, and those of translated_names.tsv (CLDR 42), in its order.
_WITH_NAMES, _TRANSLATED = ("en", "de"), ("es", "hi")
_KINDS = {"gender": "gender", "region_of_origin": "region", "languages": "language"}  # else a country
COUNTRIES = frozenset({"nationality", "country_of_residence"})
CODED = ("gender", "region_of_origin", "nationality", "country_of_residence", "languages")
# Stands among the codes of languages for those that have none: who knows which they are?
UNCODED = "?"

# Without its accents, “român” is somebody from Rome, “féminine” how somebody looks, and “Réunion” a meeting.
_ONLY_WITH_ACCENTS = frozenset({"roman", "feminine", "reunion"})
# So Germans write Iceland and the French Chile; in small letters these are English words.
_ONLY_IN_CAPITALS = frozenset({"island", "chili"})
# M is “mujer” (woman) in Spanish forms and “male” in English ones. It has no code alone, but in “M (male)”.
_NEVER_ALONE = frozenset({"m"})
# Codes that are words as well, when they are not written in capitals; the last ones never stand for a country.
_CODE_WORDS = frozenset(
    re.findall(
        r"\w+",
        "ad ai al am an as at be bi by cc do eh er es ga hm hr id ie il im in io is it je la li ma mm mo my "
        "ne ni nu pa pe pm se si so sr st sv th to tv ve",
    )
)
# South Africans write SA, too. Many are also states of the USA: CA is California as well as Canada.
_NEVER_CODES = frozenset(
    re.findall(
        r"\w+",
        "na no me mr ms om sa al ar az ca co ga id il in ky la ma md mn mo mt nc ne pa sc sd tn va ba",
    )
)
# The codes of languages that people write; most others are words: “hi”, “so”, “man”, “see”.
_WRITTEN_LANGUAGE_CODES = frozenset(
    re.findall(r"\w+", "ar bg bn cs de en es fi fr hr hu ja ko nl pl pt ro ru sr sv sw th tr ur vi zh")
)
_SMALL_LETTER_CODES = frozenset(
    re.findall(
        r"\w+", "usa gbr deu fra esp ita pol tur ind chn bra mex jpn rus ukr nga zaf aus aut che nld swe "
    )
)
_SPECIAL = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_DROPPED = ".'’‘ʼ`´"
# Marks that may be missing from a word: accents, the points of Hebrew and Arabic, and what selects a letter's look.
# The vowels of Hindi or Thai are marks as well, and without them words are other words.
_DROPPED_MARKS = (
    ("\u0300", "\u036f"),
    ("\u0591", "\u05c7"),
    ("\u0610", "\u061a"),
    ("\u064b", "\u065f"),
    ("\u0670", "\u0670"),
    ("\ufe00", "\ufe0f"),
)
_OVERLAY, _NUKTA = 1, 7  # canonical combining classes
# These show letters in another order than they were typed.
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DASHES = "-‐–—\u2011\u2212"
_ALLOWED = frozenset('-‐–—(),·"“”„&') | frozenset(_DROPPED)
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
    """Return the code of an answer as it was typed, "" where there is none or some doubt."""
    if _is_struck_out(text) or _REORDERING & set(text):
        return ""
    text = _without_marks(unicodedata.normalize("NFKC", text)).strip()
    # “-German” may be a list's item or mean all but German.
    if not text or text[0] in _DASHES or text[-1] in _DASHES or fold(text) in _NEVER_ALONE:
        return ""
    if code := _ending_left_open(_table(field), text) or _code_of_words(field, text):
        return code
    parts = [part for part in _PARTS.split(text) if part.strip()]
    return _code_of_all(field, parts) if len(parts) > 1 else ""


def _code_of_all(field: str, parts: list[str]) -> str:
    """Return the code of “männlich/male” or “Germany (DE)”: one answer said twice, so that there is no doubt."""
    matches = {_code_of_words(field, part.strip()) for part in parts}
    return matches.pop() if len(matches) == 1 else ""


def _code_of_words(field: str, text: str) -> str:
    if not _is_plain(text):
        return ""
    table = _table(field)
    if field in COUNTRIES and (code := _iso_code(text)):
        return code
    key = fold(text)
    # “un German” begins with an article; “un-German” does not, nor does “soy india” say more than “I am indigenous”.
    is_bare = _FIRST_WITH_HYPHEN.match(text) or key in _NOT_AFTER_WORDS
    for candidate in (key,) if is_bare else (key, _AFTER.sub("", _BEFORE.sub("", key, count=1))):
        if candidate in table:
            return table[candidate] if _is_written_out(candidate, text) else ""
    if field in COUNTRIES or (field == "languages" and key not in _WRITTEN_LANGUAGE_CODES):
        return ""
    return _exact(field).get(text.casefold(), "")


def _is_written_out(candidate: str, text: str) -> bool:
    """Whether a word that is another one without its accents or capitals has them."""
    if candidate in _ONLY_WITH_ACCENTS:
        return not text.isascii()
    return candidate not in _ONLY_IN_CAPITALS or not text.islower()


def label(field: str, code: str, *, language: str | None = None) -> str:
    """Return what a code is called in `language` (the active one if not named), in English if it has no name there.

    What is no code of ours (a people that one resource invented) is its own name.
    """
    return _names(field, of_locale(language or get_language())).get(code.casefold()) or _names(
        field, "en"
    ).get(code.casefold(), code)


def labels(field: str) -> tuple[str, ...]:
    """Return what people are offered for a field, in their language and its order."""
    named = _names(field, of_locale(get_language()))
    names = (named[code.casefold()] for code in codes(field) if code.casefold() in named)
    return tuple(names) if field == "gender" else tuple(sorted(names, key=fold))


def codes(field: str) -> tuple[str, ...]:
    """Return the codes of a field."""
    return tuple(row[0] for row in _rows(field))


def canonical(field: str, code: str) -> str:
    """Return a code as it is written, whatever its case; "" where there is none such. Two letters do for a country."""
    listed = _alpha_codes() if field in COUNTRIES else _exact(field)
    return listed.get(code.strip().casefold(), "")


def fold(text: str) -> str:
    """Return `text` as spellings are compared: without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold().translate(_SPECIAL))
    letters = unicodedata.normalize("NFC", "".join(char for char in plain if not _may_be_missing(char)))
    return " ".join(
        "".join(
            char if char.isalnum() or unicodedata.category(char) in {"Mc", "Mn"} else " " for char in letters
        ).split()
    )


def _may_be_missing(char: str) -> bool:
    """Whether spellings with and without this character are the same word."""
    if char in _DROPPED or unicodedata.category(char) == "Cf":
        return True
    return unicodedata.combining(char) == _NUKTA or any(
        first <= char <= last for first, last in _DROPPED_MARKS
    )


def _is_struck_out(text: str) -> bool:
    """Whether a mark lies over letters: a line through them, or the circle of a prohibition."""
    return any(unicodedata.combining(char) == _OVERLAY or unicodedata.category(char) == "Me" for char in text)


def _without_marks(text: str) -> str:
    """Leave out what cannot be seen, such as the mark that a copied word of Arabic ends with; joiners stay."""
    return "".join(char for char in text if unicodedata.category(char) != "Cf" or char in "\u200c\u200d")


def _is_plain(text: str) -> bool:
    """Whether `text` is words alone: a question mark, a slash or a star says that more is meant."""
    return all(
        char in _ALLOWED or unicodedata.category(char)[0] in "LMNZ" or char == "\u200c" for char in text
    )


def _iso_code(text: str) -> str:
    folded = text.casefold()
    codes_by_alpha = _alpha_codes()
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


@cache
def _rows(field: str) -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
    """Return code, English and German name, and other names of a field."""
    if field == "gender":
        return tuple(
            (code, en, de, tuple(_forms(words.split(",")))) for code, en, de, words in _read("gender_words")
        )
    if field in COUNTRIES:
        listed = dict(line.split("\t") for line in _lines("countries.txt"))
        return tuple(
            _country(code, listed.get(code, en), en, de, aliases)
            for code, _, en, de, *aliases in _read("country_names")
        )
    if field == "region_of_origin":
        return tuple(
            (code, SUBREGIONS[code], de, (en, *aliases)) for code, en, de, *aliases in _read("region_names")
        )
    return tuple((code, en, de, tuple(aliases)) for code, en, de, *aliases in _read("language_names"))


def _country(
    code: str, name: str, en: str, de: str, aliases: list[str]
) -> tuple[str, str, str, tuple[str, ...]]:
    english, german = _COUNTRY_LABELS.get(code, (name, de))
    return code, english, german, () if code in _LISTED_NAMES_ONLY else (en, *aliases)


# The short names of ISO 3166 for these would be read as another country, or are not what people call it.
_COUNTRY_LABELS = {
    "GIN": ("Guinea (Conakry)", "Guinea (Conakry)"),
    "COG": ("Congo (Brazzaville)", "Kongo (Brazzaville)"),
    "COD": ("Congo (Kinshasa)", "Kongo (Kinshasa)"),
    "KOR": ("South Korea", "Südkorea"),
    "PRK": ("North Korea", "Nordkorea"),
    "GEO": ("Georgia (Tbilisi)", "Georgien"),
    "WSM": ("Samoa (Apia)", "Samoa (Apia)"),
    "MAF": ("Saint Martin (French part)", "Saint-Martin (französischer Teil)"),
    "XKX": ("Kosovo", "Kosovo"),
}
# Their names in other languages are short for each other.
_LISTED_NAMES_ONLY = frozenset({"GIN", "COG", "COD"})
_REGION_WORDS = {
    "015": "north africa,north african",
    "021": "north america,north american,nordamerika,nordamerikanisch",
    "030": "east asia,east asian,ostasiatisch",
    "034": "south asia,south asian,südasiatisch",
    "035": "south east asia,south-east asia,southeast asian,southeastern asia,südostasiatisch",
    "039": "south europe,southern european,südeuropäisch",
    "143": "central asian,middle asia,mittelasien,zentralasiatisch",
    "145": "west asia,west asian",
    "151": "east europe,eastern european,osteuropäisch",
    "154": "north europe,northern european,nordeuropäisch",
    "155": "west europe,western european,westeuropäisch",
    "202": "subsaharan africa,sub saharan africa,subsaharisches afrika",
    "419": "latin america,latin american,latin america & the caribbean,lateinamerikanisch,lateinamerika und karibik",
}
_LANGUAGE_WORDS = {
    "zh": "mandarin,mandarin chinese,hochchinesisch,putonghua,चीनी",
    "fa": "farsi,फ़ारसी",
    "nl": "flemish,flämisch,vlaams",
    "el": "modern greek,neugriechisch",
    "nb": "bokmål",
    "en": "अंग्रेज़ी",
    "de": "जर्मन",
    "es": "स्पेनिश,castellano",
    "fr": "फ़्रेंच,फ़्रांसीसी",
    "ar": "अरबी",
    "bn": "बांग्ला,बंगाली",
    "gu": "गुजराती",
    "hi": "हिंदी",
    "ja": "जापानी",
    "kn": "कन्नड़",
    "ml": "मलयालम",
    "mr": "मराठी",
    "ne": "नेपाली",
    "pa": "पंजाबी",
    "pt": "पुर्तगाली",
    "ru": "रूसी",
    "ta": "तमिल",
    "te": "तेलुगु,तेलुगू",
    "ur": "उर्दू",
}


@cache
def _table(field: str) -> dict[str, str]:
    """Return the code by spelling; what two codes share is left out."""
    codes_of: dict[str, set[str]] = defaultdict(set)
    for code, *names, aliases in _rows(field):
        for name in (*names, *aliases):
            spellings = _spellings(name)
            for spelling in (
                spellings if field not in COUNTRIES else filter(partial(_is_telling, name), spellings)
            ):
                codes_of[spelling].add(code)
    for code, words in _more_words(field):
        for word in _forms(words):
            for spelling in _spellings(word):
                codes_of[spelling].add(code)
    for name in _ambiguous(field):
        codes_of.pop(fold(name), None)
    if field in COUNTRIES:
        for code, name in ((code, name) for language in _TRANSLATED for code, name in _offered(language)):
            codes_of.setdefault(fold(name), {code})
    return {key: next(iter(of)) for key, of in codes_of.items() if len(of) == 1 and key}


def _ambiguous(field: str) -> Iterable[str]:
    name = "nationality" if field in COUNTRIES else field
    return (word for of, words in _read("ambiguous_words") if of == name for word in words.split(","))


def _is_telling(name: str, spelling: str) -> bool:
    """Whether a name from the lists of 70 languages is one to know: “Áo” without its accents may be anything."""
    least = 4 if name.casefold() == spelling else 5
    return not spelling.isascii() or len(spelling) >= least


def _more_words(field: str) -> Iterator[tuple[str, list[str]]]:
    if field in COUNTRIES:
        yield from ((code, words.split(",")) for code, words in _read("nationality_words"))
    elif field == "region_of_origin":
        yield from ((code, words.split(",")) for code, words in _REGION_WORDS.items())
    elif field == "languages":
        yield from ((code, words.split(",")) for code, words in _LANGUAGE_WORDS.items())


@cache
def _exact(field: str) -> dict[str, str]:
    return {code.casefold(): code for code in codes(field)}


def _offered(language: str) -> Iterator[tuple[str, str]]:
    """Yield code and name of each country as it is offered in a language."""
    names = _names("nationality", language)
    return ((code, names[code.casefold()]) for code in codes("nationality"))


@cache
def _names(field: str, language: str) -> dict[str, str]:
    """Return the names of a field’s codes in a language, by code in small letters. Rare languages may have none."""
    if language in _WITH_NAMES:
        return {
            code.casefold(): (english, german)[language == "de"] for code, english, german, _ in _rows(field)
        }
    kind = _KINDS.get(field, "country")
    place = 2 + _TRANSLATED.index(language)
    return {
        row[1].casefold(): row[place] for row in _read("translated_names") if row[0] == kind and row[place]
    }


@cache
def _alpha_codes() -> dict[str, str]:
    alpha_3 = {}
    for code, alpha_2, *_ in _read("country_names"):
        alpha_3[code.casefold()] = alpha_3[alpha_2.casefold()] = code
    return alpha_3


def _forms(words: Iterable[str]) -> Iterator[str]:
    """Yield words with the endings that German adjectives (`~`) and nouns (`^`, `^masculine:feminine`) take."""
    for word in words:
        if word.startswith("~"):
            yield from (word[1:] + ending for ending in ("", "e", "er", "es", "en", "em"))
        elif word.startswith("^"):
            masculine, _, feminine = word[1:].partition(":")
            yield from (masculine, feminine or masculine.removesuffix("e") + "in")
        else:
            yield word


def _spellings(name: str) -> set[str]:
    """Return the keys of a name: with umlauts written out, with “and” for &, apostrophes left out or parting words."""
    written_out = name.translate(_UMLAUTS)
    variants = {name, written_out, re.sub(r"['’ʼ]", " ", name)}
    variants |= {
        variant.replace("&", word)
        for variant in variants
        if "&" in variant
        for word in ("and", "und", "et", "y", "e")
    }
    variants |= {re.sub(r"\bSt\.", "Saint", variant) for variant in variants}
    return {fold(variant) for variant in variants}


def _read(name: str) -> Iterator[list[str]]:
    return (line.split("\t") for line in _lines(f"{name}.tsv"))


def _lines(name: str) -> list[str]:
    return (_DATA / name).read_text(encoding="utf-8").splitlines()
