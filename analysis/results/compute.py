"""Every measure that a study's labels allow, from loaded data to named tables."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from itertools import count
from typing import Any

import pandas as pd

from analysis.metrics.agreement.visual_attributes import visual_attributes
from analysis.metrics.data.results import Result
from analysis.metrics.marking.likelihood import likelihood
from analysis.metrics.marking.offensiveness import offensiveness
from analysis.metrics.marking.tendency import tendency
from analysis.metrics.resampling.bootstrap import Resampling, pigeonhole_bootstrap
from analysis.results.data.digest import inputs_digest
from analysis.results.data.labels import StudyData
from analysis.results.data.machine_scores import MachineScores
from analysis.results.parameters import NONE_OF_THE_ABOVE, Parameters
from analysis.results.probing.associations import word_results
from analysis.results.probing.review import review_results
from analysis.results.probing.tables import probe_results
from analysis.results.questions.tables import question_results
from analysis.results.schema import (
    AUTOMATED,
    DIVISIVE,
    LIKERT,
    MARKING,
    PROMISED,
    SALIENT,
    Results,
    ordered,
    records,
)
from analysis.results.tables.agreement import (
    agreement_table,
    consensus_table,
    divisive_table,
    iou_table,
    overlap,
    resampled,
)
from analysis.results.tables.annotator_groups import group_tables
from analysis.results.tables.annotators import annotator_table
from analysis.results.tables.automated_measures import automated_tables
from analysis.results.tables.comparison import differences_table
from analysis.results.tables.groupings import groupings
from analysis.results.tables.languages import languages_table
from analysis.results.tables.sensitivity import publishable_tables, scenarios
from foundation import VERSION
from jobs.progress.reporter import Progress

ANNOTATORS_LEFT_OUT = "annotators_left_out"
VERSIONED = ("numpy", "pandas", "scipy", "krippendorff", "django")


def compute(
    *, data: StudyData, parameters: Parameters, progress: Progress, scores: MachineScores | None = None
) -> Results:
    """Compute all tables and the summary. Labels of one kind, or scores, may be missing: their tables are empty.

    Tables of answers to declared questions exist only if a campaign asks such questions.
    """
    tables = {name: pd.DataFrame(columns=list(columns)) for name, columns in PROMISED.items()}
    summary: dict[str, Any] = {"headline": [], "notes": {}, "left_out": {}}
    progress.step("Computing measures")
    progress.start(7)

    def step(message: str) -> None:
        progress.check_cancelled()
        progress.advance(1, message)

    resampling = _resampling(data, parameters) if len(data.judgements) else None
    if resampling is not None:
        _images_measures(data, parameters, resampling, tables, summary, step)
    else:
        progress.advance(3)
    _agreement(data, parameters, resampling, tables, summary)
    step("agreement")
    if len(data.ratings):
        majority = visual_attributes(data.ratings, rule="majority").to_frame()["visual"]
        tables["visual_attributes"] = visual_attributes(data.ratings).to_frame().assign(majority=majority)
    tables["annotators"] = annotator_table(
        data, resampling, seed=parameters.seed, iterated=_iterations(progress)
    )
    if resampling is not None:
        tables[DIVISIVE] = divisive_table(data, resampling.judgements)
        summary["headline"] = _headline(summary.pop("overall"), summary.pop("overall_by_mode"), tables)
        step("annotators")
        _comparisons(data, parameters, resampling, tables, summary)
    else:
        progress.advance(1)
    step("comparisons")
    scores = scores or MachineScores()
    reasons = _automated(data, scores, parameters, tables, summary)
    step("automated measures")
    summary |= _rests_on(data, scores, parameters, resampling)
    _answers(data, parameters, progress, tables, summary)
    if (by_language := languages_table(data, parameters)) is not None:
        tables["by_language"] = by_language
    summary["empty_tables"] = _why_empty(data, tables, summary, reasons)
    return Results(
        tables={name: ordered(name, frame) if name in PROMISED else frame for name, frame in tables.items()},
        summary=summary,
    )


def _resampling(data: StudyData, parameters: Parameters) -> Resampling:
    return pigeonhole_bootstrap(
        data.judgements,
        none_rows=data.none_rows if len(data.none_rows) else None,
        resamples=parameters.resamples,
        seed=parameters.seed,
    )


def _iterations(progress: Progress) -> Callable[[], None]:
    """Return the callback that reports the progress of the models of annotators' skill and lets them be cancelled."""
    numbers = count(1)

    def iterated() -> None:
        progress.check_cancelled()
        progress.advance(0, f"skill of annotators, iteration {next(numbers)}")

    return iterated


