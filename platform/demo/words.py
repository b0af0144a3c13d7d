"""A demonstration of BiasDora: words about islanders, and two invented models whose associations are planted."""

from collections.abc import Callable

from accounts.models import User
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from catalog.imports.descriptors import import_descriptors
from demo import truth
from demo.accounts import add_members
from generation.probing import execution as asking
from generation.probing.codings import code_by_rules
from generation.probing.planning import ProbePlan, plan_run
from generation.probing.probe_sets import probe_set
from jobs.progress.reporter import Progress
from studies.models import Study
from studies.protocol.creation import create_study
from studies.protocol.descriptors import add_descriptors

STUDY = "Words about islanders"
DESCRIPTION = (
    "A demonstration of BiasDora. The islanders do not exist. Two invented models completed sentences about the "
    "islanders, so the truth is known. script-storied uses these words more often than by chance: {planted}. "
    "script-curt uses only these words more often than by chance: {fewer}. All other words are made up at random."
)
SEED = 20_261_124


def seed_words(*, people: dict[str, User], progress: Progress, say: Callable[[str], None]) -> Study:
    """Create the study with the answers of both models and the results. Each step can be repeated."""
    lead = people["lead"]
    study = Study.objects.filter(name=STUDY).first() or _study(people)
    add_members(study=study, people=people)
    say("Asking invented models for words …")
    questions = probe_set(str(truth.WORDS))
    for label, associations in truth.ISLANDER_ASSOCIATIONS.items():
        plan = ProbePlan(
            study=study,
            probe_set=questions,
            probe_set_name=truth.WORDS.stem,
            backend="script",
            model_label=label,
            parameters={
                "associations": associations,
                "association_rate": truth.ASSOCIATION_RATE,
                "refusal_rate": truth.REFUSAL_RATE,
            },
        )
        asking.run(run=plan_run(plan=plan, by=lead), progress=progress)
    code_by_rules(study=study, by=lead, progress=progress)
    compute_report(study=study, parameters=parameters_of(study), by=lead, progress=progress)
    return study


def _study(people: dict[str, User]) -> Study:
    lead = people["lead"]
    descriptors = import_descriptors(files=[truth.DESCRIPTORS], name="Islanders", by=lead, invented=True)
    storied, curt = (
        ", ".join(f"{name} · {word}" for name, words in planted.items() for word in words)
        for planted in truth.ISLANDER_ASSOCIATIONS.values()
    )
    study = create_study(
        name=STUDY,
        resource=None,
        groups=[],
        by=lead,
        protocol=Study.Protocol.BIASDORA,
        seed=SEED,
        simulated=True,
        description=DESCRIPTION.format(planted=storied, fewer=curt),
    )
    add_descriptors(study=study, resource=descriptors.resource, by=lead)
    return study
