"""Reading tables of judgements from the database: coded judgements that count, and numbers of those that do not."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from accounts.models import Annotator
from analysis.metrics.data.arrays import Array
from analysis.metrics.data.roles import assign_roles
from analysis.results.data import annotator_records
from analysis.results.data.answers import CampaignAnswers, read_answers
from analysis.results.data.arrays import fetch
from analysis.results.data.campaign_choice import campaigns_named
from analysis.results.data.endpoint_models import read_served_models
from analysis.results.data.exclusions import EXCLUDED_BY_ANALYST, OTHER_CONDITION
from analysis.results.data.probe_answers import ProbeAnswerData, read_probe_answers
from analysis.results.data.scenario_checks import read_scenario_checks
from analysis.results.data.word_answers import WordAnswerData, read_word_answers
from analysis.results.parameters import Parameters
from analysis.results.schema import LIKERT, MARKING
from annotation.answers.inclusion import counted, not_counted
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Box, Campaign, Judgement
from catalog.models import Attribute
from foundation.errors import NotFound
from generation.models import Condition, Image, ProbeRun
from jobs.progress.reporter import Progress, Unwatched
from studies.models import Study

# Progress is visible within seconds even in the largest studies.
_ANNOTATIONS_AT_ONCE = 250_000


@dataclass(frozen=True, eq=False)
class StudyData:
    """All inputs of results.

    `judgements`: campaign, model, identity_group, image, attribute, annotator, present; `none_rows` the same without
    attribute. `ratings`: campaign, attribute, annotator, rating. `boxes`: the keys of `judgements`, two corners.
    `submissions`: kind, campaign, annotator and active seconds of each counted annotation. `associations` have the role
    that follows from `min_raters` and `rater_pools`. `annotators`, `images`, `groups` and `campaigns` give the meaning
    of the labels. `not_counted`: annotations by kind of campaign and reason. `instruments`: the version of the
    guidelines for each row of `judgements`, `none_rows` and `ratings`, null for imported labels; results do not depend
    on it. `languages`: the language in which each of these rows was read, if there are several.
    """

    judgements: pd.DataFrame
    none_rows: pd.DataFrame
    ratings: pd.DataFrame
    boxes: pd.DataFrame
    submissions: pd.DataFrame
    associations: pd.DataFrame
    annotators: pd.DataFrame
    images: pd.DataFrame
    groups: pd.DataFrame
    campaigns: pd.DataFrame
    not_counted: Mapping[str, Mapping[str, int]]
    instruments: Mapping[str, pd.Series]
    last_annotation: int
    gold: pd.DataFrame
    repeats: pd.DataFrame
    flags: pd.DataFrame
    profiles: pd.DataFrame
    depicted: pd.DataFrame
    answers: tuple[CampaignAnswers, ...] = ()
    languages: Mapping[str, pd.Series] = field(default_factory=dict)
    probe_answers: ProbeAnswerData = field(default_factory=ProbeAnswerData)
    word_answers: WordAnswerData = field(default_factory=WordAnswerData)


def load(*, study: Study, parameters: Parameters, progress: Progress | None = None) -> StudyData:
    """Read the labels that count in the study's campaigns; raise NotFound for an unknown campaign or annotator.

    Reports to `progress` between queries, never within one: SQLite refuses writes (of the job's progress) on a
    connection that is reading data which others have changed meanwhile.
    """
    progress = progress or Unwatched()
    progress.step("Reading labels")
    campaigns = campaigns_named(study, parameters.campaigns)
    images, annotators = _images(study), _annotators(campaigns)
    excluded = _excluded(annotators, parameters.without_annotators)
    labels = {
        "campaign": Labels.of((c.pk, c.slug) for c in campaigns),
        "annotator": Labels.of(zip(annotators["id"], annotators["key"], strict=True)),
        "attribute": Labels.of(Attribute.objects.values_list("pk", "text").iterator()),
        **{
            name: Labels.of(zip(images["id"], images[column], strict=True))
            for name, column in (("image", "key"), ("model", "model"), ("identity_group", "identity_group"))
        },
    }
    marking, marking_dropped = _submissions(campaigns, MARKING, images, excluded, progress)
    likert, likert_dropped = _submissions(campaigns, LIKERT, images, excluded, progress)
    marks = _answers(campaigns, MARKING, "present", marking, progress)
    ratings = _answers(campaigns, LIKERT, "rating", likert, progress)
    answers = read_answers(campaigns, annotators, excluded, progress)
    none_asked = marking[marking["none"].notna()]
    working = annotators[
        annotators["id"].isin(marking["annotator"]) | annotators["id"].isin(likert["annotator"])
    ]
    shared = ("campaign", "model", "identity_group", "image", "annotator")
    return StudyData(
        judgements=_labelled(marks, labels, (*shared, "attribute")).assign(
            present=marks["present"].to_numpy() == 1
        ),
        none_rows=_labelled(none_asked, labels, shared).assign(present=none_asked["none"].to_numpy() == 1),
        ratings=_labelled(ratings, labels, ("campaign", "attribute", "annotator")).assign(
            rating=ratings["rating"].to_numpy(dtype=np.int8)
        ),
        boxes=_boxes(campaigns, marks, labels, progress),
        submissions=_all_submissions(marking, likert, labels),
        associations=_associations(study, parameters),
        annotators=annotators,
        images=images,
        groups=_groups(study),
        campaigns=pd.DataFrame(
            [(c.slug, c.name, str(c.kind)) for c in campaigns], columns=["campaign", "name", "kind"]
        ),
        not_counted={str(MARKING): marking_dropped, str(LIKERT): likert_dropped},
        instruments={
            name: frame["instrument"].astype("Int64").reset_index(drop=True)
            for name, frame in (("judgements", marks), ("none_rows", none_asked), ("ratings", ratings))
        },
        last_annotation=last_annotation(study),
        gold=annotator_records.gold_answers(campaigns, working),
        repeats=annotator_records.repeats(campaigns, working),
        flags=annotator_records.flags(campaigns, working),
        profiles=annotator_records.profiles(
            campaigns, working, () if parameters.part_of_the_labels else marking["annotator"].unique()
        ),
        depicted=annotator_records.depicted(study),
        answers=answers,
        languages=_languages(campaigns, {"judgements": marks, "none_rows": none_asked, "ratings": ratings}),
        **_answers_of_models(study, parameters, progress),
    )


def _languages(campaigns: Sequence[Campaign], frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.Series]:
    """Return the language of each row, by table, for tables of answers in several languages."""
    asking = [campaign.pk for campaign in campaigns if kind_of(campaign).about_attributes]
    rows = Annotation.objects.filter(campaign__in=asking, language__isnull=False).order_by()
    if rows.values("language").distinct().count() < 2:
        return {}
    pairs = rows.values_list("pk", "language").iterator(chunk_size=5_000)
    languages: pd.Series = pd.Series(dict(pairs), dtype=object)
    by_table = {
        name: languages.reindex(frame["annotation"].astype(np.int64)).reset_index(drop=True)
        for name, frame in frames.items()
    }
    return by_table if any(column.nunique() > 1 for column in by_table.values()) else {}


def _answers_of_models(study: Study, parameters: Parameters, progress: Progress) -> dict[str, Any]:
    """Return the fields with models' answers; nothing is read if no model was asked."""
    if not ProbeRun.objects.filter(study=study).exists():
        return {}
    published = parameters.association_words == "published"
    served, checks = read_served_models(study), read_scenario_checks(study)
    return {
        "probe_answers": read_probe_answers(study, progress, served, checks),
        "word_answers": read_word_answers(study, progress, served=served, checks=checks, published=published),
    }


def last_annotation(study: Study) -> int:
    """The key of the newest annotation: later submissions are not in this report."""
    newest = (
        Annotation.objects.filter(campaign__study=study).order_by("-pk").values_list("pk", flat=True).first()
    )
    return newest or 0


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a table's keys; several keys may share a label."""

    keys: Array
    codes: Array
    names: Array

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, str]]) -> "Labels":
        ordered = sorted(pairs)
        names, codes = np.unique(np.array([name for _, name in ordered], dtype=object), return_inverse=True)
        return cls(np.array([key for key, _ in ordered], dtype=np.int64), codes, names)

    def categorical(self, keys: Array) -> "pd.Categorical[str]":
        codes = self.codes[np.searchsorted(self.keys, keys)]
        names: pd.Index[str] = pd.Index(self.names.tolist(), dtype=object)
        return pd.Categorical.from_codes(codes, names)


