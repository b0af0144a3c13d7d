"""A lead codes one answer, with a reason."""

import pytest

from foundation.errors import DomainError
from generation.models import Answer, Coding
from generation.probing.execution import run
from generation.probing.overrides import override_answer
from jobs.progress.reporter import Unwatched
from studies.models import AuditEntry
from tests.generation.probing.probing_study import planned


@pytest.fixture
def answer(scenarios, lead):
    run(run=planned(scenarios, lead), progress=Unwatched())
    return Answer.objects.filter(question="trade").earliest("pk")


@pytest.mark.django_db
class TestOverride:
    def test_it_is_added_with_its_reason_and_recorded(self, answer, lead):
        coding = override_answer(answer=answer, outcome="both", reason="It\nnames  both.", by=lead)
        assert (coding.coder, coding.outcome, coding.code, coding.reason) == (
            "override", "both", 0, "It names both.",
        )  # fmt: skip
        entry = AuditEntry.objects.get(action="answer.overridden")
        assert (entry.actor, entry.study, entry.subject) == (lead, answer.run.study, f"answer:{answer.pk}")
        assert entry.details == {"outcome": "both", "reason": "It names both."}

    def test_a_lead_may_change_their_mind_and_both_stay(self, answer, lead):
        for outcome in ("plus", "minus", "plus"):
            override_answer(answer=answer, outcome=outcome, reason="I read it again.", by=lead)
        codings = Coding.objects.filter(coder="override").order_by("pk")
        assert [coding.code for coding in codings] == [1, -1, 1]
        assert [coding.source for coding in codings] == ["1", "2", "3"]

    @pytest.mark.parametrize(
        ("outcome", "reason", "code", "field"),
        [
            ("first", "It says so.", "outcome_unknown", "outcome"),
            ("plus", " \n\0", "reason_missing", "reason"),
            ("plus", "x" * 301, "reason_too_long", "reason"),
        ],
    )
    def test_it_needs_an_outcome_and_a_reason(self, answer, lead, outcome, reason, code, field):
        with pytest.raises(DomainError) as refusal:
            override_answer(answer=answer, outcome=outcome, reason=reason, by=lead)
        assert (refusal.value.code, list(refusal.value.fields)) == (code, [field])
        assert not Coding.objects.exists()
        assert not AuditEntry.objects.filter(action="answer.overridden").exists()

    def test_stories_and_declined_answers_choose_nothing(self, answer, lead):
        Answer.objects.filter(pk=answer.pk).update(outcome="declined")
        for refused in (answer, Answer.objects.filter(question="story").earliest("pk")):
            with pytest.raises(DomainError) as refusal:
                override_answer(answer=refused, outcome="plus", reason="It says so.", by=lead)
            assert refusal.value.code == "answer_has_no_choice"
