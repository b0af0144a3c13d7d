"""Reading from the database the words that models gave for descriptors, and their texts about groups."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.probing.associations.parse import INVALID, VALID, description_tokens, parse_word
from analysis.results.data.arrays import fetch_frame
from analysis.results.data.endpoint_models import ServedModels
from analysis.results.data.harm_scores import HarmScores, read_harm_scores
from analysis.results.data.probe_answers import IMAGE_RETRACTED, NO_GROUP, NOT_ASKED_YET, NOT_CODED
from analysis.results.data.scenario_checks import ScenarioChecks
from annotation.answers.questions.scenario_verdicts import Scenario
from generation.models import Answer, Coding, ProbeRun
from generation.probing.codings import CODERS
from generation.probing.probe_sets import ProbeSet
from generation.probing.questions import ProbeQuestion
from jobs.progress.reporter import Progress
from studies.models import Study
from studies.protocol.descriptors import forms_of

WORD_COLUMNS = (
    "model",
    "setting",
    "letter",
    "descriptor",
    "document",
    "word",
    "repeat",
    "template",
    "temperature",
)
TEXT_COLUMNS = ("model", "experiment", "scenario", "group", "text")
OBJECTIVE, LEXICAL = "objective", "lexical"
MISSING = "missing"
_AT_ONCE = 2_000
_MOST_REPEATS = 1_000
# “Noun: lamp, adjective: bright” names parts of speech that are no words of the description.
_PARTS_OF_SPEECH = re.compile(r"\b(?:nouns?|adjectives?|verbs?)\b\W{0,4}:", re.IGNORECASE)

_no_words = pd.DataFrame(columns=list(WORD_COLUMNS))


@dataclass(frozen=True, eq=False)
class WordAnswerData:
    """Words of BiasDora, as input of `analysis.metrics.tfidf_associations`, and texts of PAIRS.

    `words`: `WORD_COLUMNS`, a row per answered cell of a sentence and per word of a description; word is null if an
    answer does not count. `texts`: `TEXT_COLUMNS` and the factors of the groups. `dimensions`: descriptor, dimension.
    `outcomes`: model, setting, outcome, answers. `settings`: the question of each setting in sentences. `left_out`:
    answers by reason. `harm`: the ratings of the pairs.
    """

    words: pd.DataFrame = field(default_factory=_no_words.copy)
    texts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(TEXT_COLUMNS)))
    factors: tuple[str, ...] = ()
    dimensions: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["descriptor", "dimension"])
    )
    outcomes: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=["model", "setting", "outcome", "answers"])
    )
    settings: Mapping[str, ProbeQuestion] = field(default_factory=dict)
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    harm: HarmScores = field(default_factory=HarmScores)
    left_out: Mapping[str, int] = field(default_factory=dict)
    served: ServedModels = field(default_factory=ServedModels)

    def __bool__(self) -> bool:
        return bool(len(self.words)) or bool(len(self.texts)) or bool(self.left_out)

    def text_of(self, setting: str, descriptor: str, word: str) -> str:
        """Return the scored text of a pair: the sentence of its template, or only the word for a description."""
        question = self.settings.get(setting)
        if question is None:
            return word
        forms = self.forms.get(descriptor, {})
        return question.completed(descriptor=forms.get(question.form) or descriptor, word=word)


@dataclass(frozen=True)
class RunQuestion:
    """A question of a run: kind, setting, and the run it is of."""

    run: ProbeRun
    kind: str
    setting: str
    question: ProbeQuestion | None


Key = tuple[int, str, str]  # run, experiment, question


@dataclass(frozen=True)
class _Reader:
    """The context for reading all types of answers; `left_out` is counted while reading."""

    study: Study
    asked: Mapping[Key, RunQuestion]
    left_out: dict[str, int]
    served: ServedModels
    checks: ScenarioChecks


def read_word_answers(
    study: Study,
    progress: Progress,
    *,
    served: ServedModels,
    checks: ScenarioChecks | None = None,
    published: bool = False,
) -> WordAnswerData:
    """Read completed sentences, descriptions and open answers of the study's probe runs.

    If people checked images, answers about rejected scenarios are left out. `published`: replies that are not a single
    word or have another initial are kept, and descriptions are split at white space.
    """
    asked = _asked(study)
    left_out: dict[str, int] = {}
    reader = _Reader(study, asked, left_out, served, checks or ScenarioChecks())
    completed, outcomes = _completed_words(reader, published=published)
    described = _described_words(reader, published=published)
    texts, factors = _open_texts(reader)
    progress.check_cancelled()
    if len(completed) + len(described) + len(texts):
        progress.advance(len(completed) + len(texts), "words of models read")
    groups = list(study.groups.order_by("name")) if len(completed) or len(described) else []
    return WordAnswerData(
        words=pd.concat(
            [frame for frame in (completed, described) if len(frame)] or [_no_words], ignore_index=True
        ),
        texts=texts,
        factors=factors,
        dimensions=pd.DataFrame(
            [(group.name, dimension) for group in groups for dimension in group.dimensions],
            columns=["descriptor", "dimension"],
        ),
        outcomes=outcomes,
        settings={
            question.setting: question.question
            for question in asked.values()
            if question.kind == "complete" and question.question is not None
        },
        forms={group.name: forms_of(group) for group in groups},
        harm=read_harm_scores(study) if groups else HarmScores(),
        left_out={reason: number for reason, number in left_out.items() if number},
        served=served,
    )


def _asked(study: Study) -> dict[Key, RunQuestion]:
    asked: dict[Key, RunQuestion] = {}
    for run in ProbeRun.objects.filter(study=study).exclude(questions={}).order_by("pk"):
        for experiment in ProbeSet.model_validate(run.questions).experiments:
            for question in experiment.questions:
                setting = question.setting or question.name
                asked[run.pk, experiment.name, question.name] = RunQuestion(
                    run, question.kind, setting, question
                )
    return asked


def _completed_words(reader: _Reader, *, published: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    study, asked, left_out = reader.study, reader.asked, reader.left_out
    answers = Answer.objects.filter(run__study=study, descriptor__isnull=False).exclude(letter="")
    frame = fetch_frame(
        answers,
        numbers=("pk", "run_id", "repeat"),
        names=("descriptor__name", "experiment", "question", "letter", "outcome"),
    ).sort_values("pk", ignore_index=True)
    if frame.empty:
        return _no_words, _counted(frame.assign(model=[], setting=[], said=[]))
    codings = _newest_codings(study)
    frame["said"] = codings["outcome"].reindex(frame["pk"]).to_numpy()
    frame["word"] = codings["span"].reindex(frame["pk"]).to_numpy()
    done = (frame["outcome"] == Answer.Outcome.DONE).to_numpy()
    pending = (frame["outcome"] == Answer.Outcome.PENDING).to_numpy()
    uncoded = done & frame["said"].isna().to_numpy()
    _add(left_out, {NOT_ASKED_YET: pending.sum(), NOT_CODED: uncoded.sum()})
    frame = frame[~pending & ~uncoded].reset_index(drop=True)
    frame["said"] = frame["said"].where(frame["outcome"] == Answer.Outcome.DONE, MISSING)
    if published:
        frame["word"] = frame["word"].where(frame["said"] != INVALID, _published_words(study, frame))
    else:
        frame["word"] = frame["word"].where(frame["said"] == VALID, None)
    frame["word"] = frame["word"].astype(object).where(frame["word"].notna() & (frame["word"] != ""), None)
    frame = _placed(frame, asked)
    if reader.served.changes:
        frame["model"] = [
            reader.served.name_of(int(key), model)
            for key, model in zip(frame["pk"], frame["model"], strict=True)
        ]
    return frame[list(WORD_COLUMNS)], _counted(frame)


def _newest_codings(study: Study) -> pd.DataFrame:
    """Return outcome and span of the coding that counts, by answer."""
    of_letters = Coding.objects.filter(answer__run__study=study).exclude(answer__letter="")
    codings = fetch_frame(of_letters, numbers=("answer_id", "pk"), names=("coder", "outcome", "span"))
    rank = {str(coder): place for place, coder in enumerate(CODERS)}
    codings["rank"] = codings["coder"].astype(object).map(rank).to_numpy(dtype=float)
    newest = codings.sort_values(["answer_id", "rank", "pk"], ascending=[True, True, False])
    return newest.drop_duplicates("answer_id").set_index("answer_id")[["outcome", "span"]].astype(object)


def _published_words(study: Study, frame: pd.DataFrame) -> pd.Series:
    """The words that the published code reads if the reply is not a single word."""
    letters = {
        int(pk): letter
        for pk, letter, outcome in zip(frame["pk"], frame["letter"], frame["said"], strict=True)
        if outcome == INVALID
    }
    replies = Answer.objects.filter(run__study=study, codings__outcome=INVALID).order_by("pk").distinct()
    words = {
        pk: parse_word(text, letters[pk], published=True).word
        for pk, text in replies.values_list("pk", "text").iterator(_AT_ONCE)
        if pk in letters
    }
    return pd.Series([words.get(int(pk)) for pk in frame["pk"]], index=frame.index, dtype=object)


def _placed(frame: pd.DataFrame, asked: Mapping[Key, RunQuestion]) -> pd.DataFrame:
    """Add model, setting, document, template and temperature, which follow from run and question."""
    key = ["run_id", "experiment", "question"]
    questions = frame[key].drop_duplicates().reset_index(drop=True)
    runs = {run.pk: run for run in ProbeRun.objects.filter(pk__in=questions["run_id"].astype(int).unique())}
    rows = [
        _place(number, (int(run), str(experiment), str(question)), runs, asked)
        for number, (run, experiment, question) in enumerate(questions.itertuples(index=False))
    ]
    names = ("place", "model", "setting", "template", "temperature")
    questions = questions.assign(**{name: [row[at] for row in rows] for at, name in enumerate(names)})
    placed = frame.merge(questions, on=key, how="left", sort=False)
    run_number, _ = pd.factorize(placed["run_id"], sort=True)
    placed["document"] = placed["place"] * _MOST_REPEATS + placed["repeat"].astype(int)
    placed["repeat"] = run_number * _MOST_REPEATS + placed["repeat"].astype(int)
    placed["descriptor"] = placed["descriptor__name"]
    return placed


def _place(
    number: int, key: Key, runs: Mapping[int, ProbeRun], asked: Mapping[Key, RunQuestion]
) -> tuple[int, str, str, str, float]:
    run, question = runs[key[0]], asked.get(key)
    setting = question.setting if question else key[2]
    return number, run.model_label, setting, key[2], _temperature(run)


def _counted(frame: pd.DataFrame) -> pd.DataFrame:
    """How many answers were valid, invalid, of another initial or missing, by model and setting."""
    sizes = frame.groupby(["model", "setting", "said"], observed=True).size()
    counted = sizes.reset_index(name="answers").rename(columns={"said": "outcome"})
    return counted[["model", "setting", "outcome", "answers"]]


def _described_words(reader: _Reader, *, published: bool) -> pd.DataFrame:
    kinds = {key: question for key, question in reader.asked.items() if question.kind == "describe"}
    documents: list[tuple[Any, ...]] = []
    lengths: list[int] = []
    words: list[str | None] = []
    vocabulary: dict[str, str] = {}  # one object per distinct word saves memory
    for answer in _free_texts(reader, kinds):
        question = kinds[_key_of(answer)]
        text = answer["text"]
        if question.setting == LEXICAL and not published:
            text = _PARTS_OF_SPEECH.sub(" ", text)
        tokens = [
            vocabulary.setdefault(token, token) for token in description_tokens(text, published=published)
        ]
        words += tokens or [None]
        lengths.append(len(tokens) or 1)
        documents.append(
            (
                reader.served.name_of(answer["pk"], question.run.model_label),
                question.setting,
                "",
                answer["image__group__name"],
                answer["pk"],
                answer["repeat"],
                answer["question"],
                _temperature(question.run),
                answer["image__model_label"],
            )
        )
    columns = ("model", "setting", "letter", "descriptor", "document", "repeat", "template", "temperature")
    frame = _of_image_models(pd.DataFrame(documents, columns=[*columns, "image_model"]))
    frame = frame.loc[np.repeat(frame.index.to_numpy(), lengths)].reset_index(drop=True)
    return frame.assign(word=pd.Series(words, dtype=object))[list(WORD_COLUMNS)]


def _temperature(run: ProbeRun) -> float:
    temperature = run.parameters.get("temperature")
    return float(temperature) if isinstance(temperature, int | float) else np.nan


def _of_image_models(frame: pd.DataFrame) -> pd.DataFrame:
    """Objective descriptions are about the model that made the images: its name, and the describing model if there are
    several."""
    objective = (frame["setting"] == OBJECTIVE) & (frame["image_model"] != "")
    if not objective.any():
        return frame
    describers = frame.loc[objective, "model"].nunique()
    by = (
        frame["image_model"] if describers == 1 else frame["image_model"] + ", described by " + frame["model"]
    )
    return frame.assign(model=frame["model"].where(~objective, by))


def _open_texts(reader: _Reader) -> tuple[pd.DataFrame, tuple[str, ...]]:
    kinds = {key: question for key, question in reader.asked.items() if question.kind == "open"}
    answers = list(_free_texts(reader, kinds))
    factors: tuple[str, ...] = ()
    if answers:
        of_groups = [set(answer["image__group__factors"] or {}) for answer in answers]
        factors = tuple(sorted(set.intersection(*of_groups)))
    rows = [
        (
            reader.served.name_of(answer["pk"], kinds[_key_of(answer)].run.model_label),
            answer["experiment"],
            answer["scenario"],
            answer["image__group__name"],
            answer["text"],
            *(str(answer["image__group__factors"][name]) for name in factors),
        )
        for answer in answers
    ]
    return pd.DataFrame(rows, columns=[*TEXT_COLUMNS, *factors]), factors


def _free_texts(reader: _Reader, kinds: Mapping[Key, RunQuestion]) -> Iterator[dict[str, Any]]:
    """Yield the answers in free text to questions of some kinds about images of groups."""
    if not kinds:
        return
    left_out = reader.left_out
    answers = Answer.objects.filter(
        run__study=reader.study,
        image__isnull=False,
        order=Answer.Order.NONE,
        question__in={question for _, _, question in kinds},
    )
    columns = ("pk", "run_id", "experiment", "question", "scenario", "repeat", "outcome", "text")
    of_image = ("image__group__name", "image__group__factors", "image__model_label", "image__retracted_at")
    rows: Iterable[dict[str, Any]] = answers.order_by("pk").values(*columns, *of_image).iterator(_AT_ONCE)
    for row in rows:
        if _key_of(row) not in kinds:
            continue
        if row["image__retracted_at"] is not None:
            _add(left_out, {IMAGE_RETRACTED: 1})
        elif reason := reader.checks.reason(
            Scenario(row["experiment"], row["scenario"], row["image__model_label"])
        ):
            _add(left_out, {reason: 1})
        elif row["outcome"] == Answer.Outcome.PENDING:
            _add(left_out, {NOT_ASKED_YET: 1})
        elif row["image__group__name"] is None:
            _add(left_out, {NO_GROUP: 1})
        elif row["outcome"] != Answer.Outcome.DONE:
            _add(left_out, {MISSING: 1})
        else:
            yield row


def _key_of(answer: Mapping[str, Any]) -> Key:
    return answer["run_id"], answer["experiment"], answer["question"]


def _add(counts: dict[str, int], more: Mapping[str, Any]) -> None:
    for reason, number in more.items():
        counts[reason] = counts.get(reason, 0) + int(number)