def _labelled(rows: pd.DataFrame, labels: Mapping[str, Labels], columns: Sequence[str]) -> pd.DataFrame:
    # A group and a model are those of the image.
    source = {"model": "image", "identity_group": "image"}
    return pd.DataFrame(
        {name: labels[name].categorical(rows[source.get(name, name)].to_numpy(np.int64)) for name in columns}
    )


def _images(study: Study) -> pd.DataFrame:
    rows = (
        Image.objects.filter(study=study, group__isnull=False)
        .order_by("pk")
        .values_list("pk", "sha256", "source_name", "model_label", "group__name", "condition", "public_id")
    )
    frame = pd.DataFrame(
        rows.iterator(chunk_size=5_000),
        columns=["id", "sha256", "source_name", "model", "identity_group", "condition", "public_id"],
    )
    # If two models have the same bytes, they are one image for resampling; no database key is part of a result.
    frame["key"] = frame["sha256"].where(frame["sha256"] != "", frame["source_name"])
    return frame


def _annotators(campaigns: Sequence[Campaign]) -> pd.DataFrame:
    labels = Annotation.objects.filter(campaign__in=campaigns, status__in=Annotation.LABELS)
    worked = labels.values("annotator")
    rows = Annotator.objects.filter(pk__in=worked).order_by("pk").values_list("pk", "pseudonym", "source_id")
    frame = pd.DataFrame(rows.iterator(chunk_size=5_000), columns=["id", "pseudonym", "source_id"])
    # Imported and simulated annotators keep the order of their file, whatever their pseudonyms here.
    key = frame["source_id"].where(frame["source_id"] != "", frame["pseudonym"])
    frame["key"] = key if key.is_unique else frame["pseudonym"]
    return frame


