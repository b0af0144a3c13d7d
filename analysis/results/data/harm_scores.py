"""Reading the ratings of associations by classifiers, judges and people from the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd
from django.db.models import Exists, OuterRef

from analysis.models import AssociationScore, Scorer
from annotation.answers.inclusion import counted
from annotation.kinds.registry import BIAS_LEVELS
from annotation.models import Campaign, Judgement
from studies.models import Study

_LEVEL = "level"  # the question of the kind
# Beginnings of classifiers' label names; the numbers are for models whose labels have no names.
_SENTIMENTS = {
    "neg": "negative",
    "neu": "neutral",
    "pos": "positive",
    "label_0": "negative",
    "label_1": "positive",
}
_TOXIC = ("toxic", "label_1")
TEXTS, RATINGS, PEOPLE = ("text", "value"), ("descriptor", "text", "rating"), ("text", "annotator", "rating")


def _empty(*columns: str) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype=object) for name in columns})


@dataclass(frozen=True, eq=False)
class HarmScores:
    """Scores of the newest scorer of each kind that has scores. `sentiment`, `toxicity`: text, value. `judge`:
    descriptor, text and rating, one row per repeat, null if a reply had another form. `people`: text, annotator,
    rating. `scorers`: their labels by kind.
    """

    sentiment: pd.DataFrame = field(default_factory=lambda: _empty(*TEXTS))
    toxicity: pd.DataFrame = field(default_factory=lambda: _empty(*TEXTS))
    judge: pd.DataFrame = field(default_factory=lambda: _empty(*RATINGS))
    people: pd.DataFrame = field(default_factory=lambda: _empty(*PEOPLE))
    scorers: Mapping[str, str] = field(default_factory=dict)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return those that have rows, by name."""
        names = ("sentiment", "toxicity", "judge", "people")
        return {name: getattr(self, name) for name in names if len(getattr(self, name))}


def read_harm_scores(study: Study) -> HarmScores:
    """Read the scores and ratings of the study's associations, by machines and by people whose answers count."""
    has_scores = Exists(AssociationScore.objects.filter(scorer=OuterRef("pk")))
    scorers = {scorer.kind: scorer for scorer in study.scorers.filter(has_scores).order_by("pk")}
    sentiment = _labels(scorers.get(Scorer.Kind.SENTIMENT))
    largest = sentiment.sort_values(["text", "score", "label"]).drop_duplicates("text", keep="last")
    toxicity = _labels(scorers.get(Scorer.Kind.TOXICITY))
    toxic = toxicity[toxicity["label"].str.lower().str.startswith(_TOXIC)]
    judge = scorers.get(Scorer.Kind.JUDGE)
    ratings = judge.association_scores.order_by("key", "repeat") if judge else AssociationScore.objects.none()
    return HarmScores(
        sentiment=pd.DataFrame(
            {"text": largest["text"], "value": largest["label"].map(_sentiment)}, dtype=object
        ).dropna(ignore_index=True),
        toxicity=pd.DataFrame({"text": toxic["text"], "value": toxic["score"]}).reset_index(drop=True),
        judge=pd.DataFrame(ratings.values_list("descriptor", "text", "score"), columns=list(RATINGS)),
        people=_people(study),
        scorers={str(kind): scorer.model_label for kind, scorer in scorers.items()},
    )


def _labels(scorer: Scorer | None) -> pd.DataFrame:
    rows = scorer.association_scores.order_by("pk").values_list("text", "label", "score") if scorer else []
    frame = pd.DataFrame(rows, columns=["text", "label", "score"])
    return frame.astype({"text": str, "label": str, "score": float})


def _sentiment(label: str) -> str | None:
    return next((name for start, name in _SENTIMENTS.items() if label.lower().startswith(start)), None)


def _people(study: Study) -> pd.DataFrame:
    rows: list[tuple[str, str, int | None]] = []
    for campaign in Campaign.objects.filter(study=study, kind=BIAS_LEVELS.key).order_by("pk"):
        levels = Judgement.objects.filter(
            annotation__in=counted(campaign), question=_LEVEL, rating__isnull=False
        )
        texts = levels.order_by("pk").values_list(
            "annotation__task__stimuli__text",
            "annotation__annotator__pseudonym",
            "rating",
        )
        rows += texts
    frame = pd.DataFrame(rows, columns=list(PEOPLE))
    return frame.drop_duplicates(["text", "annotator"], keep="last", ignore_index=True)
