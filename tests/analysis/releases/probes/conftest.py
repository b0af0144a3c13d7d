import pytest

from generation.models import Answer
from generation.probing.codings import code_by_rules
from generation.probing.execution import run
from jobs.progress.reporter import Unwatched
from studies.models import StudyGroup
from studies.protocol.creation import create_study
from tests.generation.probing.probing_study import add_scenarios, planned

# What a spreadsheet would run, what looks guarded, and what a writer of CSV might lose.
RAW = ("=1+1 lamplighter", "'=x", "''@y kite maker", "\r\nlamplighter\r", "-2 <b>\u2028", '"a","b"')


@pytest.fixture
def made_study(lead):
    """Make a study with the scenarios of the small probe set; its groups know height and people."""

    def make(name):
        study = create_study(name=name, resource=None, groups=[], by=lead, protocol="pairs")
        add_scenarios(study)
        for group in StudyGroup.objects.filter(study=study):
            height, people = group.name.split("_")
            group.factors = {"height": height, "people": people}
            group.save()
        return study

    return make


@pytest.fixture
def probed(made_study, lead):
    """A study in which two invented models answered, and were coded by rules."""
    study = made_study("Lamps")
    for label, parameters in (
        ("talker-1", {"bias": {"tall": 0.6, "short": -0.3}, "refusal_rate": 0.2, "declined_rate": 0.1}),
        ("talker-2", {"bias": {"orsani": 0.5}, "both_rate": 0.2, "refusal_rate": 0}),
    ):
        run(run=planned(study, lead, model_label=label, parameters=parameters), progress=Unwatched())
    answers = Answer.objects.filter(run__study=study, outcome="done", question="trade").order_by("pk")
    for answer, text in zip(answers, RAW, strict=False):
        Answer.objects.filter(pk=answer.pk).update(text=text)
    code_by_rules(study=study, by=lead, progress=Unwatched())
    return study
