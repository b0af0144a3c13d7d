"""Reading answers to declared questions from the database: who answered what, about which stimuli."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from django.db.models import Manager, QuerySet

from analysis.metrics.data.arrays import Array
from analysis.results.data.arrays import fetch, fetch_frame
from analysis.results.data.exclusions import EXCLUDED_BY_ANALYST, OTHER_CONDITION
from annotation.answers.inclusion import counted, not_counted
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from annotation.kinds.registry import kind_of
from annotation.models import Annotation, Box, Campaign, Judgement, Point, TaskStimulus
from generation.models import Condition
from jobs.progress.reporter import Progress

_ANNOTATIONS_AT_ONCE = 250_000
_OF_IMAGE = ("sha256", "source_name", "model_label", "group__name", "condition", "prompt")
_NUMBERS = ("pk", "annotation", "stimulus", "present", "rating", "rank")


@dataclass(frozen=True, eq=False)
class CampaignAnswers:
    """The counted answers of a campaign whose kind asks questions.

    `annotations`: annotation, task, annotator, seconds, instrument, language. `judgements`: judgement, annotation,
    question, stimulus (0 where none), present, rating, code, rank and, of texts, words. `stimuli`: stimulus, task,
    position, image, model, identity_group, prompt, condition, width, height; for a text, image is null and `words` is
    its number of words. `points` and `boxes`: judgement and places. Codes of tasks and stimuli are database keys and
    are not part of results. `condition` is the condition of the campaign's images. `not_counted`: annotations by
    reason.
    """

    campaign: str
    name: str
    kind: Kind
    annotations: pd.DataFrame
    judgements: pd.DataFrame
    stimuli: pd.DataFrame
    points: pd.DataFrame
    boxes: pd.DataFrame
    condition: str
    not_counted: Mapping[str, int]

    def of(self, question: Question) -> pd.DataFrame:
        """One row per judgement of a question, with its annotator and its subject.

        Added: annotator, task, position, image, model, identity_group, prompt, unit (the image, or else the task, which
        other answers may also be about) and rated (the same place on the same screen). For an answer about the whole
        screen, image, model, identity_group and prompt are the values that all its images share, else null.
        """
        return self.about(self.judgements[self.judgements["question"] == question.name], question)

    def about(self, rows: pd.DataFrame, question: Question) -> pd.DataFrame:
        """Rows of annotations and stimuli with the same columns added."""
        owner = self.annotations.set_index("annotation")[["annotator", "task"]]
        rows = rows.join(owner, on="annotation")
        about = ["position", "image", "model", "identity_group", "prompt"]
        if question.each:
            rows = rows.join(self.stimuli.set_index("stimulus")[about], on="stimulus")
        else:
            rows = rows.join(self.tasks[about[1:]], on="task").assign(position=-1)
        task = rows["task"].astype(str)
        place = task + ":" + rows["position"].astype(str)
        unit = rows["image"].astype(object)
        return rows.assign(unit=unit.where(unit.notna(), place), rated=place).reset_index(drop=True)

    def asked(self, question: Question) -> pd.DataFrame:
        """The annotations and stimuli about which a question was asked (stimulus 0: about the whole screen)."""
        everybody = self.annotations[["annotation", "task"]]
        if question.each:
            medium = self.stimuli["image"].notna() == (self.kind.stimuli.medium == "image")
            everybody = everybody.merge(self.stimuli.loc[medium, ["task", "stimulus"]], on="task")
        everybody = everybody.assign(stimulus=everybody.get("stimulus", 0))[["annotation", "stimulus"]]
        if question.when is None:
            return everybody
        earlier = self.kind.question(question.when.question)
        given = self.answered(earlier, question.when.answers)
        on = ["annotation", "stimulus"] if earlier.each else ["annotation"]
        return everybody.merge(given[on].drop_duplicates(), on=on)

    def answered(self, question: Question, answers: Collection[int | str]) -> pd.DataFrame:
        """The judgements that give one of these answers to a question."""
        rows = self.judgements[self.judgements["question"] == question.name]
        if question.type == "scale":
            return rows[rows["rating"].isin(answers)]
        if question.type == "compare":  # its answers are the places of the stimuli, and the tie
            place = rows["stimulus"].map(self.stimuli.set_index("stimulus")["position"])
            return rows[place.isin(answers) | rows["code"].isin(answers)]
        return rows[rows["code"].isin(answers)]

    @cached_property
    def inputs(self) -> pd.DataFrame:
        """The inputs of results, without database keys."""
        owner = self.annotations.set_index("annotation")[["annotator", "task"]]
        rows = self.judgements.join(owner, on="annotation")
        images = self.stimuli.assign(image=self.stimuli["image"].fillna("text")).sort_values("position")
        shown = images.groupby("task")["image"].agg("|".join)
        about = self.stimuli.set_index("stimulus")[["position", "model", "identity_group", "prompt"]]
        rows = rows.join(shown.rename("shown"), on="task").join(about, on="stimulus")
        return rows.drop(columns=["judgement", "annotation", "stimulus", "task"])

    def placed(self, name: str) -> pd.DataFrame:
        """The same of points or boxes."""
        places: pd.DataFrame = getattr(self, name)
        rows = self.inputs.assign(judgement=self.judgements["judgement"])
        return places.merge(rows, on="judgement").drop(columns="judgement")

    @cached_property
    def tasks(self) -> pd.DataFrame:
        """Per task, the values that its images share (null if they differ): image, model, identity_group, prompt."""
        images = self.stimuli[self.stimuli["image"].notna()]
        columns = ["image", "model", "identity_group", "prompt"]
        grouped = images.groupby("task")[columns]
        first, alike = grouped.first(), grouped.nunique(dropna=False) == 1
        return first.astype(object).where(alike, None)


def read_answers(
    campaigns: Sequence[Campaign], annotators: pd.DataFrame, excluded: Array, progress: Progress
) -> tuple[CampaignAnswers, ...]:
    """Read the campaigns whose kind asks questions; `annotators` (id, key) names the annotators."""
    return tuple(
        _read(campaign, annotators, excluded, progress)
        for campaign in campaigns
        if not kind_of(campaign).about_attributes
    )


def _read(
    campaign: Campaign, annotators: pd.DataFrame, excluded: Array, progress: Progress
) -> CampaignAnswers:
    dropped = {reason: number for reason, number in not_counted(campaign).items() if number}
    stimuli = _stimuli(campaign)
    columns = ("pk", "task", "annotator", "active_seconds", "instrument__version")
    rows = fetch(counted(campaign), *columns, dtype=float)
    frame = pd.DataFrame(rows, columns=["annotation", "task", "annotator", "seconds", "instrument"])
    frame = frame.astype({"annotation": np.int64, "task": np.int64, "annotator": np.int64})
    condition = campaign.options.get("condition") or Condition.DEFAULT.value  # which its lead chose
    elsewhere = stimuli.loc[stimuli["condition"].notna() & (stimuli["condition"] != condition), "task"]
    by_analyst = frame["annotator"].isin(excluded)
    other = ~by_analyst & frame["task"].isin(elsewhere)
    for reason, rejected in ((EXCLUDED_BY_ANALYST, by_analyst), (OTHER_CONDITION, other)):
        if rejected.any():
            dropped[reason] = int(rejected.sum())
    frame = frame[~by_analyst & ~other].sort_values("annotation", ignore_index=True)
    progress.check_cancelled()
    progress.advance(len(frame), "annotations read")
    names = annotators.set_index("id")["key"]
    languages = dict(
        campaign.annotations.filter(language__isnull=False).values_list("pk", "language").iterator(5_000)
    )
    judgements = _judgements(campaign, frame["annotation"].to_numpy(), progress)
    place = [
        _of_judgements(Point.objects, campaign, judgements, ("x", "y")),
        _of_judgements(Box.objects, campaign, judgements, ("x", "y", "width", "height", "clipped")),
    ]
    return CampaignAnswers(
        campaign=campaign.slug,
        name=campaign.name,
        kind=kind_of(campaign),
        annotations=frame.assign(
            annotator=pd.Categorical(names.reindex(frame["annotator"])),
            language=frame["annotation"].map(languages).astype(object),
        ),
        judgements=judgements,
        stimuli=stimuli[stimuli["task"].isin(frame["task"])].reset_index(drop=True),
        points=place[0],
        boxes=place[1],
        condition=condition,
        not_counted=dropped,
    )


def _judgements(campaign: Campaign, annotations: Array, progress: Progress) -> pd.DataFrame:
    """The judgements of the given annotations. For a text, only its number of words is kept."""
    parts = [_judgement_part(Judgement.objects.none())]
    for start in range(0, len(annotations), _ANNOTATIONS_AT_ONCE):
        batch = annotations[start : start + _ANNOTATIONS_AT_ONCE]
        within = Annotation.objects.filter(campaign=campaign, pk__gte=int(batch[0]), pk__lte=int(batch[-1]))
        parts.append(_judgement_part(Judgement.objects.filter(annotation__in=within.values("pk"))))
        progress.check_cancelled()
        progress.advance(len(parts[-1]), "judgements read")
    frame = pd.concat(parts[1:] or parts, ignore_index=True)
    frame = frame[frame["annotation"].isin(annotations)]
    return frame.astype({"question": str}).sort_values("judgement", ignore_index=True)


def _judgement_part(queryset: QuerySet[Judgement]) -> pd.DataFrame:
    frame = fetch_frame(queryset, numbers=_NUMBERS, names=("question", "code"), lengths=("text",))
    frame = frame.rename(columns={"pk": "judgement", "text": "words"})
    whole = {"judgement": np.int64, "annotation": np.int64, "stimulus": np.int64}
    texts = frame.astype({"question": object, "code": object})
    return texts.fillna({"stimulus": 0}).astype(whole)


def _stimuli(campaign: Campaign) -> pd.DataFrame:
    frame = fetch_frame(
        TaskStimulus.objects.filter(task__campaign=campaign),
        numbers=("pk", "task", "position", "image", "image__width", "image__height"),
        names=tuple(f"image__{column}" for column in _OF_IMAGE),
        lengths=("text",),
    ).rename(columns=lambda name: name.removeprefix("image__"))
    text = frame.astype(dict.fromkeys(_OF_IMAGE, object))
    is_image = text["image"].notna()
    # If two models have the same bytes, they are one image for resampling; no database key is part of a result.
    key = text["sha256"].where(text["sha256"] != "", text["source_name"])
    return pd.DataFrame(
        {
            "stimulus": text["pk"].astype(np.int64),
            "task": text["task"].astype(np.int64),
            "position": text["position"].astype(np.int64),
            "image": key.where(is_image, None),
            "model": text["model_label"].where(is_image, None),
            "identity_group": text["group__name"],
            "prompt": text["prompt"].where(text["prompt"] != "", None),
            "condition": text["condition"],
            "width": text["width"],
            "height": text["height"],
            "words": text["text"],
        }
    ).sort_values("stimulus", ignore_index=True)


def _of_judgements(
    places: Manager[Point] | Manager[Box],
    campaign: Campaign,
    judgements: pd.DataFrame,
    columns: tuple[str, ...],
) -> pd.DataFrame:
    """Points or boxes of the judgements that count, in the order they were drawn."""
    queryset = places.filter(judgement__annotation__campaign=campaign)
    rows = fetch(queryset, "pk", "judgement", *columns, dtype=float)
    frame = pd.DataFrame(rows, columns=["pk", "judgement", *columns]).sort_values("pk", ignore_index=True)
    kept = frame[frame["judgement"].isin(judgements["judgement"])].drop(columns="pk")
    return kept.astype({"judgement": np.int64}).reset_index(drop=True)
