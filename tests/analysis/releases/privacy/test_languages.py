"""The language of each screen in a release: shown where everybody shares it with at least k people."""

from collections import Counter, defaultdict

import pytest

from analysis.releases.privacy.languages import shown_readers
from analysis.releases.privacy.levels import FIELDS
from annotation.models import Annotation
from foundation.errors import Conflict
from tests.analysis.releases.conftest import rows
from tests.analysis.releases.privacy.test_linked_releases import below, by_answers, forty

__all__ = ["forty"]
pytestmark = pytest.mark.django_db
K = 5


def read_in(people, language: str) -> None:
    Annotation.objects.filter(annotator__in=people).update(language=language)


def languages_of(folder) -> dict[str, set]:
    """Return the languages that the release shows for each annotator."""
    shown = defaultdict(set)
    for row in rows(folder, "annotations"):
        shown[row["annotator"]].add(row["language"])
    return shown


def test_one_language_adds_no_column(forty, released):
    read_in(forty.people, "en")
    _, folder = released(forty.study, k=K)
    assert "language" not in rows(folder, "annotations")[0]
    assert "language in which" not in (folder / "CODEBOOK.md").read_text(encoding="utf-8")


def test_each_submission_has_the_language_it_was_read_in(forty, released):
    read_in(forty.people[:20], "en")
    read_in(forty.people[20:], "de")
    _, folder = released(forty.study, k=2)
    sizes = Counter(frozenset(languages) for languages in languages_of(folder).values())
    assert (sizes[frozenset({"en"})], sizes[frozenset({"de"})], sizes[frozenset({None})]) == (20, 20, 3)
    assert "language in which" in (folder / "CODEBOOK.md").read_text(encoding="utf-8")
    soft = rows(folder, "soft_labels")
    assert "language" not in soft[0]


def test_another_language_of_a_submission_makes_a_new_version(forty, released):
    read_in(forty.people, "en")
    for person in forty.people:
        Annotation.objects.filter(pk=person.annotations.earliest("pk").pk).update(language="de")
    first, _ = released(forty.study, k=2)
    # The person still reads both languages.
    german, english = forty.people[0].annotations.order_by("pk")[:2]
    Annotation.objects.filter(pk=german.pk).update(language="en")
    Annotation.objects.filter(pk=english.pk).update(language="de")
    assert released(forty.study, k=2)[0].version == first.version + 1


def test_a_profile_is_shared_by_k_people_who_read_the_same_languages(forty, released):
    read_in(forty.people[:28], "en")
    read_in(forty.people[28:], "hi")
    _, folder = released(forty.study, k=K)
    shown = languages_of(folder)
    profiles = {row["annotator"]: tuple(row[name] for name in FIELDS) for row in rows(folder, "annotators")}
    classes = Counter((profiles[who], frozenset(shown[who])) for who in profiles)
    assert any(any(profile) for profile, _ in classes)
    assert [size for (profile, _), size in classes.items() if any(profile) and size < K] == []


def test_a_language_that_few_read_is_not_shown(forty, released):
    read_in(forty.people[:34], "en")
    read_in(forty.people[34:], "de")
    read_in(forty.people[38:], "hi")  # two people; with the three whose language is unknown they are five
    _, folder = released(forty.study, k=4)
    assert {language for languages in languages_of(folder).values() for language in languages} == {
        "en",
        "de",
        None,
    }


def test_nothing_is_shown_where_gaps_would_identify_people():
    read = {key: frozenset({"en"}) for key in range(20)} | {20: frozenset({"de"})}
    assert shown_readers(read, range(21), k=5) == frozenset()
    read |= {key: frozenset({"de"}) for key in range(20, 25)}
    assert shown_readers(read, range(25), k=5) == frozenset(range(25))
    both = read | {key: frozenset({"de", "en"}) for key in range(25, 31)}
    assert shown_readers(both, range(31), k=6) == frozenset()  # five read German alone


def test_two_releases_joined_by_answers_keep_k_with_the_languages(forty, released):
    read_in(forty.people, "en")
    _, before = released(forty.study, k=K)
    read_in(forty.people[:17], "es")
    with pytest.raises(Conflict, match="Leave out 19 people"):
        released(forty.study, k=K)
    _, after = released(forty.study, k=K, leave_out_people=True)
    assert below(K, before, after) == 0
    first, second = by_answers(before), by_answers(after)
    spoken = {}
    answers = defaultdict(list)
    for row in rows(after, "ratings"):
        answers[row["annotator"]].append((row["attribute"], row["rating"]))
    for who, languages in languages_of(after).items():
        spoken[tuple(sorted(answers[who]))] = frozenset(languages)
    joined = Counter((first[who], second[who], spoken[who]) for who in first.keys() & second.keys())
    told = [size for (one, two, _), size in joined.items() if any(one) or any(two)]
    assert min(told) >= K
