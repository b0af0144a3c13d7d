"""From the database to what models' answers to choices were taken to say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from django.db.models import CharField, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation.answers.questions.answer_review import adjudicated
from generation.models import Answer, Coding, ProbeRun
from generation.probing.probe_sets import ProbeSet
from jobs.progress.reporter import Progress
from studies.models import Study

NOT_ASKED_YET, NOT_CODED, NO_GROUP = "not_asked_yet", "not_coded", "no_group"
IMAGE_RETRACTED = "image_retracted"
COLUMNS = ("model", "experiment", "scenario", "question", "group", "repeat", "order", "first", "outcome")
CODERS = (Coding.Coder.OVERRIDE, Coding.Coder.PERSON, Coding.Coder.RULES, Coding.Coder.MODEL)
_MACHINES = (Coding.Coder.RULES, Coding.Coder.MODEL)
_COLUMNS = (
    *("repeat", "order", "outcome", "image__group__factors", "run", "pk"),
    *("image__retracted_at", "override", "machine"),
)
_ROWS_AT_ONCE = 5_000


@dataclass(frozen=True, eq=False)
class ProbeAnswerData:
    """One row per request that a choice was put to a model with, as `analysis.metrics.association_scores` takes it.

    `answers`: `COLUMNS` and a column for each factor that all groups have. outcome is `failed` where there is no
    answer, `declined` where the endpoint's filter gave none, else what the answer was taken to say: by a lead's newest
    override, else by people, else by the newest rules, else by a model. `left_out`: requests without an outcome by
    reason.
    """

    answers: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))
    factors: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(len(self.answers)) or bool(self.left_out)


def read_probe_answers(study: Study, progress: Progress) -> ProbeAnswerData:
    """Read the choices that the study's probe runs asked about images of its groups."""
    choices = Answer.objects.filter(run__study=study).exclude(order=Answer.Order.NONE)
    coded = choices.annotate(
        override=_coded_by(Coding.Coder.OVERRIDE),
        machine=Coalesce(*map(_coded_by, _MACHINES), output_field=CharField()),
    )
    columns = ("run__model_label", "experiment", "scenario", "question", "image__group__name")
    rows = list(coded.order_by("pk").values_list(*columns, *_COLUMNS).iterator(chunk_size=_ROWS_AT_ONCE))
    if not rows:
        return ProbeAnswerData()
    progress.check_cancelled()
    progress.advance(len(rows), "answers of models read")
    frame = pd.DataFrame(
        rows, columns=[*COLUMNS[:7], "asked", "factors", "run", "pk", "retracted", "override", "machine"]
    )
    people = adjudicated(study)
    frame["coded"] = [override or people.get(key) or machine for *_, key, _, override, machine in rows]
    reason = pd.Series("", index=frame.index)
    reason[frame["group"].isna()] = NO_GROUP
    reason[(frame["asked"] == Answer.Outcome.DONE) & frame["coded"].isna()] = NOT_CODED
    reason[frame["asked"] == Answer.Outcome.PENDING] = NOT_ASKED_YET
    reason[frame["retracted"].notna()] = IMAGE_RETRACTED
    left_out = reason[reason != ""].value_counts().to_dict()
    kept = frame[reason == ""].reset_index(drop=True)
    kept["outcome"] = kept["coded"].where(kept["asked"] == Answer.Outcome.DONE, kept["asked"])
    factors = _factors(kept)
    kept["first"] = _named_first(study, kept)
    for name in factors:
        kept[name] = [factors_of_group[name] for factors_of_group in kept["factors"]]
    return ProbeAnswerData(
        kept[[*COLUMNS, *factors]], factors, {str(name): int(n) for name, n in left_out.items()}
    )


def _coded_by(coder: str) -> Subquery:
    newest = Coding.objects.filter(answer=OuterRef("pk"), coder=coder).order_by("-pk")
    return Subquery(newest.values("outcome")[:1])


def _named_first(study: Study, rows: pd.DataFrame) -> list[str]:
    """Return which option each answered question named first, as its run's probe set says.

    Answers that were made elsewhere have no probe set: there the published order names plus first.
    """
    minus_first: set[tuple[int, str, str, str]] = set()
    for run in ProbeRun.objects.filter(study=study).exclude(questions={}):
        for experiment in ProbeSet.model_validate(run.questions).experiments:
            for question in experiment.questions:
                for scenario in (*question.options_by_scenario, *experiment.scenarios):
                    pair = question.options or question.options_by_scenario.get(scenario)
                    if pair is not None and pair.published_first == "minus":
                        minus_first.add((run.pk, experiment.name, question.name, scenario))
    keys = zip(rows["run"], rows["experiment"], rows["question"], rows["scenario"], strict=True)
    reversed_order = rows["order"] == Answer.Order.REVERSED
    return [
        "minus" if (key in minus_first) != is_reversed else "plus"
        for key, is_reversed in zip(keys, reversed_order, strict=True)
    ]


def _factors(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the factors that all groups have, in the order of the alphabet."""
    groups: list[dict[str, Any]] = list(rows.groupby("group")["factors"].first())
    if not groups:
        return ()
    return tuple(sorted(set.intersection(*(set(factors) for factors in groups))))
