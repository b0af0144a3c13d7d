"""The tables of automated measures, compared with people's answers if there are any."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from analysis.metrics.automated.concordance import concordance
from analysis.metrics.captions.matcher import CaptionMatches, match_captions
from analysis.metrics.captions.salience import salience
from analysis.metrics.data.results import Result
from analysis.results.data.labels import StudyData
from analysis.results.data.machine_scores import MachineScores, image_key
from analysis.results.parameters import Parameters
from analysis.results.schema import AUTOMATED
from analysis.results.tables.embeddings import mcas_tables, pull_table
from analysis.results.tables.machine_tendency import correlations, machine_tendency, thresholded

NO_SCORES = "no_scores"
NO_CAPTIONS = "no_captions"
NO_JUDGEMENTS = "no_judgements"
NONE_JUDGED = "no_judged_image_was_scored"
NO_ATTRIBUTES = "no_attributes"
NO_GROUPS = "no_scored_image_has_a_group"
SAME_BYTES = "same_bytes_of_the_same_model_and_group"


@dataclass
class Automated:
    """Tables by name, the inputs of each, and the reason if a table has no rows."""

    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, dict[str, int]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def keep(self, name: str, result: Result) -> None:
        """Add a measure's table and its notes."""
        self.tables[name] = result.to_frame()
        self.notes[name] = {"method": result.method, "used": result.used, **result.notes}
        self.left_out[name] = {reason: number for reason, number in result.dropped.items() if number}

    @property
    def models(self) -> list[str]:
        """The models of images that machines scored."""
        names: set[str] = set()
        for frame in self.tables.values():
            names |= set(frame["model"].dropna().astype(str)) if "model" in frame else set()
        return sorted(names)


def automated_tables(
    data: StudyData, scores: MachineScores, parameters: Parameters, tables: Mapping[str, pd.DataFrame]
) -> Automated:
    """Compute every table that scores allow. `tables`: those of people's answers, computed before."""
    automated = Automated()
    matches = _captions(automated, data, scores, parameters, tables)
    judged = judgements_by_key(data)
    beside = _scores_of_attributes(scores, matches, judged, data, parameters.seed)
    _concordance(automated, scores, beside, judged, parameters)
    _tendency(automated, scores, beside, data, parameters, tables)
    pull_table(automated, scores, parameters)
    mcas_tables(automated, scores, parameters)
    for name, rests_on in (("concordance", ("scores", "captions")), ("salience", ("captions",))):
        again = sum(scores.repeated.get(source, 0) for source in rests_on)
        if again and name in automated.left_out:
            automated.left_out[name][SAME_BYTES] = again
    for name in AUTOMATED:
        automated.tables.setdefault(name, pd.DataFrame())
    return automated


def judgements_by_key(data: StudyData) -> pd.DataFrame:
    """People's judgements, with images named as scores name them."""
    frame = data.judgements[["model", "identity_group", "image", "attribute", "annotator", "present"]]
    return frame.assign(image=image_key(frame))


def attributes_of(data: StudyData, tables: Mapping[str, pd.DataFrame], among: str) -> list[str]:
    """The study's visual attributes: rated visual or shown with images; without either, or with `all`, all
    attributes."""
    judged_attributes = set(data.judgements["attribute"].astype(str).unique())
    listed = set(data.associations["attribute"].astype(str))
    rated = tables["visual_attributes"]
    visual = set(rated.loc[rated["visual"].astype(bool), "attribute"].astype(str)) if len(rated) else set()
    if among == "all" or not visual | judged_attributes:
        return sorted(listed | judged_attributes | set(rated["attribute"].astype(str)))
    return sorted(visual | judged_attributes)


def _captions(
    automated: Automated,
    data: StudyData,
    scores: MachineScores,
    parameters: Parameters,
    tables: Mapping[str, pd.DataFrame],
) -> CaptionMatches | None:
    attributes = attributes_of(data, tables, parameters.salient_among)
    if scores.captions.empty or not attributes:
        automated.reasons["salience"] = NO_CAPTIONS if scores.captions.empty else NO_ATTRIBUTES
        return None
    matches = match_captions(scores.captions, attributes)
    likelihood = tables["likelihood"]
    result = salience(
        scores.captions,
        attributes,
        matches=matches,
        likelihood=likelihood if len(likelihood) else None,
        top=parameters.top_k,
    )
    automated.keep("salience", result)
    return matches


def _scores_of_attributes(
    scores: MachineScores, matches: CaptionMatches | None, judged: pd.DataFrame, data: StudyData, seed: int
) -> pd.DataFrame:
    """Scores of each image and attribute by each scorer; if people were asked, only the pairs that they were asked
    about."""
    columns = ["scorer", "model", "identity_group", "image", "attribute", "score"]
    parts = [scores.scores[columns]]
    if matches is not None:
        parts.append(matches.shares(caption_units(matches, judged, data.associations, seed))[columns])
    asked_pairs = pd.MultiIndex.from_frame(judged[["image", "attribute"]].drop_duplicates())
    models = set(judged["model"])
    relevant = [_relevant_scores(part, asked_pairs, models) for part in parts]
    together = {name: union_categoricals([_coded(part[name]) for part in relevant]) for name in columns[:-1]}
    return pd.DataFrame(
        together | {"score": np.concatenate([part["score"].to_numpy(float) for part in relevant])}
    )


