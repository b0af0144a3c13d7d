"""The questions of a declared kind in Label Studio: the interface, and reading of the answers."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.answers.questions.validation import checked
from annotation.answers.questions.values import ScreenQuestions
from annotation.kinds import study_kinds
from annotation.kinds.questions import AskedAfter, Region
from annotation.kinds.registry import KINDS
from annotation.kinds.stimuli import Stimuli
from annotation.label_studio.format.questions.data import task_data
from annotation.label_studio.format.questions.interface import questions_interface
from annotation.label_studio.format.questions.limits import unsupported
from annotation.label_studio.format.questions.reader import read_questions, words_at
from tests.annotation.kinds import strategies
from tests.annotation.kinds.examples import EXAMPLES, RANKING, RUBRIC, choice, declared, scale
from tests.annotation.kinds.test_adding_a_kind import shown
from tests.annotation.label_studio.front_end import Screen

pytestmark = pytest.mark.database_free
TEXT = " ".join(strategies.WORDS)
SHIPPED = [kind for kind in KINDS.values() if not kind.about_attributes]
OWN = study_kinds.from_file(shown("declaration").encode())


def opened(questions, text=TEXT):
    """Open a screen of these questions, as in a browser."""
    kind = questions.kind
    stimuli = [text] if kind.stimuli.medium == "text" else ["https://here.example.org/pictures/opaque"]
    stimuli *= len(questions.refs)
    if kind.stimuli.prompt_shown:
        stimuli.append(text)
    return Screen(questions_interface(kind), task_data(kind, stimuli))


def enter(screen, questions, answer):
    """Enter an answer as a person does: read the questions, click, write and draw in order."""
    for question in questions.kind.questions:
        if question.name not in answer["answers"]:
            continue
        value = answer["answers"][question.name]
        asked = question.label["en"]
        if question.type == "rank":
            for ref, place in value.items():
                screen.choose(asked, str(place), picture=picture_of(ref))
            continue
        for ref, one in value.items() if question.each else [(None, value)]:
            _enter(screen, question, asked, one, None if ref is None else picture_of(ref))
        for place in answer["regions"].get(question.name, []):
            sides = [place[name] for name in ("x", "y", "width", "height") if name in place]
            screen.draw(asked, *sides, picture=picture_of(place["stimulus"]) if question.each else None)


def _enter(screen, question, asked, value, picture):
    match question.type:
        case "text":
            screen.write(asked, value, picture=picture)
        case "span" if value:
            screen.mark(asked, *value)
        case "span":
            screen.choose(asked, question.none["en"])
        case "compare":
            words = {"s1": "1", "s2": "2"}
            noun = "Picture" if "Image" in {tag.tag for tag in screen.root.iter()} else "Text"
            screen.choose(asked, question.tie["en"] if value == "tie" else f"{noun} {words[value]}")
        case _:
            options = question.points if question.type == "scale" else question.answers
            labels = {one.code: one.label["en"] for one in options}
            codes = value if isinstance(value, list) else [value]
            screen.choose(asked, *(labels[code] for code in codes), picture=picture)


def picture_of(ref):
    return int(ref[1:])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_every_possible_answer_is_read_back_unchanged(data):
    questions = data.draw(strategies.screens())
    answer = data.draw(strategies.answers_to(questions))
    screen = opened(questions)
    enter(screen, questions, answer)
    assert screen.missing() == []
    read = checked(read_questions(screen.results(), questions, TEXT), questions)
    expected = checked(answer, questions)
    assert [one._replace(places=()) for one in read.judgements] == [
        one._replace(places=()) for one in expected.judgements
    ]
    for one, other in zip(read.judgements, expected.judgements, strict=True):
        assert len(one.places) == len(other.places)
        for place, drawn in zip(one.places, other.places, strict=True):
            assert place == pytest.approx(drawn, abs=1e-9)


@pytest.mark.parametrize("kind", [*SHIPPED, OWN, *EXAMPLES], ids=lambda kind: kind.key)
def test_the_interface_shows_every_question_and_no_internal_name(kind):
    xml = questions_interface(kind)
    words = [tag.get("value") for tag in ElementTree.fromstring(xml).iter() if tag.get("value")]
    for question in kind.questions:
        assert question.label["en"] in words
    # Names in a declaration that are not shown on a screen.
    values = {value for tag in ElementTree.fromstring(xml).iter() for value in tag.attrib.values()}
    names = {kind.key, kind.public_name, kind.unit, *(question.name for question in kind.questions)}
    shown_words = {label for question in kind.questions for label in _labels(question)}
    assert not names & (values - shown_words)
    assert unsupported(kind) == ""


def _labels(question):
    options = getattr(question, "points", ()) or getattr(question, "answers", ())
    return {question.label["en"], *(one.label["en"] for one in options)}


def test_a_task_contains_only_what_its_screen_shows():
    address = "https://here.example.org/pictures/opaque"
    assert task_data(OWN, [address, f"{address}2", f"{address}3"]) == {
        "s0": address,
        "s1": f"{address}2",
        "s2": f"{address}3",
    }
    assert task_data(KINDS["pairwise"], [address, f"{address}2", "a kite"]) == {
        "text": "a kite",
        "s0": address,
        "s1": f"{address}2",
    }
    assert task_data(KINDS["ranking"], [address, f"{address}2", f"{address}3", "a kite"]) == {
        "text": "a kite",
        "shown": [
            {"name": "Picture 1", "image": address},
            {"name": "Picture 2", "image": f"{address}2"},
            {"name": "Picture 3", "image": f"{address}3"},
        ],
    }
    # Questions about the whole screen need a tag that is on every screen.
    pair = task_data(KINDS["pair_check"], [address, f"{address}2"])
    assert pair["all"] == "All pictures"
    assert [one["name"] for one in pair["shown"]] == ["Picture 1", "Picture 2"]
    # Where words can be marked, their positions are counted by single spaces.
    assert task_data(RUBRIC, [address, " a  kite\nover"])["text"] == "a kite over"
    assert task_data(KINDS["bias_level"], ["two\nlines"]) == {"s0": "two\nlines"}


def test_text_that_label_studio_would_replace_is_shown_unchanged():
    text = 'Is it worth $5 or <less> & "more"?\x07'
    asked = choice("worth", ("a", "b")).model_copy(update={"label": {"en": text, "de": text}})
    screen = Screen(questions_interface(declared("worth", Stimuli(medium="image"), asked)), {"s0": "x"})
    (header,) = (tag.get("value") for tag in screen.root.iter("Header"))
    assert header.replace("\u2060", "") == 'Is it worth $5 or <less> & "more"?'
    assert "$5" not in header  # a field of the task, for Label Studio


def test_a_label_equal_to_the_name_of_another_answer_is_not_confused_with_it():
    points = tuple(
        one.model_copy(update={"label": {"en": f"a{2 - place}", "de": "x"}})
        for place, one in enumerate(scale("calm", (1, 2)).points)
    )
    calm = scale("calm", (1, 2)).model_copy(update={"points": points})
    why = choice("why", ("x", "y"), when=AskedAfter(question="calm", answers=(1,)))
    kind = declared("calm", Stimuli(medium="image"), calm, why)
    questions = ScreenQuestions(kind, ("s1",))
    screen = opened(questions)
    screen.choose("How calm?", "a2")  # the first point
    screen.choose("Which why?", "y")
    assert read_questions(screen.results(), questions, "")["answers"] == {"calm": 1, "why": "y"}


def test_answers_hidden_by_a_later_change_are_not_read():
    questions = ScreenQuestions(OWN, ("s1", "s2", "s3"))
    screen = opened(questions)
    for picture in (1, 2, 3):
        screen.choose("How calm is this scene?", "Restless", picture=picture)
        screen.choose("How colourful is it?", "Pale", picture=picture)
        screen.choose("What disturbs?", "A crowd", picture=picture)
        screen.draw("How calm is this scene?", 0.1, 0.2, 0.3, 0.4, picture=picture)
    before = screen.results()
    screen.choose("How calm is this scene?", "Calm", picture=2)
    expected = {
        "calm": {"s1": 1, "s2": 3, "s3": 1},
        "colour": dict.fromkeys(questions.refs, 1),
        "disturbs": {"s1": "crowd", "s3": "crowd"},
    }
    kept = [one for one in before if one["from_name"] != "q1_s1"]
    changed = [one for one in screen.results() if one["from_name"] == "q1_s1"]
    for results in (screen.results(), [*kept, *changed]):  # also if a front end sends hidden answers
        read = read_questions(results, questions, "")
        assert read["answers"] == expected
        assert [place["stimulus"] for place in read["regions"]["calm"]] == ["s1", "s3"]
        checked(read, questions)


@pytest.mark.parametrize(
    ("places", "ranks"),
    [((1, 1, 2), (1, 1, 3)), ((2, 4, 3), (1, 3, 2)), ((2, 2, 2), (1, 1, 1)), ((3, 1, 1), (3, 1, 1))],
)
def test_places_in_an_order_become_competition_ranks(places, ranks):
    questions = ScreenQuestions(KINDS["ranking"], ("s1", "s2", "s3"))
    screen = opened(questions)
    for picture, place in enumerate(places, start=1):
        screen.choose("Put the pictures in order, the best first.", str(place), picture=picture)
    read = read_questions(screen.results(), questions, "")
    assert read["answers"] == {"order": dict(zip(questions.refs, ranks, strict=True))}
    checked(read, questions)


def test_words_are_found_by_utf_16_and_by_character_offsets():
    text = "a 🪁 over the drum"
    begin = len("a 🪁 ".encode("utf-16-le")) // 2
    halves = {"start": begin, "end": begin + 8, "text": "over the"}
    characters = {"start": 4, "end": 12, "text": "over the"}
    assert words_at(halves, text) == words_at(characters, text) == {2, 3}
    assert words_at({"start": 2, "end": 4, "text": "🪁"}, text) == {1}
    assert words_at({"start": 0, "end": 1}, text) == {0}
    for wrong in (
        {"start": 0, "end": 4, "text": "kite"},
        {"start": 4, "end": 99, "text": "over the drum"},
        {"start": 3, "end": 3, "text": ""},
        {"start": -1, "end": 3},
        {"start": True, "end": 3},
        {"end": 3},
    ):
        with pytest.raises(ValueError, match=r"another text|no beginning"):
            words_at(wrong, text)


def result(name, value, to_name="s0", kind="choices", **more):
    return {"from_name": name, "to_name": to_name, "type": kind, "value": value, **more}


@pytest.mark.parametrize(
    ("results", "why"),
    [
        (["text"], "not an object"),
        ([result("q1", ["a1"])], "not an object"),
        ([result("q9", {"choices": ["a1"]})], "not a control of this screen"),
        ([result("q1", {"choices": ["a1"]}, to_name="s1")], "about something that was not asked"),
        ([result("q1", {"choices": ["a9"]})], "“a9” is not one of its answers"),
        ([result("q1", {"choices": ["a1", "a2"]})], "2 answers, but only one"),
        ([result("q1", {"choices": 5})], "not a list of texts"),
        ([result("q1", {"choices": ["a1"]}), result("q1", {"choices": ["a1"]})], "more than once"),
        (
            [
                result("q2", {"start": 0, "end": 1, "text": "a"}, "text", "labels"),
                result("q2_none", {"choices": ["q2_none"]}, "text"),
            ],
            "marks words and also says that there are none",
        ),
        ([result("q1_where", {"x": 1, "y": 1, "width": 5}, kind="rectanglelabels")], "not a rectangle"),
        (
            [
                result(
                    "q1_where",
                    {"x": 1, "y": 1, "width": 5, "height": 5, "rotation": 3},
                    kind="rectanglelabels",
                )
            ],
            "rotated",
        ),
        ([result("q4", {"text": ["half \ud83e"]}, kind="textarea")], "half a character"),
    ],
)
def test_invalid_answers_are_refused_with_the_reason(results, why):
    questions = ScreenQuestions(RUBRIC, ("s1",), words=5)
    with pytest.raises(ValueError, match=why):
        read_questions(results, questions, TEXT)


def test_coordinates_of_a_point_must_be_numbers():
    questions = ScreenQuestions(RANKING, ("s1", "s2", "s3"))
    with pytest.raises(ValueError, match="the y of a point is not a number"):
        read_questions([result("q1_s1_where", {"x": 1, "y": "2"}, "s1", "keypointlabels")], questions, "")


def test_relations_and_rectangles_without_a_label_are_ignored():
    questions = ScreenQuestions(RUBRIC, ("s1",), words=5)
    results = [{"type": "relation"}, result("q1_where", {"x": 1}, kind="rectangle")]
    assert read_questions(results, questions, TEXT) == {"answers": {}, "regions": {}}


def test_a_question_without_a_control_is_refused_by_name():
    drawing = choice("shape", ("a", "b")).model_copy(update={"type": "drawing"})
    kind = declared("drawn", Stimuli(medium="image"), choice("plain", ("a", "b")))
    one = kind.model_copy(update={"questions": (*kind.questions, drawing)})
    assert unsupported(one) == (
        "“shape” is a question of type drawing, for which Stereoscope has no control in Label Studio."
    )
    line = Region(shape="box").model_copy(update={"shape": "line"})
    two = kind.model_copy(update={"questions": (scale("calm").model_copy(update={"region": line}),)})
    assert unsupported(two) == (
        "“calm” asks for a place as a line, for which Stereoscope has no control in Label Studio."
    )
    three = kind.model_copy(update={"stimuli": kind.stimuli.model_copy(update={"medium": "sound"})})
    assert unsupported(three) == (
        "its screens show sound, and Stereoscope has no control for such screens in Label Studio."
    )
    assert [unsupported(kind) for kind in KINDS.values()] == [""] * len(KINDS)


@pytest.mark.parametrize("kind", [*SHIPPED, OWN, *EXAMPLES], ids=lambda kind: kind.key)
def test_label_studios_own_reader_accepts_the_interface(kind):
    sdk = pytest.importorskip("label_studio_sdk.label_interface")
    assert sdk.LabelInterface(questions_interface(kind)).validate() is None