def _excluded(annotators: pd.DataFrame, names: Sequence[str]) -> Array:
    chosen = annotators["pseudonym"].isin(names) | annotators["source_id"].isin(names)
    all_names = set(annotators["pseudonym"]) | set(annotators["source_id"])
    unknown = [name for name in names if name not in all_names]
    if unknown:
        raise NotFound(
            "annotator_not_found", f"There is no annotator “{unknown[0]}” in the campaigns of this study."
        )
    return annotators.loc[chosen, "id"].to_numpy(np.int64)


def _submissions(
    campaigns: Sequence[Campaign], kind: str, images: pd.DataFrame, excluded: Array, progress: Progress
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Counted annotations of one kind of campaign, by key, and the number of others, by reason."""
    answer = ("none_of_the_above", "active_seconds", "instrument__version")
    columns = ("pk", "task__image", "annotator", "campaign", *answer)
    parts: list[Array] = [np.empty((0, len(columns)))]
    dropped = Counter[str]()
    for campaign in campaigns:
        if campaign.kind == kind:
            parts.append(fetch(counted(campaign), *columns, dtype=float))
            _report_rows(progress, parts[-1], "annotations")
            dropped.update({reason: number for reason, number in not_counted(campaign).items() if number})
    frame = pd.DataFrame(
        np.concatenate(parts),
        columns=["annotation", "image", "annotator", "campaign", "none", "seconds", "instrument"],
    ).sort_values("annotation", ignore_index=True)
    by_analyst = frame["annotator"].isin(excluded)
    elsewhere = ~by_analyst & frame["image"].isin(images.loc[images["condition"] != Condition.DEFAULT, "id"])
    for reason, rejected in ((EXCLUDED_BY_ANALYST, by_analyst), (OTHER_CONDITION, elsewhere)):
        if rejected.any():
            dropped[reason] = int(rejected.sum())
    return frame[~by_analyst & ~elsewhere].reset_index(drop=True), dict(dropped)


def _answers(
    campaigns: Sequence[Campaign], kind: str, value: str, submissions: pd.DataFrame, progress: Progress
) -> pd.DataFrame:
    """The judgements of the given submissions, each with the data of its submission."""
    campaigns_of_kind = [campaign for campaign in campaigns if campaign.kind == kind]
    annotation_ids = submissions["annotation"].to_numpy(np.int64)
    parts: list[Array] = [np.empty((0, 4), dtype=np.int64)]
    for start in range(0, len(annotation_ids), _ANNOTATIONS_AT_ONCE):
        batch = annotation_ids[start : start + _ANNOTATIONS_AT_ONCE]
        between = {"pk__gte": int(batch[0]), "pk__lte": int(batch[-1])}
        annotations = Annotation.objects.filter(campaign__in=campaigns_of_kind, **between)
        queryset = Judgement.objects.filter(annotation__in=annotations, **{f"{value}__isnull": False})
        parts.append(fetch(queryset, "pk", "annotation", "attribute", value))
        _report_rows(progress, parts[-1], "judgements")
    rows = np.concatenate(parts)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    place = np.searchsorted(annotation_ids, rows[:, 1])
    matched = np.flatnonzero(place < len(annotation_ids))
    matched = matched[annotation_ids[place[matched]] == rows[matched, 1]]
    frame: pd.DataFrame = submissions.iloc[place[matched]][
        ["annotation", "image", "annotator", "campaign", "instrument"]
    ].reset_index(drop=True)
    return frame.assign(judgement=rows[matched, 0], attribute=rows[matched, 2], **{value: rows[matched, 3]})


def _boxes(
    campaigns: Sequence[Campaign], marks: pd.DataFrame, labels: Mapping[str, Labels], progress: Progress
) -> pd.DataFrame:
    queryset = Box.objects.filter(judgement__annotation__campaign__in=campaigns)
    columns = ("pk", "judgement", "x", "y", "width", "height", "clipped")
    rows = fetch(queryset, *columns, dtype=float)
    _report_rows(progress, rows, "boxes")
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    place = pd.Index(marks["judgement"]).get_indexer(rows[:, 1].astype(np.int64))
    rows, place = rows[place >= 0], place[place >= 0]
    owner = marks.iloc[place].reset_index(drop=True)
    x, y, width, height, clipped = rows[:, 2:].T
    frame = _labelled(owner, labels, ("model", "identity_group", "image", "attribute", "annotator"))
    return frame.assign(
        judgement=owner["judgement"].to_numpy(np.int64),
        x0=x,
        y0=y,
        x1=x + width,
        y1=y + height,
        clipped=clipped == 1,
    )


def _report_rows(progress: Progress, rows: Array, noun: str) -> None:
    progress.check_cancelled()
    progress.advance(len(rows), f"{noun} read")


def _all_submissions(
    marking: pd.DataFrame, likert: pd.DataFrame, labels: Mapping[str, Labels]
) -> pd.DataFrame:
    parts = [
        _labelled(frame, labels, ("campaign", "annotator")).assign(
            kind=str(kind),
            annotation=frame["annotation"].to_numpy(np.int64),
            seconds=frame["seconds"].to_numpy(),
        )
        for kind, frame in ((MARKING, marking), (LIKERT, likert))
    ]
    return pd.concat(parts, ignore_index=True)


def _associations(study: Study, parameters: Parameters) -> pd.DataFrame:
    scores = ["offensiveness_stored", "rating_1", "rating_2", "rating_3"]
    counts = ["in_region_stereotype", "out_region_stereotype"]
    rows = study.associations.order_by("group__name", "attribute__text").values_list(
        "group__name", "attribute__text", *scores, *counts
    )
    frame = pd.DataFrame(list(rows), columns=["identity_group", "attribute", *scores, *counts])
    frame = frame.astype(dict.fromkeys([*scores, *counts], float))
    listed = assign_roles(frame, min_raters=parameters.min_raters, rater_pools=parameters.rater_pools)
    return listed[["identity_group", "attribute", "role", *scores]]


def _groups(study: Study) -> pd.DataFrame:
    rows = study.groups.order_by("name").values_list("name", "display_name", "region", "iso_code")
    columns = ["identity_group", "display_name", "region", "iso_code"]
    named = [(name, display_name, region or None, code or None) for name, display_name, region, code in rows]
    return pd.DataFrame(named, columns=columns)
