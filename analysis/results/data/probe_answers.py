"""Reading the coded answers of models to choices from the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from django.db.models import OuterRef, Subquery

from analysis.metrics.probing.paired.answers import PUBLISHED_COMPARISONS
from analysis.results.data.coding_reviews import CodingReviewData, read_coding_reviews
from analysis.results.data.endpoint_models import ServedModels
from analysis.results.data.scenario_checks import COLUMNS as CHECK_COLUMNS
from analysis.results.data.scenario_checks import ScenarioChecks
from annotation.answers.questions.answer_review import adjudicated
from annotation.answers.questions.scenario_verdicts import Scenario
from generation.models import Answer, Coding, ProbeRun
from generation.probing.probe_sets import ProbeSet
from jobs.progress.reporter import Progress
from studies.models import Study

NOT_ASKED_YET, NOT_CODED, NO_GROUP = "not_asked_yet", "not_coded", "no_group"
IMAGE_RETRACTED = "image_retracted"
COLUMNS = ("model", "experiment", "scenario", "question", "group", "repeat", "order", "first", "outcome")
_COLUMNS = (
    *("repeat", "order", "outcome", "image__group__factors", "run", "pk"),
    *("image__retracted_at", "image__model_label", "override", "rules"),
)
_MORE_COLUMNS = ("asked", "factors", "run", "pk", "retracted", "image_model", "override", "rules")
_ROWS_AT_ONCE = 5_000


@dataclass(frozen=True, eq=False)
class ProbeAnswerData:
    """One row per request with a choice, as input of `analysis.metrics.association_scores`.

    `answers`: `COLUMNS` and a column for each factor that all groups have. outcome is `failed` without an answer,
    `declined` if the endpoint's filter declined, else the coding of the answer: a lead's newest override, else people's
    decision, else the newest rules. `left_out`: requests without an outcome, by reason. `comparisons`: the factor that
    each experiment compares, from its probe set. `served`: models that changed while they were asked, whose answers are
    split. `scenarios`: people's verdicts about the scenarios, and `scenario_numbers` the number of scenarios by
    verdict; None if nobody was asked. `by_rules`: the outcome of each row of `answers` by the rules alone, missing if
    they did not code it. `review`: people's review of the codings.
    """

    answers: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))
    factors: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    comparisons: Mapping[str, str] = field(default_factory=dict)
    by_rules: pd.Series = field(default_factory=lambda: pd.Series(dtype=object))
    review: CodingReviewData | None = None
    served: ServedModels = field(default_factory=ServedModels)
    scenarios: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(CHECK_COLUMNS)))
    scenario_numbers: Mapping[str, int] | None = None

    def __bool__(self) -> bool:
        return bool(len(self.answers)) or bool(self.left_out)


def read_probe_answers(
    study: Study, progress: Progress, served: ServedModels, checks: ScenarioChecks | None = None
) -> ProbeAnswerData:
    """Read the choices that the study's probe runs asked about images of its groups.

    If people checked images, answers about rejected scenarios are left out.
    """
    choices = Answer.objects.filter(run__study=study).exclude(order=Answer.Order.NONE)
    coded = choices.annotate(
        override=_coded_by(Coding.Coder.OVERRIDE),
        rules=_coded_by(Coding.Coder.RULES),
    )
    columns = ("run__model_label", "experiment", "scenario", "question", "image__group__name")
    rows = list(coded.order_by("pk").values_list(*columns, *_COLUMNS).iterator(chunk_size=_ROWS_AT_ONCE))
    if not rows:
        return ProbeAnswerData()
    progress.check_cancelled()
    progress.advance(len(rows), "answers of models read")
    frame = pd.DataFrame(rows, columns=[*COLUMNS[:7], *_MORE_COLUMNS])
    frame["model"] = [
        served.name_of(key, model) for key, model in zip(frame["pk"], frame["model"], strict=True)
    ]
    people = adjudicated(study)
    frame["coded"] = [override or people.get(key) or rules for *_, key, _, _, override, rules in rows]
    checks = checks or ScenarioChecks()
    places = [
        Scenario(*place)
        for place in zip(frame["experiment"], frame["scenario"], frame["image_model"], strict=True)
    ]
    reason = _reasons(frame, [checks.reason(place) for place in places])
    standing = [place for place, at in zip(places, frame["retracted"], strict=True) if pd.isna(at)]
    left_out = reason[reason != ""].value_counts().to_dict()
    kept = frame[reason == ""].reset_index(drop=True)
    kept["outcome"] = kept["coded"].where(kept["asked"] == Answer.Outcome.DONE, kept["asked"])
    factors = _factors(kept)
    probe_sets = _probe_sets(study)
    kept["first"] = _named_first(probe_sets, kept)
    for name in factors:
        kept[name] = [factors_of_group[name] for factors_of_group in kept["factors"]]
    done = kept["asked"] == Answer.Outcome.DONE
    return ProbeAnswerData(
        kept[[*COLUMNS, *factors]],
        factors,
        {str(name): int(n) for name, n in left_out.items()},
        comparisons=_comparisons(probe_sets, factors),
        served=served,
        scenarios=checks.table(standing),
        scenario_numbers=checks.numbers(standing),
        by_rules=kept["rules"].where(done, kept["asked"]),
        review=read_coding_reviews(study),
    )


def _reasons(frame: pd.DataFrame, of_checks: Sequence[str]) -> pd.Series:
    """Return why each answer is left out, '' if it counts; `of_checks`: the reasons by checks of scenarios."""
    reason = pd.Series("", index=frame.index)
    reason[frame["group"].isna()] = NO_GROUP
    reason[(frame["asked"] == Answer.Outcome.DONE) & frame["coded"].isna()] = NOT_CODED
    reason[frame["asked"] == Answer.Outcome.PENDING] = NOT_ASKED_YET
    by_checks = pd.Series(of_checks, index=frame.index, dtype=object)
    reason[by_checks != ""] = by_checks[by_checks != ""]
    reason[frame["retracted"].notna()] = IMAGE_RETRACTED
    return reason


def _coded_by(coder: str) -> Subquery:
    newest = Coding.objects.filter(answer=OuterRef("pk"), coder=coder).order_by("-pk")
    return Subquery(newest.values("outcome")[:1])


def _probe_sets(study: Study) -> dict[int, ProbeSet]:
    """Return the questions of each run; imported answers have no probe set."""
    runs = ProbeRun.objects.filter(study=study).exclude(questions={}).order_by("pk")
    return {run.pk: ProbeSet.model_validate(run.questions) for run in runs}


def _comparisons(probe_sets: Mapping[int, ProbeSet], factors: Sequence[str]) -> dict[str, str]:
    """Return the factor that each experiment compares: from its newest probe set, else as published."""
    declared = PUBLISHED_COMPARISONS | {
        experiment.name: experiment.comparison
        for probe_set in probe_sets.values()
        for experiment in probe_set.experiments
        if experiment.comparison
    }
    return {experiment: factor for experiment, factor in declared.items() if factor in factors}


def _named_first(probe_sets: Mapping[int, ProbeSet], rows: pd.DataFrame) -> list[str]:
    """Return the option that each answered question named first, from its run's probe set.

    Answers that were made elsewhere have no probe set: there the published order names plus first.
    """
    minus_first: set[tuple[int, str, str, str]] = set()
    for run, probe_set in probe_sets.items():
        for experiment in probe_set.experiments:
            for question in experiment.questions:
                for scenario in (*question.options_by_scenario, *experiment.scenarios):
                    pair = question.options or question.options_by_scenario.get(scenario)
                    if pair is not None and pair.published_first == "minus":
                        minus_first.add((run, experiment.name, question.name, scenario))
    keys = zip(rows["run"], rows["experiment"], rows["question"], rows["scenario"], strict=True)
    reversed_order = rows["order"] == Answer.Order.REVERSED
    return [
        "minus" if (key in minus_first) != is_reversed else "plus"
        for key, is_reversed in zip(keys, reversed_order, strict=True)
    ]


def _factors(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the factors that all groups have and that differ among them, in the order of the alphabet."""
    groups: list[dict[str, Any]] = list(rows.groupby("group")["factors"].first())
    if not groups:
        return ()
    shared = set.intersection(*(set(factors) for factors in groups))
    return tuple(sorted(name for name in shared if len({str(factors[name]) for factors in groups}) > 1))
