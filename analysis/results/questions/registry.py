"""The measures that a kind of campaign may declare: their questions, their meaning and their tables.

No numerical library is loaded here: declarations are checked when the server starts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.kinds.declaration import Kind
from annotation.kinds.questions import Question
from foundation.parameters import Declaration

ALL_BUT_PAIRS = frozenset({"image", "set", "association", "answer"})
_UNITS = Declaration("unit", Kind.model_fields["unit"]).words
_TYPE_WORDS = {
    "choice": "choice",
    "compare": "comparison",
    "rank": "ranking",
    "scale": "scale",
    "span": "question for words",
    "text": "text",
}
ANY = ALL_BUT_PAIRS | {"pair"}


@dataclass(frozen=True)
class DeclaredMeasure:
    """A measure by its name in declarations: `types` of questions and `units` it can read, and words for pages.

    `several`: only choices of several answers (True) or of one (False). `region`: only questions that ask for
    places of this shape, whatever their type.
    """

    name: str
    title: str
    explanation: str
    table: str
    types: frozenset[str]
    units: frozenset[str]
    several: bool | None = None
    region: str | None = None
    of_groups: bool = False  # only for kinds whose screens show one group each

    def reads(self, question: Question, kind: Kind) -> bool:
        """Return whether it can read the answers to a question of a kind."""
        if question.type not in self.types or kind.unit not in self.units:
            return False
        if self.of_groups and not kind.stimuli.of_one_group:
            return False
        if self.region is not None:
            return question.region is not None and question.region.shape == self.region
        return self.several is None or getattr(question, "several", None) == self.several

    def idle_reason(self, kind: Kind) -> str:
        """Return why a measure can read no question of a kind: the unit, the screen, or the type of question."""
        if kind.unit not in self.units:
            needed = " or ".join(_UNITS[name].lower() for name in _UNITS if name in self.units)
            return f"The measure needs another unit: {needed}."
        if self.of_groups and not kind.stimuli.of_one_group:
            return "The measure needs screens that each show a single group."
        types = " or ".join(_TYPE_WORDS[name] for name in sorted(self.types))
        which = {None: "", True: " of several answers", False: " of one answer"}[self.several]
        place = f" that asks for a {self.region} in the image" if self.region else ""
        return f"The measure needs a {types}{which}{place}."


def _measure(
    name: str, title: str, table: str, explanation: str, types: str, **limits: object
) -> DeclaredMeasure:
    read = {"types": frozenset(types.split()), "units": ANY, **limits}
    return DeclaredMeasure(name=name, title=title, table=table, explanation=explanation, **read)  # type: ignore[arg-type]


PAIR, SET = frozenset({"pair"}), frozenset({"set"})
_COMPARED = (
    "How much better an item is than the others, on a scale on which equal differences mean equal odds. "
    "The mean over all items is 0."
)
_REGIONS = "scale choice text"
MEASURES: dict[str, DeclaredMeasure] = {
    measure.name: measure
    for measure in (
        _measure(
            "win_rate",
            "Win rate",
            "preferences",
            "The share of its comparisons that an item won; a tie counts as half.",
            "compare",
            units=PAIR,
        ),
        _measure(
            "bradley_terry_ties",
            "Strength",
            "preferences",
            f"{_COMPARED} The values are estimated from all comparisons together, with ties (Davidson’s form of the "
            "Bradley–Terry model).",
            "compare",
            units=PAIR,
        ),
        _measure(
            "group_strengths",
            "Strength by group",
            "group_leaderboards",
            "Strengths from the screens of one group at a time, to see whether the order of the items changes with the "
            "group shown. The range of places of an item is in brackets.",
            "compare rank",
            units=PAIR | SET,
            of_groups=True,
        ),
        _measure(
            "position_bias",
            "Position",
            "position_bias",
            "How often the image shown first was preferred. If both orders are shown equally often, 50 % means that "
            "position does not matter.",
            "compare",
            units=PAIR,
        ),
        _measure(
            "plackett_luce",
            "Strength",
            "rankings",
            f"{_COMPARED} The values are estimated from all rankings together, with ties (Plackett–Luce).",
            "rank",
            units=SET,
        ),
        _measure(
            "kendall_w",
            "Agreement on order",
            "question_agreement",
            "Kendall’s W is 1 if everybody ranks a set in the same order. The mean correlation of two rankings of a "
            "set can be compared between sets with different numbers of rankings, and is 0 for random rankings.",
            "rank",
            units=SET,
        ),
        _measure(
            "means",
            "Mean",
            "scales",
            "The mean of the answers on the scale. Answers that are not on the scale, such as “Unsure”, are not in "
            "the mean; their share is given separately.",
            "scale",
        ),
        _measure(
            "point_shares",
            "Shares",
            "choices",
            "How often annotators chose each point of the scale.",
            "scale",
        ),
        _measure(
            "shares",
            "Shares",
            "choices",
            "How often each answer was chosen. If several can be chosen, the shares can add up to more than 100 %.",
            "choice",
        ),
        _measure(
            "group_differences",
            "Differences between groups",
            "question_differences",
            "How far the answers about images of a group are from the mean of all other groups.",
            "scale choice",
        ),
        _measure(
            "model_differences",
            "Differences between models",
            "question_differences",
            "How far the answers about images of two models are from each other.",
            "scale choice",
        ),
        _measure(
            "alpha_ordinal",
            "Agreement",
            "question_agreement",
            "Krippendorff’s α (ordinal) is 1 if everybody gives the same answer and 0 if people agree only as often "
            "as by chance. Answers that are not on the scale are left out.",
            "scale",
        ),
        _measure(
            "alpha_nominal",
            "Agreement",
            "question_agreement",
            "Krippendorff’s α (nominal) is 1 if everybody gives the same answer and 0 if people agree only as often "
            "as by chance.",
            "choice",
            several=False,
        ),
        _measure(
            "alpha_masi",
            "Agreement",
            "question_agreement",
            "Krippendorff’s α of sets of answers (MASI). Sets that share some answers count as partial agreement.",
            "choice",
            several=True,
        ),
        _measure(
            "alpha_answers",
            "Agreement on each answer",
            "question_agreement",
            "Krippendorff’s α of each answer separately, chosen or not, which shows on which answers people agree.",
            "choice",
            several=True,
        ),
        _measure(
            "texts",
            "Texts",
            "texts",
            "How many texts were written and how long they are. To learn what people wrote, read the texts.",
            "text",
        ),
        _measure(
            "word_shares",
            "Marked words",
            "marked_words",
            "The share of the words of a text that an annotator marks.",
            "span",
            units=ALL_BUT_PAIRS,
        ),
        _measure(
            "word_agreement",
            "Agreement on words",
            "question_agreement",
            "Krippendorff’s α over the words of all texts, each of which is marked or not.",
            "span",
            units=ALL_BUT_PAIRS,
        ),
        _measure(
            "point_agreement",
            "Agreement on points",
            "question_agreement",
            "For two annotators who both marked points in an image: how often at least one point is near a point of "
            "the other annotator (within 5 % of the image’s diagonal), and the share of points that are near a point "
            "of the other annotator. These figures are not corrected for agreement by chance.",
            _REGIONS,
            region="point",
        ),
        _measure(
            "box_agreement",
            "Agreement on boxes",
            "question_agreement",
            "How much the boxes of two annotators overlap, if both drew boxes in an image.",
            _REGIONS,
            region="box",
        ),
    )
}
# Measures of the two built-in kinds, by their units, with their own tables and pages.
BUILT_IN: dict[str, frozenset[str]] = {
    "attribute": frozenset({"visual_shares", "consensus", "alpha_ordinal"}),
    "image_attribute": frozenset({"likelihood", "tendency", "offensiveness", "alpha_nominal", "boxes"}),
}


def measures_of(kind: Kind) -> Iterator[tuple[Question, DeclaredMeasure]]:
    """Yield each question with each declared measure that reads it, in the order declared."""
    for question in kind.questions:
        for name in kind.measures:
            measure = MEASURES.get(name)
            if measure is not None and measure.reads(question, kind):
                yield question, measure


def unread(kind: Kind) -> list[str]:
    """Return the questions that no declared measure reads."""
    read = {question.name for question, _ in measures_of(kind)}
    return [question.name for question in kind.questions if question.name not in read]


def unknown(kind: Kind) -> list[str]:
    """Return the declared measures that do not exist."""
    there = BUILT_IN.get(kind.unit, frozenset(MEASURES))
    return [name for name in kind.measures if name not in there]


def idle(kind: Kind) -> list[str]:
    """Return the declared measures that exist but can read none of the questions."""
    if kind.about_attributes:
        return []
    used = {measure.name for _, measure in measures_of(kind)}
    return [name for name in kind.measures if name in MEASURES and name not in used]
