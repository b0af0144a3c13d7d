"""Reading people's and rules' codings of the same answers of models from the database."""

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
    """`ratings`: answer, coder and outcome of people who coded independently. `reviewed`: answer, stratum, outcome by
    the newest rules and by people, for answers that people decided. `models`: answer, coder and outcome by models for
    such answers, without replies that were not a code. `sizes`: answers coded by rules in each stratum. `undecided`:
    answers about which two people disagree and nobody has decided.
    """

    ratings: pd.DataFrame
    reviewed: pd.DataFrame
    models: pd.DataFrame
    sizes: Mapping[str, int] = field(default_factory=dict)
    version: str = ""  # version of the rules whose doubts define the strata
    undecided: int = 0


def read_coding_reviews(study: Study) -> CodingReviewData | None:
    """Read the codings by people and by rules of the study's answers to choices; None if people coded none.

    Strata come from the version of the rules of whose unsure answers people read the largest share; if several are
    equal, from the version that coded most. Later rules did not draw the reviewed answers.
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
    """Return two independent codings. A third person was asked because two differed, so their order does not matter."""
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
