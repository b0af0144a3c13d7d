"""Declared questions in words: for the data card, the codebook and croissant.json. Labels are unchanged."""

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.releases.contents import QuestionCampaignFacts
from analysis.releases.documents.markdown import amount, listed
from analysis.releases.tables.questions.columns import COLUMNS
from analysis.releases.tables.questions.question_rows import is_several, options_of
from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from annotation.kinds.registry import kind_of

_TOGETHER = {
    "prompt": "of one prompt",
    "scenario": "of one scenario",
    "seed": "from one seed",
    "group": "of one identity group",
    "model": "by one model",
}
_DIFFER = {"model": "by different models", "group": "of different identity groups"}
_ORDERS = {
    "fixed": "",
    "shuffled": "The order was random on each screen.",
    "counterbalanced": "All orders were shown equally often.",
}
# The columns of answers, and their contents if there are no labels.
VALUE_COLUMNS = {
    "scale": ("rating",),
    "choice": ("code",),
    "compare": ("present", "code"),
    "rank": ("rank",),
    "text": ("text",),
    "span": ("code",),
}
_UNLABELLED = {
    "compare": "present = true: the annotator chose the stimulus at this position",
    "rank": "1, 2, …: the rank of the stimulus at this position; 1 is the best",
    "text": "own words",
    "span": "w0, w1, …: words of the text on the screen, separated by white space and counted from 0",
}


@dataclass(frozen=True)
class QuestionWords:
    """A question in words. `values`: its possible answers; `asked`: its subject and condition; `place`: the place in
    the image."""

    name: str
    type: str
    label: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    asked: str
    place: str

    @property
    def column_type(self) -> str:
        """The type of the column for its answers; the type of codes if there are two columns."""
        types = {column.name: column.type for column in COLUMNS["answers"]}
        return types[self.columns[-1]]


def questions_in_words(campaign: QuestionCampaignFacts) -> Iterator[QuestionWords]:
    """Yield the questions of a campaign in their order."""
    kind = kind_of(campaign)
    for question in kind.questions:
        yield QuestionWords(
            name=question.name,
            type=question.type,
            label=question.label["en"],
            columns=VALUE_COLUMNS[question.type],
            values=_values(question),
            asked=_asked(kind, question),
            place=_place(question, required=campaign.boxes_required),
        )


def screen_in_words(kind: Kind) -> str:
    """The contents of a screen, in one or two sentences."""
    shown = kind.stimuli
    number = str(shown.most) if shown.least == shown.most else f"{shown.least} to {shown.most}"
    what = f"one {shown.medium}" if shown.most == 1 else f"{number} {shown.medium}s"
    parts = [_TOGETHER[name] for name in shown.together]
    parts += [_DIFFER[shown.differ]] if shown.differ else []
    beside = [f"{what} {listed(parts)}" if parts else what, *(["the prompt"] if shown.prompt_shown else [])]
    return " ".join(filter(None, [f"Each screen shows {', beside '.join(beside)}.", _ORDERS[shown.order]]))


def _values(question: Question) -> tuple[str, ...]:
    options = [
        f"{code} = {label['en']}{' (not on the scale)' if apart else ''}"
        f"{' (excludes all other answers)' if alone else ''}"
        for code, label, apart, alone in options_of(question)
    ]
    words = [_UNLABELLED[question.type]] if question.type in _UNLABELLED else []
    several = ["one row for each chosen answer"] if is_several(question) else []
    return (*words, *options, *several)


def _asked(kind: Kind, question: Question) -> str:
    stimulus = "text" if kind.stimuli.medium == "text" else "image"
    of_what = f"about each {stimulus}" if question.each else "once a screen"
    answer = "" if question.required else ", optional"
    if question.when is None:
        return f"{of_what}, always{answer}"
    after = listed([str(code) for code in question.when.answers], "or")
    return f"{of_what}, only after the answer {after} to {question.when.question}{answer}"


def _place(question: Question, *, required: bool) -> str:
    region = question.region
    if region is None:
        return ""
    needed = required if region.required is None else region.required
    after = listed([str(code) for code in region.after], "or")
    when = f" after the answer {after}" if after else ""
    return f"a {region.shape} {'had to' if needed else 'could'} be drawn{when}"


def counts_in_words(campaign: QuestionCampaignFacts) -> str:
    """The number of questions, and where the release lists them."""
    number = amount(len(kind_of(campaign).questions), "question")
    return (
        f"The campaign asks {number}. The tables `questions` and `options` list them; "
        f"`declarations/{campaign.slug}.json` has them in every language, as the campaign declared them."
    )
