"""Hypothesis strategies for declarations of kinds of questions, and valid answers to them."""

import string

from hypothesis import strategies as st

from annotation.answers.questions.values import ScreenQuestions
from annotation.kinds.questions import (
    AskedAfter,
    CompareQuestion,
    RankQuestion,
    Region,
    SpanQuestion,
    TextQuestion,
)
from annotation.kinds.stimuli import Stimuli
from tests.annotation.kinds.examples import choice, declared, scale, texts

CODES = ("a", "b", "c", "d")
NAMES = tuple(f"q{number}" for number in range(6))
WORDS = ("a", "kite", "over", "the", "drum")
# As stored: an answer loses the spaces around it.
PLAIN_TEXT = st.text(string.ascii_letters + " äß\n’", min_size=1, max_size=30).map(str.strip).filter(bool)
FRACTIONS = st.floats(0, 1, allow_nan=False)


@st.composite
def kinds(draw):
    """A kind of questions about one to four images or texts."""
    medium = draw(st.sampled_from(["image", "text"]))
    most = draw(st.integers(1, 4))
    prompt = medium == "image" and draw(st.booleans())
    shown = Stimuli(
        medium=medium,
        least=draw(st.integers(2, most)) if most > 2 else most,
        most=most,
        together=("prompt",) if most > 1 else (),
        prompt_shown=prompt,
    )
    questions = []
    for name in NAMES[: draw(st.integers(1, len(NAMES)))]:
        questions.append(draw(_question(name, shown, tuple(questions))))
    return declared("drawn", shown, *questions)


@st.composite
def _question(draw, name, shown, earlier):
    types = ["scale", "choice", "several", "text"]
    types += ["compare"] * ((shown.least, shown.most) == (2, 2)) + ["rank"] * (shown.most > 2)
    spans = shown.prompt_shown or (shown.medium == "text" and shown.most == 1)
    type_ = draw(st.sampled_from([*types, *["span"] * spans]))
    more = {"required": draw(st.booleans())}
    if shown.most > 1 and type_ in {"scale", "choice", "several", "text"}:
        more["each"] = draw(st.booleans())
    conditions = [one for one in earlier if one.codes and (more.get("each") or not one.each)]
    if conditions and draw(st.booleans()):
        before = draw(st.sampled_from(conditions))
        answers = draw(st.lists(st.sampled_from(before.codes), min_size=1, unique=True))
        more["when"] = AskedAfter(question=before.name, answers=tuple(answers))
    placed = shown.medium == "image" and (shown.most == 1 or more.get("each"))
    if placed and type_ in {"scale", "choice", "text"} and draw(st.booleans()):
        codes = {"scale": (1, 2, 3), "choice": CODES, "text": ()}[type_]
        more["region"] = Region(
            shape=draw(st.sampled_from(["box", "point"])),
            required=draw(st.sampled_from([True, False, None])),
            after=tuple(draw(st.lists(st.sampled_from(codes), unique=True))) if codes else (),
        )
    label = texts(name)
    match type_:
        case "scale":
            return scale(name, **more)
        case "choice" | "several":
            return choice(name, CODES, several=type_ == "several", **more)
        case "compare":
            tie = texts("Tie") if draw(st.booleans()) else None
            return CompareQuestion(name=name, label=label, tie=tie, **more)
        case "rank":
            return RankQuestion(name=name, label=label, ties=draw(st.booleans()), **more)
        case "text":
            return TextQuestion(name=name, label=label, longest=30, **more)
        case _:
            none = texts("None") if draw(st.booleans()) else None
            return SpanQuestion(name=name, label=label, none=none, **more)


@st.composite
def screens(draw):
    """Draw the questions of a drawn kind, about as many stimuli as it allows."""
    kind = draw(kinds())
    count = draw(st.integers(kind.stimuli.least, kind.stimuli.most))
    return ScreenQuestions(
        kind=kind,
        refs=tuple(f"s{number}" for number in range(1, count + 1)),
        words=len(WORDS),
        regions_required=draw(st.booleans()),
    )


@st.composite
def answers_to(draw, screen):
    """A valid answer, as it is read back: lists in the order of the declaration, nothing empty."""
    answers, regions = {}, {}
    for question in screen.kind.questions:
        refs = [
            ref
            for ref in (screen.refs if question.each else [None])
            if _asked(screen, question, ref, answers)
        ]
        given = {}
        for ref in refs:
            if not question.required and draw(st.booleans()):
                continue
            given[ref] = draw(_value(question, screen))
        if not given:
            continue
        answers[question.name] = given if question.each else given[None]
        if question.region is not None and (drawn := draw(_regions(question, screen, given))):
            regions[question.name] = drawn
    return {"answers": answers, "regions": regions}


def _asked(screen, question, ref, answers):
    """Return whether a question is asked, given the answer as it is sent."""
    if question.when is None:
        return True
    earlier = screen.kind.question(question.when.question)
    value = answers.get(earlier.name)
    if earlier.each:
        value = (value or {}).get(ref)
    values = value if isinstance(value, list) else [value]
    if earlier.type == "compare":
        values = [{"s1": 0, "s2": 1}.get(one, one) for one in values]
    return any(one in question.when.answers for one in values if one is not None)


@st.composite
def _value(draw, question, screen):
    match question.type:
        case "scale":
            return draw(st.sampled_from(question.codes))
        case "choice" if question.several:
            return sorted(draw(st.lists(st.sampled_from(CODES), min_size=1, unique=True)))
        case "choice":
            return draw(st.sampled_from(CODES))
        case "compare":
            return draw(st.sampled_from([*screen.refs, *["tie"] * (question.tie is not None)]))
        case "rank":
            return draw(_ranks(question, screen))
        case "text":
            return draw(PLAIN_TEXT)
        case _:
            least = 0 if question.none is not None else 1
            places = st.lists(st.integers(0, screen.words - 1), min_size=least, unique=True)
            return sorted(draw(places))


@st.composite
def _ranks(draw, question, screen):
    if not question.ties:
        return dict(zip(screen.refs, draw(st.permutations(range(1, len(screen.refs) + 1))), strict=True))
    levels = [draw(st.integers(1, len(screen.refs))) for _ in screen.refs]
    return {
        ref: 1 + sum(better < level for better in levels)
        for ref, level in zip(screen.refs, levels, strict=True)
    }


@st.composite
def _regions(draw, question, screen, given):
    region = question.region
    drawn = []
    for ref, value in given.items():
        if region.after and value not in region.after:
            continue
        for _ in range(draw(st.integers(1 if screen.needs_region(question) else 0, 2))):
            place = {"stimulus": ref or screen.refs[0]}
            if region.shape == "point":
                drawn.append(place | {"x": draw(FRACTIONS), "y": draw(FRACTIONS)})
            else:
                # Quarters, so that sides add up to the edge of the image without rounding.
                x, y = (draw(st.integers(0, 3)) / 4 for _ in range(2))
                width, height = (draw(st.integers(1, int(4 * (1 - side)))) / 4 for side in (x, y))
                drawn.append(place | {"x": x, "y": y, "width": width, "height": height})
    return drawn
