"""Profile answers in annotators' own words that match no code, for the study's leads to match.

Leads see each distinct answer once, in alphabetical order, not who gave it or how many did.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.db import transaction

from accounts import profiles
from accounts.models import Annotator, AnnotatorProfile, MatchedWords, User
from accounts.profile_codes import code_tables, codes
from foundation.errors import NotFound
from studies import audit
from studies.consent import withdrawn_from
from studies.models import Study

FIELD_TITLES = {
    "gender": "Gender",
    "region_of_origin": "Region of origin",
    "nationality": "Nationality",
    "country_of_residence": "Country of residence",
    "languages": "Language",
}


@dataclass(frozen=True)
class OwnWords:
    """The spellings of one answer; `code` is the code with which a lead matched it, "" before."""

    field: str
    key: str
    spellings: tuple[str, ...]
    code: str = ""

    @property
    def title(self) -> str:
        return FIELD_TITLES[self.field]

    @property
    def name(self) -> str:
        """Return the name of the code."""
        return codes.label(self.field, self.code, language="en") if self.code else ""

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Return the codes to choose from, by name."""
        pairs = (
            (code, codes.label(self.field, code, language="en"))
            for code in code_tables.field_codes(self.field)
        )
        return (
            list(pairs)
            if self.field == "gender"
            else sorted(pairs, key=lambda choice: code_tables.fold(choice[1]))
        )


def words_of(study: Study) -> list[OwnWords]:
    """Return the study's answers in own words, unmatched ones first, without those of people who withdrew."""
    spellings: dict[tuple[str, str], set[str]] = {}
    for field, text in _answers(study):
        spellings.setdefault((field, profiles.words_key(text)), set()).add(text)
    matched = {
        (words.field, words.words): words.code
        for words in MatchedWords.objects.filter(words__in={key for _, key in spellings})
    }
    answers = [
        OwnWords(field, key, tuple(sorted(texts)), matched.get((field, key), ""))
        for (field, key), texts in spellings.items()
    ]
    order = list(FIELD_TITLES)
    return sorted(answers, key=lambda words: (bool(words.code), order.index(words.field), words.key))


@transaction.atomic
def match(*, study: Study, field: str, key: str, code: str, by: User) -> int:
    """Match an answer of this study's annotators with a code, or with none; return how many profiles changed."""
    words = next(
        (candidate for candidate in words_of(study) if (candidate.field, candidate.key) == (field, key)), None
    )
    if words is None:
        raise NotFound("words_not_found", "Nobody in this study gives this answer any more.")
    changed = profiles.match(field=field, words=key, code=code, by=by)
    audit.record(
        by=by,
        action="own_words.matched" if code else "own_words.unmatched",
        subject=study,
        study=study,
        field=words.title.lower(),
        words=" / ".join(words.spellings),
        code=codes.label(field, codes.canonical(field, code), language="en") if code else "",
    )
    return changed


def _answers(study: Study) -> Iterator[tuple[str, str]]:
    people = Annotator.objects.filter(enrolments__campaign__study=study).exclude(pk__in=withdrawn_from(study))
    sure = cache(profiles.sure_code_of)  # many give the same answer, and some ask the database
    for profile in (
        AnnotatorProfile.objects.filter(annotator__in=people.values("pk")).exclude(words={}).iterator()
    ):
        for field, answer in profile.words.items():
            for text in answer if isinstance(answer, list) else [answer]:
                if field in FIELD_TITLES and not sure(field, text):
                    yield field, text