def _images_measures(
    data: StudyData,
    parameters: Parameters,
    resampling: Resampling,
    tables: dict[str, pd.DataFrame],
    summary: dict[str, Any],
    step: Any,
) -> None:
    """Likelihood, tendency and offensiveness, all over the same resamples."""
    shares = likelihood(data.judgements, data.associations, resampling=resampling)
    tables["likelihood"] = shares.to_frame()
    step("likelihood")
    # Without such answers there is only one way of counting.
    modes = NONE_OF_THE_ABOVE if len(data.none_rows) else NONE_OF_THE_ABOVE[:1]
    by_mode = {
        mode: tendency(
            data.judgements,
            data.associations,
            none_of_the_above=mode,
            min_stereotypes=parameters.min_stereotypes,
            resampling=resampling,
        )
        for mode in modes
    }
    theta = by_mode.get(parameters.none_of_the_above, by_mode["ignore"])
    # Below the table, the groups with too few stereotypes: their likelihoods, but no θ.
    listed = pd.concat([theta.to_frame(), theta.excluded], ignore_index=True)
    places = data.groups[["identity_group", "region", "iso_code"]]
    tables["tendency"] = listed.merge(places, on="identity_group", how="left", validate="many_to_one")
    step("tendency")
    offence = offensiveness(
        data.judgements,
        data.associations,
        source=parameters.offensiveness_source,
        not_offensive=parameters.not_offensive,
        resampling=resampling,
    )
    tables["offensiveness"] = offence.to_frame()
    step("offensiveness")
    summary["overall"] = theta.overall
    summary["overall_by_mode"] = {mode: result.overall for mode, result in by_mode.items()}
    for name, result in (("likelihood", shares), ("tendency", theta), ("offensiveness", offence)):
        _note(summary, name, result)


def _agreement(
    data: StudyData,
    parameters: Parameters,
    resampling: Resampling | None,
    tables: dict[str, pd.DataFrame],
    summary: dict[str, Any],
) -> None:
    """Agreement on ratings, marks and boxes, and the attributes that people agree on."""
    boxes = None if resampling is None else overlap(data, resampling)
    summary["left_out"]["agreement"] = _rated_once(data, resampling)
    tables["agreement"] = agreement_table(data, parameters, resampling, boxes)
    summary["agreement_resampled"] = resampled(tables["agreement"])
    tables["consensus"] = consensus_table(data)
    if boxes is not None:
        tables["iou_distribution"] = iou_table(boxes)
        _note(summary, "boxes", boxes)
        # Boxes are clipped when they are stored; the number of clipped boxes is stored with them.
        summary["notes"]["boxes"]["clipped_share"] = float(data.boxes["clipped"].mean())


