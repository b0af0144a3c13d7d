"""Matching a row of a file with a question of the probe set and an image or descriptor of the study."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from generation.images.ids import image_id
from generation.models import Answer, Image
from generation.probing.probe_sets import Experiment, ProbeSet
from generation.probing.questions import Order, ProbeQuestion
from studies.models import Study
from studies.protocol.descriptors import forms_of

Cells = Mapping[str, str]
_PUBLISHED: Order = "published"
_REVERSED: Order = "reversed"
_SHOWN = 60  # characters of a cell that a reason quotes


@dataclass(frozen=True)
class AnswerReference:
    """The question and subject of an answer; `subject` identifies the image or descriptor permanently."""

    experiment: str
    question: str
    scenario: str
    image_id: int | None
    descriptor_id: int | None
    subject: str
    letter: str
    order: str


class _QuestionPlace(NamedTuple):
    """A question of the probe set, with the scenario and order that its words imply."""

    experiment: Experiment
    question: ProbeQuestion
    scenario: str | None = None
    order: str | None = None


class _StudyImage(NamedTuple):
    pk: int
    sha256: str
    source_name: str
    model: str
    condition: str
    experiment: str
    scenario: str
    group: int


class References:
    """Finds the question and subject of rows in a study and a probe set. A row without a match raises ValueError."""

    def __init__(self, study: Study, probe_set: ProbeSet, *, order: str) -> None:
        self._order = order
        self._letters = probe_set.letters
        self._experiments = {folded(experiment.name): experiment for experiment in probe_set.experiments}
        self._by_name: dict[str, list[_QuestionPlace]] = {}
        self._by_words: dict[str, list[_QuestionPlace]] = {}
        for experiment in probe_set.experiments:
            for question in experiment.questions:
                self._by_name.setdefault(folded(question.name), []).append(
                    _QuestionPlace(experiment, question)
                )
                for words, question_place in _in_words(experiment, question):
                    self._by_words.setdefault(words, []).append(question_place)
        self._groups: dict[str, set[int]] = {}
        self._group_names: dict[int, str] = {}
        for group in study.groups.all():
            self._group_names[group.pk] = group.name
            for name in {group.name, group.display_name, *forms_of(group).values()}:
                self._groups.setdefault(folded(name), set()).add(group.pk)
        self._exact_groups = {name: pk for pk, name in self._group_names.items()}
        self._read_pictures(study)

    def _read_pictures(self, study: Study) -> None:
        images = Image.objects.filter(study=study, retracted_at=None, group__isnull=False)
        columns = ("pk", "sha256", "source_name", "model_label", "condition", "experiment", "scenario")
        self._pictures = {
            row[0]: _StudyImage(*row) for row in images.order_by("pk").values_list(*columns, "group")
        }
        self._in_place: dict[tuple[str, str, int], list[int]] = {}
        self._named: dict[str, list[int]] = {}
        for picture in self._pictures.values():
            cell = (picture.experiment, picture.scenario, picture.group)
            self._in_place.setdefault(cell, []).append(picture.pk)
            for name in self._names_of(picture):
                self._named.setdefault(name, []).append(picture.pk)

    def _names_of(self, picture: _StudyImage) -> set[str]:
        source = picture.sha256 or picture.source_name
        group = self._group_names.get(picture.group, "")
        released = image_id((source, picture.model, picture.condition, group))
        return {picture.sha256, released, *_ends(picture.source_name)} - {""}

    def find(self, cells: Cells) -> AnswerReference:
        """Return the question and subject of a row; raise ValueError with a reason if none or several match."""
        group = self._group(cells.get("group", ""))
        pictures = self._images(cells.get("image", ""), group)
        place = self._question(cells, pictures)
        if place.question.kind == "complete":
            return self._sentence(place, cells, group)
        scenario = self._scenario(place, cells, pictures)
        picture = self._picture(place.experiment, scenario, group, pictures)
        return AnswerReference(
            experiment=place.experiment.name,
            question=place.question.name,
            scenario=scenario,
            image_id=picture.pk,
            descriptor_id=None,
            subject=picture.sha256 or picture.source_name,
            letter="",
            order=self._order_of(place, scenario, cells),
        )

    def _group(self, name: str) -> int | None:
        if not name.strip():
            return None
        if name in self._exact_groups:
            return self._exact_groups[name]
        alike = self._groups.get(folded(name), set())
        if len(alike) != 1:
            raise ValueError(f"{'several groups are' if alike else 'no group is'} called “{_cut(name)}”")
        return next(iter(alike))

    def _images(self, name: str, group: int | None) -> list[_StudyImage]:
        if not name.strip():
            return []
        for ending in _ends(name.strip()):
            pictures = [self._pictures[pk] for pk in self._named.get(ending, ())]
            if pictures:
                chosen = [picture for picture in pictures if group in (None, picture.group)]
                if not chosen:
                    raise ValueError(f"image “{_cut(name)}” shows another group")
                return chosen
        raise ValueError(f"the study has no image “{_cut(name)}”")

    def _question(self, cells: Cells, pictures: Sequence[_StudyImage]) -> _QuestionPlace:
        name = cells.get("question", "")
        candidates = self._by_name.get(folded(name)) or self._by_words.get(_spaced(name)) or []
        if not candidates:
            raise ValueError(
                f"the probe set has no question “{_cut(name)}”" if name.strip() else "no question"
            )
        experiment, scenario = cells.get("experiment", "").strip(), cells.get("scenario", "").strip()
        if experiment and folded(experiment) not in self._experiments:
            raise ValueError(f"the probe set has no experiment “{_cut(experiment)}”")
        experiments = {picture.experiment for picture in pictures}
        if experiment:
            candidates = [c for c in candidates if folded(c.experiment.name) == folded(experiment)]
        elif experiments and len(candidates) > 1:
            candidates = [c for c in candidates if c.experiment.name in experiments] or candidates
        if scenario:
            candidates = [c for c in candidates if _is_in(c, scenario)]
        elif pictures and any(c.scenario is not None for c in candidates):
            scenarios = {picture.scenario for picture in pictures}
            candidates = [c for c in candidates if c.scenario is None or c.scenario in scenarios]
        if not candidates:
            raise ValueError(f"question “{_cut(name)}” is not asked in this experiment or scenario")
        if len({(c.experiment.name, c.question.name) for c in candidates}) > 1:
            raise ValueError(f"several experiments ask “{_cut(name)}”; the row must say which")
        orders = {c.order for c in candidates}
        scenarios_named = {c.scenario for c in candidates}
        return candidates[0]._replace(
            order=candidates[0].order if len(orders) == 1 else None,
            scenario=candidates[0].scenario if len(scenarios_named) == 1 else None,
        )

    def _sentence(self, place: _QuestionPlace, cells: Cells, group: int | None) -> AnswerReference:
        descriptor = self._group(cells.get("descriptor", "")) or group
        letter = cells.get("letter", "").strip().casefold()
        if descriptor is None:
            raise ValueError("no descriptor")
        if len(letter) != 1 or letter not in self._letters:
            raise ValueError(
                f"letter “{_cut(letter)}” is not a letter of the probe set" if letter else "no letter"
            )
        return AnswerReference(
            experiment=place.experiment.name,
            question=place.question.name,
            scenario="",
            image_id=None,
            descriptor_id=descriptor,
            subject=self._group_names[descriptor],
            letter=letter,
            order="",
        )

    def _scenario(self, place: _QuestionPlace, cells: Cells, pictures: Sequence[_StudyImage]) -> str:
        if not place.experiment.scenarios:
            return ""
        name = cells.get("scenario", "").strip()
        if name:
            alike = [s for s in place.experiment.scenarios if folded(s) == folded(name)]
        else:
            alike = sorted({p.scenario for p in pictures if p.experiment == place.experiment.name})
            alike = alike or ([place.scenario] if place.scenario is not None else [])
        if len(alike) != 1 or alike[0] not in place.experiment.scenarios:
            problem = f"“{_cut(name)}” is not a scenario of {place.experiment.name}"
            raise ValueError(problem if name else f"the row names no scenario of {place.experiment.name}")
        question = place.question
        if (
            question.kind == "choice"
            and not question.options
            and alike[0] not in question.options_by_scenario
        ):
            raise ValueError(f"question {question.name} is not asked in scenario {alike[0]}")
        return alike[0]

    def _picture(
        self, experiment: Experiment, scenario: str, group: int | None, pictures: Sequence[_StudyImage]
    ) -> _StudyImage:
        if pictures:
            chosen = list(pictures)
            if scenario:
                chosen = [p for p in pictures if (p.experiment, p.scenario) == (experiment.name, scenario)]
                if not chosen:
                    raise ValueError(f"the image does not belong to scenario {scenario}")
        elif group is None:
            raise ValueError("neither image nor group")
        elif scenario:
            keys = self._in_place.get((experiment.name, scenario, group), [])
            chosen = [self._pictures[pk] for pk in keys]
        else:
            chosen = [picture for picture in self._pictures.values() if picture.group == group]
        if len(chosen) != 1:
            in_scenario = f" in {scenario}" if scenario else ""
            of_group = f" of {self._group_names[group]}" if group is not None else ""
            raise ValueError(
                f"the study has {len(chosen):,} images{of_group}{in_scenario}; the row must name one"
                if chosen
                else f"the study has no image{of_group}{in_scenario}"
            )
        return chosen[0]

    def _order_of(self, place: _QuestionPlace, scenario: str, cells: Cells) -> str:
        if place.question.kind != "choice":
            return str(Answer.Order.NONE)
        stated = {
            order
            for order in (_stated_order(cells), _order_by_first(place, scenario, cells), place.order)
            if order
        }
        if len(stated) > 1:
            raise ValueError("the row’s order, first option and words contradict each other")
        return stated.pop() if stated else self._order


def folded(name: str) -> str:
    """Return a name for comparison, without differences in case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def _in_words(experiment: Experiment, question: ProbeQuestion) -> Iterable[tuple[str, _QuestionPlace]]:
    """Yield the words of a question; sentences to complete are matched only by name."""
    if question.kind == "choice":
        for scenario in experiment.scenarios or ("",):
            if question.options or scenario in question.options_by_scenario:
                for order in (_PUBLISHED, _REVERSED):
                    words = question.asked(scenario=scenario, order=order).text
                    named = None if question.options else scenario
                    yield _spaced(words), _QuestionPlace(experiment, question, named, order)
    elif question.kind != "complete":
        yield _spaced(question.text), _QuestionPlace(experiment, question)


def _is_in(place: _QuestionPlace, scenario: str) -> bool:
    if place.scenario is not None:
        return folded(place.scenario) == folded(scenario)
    return not place.experiment.scenarios or folded(scenario) in map(folded, place.experiment.scenarios)


def _stated_order(cells: Cells) -> str:
    word = cells.get("order", "").strip().casefold()
    if word not in ("", _PUBLISHED, _REVERSED):
        raise ValueError(f"order is “{_cut(word)}”, not published or reversed")
    return word


def _order_by_first(place: _QuestionPlace, scenario: str, cells: Cells) -> str:
    word = folded(cells.get("first", ""))
    if not word:
        return ""
    pair = place.question.option_pair(scenario)
    sides = {"plus": pair.plus, "minus": pair.minus}
    named = [side for side, option in sides.items() if word in (side, *map(folded, option.forms))]
    if len(named) != 1:
        raise ValueError(f"“{_cut(cells['first'])}” is not an option of {place.question.name}")
    return _PUBLISHED if named[0] == pair.first(_PUBLISHED) else _REVERSED


def _ends(path: str) -> list[str]:
    """Return a path and its trailing parts, longest first, so that outer folders are ignored."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return ["/".join(parts[start:]) for start in range(len(parts))]


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
