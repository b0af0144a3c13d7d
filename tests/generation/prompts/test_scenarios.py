"""Parallel images: the prompts of a scenario differ only in the person, and so do the images."""

import pytest
from django.core.management import call_command

from foundation.errors import DomainError
from generation.models import GenerationRequest, Image
from generation.probing.probe_sets import probe_set
from generation.prompts.creation import set_prompts
from generation.prompts.scenarios import create_parallel_study
from generation.prompts.sets import prompt_set
from generation.runs.estimates import estimate
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Unwatched
from studies.models import Study

pytestmark = pytest.mark.django_db
BRIDGE = "a lantern on a bridge"
LAMPS = """
title = "Lamps"
[[persons]]
name = "tall_orsani"
text = "tall Orsani"
factors = { height = "tall", people = "Orsani" }
[[persons]]
name = "short_orsani"
text = "short Orsani"
factors = { height = "short", people = "Orsani" }
[[experiments]]
name = "trades"
[experiments.scenarios]
bridge = "a photo of {a_an} {person} with a lantern on a bridge"
harbour = "{A_an} {person} with a fish"
"""


@pytest.fixture
def lamps(tmp_path):
    path = tmp_path / "lamps.toml"
    path.write_text(LAMPS)
    return str(path)


def test_the_published_scenarios_are_those_that_the_probe_set_asks_about():
    parallel = prompt_set("pairs-parallel")
    asked = {(e.name, scenario) for e in probe_set("pairs").experiments for scenario in e.scenarios}
    assert {(scenario.experiment, scenario.name) for scenario in parallel.scenarios} == asked
    assert len(asked) == 50
    assert [person.factors for person in parallel.persons] == [
        {"race": race, "gender": gender} for race in ("black", "white") for gender in ("man", "woman")
    ]


def test_images_of_a_scenario_share_a_seed_and_know_where_they_belong(lamps, lead):
    chosen = prompt_set(lamps)
    study = create_parallel_study(name="Lamps", prompt_set=chosen, by=lead)
    assert study.protocol == Study.Protocol.PAIRS
    assert study.groups.get(name="tall_orsani").factors == {"height": "tall", "people": "Orsani"}
    assert estimate(study=study, backend="sketch", prompt_set=chosen).images == 4
    planned = plan_run(
        study=study,
        backend="sketch",
        by=lead,
        prompt_set=chosen,
        parameters={"probabilities": {"tall_orsani": {"tall hat": 1.0}}, "default_probability": 0},
    )
    run(run=planned, progress=Unwatched())
    for scenario, thing in (("bridge", "lantern"), ("harbour", "fish")):
        images = Image.objects.filter(experiment="trades", scenario=scenario)
        assert {image.group.name for image in images} == {"tall_orsani", "short_orsani"}
        assert len({image.provenance["seed"] for image in images}) == 1
        drawn = {
            image.group.name: {part["attribute"] for part in image.provenance["drawn"]} for image in images
        }
        assert drawn == {"tall_orsani": {"tall hat", thing}, "short_orsani": {thing}}
    prompts = set(GenerationRequest.objects.values_list("prompt", flat=True))
    assert "a photo of a tall Orsani with a lantern on a bridge" in prompts
    assert "A short Orsani with a fish" in prompts
    assert len(set(GenerationRequest.objects.values_list("seed", flat=True))) == 2


def test_a_command_creates_the_study_and_the_probe_finds_its_images(lamps, tmp_path, capsys):
    call_command("generate", "--study", "Lamps", "--create", "--prompt-set", lamps)
    questions = tmp_path / "questions.toml"
    questions.write_text(
        """
        title = "Lamps"
        runs = 1
        orders = "both"
        sampling = { temperature = 0.7, top_p = 1.0, max_tokens = 40 }
        [[experiments]]
        name = "trades"
        scenarios = ["bridge", "harbour"]
        [[experiments.questions]]
        name = "trade"
        kind = "choice"
        text = "Is this person {a_an} {first} or {a_an} {second}?"
        options = { plus = "lamplighter", minus = "fisher" }
        """
    )
    call_command("probe", "--study", "Lamps", "--probe-set", str(questions), "--dry-run")
    assert "8 answers, 8 still to ask" in capsys.readouterr().out


def test_a_study_that_exists_keeps_its_own_groups(lamps, study, lead):
    planned = plan_run(study=study, backend="sketch", by=lead, prompt_set=prompt_set(lamps))
    assert set(planned.requests.values_list("group__name", flat=True)) == {"Orsani", "Velmari"}
    again = plan_run(study=study, backend="sketch", by=lead, prompt_set=prompt_set(lamps))
    assert again == planned
    assert planned.requests.count() == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a lamp on a bridge", "must contain {person}"),
        ("{person} from {id} on a bridge", "its only other placeholders can be {a_an} and {A_an}"),
    ],
)
def test_prompts_of_scenarios_differ_in_the_person_alone(lamps, tmp_path, study, lead, text, sentence):
    path = tmp_path / "other.toml"
    path.write_text(LAMPS.replace("{A_an} {person} with a fish", text))
    with pytest.raises(DomainError, match=sentence):
        plan_run(study=study, backend="sketch", by=lead, prompt_set=prompt_set(str(path)))


def test_two_scenarios_of_one_text_are_refused(tmp_path):
    path = tmp_path / "doubled.toml"
    path.write_text(
        LAMPS.replace("{A_an} {person} with", "a photo of {a_an} {person} with").replace("a fish", BRIDGE)
    )
    with pytest.raises(DomainError, match="two scenarios have the same text"):
        prompt_set(str(path))


def test_a_person_has_no_place_in_a_prompt_of_its_own(study, lead):
    with pytest.raises(DomainError, match="only for prompts of scenarios"):
        set_prompts(study=study, templates=["{person} in the rain"], images_per_prompt=1, by=lead)
