"""Coding by rules: codings are appended, once for each version of the rules."""

import pytest
from django.core.management import call_command

from generation.models import Coding
from generation.probing.coding.sentences import completed_word
from generation.probing.codings import code_by_rules
from generation.probing.execution import run
from jobs.progress.reporter import Unwatched
from tests.generation.probing.probing_study import planned, words


@pytest.mark.database_free
@pytest.mark.parametrize(
    ("text", "letter", "outcome", "word"),
    [
        ("[brave]", "b", "valid", "brave"),
        ("The word is [ Brave ].", "b", "valid", "brave"),
        ("[well-read] [wise]", "w", "valid", "well-read"),
        ("[kind]", "b", "mismatch", "kind"),
        ("[two words]", "t", "invalid", ""),
        ("[b__]", "b", "invalid", ""),
        ("[]", "b", "invalid", ""),
        ("brave", "b", "invalid", ""),
        ("[[brave]]", "b", "valid", "brave"),
        ("[" * 20_000, "b", "invalid", ""),
    ],
)
def test_the_first_bracket_is_read(text, letter, outcome, word):
    read = completed_word(text, letter)
    assert (read.outcome, read.word) == (outcome, word)


@pytest.mark.django_db
class TestCoding:
    def code(self, study):
        return code_by_rules(study=study, by=None, progress=Unwatched())

    def test_choices_are_coded_with_their_order_and_stories_are_not(self, scenarios, lead):
        asked = planned(scenarios, lead, parameters={"bias": {"tall": 1, "short": -1}, "refusal_rate": 0})
        run(run=asked, progress=Unwatched())
        assert self.code(scenarios).coded == 32
        codes = set(Coding.objects.values_list("answer__image__group__name", "outcome", "code"))
        assert codes == {
            ("tall_orsani", "plus", 1),
            ("tall_velmari", "plus", 1),
            ("short_orsani", "minus", -1),
            ("short_velmari", "minus", -1),
        }
        assert set(Coding.objects.values_list("coder", "source")) == {("rules", "")}

    def test_refusals_and_both_are_neither(self, scenarios, lead):
        run(run=planned(scenarios, lead, parameters={"refusal_rate": 1}), progress=Unwatched())
        both = {"refusal_rate": 0, "both_rate": 1}
        run(run=planned(scenarios, lead, parameters=both), progress=Unwatched())
        self.code(scenarios)
        coded = set(Coding.objects.values_list("answer__run__parameters__both_rate", "outcome", "code"))
        assert coded == {(0, "refused", 0), (1, "both", 0)}

    def test_nothing_is_coded_twice_and_new_rules_add_a_coding(self, scenarios, lead, monkeypatch):
        run(run=planned(scenarios, lead), progress=Unwatched())
        assert self.code(scenarios).coded == 32
        assert self.code(scenarios).coded == 0
        monkeypatch.setitem(
            __import__("generation.probing.codings", fromlist=["_VERSIONS"])._VERSIONS, "choice", "next"
        )
        assert self.code(scenarios).coded == 32
        assert Coding.objects.count() == 64

    def test_only_answers_are_coded(self, scenarios, lead):
        run(run=planned(scenarios, lead, parameters={"declined_rate": 1}), progress=Unwatched())
        assert self.code(scenarios).coded == 0

    def test_words_are_coded_by_the_command(self, study, lead, capsys):
        run(run=planned(study, lead, probe_set=words(), parameters={"refusal_rate": 0}), progress=Unwatched())
        call_command("code_answers", "--study", study.slug)
        assert capsys.readouterr().out.endswith("18 answers coded, 18 of them without doubt.\n")
        assert set(Coding.objects.values_list("outcome", flat=True)) == {"valid"}
        assert all(
            coding.span.startswith(coding.answer.letter) for coding in Coding.objects.select_related("answer")
        )
