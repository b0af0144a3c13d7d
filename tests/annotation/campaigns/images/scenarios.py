"""A study with images generated here in two scenarios, and people who check them."""

from annotation.campaigns import lifecycle
from annotation.models import TaskStimulus
from generation.prompts.scenarios import create_parallel_study
from generation.prompts.sets import prompt_set
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Unwatched
from tests.annotation.factories import new_annotator
from tests.annotation.labelling.production_paths import ByVerbs
from tests.generation.prompts.test_scenarios import LAMPS

# Each person draws a different thing, so that no two images are the same file.
DRAWN = {"probabilities": {"tall_orsani": {"tall hat": 1.0}}, "default_probability": 0}
ALIKE, SMALL, DIFFERENT = (
    {"alike": "alike"},
    {"alike": "small_differences"},
    {"alike": "different", "difference": "The light."},
)


def lamps_study(tmp_path, lead, **settings):
    """Return a study of two persons in two scenarios, bridge and harbour, with an image of each."""
    path = tmp_path / "lamps.toml"
    path.write_text(LAMPS)
    study = create_parallel_study(name="Lamps", prompt_set=prompt_set(str(path)), by=lead, **settings)
    run(run=planned_run(study, lead), progress=Unwatched())
    return study


def planned_run(study, lead):
    return plan_run(study=study, backend="sketch", by=lead, parameters=DRAWN)


def opened_check(study, lead, name="Alike", **settings):
    draft = lifecycle.create(study=study, name=name, kind="pair_check", by=lead, **settings)
    return lifecycle.open_(campaign=draft, by=lead)


def answer(campaign, answers):
    """Have a new person answer for each place: `answers` has the lists of answers by scenario, the first one's first.

    An answer None leaves the screen alone.
    """
    most = max(map(len, answers.values()))
    for number in range(most):
        person = new_annotator(campaign)
        while (leased := ByVerbs().next_task(campaign, person)) is not None:
            scenario = TaskStimulus.objects.filter(task=leased.task).first().image.scenario
            of_scenario = answers.get(scenario, [])
            if number >= len(of_scenario):
                break
            ByVerbs().submit(leased, by=person, answer={"answers": of_scenario[number]})
