"""`answer-state.js`: the current answer, undo and redo."""

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

EMPTY = {"ticked": [], "none": False, "boxes": [], "rating": None, "justification": ""}
HAT = {"attribute": "a1", "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
DRUM = {"attribute": "a2", "x": 0.5, "y": 0.5, "width": 0.2, "height": 0.2}
MOVED = {"x": 0.3, "y": 0.3, "width": 0.2, "height": 0.2}
UNDO, REDO = ["undo"], ["redo"]
# Calls `["method", …arguments]` one after another, `["wait", milliseconds]` between them; a box's id is 1, 2, …
PLAY = """async (calls) => {
  const { AnswerState } = await import("/static/annotation/annotator/screen/answer-state.js");
  const state = new AnswerState();
  let changes = 0;
  let now = 1_000_000;
  Date.now = () => now;
  state.addEventListener("change", () => (changes += 1));
  for (const [method, ...values] of calls) {
    if (method === "wait") now += values[0];
    else state[method](...values);
  }
  return { now: state.now, changes, canUndo: state.canUndo, canRedo: state.canRedo };
}"""


@pytest.fixture
def play(page):
    """Return a function that makes these calls of a new state."""
    return lambda calls: page.evaluate(PLAY, calls)


def box(number: int, place: dict) -> dict:
    return {**place, "id": number}


@pytest.mark.parametrize(
    ("calls", "answer"),
    [
        pytest.param([], {}, id="nothing"),
        pytest.param([["toggle", "a1"]], {"ticked": ["a1"]}, id="a tick"),
        pytest.param(
            [["toggle", "a2"], ["toggle", "a1"]], {"ticked": ["a2", "a1"]}, id="ticks in their order"
        ),
        pytest.param([["toggle", "a1"], ["toggle", "a1"]], {}, id="a tick taken back"),
        pytest.param([["setNone", True]], {"none": True}, id="none of the above"),
        pytest.param([["setNone", True], ["setNone", False]], {}, id="none taken back"),
        pytest.param([["setNone", True], ["toggle", "a1"]], {"ticked": ["a1"]}, id="a tick takes none back"),
        pytest.param(
            [["toggle", "a1"], ["addBox", HAT], ["setNone", True]],
            {"none": True},
            id="none takes ticks and boxes",
        ),
        pytest.param(
            [["setNone", True], ["addBox", HAT]],
            {"ticked": ["a1"], "boxes": [box(1, HAT)]},
            id="a box takes none back and ticks its attribute",
        ),
        pytest.param(
            [["toggle", "a1"], ["addBox", HAT], ["addBox", HAT]],
            {"ticked": ["a1"], "boxes": [box(1, HAT), box(2, HAT)]},
            id="two boxes of one tick",
        ),
        pytest.param(
            [["addBox", HAT], ["addBox", DRUM], ["toggle", "a1"]],
            {"ticked": ["a2"], "boxes": [box(2, DRUM)]},
            id="unticking takes its own boxes",
        ),
        pytest.param(
            [["addBox", HAT], ["addBox", DRUM], ["placeBox", 1, MOVED]],
            {"ticked": ["a1", "a2"], "boxes": [box(1, HAT | MOVED), box(2, DRUM)]},
            id="a box is placed",
        ),
        pytest.param(
            [["addBox", HAT], ["addBox", DRUM], ["deleteBox", 1]],
            {"ticked": ["a1", "a2"], "boxes": [box(2, DRUM)]},
            id="a deleted box leaves the tick",
        ),
        pytest.param([["rate", 4], ["rate", 2]], {"rating": 2}, id="a rating"),
        pytest.param(
            [["rate", 3], ["justify", "dark"]], {"rating": 3, "justification": "dark"}, id="a reason"
        ),
    ],
)
def test_events_build_an_answer_and_undo_clears_it(play, calls, answer):
    assert play(calls)["now"] == EMPTY | answer
    steps = sum(method != "justify" for method, *_ in calls)
    undone = play([*calls, *[UNDO] * steps])
    assert undone["canUndo"] is False
    assert undone["now"] == EMPTY
    assert play([*calls, *[UNDO] * steps, *[REDO] * steps])["now"]["ticked"] == answer.get("ticked", [])


@pytest.mark.parametrize(
    ("calls", "ticked", "can_undo", "can_redo"),
    [
        pytest.param([UNDO, REDO], [], False, False, id="nothing to undo or redo"),
        pytest.param(
            [["toggle", "a1"], UNDO, ["toggle", "a2"], REDO], ["a2"], True, False, id="no redo after a step"
        ),
        pytest.param([["toggle", "a1"], UNDO, REDO, REDO], ["a1"], True, False, id="redo ends"),
        pytest.param(
            [["toggle", "a1"], ["reset", {}]], [], False, False, id="no way back before another task"
        ),
        pytest.param([["toggle", "a1"], UNDO, ["reset", {}]], [], False, False, id="no way forward either"),
        pytest.param(
            [["toggle", "a1"], ["adopt", {"ticked": ["a2"]}]], ["a2"], True, False, id="another tab's answer"
        ),
        pytest.param(
            [["toggle", "a1"], ["adopt", {"ticked": ["a2"]}], UNDO], ["a1"], True, True, id="undone again"
        ),
        pytest.param(
            [["rate", 4], ["rate", 4], UNDO], [], False, True, id="the same rating twice is one step"
        ),
    ],
)
def test_undo_and_redo(play, calls, ticked, can_undo, can_redo):
    state = play(calls)
    assert (state["now"]["ticked"], state["canUndo"], state["canRedo"]) == (ticked, can_undo, can_redo)


@pytest.mark.parametrize(
    ("between", "x_after_undo"),
    [
        pytest.param([], 0.1, id="an arrow key held down is one step"),
        pytest.param([["wait", 1499]], 0.1, id="soon enough"),
        pytest.param([["wait", 1500]], 0.2, id="after a pause it is another"),
        pytest.param(
            [["toggle", "a2"], ["toggle", "a2"], UNDO, UNDO], 0.2, id="after another step it is another"
        ),
    ],
)
def test_steps_of_a_key_held_down_are_undone_together(play, between, x_after_undo):
    move = [["placeBox", 1, {"x": x}, "keys 1"] for x in (0.2, 0.3)]
    state = play([["addBox", HAT], move[0], *between, move[1], UNDO])
    assert state["now"]["boxes"][0]["x"] == x_after_undo


def test_moves_of_two_boxes_are_two_steps(play):
    moves = [["placeBox", 1, {"x": 0.4}, "keys 1"], ["placeBox", 2, {"x": 0.4}, "keys 2"]]
    state = play([["addBox", HAT], ["addBox", DRUM], *moves, UNDO])
    assert [place["x"] for place in state["now"]["boxes"]] == [0.4, 0.5]


def test_each_change_is_announced_once(play):
    assert play([["toggle", "a1"], ["rate", 4], ["rate", 4], UNDO, UNDO, UNDO])["changes"] == 4


def test_restored_boxes_get_new_ids(play):
    state = play([["addBox", HAT], ["reset", {"ticked": ["a1"], "boxes": [box(1, HAT), box(1, HAT)]}]])
    assert [place["id"] for place in state["now"]["boxes"]] == [2, 3]
