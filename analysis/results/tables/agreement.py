"""Agreement by campaign, attribute and identity group; consensus; the items people disagree on most."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from analysis.metrics.agreement.consensus import consensus
from analysis.metrics.agreement.fleiss_kappa import fleiss_kappa
from analysis.metrics.agreement.gwet_ac import gwet_ac
from analysis.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.agreement.observed_agreement import observed_agreement
from analysis.metrics.boxes.agreement import NO_PAIRS, BoxAgreement, box_agreement
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result, words
from analysis.metrics.resampling.bootstrap import Resampling
from analysis.results.data.labels import StudyData
from analysis.results.parameters import Parameters
from analysis.results.schema import LIKERT, MARKING, PRESENCE_LABELS, RATING_LABELS

MOST_DIVISIVE = 300
Coefficient = Callable[..., Result]


def agreement_table(
    data: StudyData, parameters: Parameters, resampling: Resampling | None, boxes: BoxAgreement | None
) -> pd.DataFrame:
    """One row per coefficient and scope; `campaign_kind` tells ratings from judgements of images."""
    parts: list[pd.DataFrame] = []
    if resampling is not None:
        parts += _presence(data, resampling)
        if boxes is not None:
            parts.append(_boxes(boxes, resampling))
        parts += _campaigns(data, resampling)
    if len(data.ratings):
        parts += _likert(data, parameters)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["campaign_kind"])


def _presence(data: StudyData, resampling: Resampling) -> Iterator[pd.DataFrame]:
    coefficients: list[Coefficient] = [
        krippendorff_alpha,
        partial(gwet_ac, kind="ac1"),
        fleiss_kappa,
        observed_agreement,
    ]
    for coefficient in coefficients:
        for scope in ("all", "identity_group", "attribute"):
            result = coefficient(data.judgements, by=scope, resampling=resampling)
            yield result.to_frame().assign(campaign_kind=str(MARKING))


def _campaigns(data: StudyData, resampling: Resampling) -> Iterator[pd.DataFrame]:
    campaigns = data.judgements["campaign"].unique()
    if len(campaigns) > 1:
        for campaign in sorted(campaigns):
            campaign_rows = data.judgements[data.judgements["campaign"] == campaign]
            result = krippendorff_alpha(campaign_rows, resamples=resampling.resamples, seed=resampling.seed)
            yield result.to_frame().assign(scope="campaign", scope_value=campaign, campaign_kind=str(MARKING))


def overlap(data: StudyData, resampling: Resampling) -> BoxAgreement | None:
    """How boxes agree; None without any."""
    if data.boxes.empty:
        return None
    # A picture of one group and the same bytes in another group are different units.
    picture = data.boxes.groupby(["identity_group", "image"], observed=True, sort=True).ngroup()
    return box_agreement(
        data.boxes.assign(image=picture),
        resamples=resampling.resamples,
        seed=resampling.seed,
        annotators="auto" if resampling.annotators_resampled else "ignore",
    )


def _boxes(boxes: BoxAgreement, resampling: Resampling) -> pd.DataFrame:
    table = boxes.to_frame().assign(campaign_kind=str(MARKING))
    if not resampling.annotator_ids.usable:
        table["annotators"] = pd.array([None] * len(table), dtype="Int64")
    return table


def resampled(agreement: pd.DataFrame) -> dict[str, str]:
    """What the intervals of overall agreement resample, by kind of campaign."""
    if "resampled" not in agreement:
        return {}
    stated = agreement[(agreement["scope"] == "all") & agreement["resampled"].notna()]
    first_rows = stated.drop_duplicates("campaign_kind")
    return dict(zip(first_rows["campaign_kind"], first_rows["resampled"].astype(str), strict=True))


def iou_table(boxes: BoxAgreement) -> pd.DataFrame:
    """The share of pairs of drawings in each tenth of overlap."""
    table = boxes.distribution.rename(columns={"iou_from": "bin_low", "iou_to": "bin_high"})
    return table.assign(reason=words(["" if has_share else NO_PAIRS for has_share in table["share"].notna()]))


def _likert(data: StudyData, parameters: Parameters) -> Iterator[pd.DataFrame]:
    """Ordinal with Unsure as missing, ordinal with it as the middle value, nominal with it as a category."""
    alpha, gwet = krippendorff_alpha, gwet_ac
    coefficients: list[tuple[str, Coefficient]] = [
        ("missing", partial(alpha, level="ordinal")),
        ("middle", partial(alpha, level="ordinal")),
        ("category", partial(alpha, level="nominal")),
        ("missing", partial(gwet, kind="ac2")),
        ("category", partial(gwet, kind="ac1")),
        ("category", fleiss_kappa),
        ("category", observed_agreement),
    ]
    for unsure, coefficient in coefficients:
        result = coefficient(
            data.ratings, unsure=unsure, resamples=parameters.resamples, seed=parameters.seed
        )
        yield result.to_frame().assign(campaign_kind=str(LIKERT), unsure=unsure)


def consensus_table(data: StudyData) -> pd.DataFrame:
    """The share of units on which enough annotators agree, per label: of ratings, then of judgements."""
    parts = []
    for frame, kind, names in (
        (data.ratings, LIKERT, RATING_LABELS),
        (data.judgements, MARKING, PRESENCE_LABELS),
    ):
        if len(frame):
            table = consensus(frame).to_frame()
            parts.append(table.assign(label=table["label"].map(names), campaign_kind=str(kind)))
    return (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["label", "agreeing", "share"])
    )


def divisive_table(data: StudyData, judgements: Judgements) -> pd.DataFrame:
    """The units (image, attribute) whose answers differ most; if equal, those with more answers."""
    n_shown, n_marked = judgements.unit_shown, judgements.unit_marked
    real = (
        ~judgements.cell_is_none[judgements.unit_cell]
        & (n_shown >= 2)
        & (n_marked > 0)
        & (n_marked < n_shown)
    )
    differing = np.zeros(len(n_shown))
    differing[real] = 2 * n_marked[real] * (n_shown - n_marked)[real] / (n_shown[real] * (n_shown[real] - 1))
    order = np.lexsort((np.arange(len(n_shown)), -n_shown, -differing))
    top = order[: min(MOST_DIVISIVE, int(real.sum()))]
    cell = judgements.unit_cell[top]
    table = pd.DataFrame(
        {
            "model": judgements.model_names[judgements.cell_model[cell]],
            "identity_group": judgements.group_names[judgements.cell_group[cell]],
            "attribute": judgements.cell_attribute_names()[cell],
            "key": judgements.image_names[judgements.unit_image[top]],
            "shown": n_shown[top],
            "marked": n_marked[top],
            "differing_pairs": differing[top],
        }
    )
    images = data.images.loc[
        data.images["condition"] == "default", ["model", "identity_group", "key", "public_id"]
    ]
    table = table.merge(images.assign(public_id=images["public_id"].astype(str)), how="left")
    return table.rename(columns={"public_id": "image"}).drop(columns="key")
