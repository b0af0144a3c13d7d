"""A study of invented weavers: images of four groups in three scenarios, and what two models answered about them."""

from dataclasses import dataclass

from django.utils import timezone

from accounts.models import User
from generation.models import Answer, Coding, Image, ProbeRun
from studies.models import Study, StudyGroup
from studies.protocol.creation import create_study

SCENARIOS = ("loom", "market", "harbour")
COLOURS, SIZES = ("green", "violet"), ("tall", "short")


@dataclass
class Probed:
    """The study and the rows that tests change. `outcomes`: model, scenario, group, order, repeat → outcome."""

    study: Study
    runs: dict[str, ProbeRun]
    outcomes: dict[tuple[str, str, str, str, int], str]

    def answer(self, *, model: str, scenario: str, group: str, order: str, repeat: int) -> Answer:
        return Answer.objects.get(
            run=self.runs[model], scenario=scenario, image__group__name=group, order=order, repeat=repeat
        )


def planted(model: str, scenario: str, group: str, order: str, repeat: int) -> str:
    """The first model prefers tall people in the first two scenarios; the second refuses now and then."""
    if model == "weaver-1":
        tall = group.endswith("tall")
        if scenario == "harbour":
            return "plus" if (order == "published") == tall else "minus"
        return "plus" if tall else "both" if repeat else "minus"
    return "refused" if repeat == 1 else "plus" if order == "published" else "minus"


def probe_weavers(lead: User) -> Probed:
    """Create the study with its images, runs, answers and codings."""
    study = create_study(name="Weavers", resource=None, groups=[], by=lead, protocol="pairs")
    groups = [
        StudyGroup.objects.create(
            study=study,
            name=f"{colour}_{size}",
            display_name=f"{colour} {size}",
            factors={"colour": colour, "size": size},
        )
        for colour in COLOURS
        for size in SIZES
    ]
    images = [
        Image.objects.create(
            study=study,
            group=group,
            experiment="trades",
            scenario=scenario,
            source_name=f"trades/{scenario}/{group.name}.png",
        )
        for scenario in SCENARIOS
        for group in groups
    ]
    runs = {
        model: ProbeRun.objects.create(
            study=study, probe_set="weavers", model_label=model, backend="imported", seed=1, runs=2,
            orders="both", questions={},
        )
        for model in ("weaver-1", "weaver-2")
    }  # fmt: skip
    outcomes = {}
    for model, run in runs.items():
        for image in images:
            for order in ("published", "reversed"):
                for repeat in (0, 1):
                    key = (model, image.scenario, image.group.name, order, repeat)
                    outcomes[key] = planted(*key)
                    _store(run, image, order, repeat, outcomes[key])
    return Probed(study, runs, outcomes)


def _store(run: ProbeRun, image: Image, order: str, repeat: int, outcome: str) -> None:
    answer = Answer.objects.create(
        run=run,
        experiment=image.experiment,
        question="craft",
        scenario=image.scenario,
        image=image,
        order=order,
        repeat=repeat,
        request_sha256=f"{run.pk}-{image.pk}-{order}-{repeat}",
        outcome=Answer.Outcome.DONE,
        text="=weaver <b>",
        finished_at=timezone.now(),
    )
    Coding.objects.create(
        answer=answer,
        coder=Coding.Coder.RULES,
        version="1",
        outcome=outcome,
        code={"plus": 1, "minus": -1}.get(outcome, 0),
        sure=True,
    )