def _answers(
    data: StudyData,
    parameters: Parameters,
    progress: Progress,
    tables: dict[str, pd.DataFrame],
    summary: dict[str, Any],
) -> None:
    """The measures of people's answers to declared questions, and of models' answers to probes."""
    if data.answers:
        answered = question_results(data.answers, parameters, progress)
        tables |= answered.tables
        summary["questions"] = answered.campaigns
        summary["counted"]["answers"] = sum(line["judgements"] for line in answered.campaigns)
    if data.probe_answers:
        probe_tables, summary["probes"] = probe_results(
            data.probe_answers, parameters, progress.check_cancelled
        )
        tables |= probe_tables
        if data.probe_answers.review is not None and len(data.probe_answers.answers):
            tables_of_review, summary["probes"]["review"] = review_results(
                data.probe_answers.review, data.probe_answers, parameters
            )
            tables |= tables_of_review
    if data.word_answers:
        word_tables, summary["words"] = word_results(data.word_answers, parameters, progress.check_cancelled)
        tables |= word_tables


def _automated(
    data: StudyData,
    scores: MachineScores,
    parameters: Parameters,
    tables: dict[str, pd.DataFrame],
    summary: dict[str, Any],
) -> dict[str, str]:
    """Compute the automated measures and their comparison with people; return why their tables are empty."""
    automated = automated_tables(data, scores, parameters, tables)
    tables |= {name: frame for name, frame in automated.tables.items() if len(frame)}
    if len(tables["salience"]):
        tables[SALIENT] = tables["salience"][tables["salience"]["rank"].notna()]
    summary["notes"] |= automated.notes
    summary["left_out"] |= {name: dropped for name, dropped in automated.left_out.items() if dropped}
    summary["automated"] = {
        "models": automated.models,
        "sets": list(scores.sets),
        "rounded": list(scores.rounded),
    }
    return automated.reasons


def _note(summary: dict[str, Any], name: str, result: Result) -> None:
    """The inputs of a measure, and what it left out, by reason."""
    summary["notes"][name] = {"method": result.method, "used": result.used, **result.notes}
    summary["left_out"][name] = {reason: number for reason, number in result.dropped.items() if number}


def _rated_once(data: StudyData, resampling: Resampling | None) -> dict[str, int]:
    """Answers without another to compare them with, by kind of campaign."""
    alone = {str(LIKERT): int((data.ratings.groupby("attribute", observed=True).size() == 1).sum())}
    if resampling is not None:
        judgements = resampling.judgements
        shown_counts = judgements.unit_shown[~judgements.cell_is_none[judgements.unit_cell]]
        alone[str(MARKING)] = int((shown_counts == 1).sum())
    return {f"single_{kind}": number for kind, number in alone.items() if number}


def _comparisons(
    data: StudyData,
    parameters: Parameters,
    resampling: Resampling,
    tables: dict[str, pd.DataFrame],
    summary: dict[str, Any],
) -> None:
    """Compute how results change with choices, and between groups of annotators, models and campaigns."""
    # The difference between two reports, with and without a person, would reveal this person's answers.
    left_out = ANNOTATORS_LEFT_OUT if parameters.part_of_the_labels else None
    may_group = resampling.annotator_ids.usable and left_out is None
    profile_groupings = groupings(data, resampling.judgements) if may_group else []
    result = scenarios(data, parameters, resampling.judgements, tables["annotators"], profile_groupings)
    tables["sensitivity"], tables["sensitivity_ranks"] = publishable_tables(
        result, profile_groupings, left_out
    )
    _note(summary, "sensitivity", result)
    groups = group_tables(data, resampling, profile_groupings, seed=parameters.seed, reason=left_out)
    tables["annotator_groups"], tables["annotator_group_agreement"] = groups.differences, groups.agreement
    summary["notes"]["annotator_groups"] = groups.notes
    tables["model_differences"] = differences_table(data, resampling)


