"""The requests of a run: counted by arithmetic, and written in pieces."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from django.db import transaction

from foundation.errors import DomainError
from generation.models import Answer, Image, ProbeRun
from generation.probing.probe_sets import Experiment, ProbeSet
from generation.probing.questions import ProbeQuestion
from jobs.progress.reporter import Progress
from studies.models import Study
from studies.protocol.descriptors import forms_of

# Written in one transaction; annotators who answer at the same time wait only for this.
_PIECE = 2000


@dataclass(frozen=True)
class Subject:
    """The subject of one question: an image, or a descriptor in its singular or plural form."""

    image_id: int | None = None
    descriptor_id: int | None = None


@dataclass(frozen=True)
class PlanPart:
    """Questions about the same subjects."""

    experiment: str
    scenario: str
    subjects: Sequence[Subject]
    questions: Sequence[tuple[ProbeQuestion, Sequence[str]]]  # each with the orders of its options
    letters: Sequence[str]

    @property
    def requests(self) -> int:
        """The number of requests in one run."""
        orders = sum(len(orders) for _, orders in self.questions)
        return len(self.subjects) * len(self.letters) * orders


def parts_of(study: Study, probe_set: ProbeSet, orders: str) -> list[PlanPart]:
    """Return the questions and their subjects; refuse a study without subjects."""
    pictures = _Pictures(study)
    parts = [
        part
        for experiment in probe_set.experiments
        for part in (
            *_about_images(experiment, pictures, probe_set.orders_asked(orders)),
            *_about_descriptors(experiment, study, probe_set.letters),
        )
        if part.requests
    ]
    if not parts:
        raise DomainError(
            "nothing_to_ask_about",
            f"The study “{study}” has no {_missing(probe_set)}, so there are no questions to ask.",
        )
    return parts


class _Pictures:
    """The images of a study that may be shown, by experiment and scenario."""

    def __init__(self, study: Study) -> None:
        images = Image.objects.filter(study=study, retracted_at=None, group__isnull=False).exclude(file="")
        rows = images.order_by("pk").values_list("pk", "experiment", "scenario")
        self.all = [Subject(image_id=pk) for pk, _, _ in rows]
        self._by_scenario: dict[tuple[str, str], list[Subject]] = {}
        for pk, experiment, scenario in rows:
            self._by_scenario.setdefault((experiment, scenario), []).append(Subject(image_id=pk))

    def of(self, experiment: str, scenario: str) -> list[Subject]:
        return self._by_scenario.get((experiment, scenario), [])


def _about_images(experiment: Experiment, pictures: _Pictures, orders: Sequence[str]) -> Iterator[PlanPart]:
    questions = [question for question in experiment.questions if question.kind != "complete"]
    if not experiment.scenarios:
        asked = [(question, _orders(question, orders)) for question in questions]
        yield PlanPart(experiment.name, "", pictures.all, asked, [""])
    for scenario in experiment.scenarios:
        asked = [
            (question, _orders(question, orders))
            for question in questions
            if question.kind != "choice" or question.options or scenario in question.options_by_scenario
        ]
        yield PlanPart(experiment.name, scenario, pictures.of(experiment.name, scenario), asked, [""])


def _about_descriptors(experiment: Experiment, study: Study, letters: str) -> Iterator[PlanPart]:
    questions = [question for question in experiment.questions if question.kind == "complete"]
    for group in study.groups.all() if questions else ():
        forms = forms_of(group)
        asked = [(question, [""]) for question in questions if question.form in forms]
        yield PlanPart(experiment.name, "", [Subject(descriptor_id=group.pk)], asked, list(letters))


def _orders(question: ProbeQuestion, orders: Sequence[str]) -> Sequence[str]:
    return orders if question.kind == "choice" else [""]


def _missing(probe_set: ProbeSet) -> str:
    if probe_set.letters:
        return "identity groups"
    if any(experiment.scenarios for experiment in probe_set.experiments):
        return "images of the scenarios of this probe set"
    return "images of identity groups"


def write(run: ProbeRun, parts: Sequence[PlanPart], progress: Progress) -> None:
    """Write missing requests piece by piece; if it is stopped, the written pieces stay."""
    answers = (answer for part in parts for answer in _answers(run, part))
    while piece := list(islice(answers, _PIECE)):
        progress.check_cancelled()
        with transaction.atomic():
            Answer.objects.bulk_create(piece, batch_size=500, ignore_conflicts=True)
        progress.advance(len(piece))


def _answers(run: ProbeRun, part: PlanPart) -> Iterator[Answer]:
    """Yield the requests image by image, with repeats next to each other, so that a picture is read once."""
    for subject in part.subjects:
        for question, orders in part.questions:
            for letter in part.letters:
                for order in orders:
                    for repeat in range(run.runs):
                        yield Answer(
                            run=run,
                            experiment=part.experiment,
                            question=question.name,
                            scenario=part.scenario,
                            image_id=subject.image_id,
                            descriptor_id=subject.descriptor_id,
                            letter=letter,
                            order=order,
                            repeat=repeat,
                        )
