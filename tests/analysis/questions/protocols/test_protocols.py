"""Each published protocol, from its declaration to results: the planted truth of simulated people is recovered."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from annotation.campaigns import lifecycle
from annotation.campaigns.planning import task_plan
from annotation.kinds import study_kinds
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from annotation.models import Annotation, Campaign
from annotation.simulation.questions import QuestionTruth
from annotation.simulation.simulate import simulate
from tests.analysis.questions.protocols.planted import Planted, planted_values
from tests.analysis.questions.protocols.screens import Screen, screens_of
from tests.analysis.questions.test_tables import measured
from tests.annotation.databases import shared_database
from tests.annotation.factories import add_prompted_images

FILES = {file.stem: file for file in sorted(Path(__file__).parent.glob("*/*.json"))}
MODELS = ("camera", "east", "north", "west")
PROMPTS = [f"{thing} of the {{id}} by the sea at noon" for thing in ("a house", "a kite", "a boat", "a drum")]
TEXTS = [
    f"People of the isles {verb} {thing}."
    for verb in ("like", "make")
    for thing in ("boats", "drums", "hats", "kites", "ropes", "bread", "tea", "songs")
]
OPTIONS: dict[str, dict[str, Any]] = {
    "seegull": {"texts": TEXTS},
    "cult_diff": {"model_labels": ["camera", "north"]},  # the images of one are those of cameras
}
PEOPLE, ANSWERED = 8, 130  # approximate number of screens
OTHER_TRUTHS = 3


def asked_of(kind: Kind, study, lead) -> Campaign:
    """Open a campaign of a kind, planned for about the same number of answers for any kind."""
    chosen = {"study": study, "name": kind.key, "kind": kind.key, "options": OPTIONS.get(kind.key, {})}
    draft = lifecycle.create(**chosen, annotators_per_task=PEOPLE, by=lead)
    screens = task_plan.plan(draft).screens
    each = min(PEOPLE, max(3, ANSWERED // screens))
    draft = lifecycle.update_draft(campaign=draft, by=lead, annotators_per_task=each)
    campaign = lifecycle.open_(campaign=draft, by=lead)
    assert campaign.tasks.count() == screens > 0
    return campaign


class Recovery:
    """How planted values compare with estimates; values whose intervals have no width say nothing."""

    def __init__(self, planted: Iterable[Planted], tables: dict[str, pd.DataFrame]) -> None:
        self.inside: list[bool] = []
        self.farthest = 0.0  # in half-widths of the interval
        self.without_width = 0
        for value in planted:
            row = _row(tables[value.table], value.where)
            low, estimate, high = (row[name] for name in (value.low, value.column, value.high))
            if pd.isna(low):
                self.without_width += 1
                continue
            self.inside.append(bool(low - 1e-9 <= value.value <= high + 1e-9))
            self.farthest = max(self.farthest, abs(value.value - estimate) / ((high - low) / 2))

    @property
    def succeeds(self) -> bool:
        """Return whether nine of ten planted values lie in their intervals, and none is off by twice its half-width."""
        return sum(self.inside) >= 0.9 * len(self.inside) and self.farthest < 2


def _row(table: pd.DataFrame, where: dict[str, Any]) -> pd.Series:
    for column, value in where.items():
        table = table[table[column].isna() if value is None else table[column] == value]
    (place,) = table.index
    return table.loc[place]


def _as_many_texts(table: pd.DataFrame, question: Question, screens: list[Screen], each: int) -> bool:
    """Whether each model's images got about as many texts as people are likely to be asked for."""
    near = []
    for model in {screen.model(0) for screen in screens}:
        asked = np.array([screen.asked(question, 0) for screen in screens if screen.model(0) == model])
        number = table.loc[(table["question"] == question.name) & (table["item"] == model), "texts"].sum()
        near.append(abs(number - each * asked.sum()) <= 3 * np.sqrt(each * (asked * (1 - asked)).sum()) + 1)
    return all(near)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", FILES)
def test_planted_values_are_recovered(study, lead, tmp_path, key):
    type(study).objects.filter(pk=study.pk).update(simulated=True)
    study.refresh_from_db()
    with shared_database(tmp_path):
        add_prompted_images(study, PROMPTS, models=MODELS)
        study_kinds.add(study=study, content=FILES[key].read_bytes(), by=lead)
        kind = study_kinds.kind_for(study, key)
        campaign = asked_of(kind, study, lead)
        crowd = {"spread": 0.9, "position_bias": 0.4 if "position_bias" in kind.measures else 0.0}
        summary = simulate(campaign=campaign, annotators=PEOPLE, seed=1, **crowd)
        assert Annotation.objects.filter(status="accepted").count() == summary.submissions
        tables = measured(study).tables
        truths = [QuestionTruth(seed=campaign.seed + turn, **crowd) for turn in range(1 + OTHER_TRUTHS)]
        screens = [screens_of(campaign, truth) for truth in truths]
        planted = [list(planted_values(kind, shown)) for shown in screens]
    assert summary.planted.keys() <= {value.where["question"] for value in planted[0]}
    found = Recovery(planted[0], tables)
    assert found.succeeds, (found.inside.count(False), found.farthest)
    assert found.without_width <= 0.1 * len(planted[0])
    for question in kind.questions:
        if question.type == "text":
            as_many = [
                _as_many_texts(tables["texts"], question, shown, campaign.annotators_per_task)
                for shown in screens
            ]
            assert as_many[0]
            assert not all(as_many[1:])
    # Another truth is rejected, by all answers and by those to each single question.
    assert sum(Recovery(values, tables).succeeds for values in planted[1:]) <= 1
    for question in kind.questions:
        parts = [
            [value for value in values if value.where["question"] == question.name] for values in planted
        ]
        if question.type == "span":  # as many words are missing by each truth: change their number
            parts[1:] = [[replace(value, value=value.value + 0.1) for value in parts[0]]]
        assert question.type == "text" or not all(Recovery(part, tables).succeeds for part in parts[1:])


def test_every_declaration_says_which_study_it_follows():
    for key, file in FILES.items():
        kind = study_kinds.from_file(file.read_bytes())
        assert kind.key == key
        assert kind.description.startswith("After ")