def _why_empty(
    data: StudyData,
    tables: Mapping[str, pd.DataFrame],
    summary: Mapping[str, Any],
    automated: Mapping[str, str],
) -> dict[str, str]:
    """Why a table has no rows, table by table."""
    groups = summary["notes"].get("annotator_groups", {}).get("reason", "too_few_annotators")
    judged = len(data.judgements) > 0
    reasons = {
        "visual_attributes": "no_ratings",
        "consensus": "no_ratings_and_no_judgements",
        "agreement": "no_ratings_and_no_judgements",
        "annotators": "no_ratings_and_no_judgements",
        "annotator_groups": groups,
        "annotator_group_agreement": groups,
        "model_differences": "one_model_and_one_campaign",
        "iou_distribution": "no_boxes",
        "tendency": "no_judgements",
        **automated,
    }
    about_both = {"consensus", "agreement", "annotators", "visual_attributes", *AUTOMATED}
    return {
        name: reasons.get(name, "no_judgements") if judged or name in about_both else "no_judgements"
        for name in PROMISED
        if tables[name].empty
    }


def _headline(
    overall: pd.DataFrame, by_mode: Mapping[str, pd.DataFrame], tables: Mapping[str, pd.DataFrame]
) -> list[dict[str, Any]]:
    """Per model: pooled, mean and median θ, the same for each way of counting 'none of the above', and α."""
    agreement = tables["agreement"]
    alpha = agreement[(agreement["scope"] == "all") & (agreement["measure"] == "krippendorff_alpha_nominal")]
    alpha = alpha[alpha["campaign_kind"] == str(MARKING)]
    lines = []
    for model, rows in overall.groupby("model", sort=True):
        line: dict[str, Any] = {"model": model, **_statistics(rows)}
        line["none_of_the_above"] = {
            mode: _statistics(by_mode[mode][by_mode[mode]["model"] == model]) if mode in by_mode else None
            for mode in NONE_OF_THE_ABOVE
        }
        alpha_rows = records(
            alpha[alpha["model"] == model][["value", "ci_low", "ci_high", "units", "judgements", "reason"]]
        )
        line["alpha"] = alpha_rows[0] if alpha_rows else None
        shares = tables["likelihood"][tables["likelihood"]["model"] == model]
        line["judgements"] = int(shares["shown"].sum())
        line["identity_groups"] = int(shares["identity_group"].nunique())
        lines.append(line)
    return lines


def _statistics(overall: pd.DataFrame) -> dict[str, Any]:
    """The rows of one model by their statistic: pooled, mean, median."""
    return {row.pop("statistic"): row for row in records(overall.drop(columns="model"))}


def _rests_on(
    data: StudyData, scores: MachineScores, parameters: Parameters, resampling: Resampling | None
) -> dict[str, Any]:
    judged = set(data.judgements["identity_group"].unique())
    ids = None if resampling is None else resampling.annotator_ids
    return {
        "parameters": parameters.as_json(),
        "preset": parameters.preset,
        "counted": {
            "judgements": len(data.judgements),
            "none_of_the_above_answers": len(data.none_rows),
            "ratings": len(data.ratings),
            "boxes": len(data.boxes),
            "annotations": len(data.submissions),
            "images": int(data.judgements[["model", "identity_group", "image"]].drop_duplicates().shape[0]),
            "identity_groups": len(judged),
            "attributes_rated": int(data.ratings["attribute"].nunique()),
            "scores": len(scores.scores),
            "captions": len(scores.captions),
            "encoded_images": sum(len(encoded.images) for encoded in scores.encoded),
            "images_seen_by_machines": scores.images_seen,
            "annotators": {
                str(kind): int(
                    data.submissions.loc[data.submissions["kind"] == str(kind), "annotator"].nunique()
                )
                for kind in (MARKING, LIKERT)
            },
        },
        "not_counted": {kind: dict(reasons) for kind, reasons in data.not_counted.items()},
        "groups_without_judgements": sorted(set(data.groups["identity_group"]) - judged),
        "annotator_ids": None
        if ids is None
        else {"usable": ids.usable, "reason": ids.reason, **records(ids.to_frame())[0]},
        "inputs_digest": inputs_digest(data, scores),
        "versions": {"stereoscope": VERSION, **{package: version(package) for package in VERSIONED}},
        "resampling": None if resampling is None else resampling.method,
    }
