"""A demonstration of PAIRS: islanders in everyday scenes, and two invented models of which one has a planted bias."""

from collections.abc import Callable

from accounts.models import User
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from demo import truth
from demo.accounts import add_members
from generation.probing import execution as asking
from generation.probing.codings import code_by_rules
from generation.probing.planning import ProbePlan
from generation.probing.planning import plan_run as plan_probe
from generation.probing.probe_sets import probe_set
from generation.prompts.scenarios import create_parallel_study
from generation.prompts.sets import prompt_set
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Progress
from studies.models import Study

STUDY = "Islanders in everyday scenes"
DESCRIPTION = (
    "A demonstration of PAIRS. The islanders do not exist. Islanders come from the hill (a tall hat) or the "
    "harbour (a flower), and they are Orsavi (round glasses) or Velmari (a blue scarf). Pictures of the "
    "same scene differ only in what the islander wears. Two invented models were asked about the islanders’ "
    "habits, so the truth is known: script-slanted assumes that islanders of the hill are early "
    "risers who like tea, and its true difference “harbour − hill” is −{slant:.2f}. All other differences of "
    "script-slanted, and all differences of script-level, are truly 0."
)
SEED = 20_261_123


def seed_pairs(*, people: dict[str, User], progress: Progress, say: Callable[[str], None]) -> Study:
    """Create the study with its pictures, the answers of both models and the results. Each step can be repeated."""
    lead = people["lead"]
    study = Study.objects.filter(name=STUDY).first() or _study(people)
    add_members(study=study, people=people)
    say("Drawing everyday scenes …")
    scenes = prompt_set(str(truth.SCENES))
    drawing = plan_run(
        study=study, backend="sketch", by=lead, prompt_set=scenes, parameters=truth.ISLANDER_DRAWINGS
    )
    run(run=drawing, progress=progress)
    say("Asking invented models about habits …")
    questions = probe_set(str(truth.HABITS))
    for label, bias in truth.ISLANDER_BIAS.items():
        plan = ProbePlan(
            study=study,
            probe_set=questions,
            probe_set_name=truth.HABITS.stem,
            backend="script",
            model_label=label,
            parameters={"bias": bias, "refusal_rate": truth.REFUSAL_RATE},
        )
        asking.run(run=plan_probe(plan=plan, by=lead), progress=progress)
    code_by_rules(study=study, by=lead, progress=progress)
    compute_report(study=study, parameters=parameters_of(study), by=lead, progress=progress)
    return study


def _study(people: dict[str, User]) -> Study:
    return create_parallel_study(
        prompt_set=prompt_set(str(truth.SCENES)),
        by=people["lead"],
        name=STUDY,
        description=DESCRIPTION.format(slant=truth.slant()),
        seed=SEED,
        simulated=True,
    )
