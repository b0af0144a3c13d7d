"""Whether an answer is in English, by its letters and its most frequent words."""

import unicodedata

from generation.probing.coding.tokens import word_set

_ENGLISH = word_set(
    "the is this person a an in of to it that be not i they he she or and appears based image likely as with on more "
    "would looks no yes"
)
_ELSEWHERE = word_set(
    "es el la los las una uno esta este persona parece por que para con de del en y un le les est une cette personne "
    "et dans pas qui der die das ist ein eine diese dieser nicht und mit auf im person è il lo gli questa questo di "
    "che per não uma um os essa esse pessoa é com da do na het een deze niet en van på och är en det som"
) - frozenset({"person", "do"})


_SHORT = 4  # words; in shorter texts a single word shows the language


def is_english(text: str, words: list[str]) -> bool:
    """Return False if most words or more than a fifth of the letters belong to another language."""
    if text.isascii():
        foreign_letters = letters = 0
    else:
        letters = sum(character.isalpha() for character in text)
        foreign_letters = sum(
            character.isalpha() and not unicodedata.name(character, "").startswith("LATIN")
            for character in text
        )
    if foreign_letters * 5 > letters:
        return False
    elsewhere = sum(word in _ELSEWHERE for word in words)
    english = sum(word in _ENGLISH for word in words)
    alphabetic = sum(word[0].isalpha() for word in words)
    return elsewhere < (1 if alphabetic <= _SHORT else 2) or elsewhere <= english