def _coded(column: pd.Series) -> pd.Categorical:
    """As codes: of many images and attributes there are millions of rows."""
    coded = pd.Categorical(column)
    return coded.set_categories(coded.categories.astype(object))


def caption_units(
    matches: CaptionMatches, judged: pd.DataFrame, associations: pd.DataFrame, seed: int
) -> pd.DataFrame:
    """Images and attributes for scoring captions: for a model that people judged, the pairs that they were asked about.

    For another model, the attributes that people were asked about for the group; if there are none, the attributes
    listed for the group and an equal number of others. All attributes for all images would be too many.
    """
    of_people = judged[["image", "attribute"]].drop_duplicates()
    alone = matches.captions[~matches.captions["model"].isin(set(judged["model"]))]
    images = alone.loc[alone["identity_group"].notna(), ["identity_group", "image"]].drop_duplicates()
    asked_of_groups = judged[["identity_group", "attribute"]].drop_duplicates().astype(object)
    listed = associations.loc[
        associations["attribute"].isin(matches.attributes), ["identity_group", "attribute"]
    ]
    parts = [asked_of_groups]
    for group in sorted(set(images["identity_group"]) - set(asked_of_groups["identity_group"])):
        listed_here = listed.loc[listed["identity_group"] == group, "attribute"].unique().tolist()
        unlisted = sorted(set(matches.attributes) - set(listed_here))
        # By name, so that the same study elsewhere draws the same.
        drawn = Random(f"{seed}:{group}").sample(unlisted, min(len(listed_here), len(unlisted)))
        parts.append(pd.DataFrame({"identity_group": group, "attribute": [*listed_here, *drawn]}))
    coded = images.astype({"identity_group": object, "image": "category"})
    of_groups = pd.concat(parts, ignore_index=True).astype({"attribute": "category"})
    units = coded.merge(of_groups, on="identity_group")
    return pd.DataFrame(
        {
            name: union_categoricals([_coded(of_people[name]), _coded(units[name])])
            for name in ("image", "attribute")
        }
    )


def _relevant_scores(part: pd.DataFrame, asked_pairs: pd.MultiIndex, models: set[str]) -> pd.DataFrame:
    """For models whose images people judged, the pairs that they were asked about; for other models all pairs."""
    alone = ~part["model"].isin(models)
    # The attributes of an image that nobody judged need not be checked.
    maybe = part["image"].isin(asked_pairs.unique(level=0)) & part["attribute"].isin(
        asked_pairs.unique(level=1)
    )
    candidates = part[maybe]
    is_asked = pd.MultiIndex.from_frame(candidates[["image", "attribute"]]).isin(asked_pairs)
    chosen = alone.to_numpy(copy=True)
    chosen[np.flatnonzero(maybe)[is_asked]] = True
    return part[chosen]


def _concordance(
    automated: Automated,
    scores: MachineScores,
    beside: pd.DataFrame,
    judged: pd.DataFrame,
    parameters: Parameters,
) -> None:
    judged_scores = beside[beside["model"].isin(set(judged["model"]))]
    if judged_scores.empty:
        why = NO_SCORES if scores.scores.empty and scores.captions.empty else NONE_JUDGED
        why = NO_JUDGEMENTS if why == NONE_JUDGED and judged.empty else why
        automated.reasons |= dict.fromkeys(("concordance", "calibration"), why)
        return
    result = concordance(
        judged_scores,
        judged[["image", "attribute", "annotator", "present"]],
        target_precision=parameters.target_precision,
        resamples=parameters.resamples,
        seed=parameters.seed,
    )
    automated.keep("concordance", result)
    automated.tables["calibration"] = result.calibration


def _tendency(
    automated: Automated,
    scores: MachineScores,
    beside: pd.DataFrame,
    data: StudyData,
    parameters: Parameters,
    tables: Mapping[str, pd.DataFrame],
) -> None:
    name = "automated_tendency"
    with_group = beside[beside["identity_group"].notna()]
    if with_group.empty:
        nothing = scores.scores.empty and scores.captions.empty
        automated.reasons[name] = NO_SCORES if nothing else NONE_JUDGED if len(data.judgements) else NO_GROUPS
        return
    thresholds = automated.tables.get(
        "concordance", pd.DataFrame(columns=["scorer", "model", "attribute", "threshold"])
    )
    answers = thresholded(with_group, thresholds)
    table = machine_tendency(
        answers,
        data.associations,
        tables["tendency"],
        min_stereotypes=parameters.min_stereotypes,
        resamples=parameters.resamples,
        seed=parameters.seed,
    )
    automated.tables[name] = table
    automated.notes[name] = {
        "method": "scores as judgements; bootstrap of images",
        "used": len(answers),
        "at_a_threshold_of_their_own": _attributes(answers[answers["chosen"]]),
        "at_one_half": _attributes(answers[~answers["chosen"]]),
        "correlations": correlations(table, resamples=parameters.resamples, seed=parameters.seed),
    }


def _attributes(rows: pd.DataFrame) -> int:
    return int(rows[["scorer", "model", "attribute"]].drop_duplicates().shape[0])
