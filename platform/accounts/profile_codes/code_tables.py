"""Lists of spellings, codes and names by field, and the normalisation with which spellings are compared."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path

from foundation.m49 import SUBREGIONS

_DATA = Path(__file__).parent
# The languages of names in the files of spellings, and those of translated_names.tsv (CLDR 42), in its order.
_WITH_NAMES, _TRANSLATED = ("en", "de"), ("es", "hi")
_KINDS = {"gender": "gender", "region_of_origin": "region", "languages": "language"}  # else a country
COUNTRIES = frozenset({"nationality", "country_of_residence"})
_SPECIAL = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
DROPPED = ".'’‘ʼ`´"
# Marks that may be missing from a word: accents, Hebrew and Arabic points, and variation selectors. The
# vowels of Hindi or Thai are marks as well, but without them words change.
_DROPPED_MARKS = (
    ("\u0300", "\u036f"),
    ("\u0591", "\u05c7"),
    ("\u0610", "\u061a"),
    ("\u064b", "\u065f"),
    ("\u0670", "\u0670"),
    ("\ufe00", "\ufe0f"),
)
_NUKTA = 7  # canonical combining class


def fold(text: str) -> str:
    """Return `text` normalised for comparison: without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold().translate(_SPECIAL))
    letters = unicodedata.normalize("NFC", "".join(char for char in plain if not _may_be_missing(char)))
    return " ".join(
        "".join(
            char if char.isalnum() or unicodedata.category(char) in {"Mc", "Mn"} else " " for char in letters
        ).split()
    )


def _may_be_missing(char: str) -> bool:
    """Return whether a word stays the same without this character."""
    if char in DROPPED or unicodedata.category(char) == "Cf":
        return True
    return unicodedata.combining(char) == _NUKTA or any(
        first <= char <= last for first, last in _DROPPED_MARKS
    )


@cache
def rows(field: str) -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
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


# The ISO 3166 short names of these would be read as another country, or are not what people call it.
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
# Their names in other languages are abbreviations of each other.
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
def spelling_table(field: str) -> dict[str, str]:
    """Return code by spelling, without the spellings that two codes share."""
    codes_of: dict[str, set[str]] = defaultdict(set)
    for code, *names, aliases in rows(field):
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
    """Return whether a name from the lists of 70 languages is distinctive: “Áo” without its accents may be anything."""
    least = 4 if name.casefold() == spelling else 5
    return not spelling.isascii() or len(spelling) >= least


def _more_words(field: str) -> Iterator[tuple[str, list[str]]]:
    if field in COUNTRIES:
        yield from ((code, words.split(",")) for code, words in _read("nationality_words"))
    elif field == "region_of_origin":
        yield from ((code, words.split(",")) for code, words in _REGION_WORDS.items())
    elif field == "languages":
        yield from ((code, words.split(",")) for code, words in _LANGUAGE_WORDS.items())


def field_codes(field: str) -> tuple[str, ...]:
    """Return the codes of a field."""
    return tuple(row[0] for row in rows(field))


@cache
def exact_codes(field: str) -> dict[str, str]:
    return {code.casefold(): code for code in field_codes(field)}


def _offered(language: str) -> Iterator[tuple[str, str]]:
    """Yield the code and name of each country that a language's list offers."""
    names = code_names("nationality", language)
    return ((code, names[code.casefold()]) for code in field_codes("nationality"))


@cache
def code_names(field: str, language: str) -> dict[str, str]:
    """Return the names of a field’s codes in a language, by code in lower case. Rare languages may have none."""
    if language in _WITH_NAMES:
        return {
            code.casefold(): (english, german)[language == "de"] for code, english, german, _ in rows(field)
        }
    kind = _KINDS.get(field, "country")
    place = 2 + _TRANSLATED.index(language)
    return {
        row[1].casefold(): row[place] for row in _read("translated_names") if row[0] == kind and row[place]
    }


@cache
def alpha_codes() -> dict[str, str]:
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
    """Return the keys of a name: with umlauts expanded, “and” for &, apostrophes removed or as spaces."""
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
