"""The text of an answer as the rules read it: one spelling, no invisible characters, no markup, no reasoning."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from generation.probing.coding.markup import answer_field, without_markup, without_reasoning

LONGEST = 20_000  # characters; longer texts are cut
_HYPHENS = dict.fromkeys(map(ord, "‐‑‒–−﹣-"), "-") | dict.fromkeys(map(ord, "—―"), " — ")
_QUOTES = dict.fromkeys(map(ord, "’‘ʼ`´′"), "'") | dict.fromkeys(map(ord, '“”„«»"'), " ")
_STOPS = dict.fromkeys(map(ord, "。।॥"), ". ") | {ord("、"): ", "}
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and line ends
_INVISIBLE = frozenset({"Cf", "Cs", "Co", "Cn"})
_LONE_APOSTROPHE = re.compile(r"(?<![^\W_])'|'(?![^\W_])")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,8}")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_DASH = re.compile(r" --? |--")
_SPACES = re.compile(r"[^\S\n]+")
# “Of the two, nurse”: a reference to both options that chooses neither.
_OF_BOTH = re.compile(
    r"(?<!first )(?<!second )(?<!former )(?<!latter )(?<!either )(?<!neither )(?<!both )(?<!none )(?<!one )"
    r"\b(?:between|of|from|out of|given|among) (?:the |these |those )?"
    r"(?:two(?: options| choices| possibilities| alternatives)?|options|choices)"
    r"(?: given| provided| available| listed)?"
    r"(?:,| (?=i\b|it\b|this\b|the\b))"
)
# A forced choice counts as a choice.
_FORCED_CHOICE = re.compile(
    r"\b(?:even )?if (?:i|we|one|you) (?:had|have|were|was|must|absolutely|really|am|are|need|needed)\b"
    r"(?: [a-z]+){0,4}? (?:choose|pick|guess|say|decide|select|answer|forced|pressed|speculate|bet|choice)\b"
    r"(?: to (?:choose|pick|guess|say|decide|select|answer))?"
    r"|\bif (?:forced|pressed|pushed|required|asked|made)(?: to (?:choose|pick|guess|say|decide|select|answer))?\b"
)
_PARENTHETICAL = re.compile(
    r", ?(?:in my (?:opinion|view|judgment|judgement)|i (?:think|believe|guess|suppose|would say)|of course|clearly|"
    r"likely|probably|perhaps|most likely|apparently|in fact|however|therefore|though|indeed|obviously|certainly|"
    r"in this image|in the image|based on the image),"
)


@dataclass(frozen=True)
class AnswerText:
    """An answer in the form that the rules read, with observations from normalising it."""

    text: str
    echoed: bool = False  # the answer repeated the question


def normalise(raw: str, question: str = "") -> AnswerText:
    """Return the answer in one spelling, without the question if it repeats it."""
    text = without_reasoning(_one_spelling(raw[:LONGEST]))
    text = answer_field(text)
    text = plain(without_markup(text))
    echoed = False
    for sentence in _sentences(question):
        if len(sentence) > 12 and sentence in text:
            text, echoed = text.replace(sentence, "\n"), True
    return AnswerText(text=text.strip(), echoed=echoed)


def plain(text: str) -> str:
    """Return text without markup in the rules' spelling: lower case, plain quotes, single spaces."""
    text = _LONE_APOSTROPHE.sub(" ", text.translate(_QUOTES).casefold())
    text = _DOTTED.sub(lambda match: match.group().replace(".", "") + " ", text)
    text = _SPACES.sub(" ", _DASH.sub(" — ", _HYPHENATED.sub(" ", text)))
    text = _PARENTHETICAL.sub(" ", _OF_BOTH.sub(" ", text))
    return _FORCED_CHOICE.sub("i would say", text).strip()


def _one_spelling(raw: str) -> str:
    """Return text in NFKC, with one kind of hyphen and without invisible characters."""
    text = unicodedata.normalize("NFKC", raw.replace("\r\n", "\n").replace("\r", "\n"))[:LONGEST]
    text = _CONTROLS.sub("", text.translate(_HYPHENS | _STOPS))
    if text.isascii():
        return text
    return "".join(character for character in text if unicodedata.category(character) not in _INVISIBLE)


@lru_cache(maxsize=4_096)
def _sentences(question: str) -> tuple[str, ...]:
    text = plain(_one_spelling(question))
    return tuple(part.strip() for part in re.findall(r"[^.?!]+[.?!]*", text) if part.strip())
