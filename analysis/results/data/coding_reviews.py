"""From the database to what people and rules took the same answers of models to say."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import pandas as pd

from annotation.answers.questions.answer_review import PersonCoding, adjudicated, codings_by_people
from generation.models import Answer, Coding
from generation.probing.codings import UNPARSED
from studies.models import Study

APART = 2  # people who code each answer without knowing of each other; a third only decides
SURE, UNSURE = "sure", "unsure"


@dataclass(frozen=True, eq=False)
class CodingReviewData:
    """`ratings`: answer, coder and outcome of the people who coded apart. `reviewed`: answer, stratum, outcome by the
    newest rules and by people, of answers that people decided. `models`: answer, coder and outcome by models of such
    answers, without replies that were no code. `sizes`: answers coded by rules in each stratum.
    `undecided`: answers on which two people differ and nobody has decided.
    """

    ratings: pd.DataFrame
    reviewed: pd.DataFrame
    models: pd.DataFrame
    sizes: Mapping[str, int] = field(default_factory=dict)
    version: str = ""  # of the rules whose doubts made the strata
    undecided: int = 0


def read_coding_reviews(study: Study) -> CodingReviewData | None:
    """Read the codings by people and by rules of the study's answers to choices; None where people coded none.

    Strata are those of the rules' version of whose unsure answers people read the largest share, of equals
    the one that coded most: rules that came after a review did not draw its answers.
    """
    said = codings_by_people(study)
    if not said:
        return None
    choices = Answer.objects.filter(run__study=study, outcome=Answer.Outcome.DONE).exclude(
        order=Answer.Order.NONE
    )
    by_version: dict[str, dict[int, bool]] = defaultdict(dict)
    newest: dict[int, str] = {}
    codings = Coding.objects.filter(answer__in=choices, coder=Coding.Coder.RULES).order_by("pk")
    for answer, version, sure, outcome in codings.values_list("answer", "version", "sure", "outcome"):
        by_version[version][answer] = sure
        newest[answer] = outcome
    decided = adjudicated(study)
    by_models = (
        Coding.objects.filter(answer__in=choices, coder=Coding.Coder.MODEL)
        .exclude(outcome=UNPARSED)
        .order_by("version", "answer")
        .values_list("answer", "version", "outcome")
    )
    version = _drawn_by(by_version, said.keys())
    strata = {answer: SURE if sure else UNSURE for answer, sure in by_version.get(version, {}).items()}
    ratings = [(answer, coder, outcome) for answer in sorted(said) for coder, outcome in _apart(said[answer])]
    reviewed = [
        (answer, strata[answer], newest[answer], outcome)
        for answer, outcome in sorted(decided.items())
        if answer in strata
    ]
    return CodingReviewData(
        ratings=pd.DataFrame(ratings, columns=["answer", "coder", "outcome"]),
        reviewed=pd.DataFrame(reviewed, columns=["answer", "stratum", "rules", "people"]),
        models=pd.DataFrame(
            [row for row in by_models if row[0] in decided], columns=["answer", "coder", "outcome"]
        ),
        sizes={name: Counter(strata.values())[name] for name in (UNSURE, SURE)},
        version=version,
        undecided=len(said.keys() - decided.keys()),
    )


def _apart(codings: Sequence[PersonCoding]) -> Sequence[PersonCoding]:
    """Return two codings that were made apart. A third was asked because two differed, in whatever order they are."""
    by_outcome = {coding.outcome: coding for coding in codings}
    return (
        [by_outcome[outcome] for outcome in sorted(by_outcome)][:APART]
        if len(by_outcome) > 1
        else codings[:APART]
    )


def _drawn_by(by_version: Mapping[str, Mapping[int, bool]], read: Set[int]) -> str:
    best, chosen = (-1.0, 0), ""
    for version, sure_by_answer in by_version.items():
        unsure = [answer for answer, sure in sure_by_answer.items() if not sure]
        share = sum(answer in read for answer in unsure) / max(1, len(unsure))
        if (share, len(sure_by_answer)) >= best:
            best, chosen = (share, len(sure_by_answer)), version
    return chosen
