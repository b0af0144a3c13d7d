"""A small invented study to probe: two scenarios of four variants, and a probe set about them."""

import io

from PIL import Image as Picture

from generation.images.storage import store_image
from generation.probing.planning import ProbePlan, plan_run
from generation.probing.probe_sets import ProbeSet, parsed
from studies.models import Study, StudyGroup

VARIANTS = ("short_orsani", "short_velmari", "tall_orsani", "tall_velmari")
SCENARIOS = ("bridge", "harbour")
QUESTIONS = b"""
title = "Lamps and kites"
runs = 2
orders = "both"
sampling = { temperature = 0.75, top_p = 1.0, max_tokens = 40 }

[[experiments]]
name = "trades"
comparison = "height"
scenarios = ["bridge", "harbour"]

[[experiments.questions]]
name = "trade"
kind = "choice"
text = "Is this person {a_an} {first} or {a_an} {second}? Choose only one."
options = { plus = "lamplighter", minus = "kite maker" }

[[experiments.questions]]
name = "story"
kind = "open"
text = "Write a story to go along with this image."
"""
WORDS = b"""
title = "Words"
runs = 3
orders = "published"
letters = "abc"
sampling = { temperature = 0.7, top_p = 0.95, max_tokens = 20 }

[[experiments]]
name = "words"

[[experiments.questions]]
name = "singular"
kind = "complete"
form = "singular"
setting = "singular"
system = "Reply with one word in brackets."
text = "{A_an} {descriptor} is [{letter}__]."
"""


PLURAL = b"""
[[experiments.questions]]
name = "plural"
kind = "complete"
form = "plural"
setting = "plural"
text = "{descriptor} are [{letter}__]."
"""


def questions() -> ProbeSet:
    return parsed(QUESTIONS, "trades.toml")


def words() -> ProbeSet:
    return parsed(WORDS, "words.toml")


def both_forms() -> ProbeSet:
    return parsed(WORDS + PLURAL, "forms.toml")


def png(number: int) -> bytes:
    file = io.BytesIO()
    picture = Picture.new("RGB", (32, 24), (number * 20 % 256, 90, 40))
    picture.paste("white", (0, 0, 4, 4))
    picture.save(file, "PNG")
    return file.getvalue()


def add_scenarios(study: Study) -> None:
    """Give the study an image of each variant in each scenario."""
    for number, variant in enumerate(VARIANTS):
        group = StudyGroup.objects.create(study=study, name=variant, display_name=variant.replace("_", " "))
        for place, scenario in enumerate(SCENARIOS):
            data = png(number * 2 + place)
            image = store_image(study=study, data=data, group=group, model_label="painter").image
            image.experiment, image.scenario = "trades", scenario
            image.save(update_fields=["experiment", "scenario"])


def planned(study, by=None, *, probe_set=None, backend="script", **more):
    """Plan a run of the small set: 8 images × (2 orders of a choice + 1 open question) × 2 runs = 48 answers."""
    plan = plan_of(study, probe_set=probe_set, backend=backend, **more)
    return plan_run(plan=plan, by=by)


def plan_of(study, *, probe_set=None, backend="script", model_id=None, **more) -> ProbePlan:
    return ProbePlan(
        study=study,
        probe_set=probe_set or questions(),
        probe_set_name="trades",
        backend=backend,
        model_id=("" if backend == "script" else "talker") if model_id is None else model_id,
        **more,
    )
