"""`box-editor.js` and `zoom.js`: boxes by mouse and keyboard. Positions are fractions of a picture of 400 × 300."""

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

LEFT, TOP, WIDTH, HEIGHT = 100, 50, 400, 300
# The overlay is wider than its picture: 50 pixels on either side are letter-box.
PAGE = f"""<!doctype html>
<link rel="stylesheet" href="/static/annotation/annotator/task.css">
<style>
  #frame {{ position: absolute; left: {LEFT - 50}px; top: {TOP}px; overflow: clip; }}
  #frame {{ width: {WIDTH + 100}px; height: {HEIGHT}px; }}
  #layer, svg {{ position: absolute; inset: 0; width: 100%; height: 100%; }}
</style>
<div id="frame"><div id="layer">
  <svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="xMidYMin meet"></svg>
</div></div>
<script type="module">
  import {{ AnswerState }} from "/static/annotation/annotator/screen/answer-state.js";
  import {{ BoxEditor }} from "/static/annotation/annotator/marking/box-editor.js";
  import {{ Zoom }} from "/static/annotation/annotator/marking/zoom.js";
  window.heard = [];
  window.activeAttribute = "a1";
  window.state = new AnswerState();
  window.editor = new BoxEditor(document.querySelector("svg"), state, {{
    active: () => activeAttribute,
    label: (ref) => ({{ number: Number(ref.slice(1)), text: `word ${{ref}}` }}),
    say: (words) => heard.push(words),
  }});
  window.zoom = new Zoom(document.getElementById("frame"), document.getElementById("layer"), {{
    free: () => activeAttribute === null,
    taken: () => editor.cancel(),
  }});
</script>"""
BIG = ("a1", 0.1, 0.1, 0.8, 0.8)
SMALL = ("a2", 0.4, 0.4, 0.2, 0.2)
TICK_FIRST = "Tick what you see first; then draw a box around it."
TOO_SMALL = "That box was too small to keep. Draw a larger box."


class Editor:
    """The editor on its page, controlled in fractions of the picture."""

    def __init__(self, page) -> None:
        self.page = page

    def put(self, *boxes: tuple[str, float, float, float, float], selected: int | None = None) -> None:
        """Set these boxes, and select the nth if given."""
        for attribute, x, y, width, height in boxes:
            box = {"attribute": attribute, "x": x, "y": y, "width": width, "height": height}
            self.page.evaluate("(box) => state.addBox(box)", box)
        if selected is not None:
            self.page.evaluate("(id) => editor.select(id, { focus: true })", selected)

    def at(self, x: float, y: float) -> tuple[float, float]:
        return LEFT + x * WIDTH, TOP + y * HEIGHT

    def press(self, x: float, y: float) -> None:
        self.page.mouse.move(*self.at(x, y))
        self.page.mouse.down()

    def drag(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self.press(x1, y1)
        self.page.mouse.move(*self.at((x1 + x2) / 2, (y1 + y2) / 2))
        self.page.mouse.move(*self.at(x2, y2))
        self.page.mouse.up()

    def click(self, x: float, y: float) -> None:
        self.page.mouse.click(*self.at(x, y))

    @property
    def boxes(self) -> list[tuple[str, float, float, float, float]]:
        boxes = self.page.evaluate("state.now.boxes")
        return [
            (
                box["attribute"],
                *(pytest.approx(box[edge], abs=1e-6) for edge in ("x", "y", "width", "height")),
            )
            for box in boxes
        ]

    @property
    def selected(self) -> int | None:
        return self.page.evaluate("editor.selected")

    @property
    def heard(self) -> list[str]:
        return self.page.evaluate("heard")


@pytest.fixture
def editor(page, server) -> Editor:
    server.pages["/"] = PAGE
    page.goto("/")
    return Editor(page)


@pytest.mark.parametrize(
    ("drag", "box"),
    [
        pytest.param((0.2, 0.3, 0.6, 0.5), ("a1", 0.2, 0.3, 0.4, 0.2), id="down to the right"),
        pytest.param((0.6, 0.5, 0.2, 0.3), ("a1", 0.2, 0.3, 0.4, 0.2), id="up to the left"),
        pytest.param((0.5, 0.5, 1.2, 0.9), ("a1", 0.5, 0.5, 0.5, 0.4), id="beyond the right edge"),
        pytest.param((0.5, 0.5, 0.7, 1.3), ("a1", 0.5, 0.5, 0.2, 0.5), id="beyond the bottom edge"),
        pytest.param((0.5, 0.5, -0.2, -0.1), ("a1", 0.0, 0.0, 0.5, 0.5), id="beyond the top left corner"),
        pytest.param((-0.1, 0.2, 0.3, 0.4), ("a1", 0.0, 0.2, 0.3, 0.2), id="from the letter-box"),
        pytest.param((0.5, 0.5, 0.52, 0.53), ("a1", 0.5, 0.5, 0.02, 0.03), id="a small one"),
    ],
)
def test_a_drag_draws_a_box_within_the_picture_and_chooses_it(editor, drag, box):
    editor.drag(*drag)
    assert editor.boxes == [box]
    assert editor.selected == 1
    assert editor.heard == ["Box drawn for word a1."]
    assert editor.page.evaluate("document.activeElement.dataset.box") == "1"


@pytest.mark.parametrize(
    ("drag", "words"),
    [
        pytest.param((0.5, 0.5, 0.509, 0.8), TOO_SMALL, id="too narrow"),
        pytest.param((0.5, 0.5, 0.8, 0.509), TOO_SMALL, id="too flat"),
        pytest.param((-0.1, 0.2, -0.05, 0.4), TOO_SMALL, id="beside the picture"),
    ],
)
def test_a_tiny_drag_draws_no_box(editor, drag, words):
    editor.drag(*drag)
    assert editor.boxes == []
    assert editor.heard == [words]


def test_without_a_tick_nothing_is_drawn(editor):
    editor.page.evaluate("activeAttribute = null")
    editor.drag(0.2, 0.2, 0.6, 0.6)
    editor.click(0.2, 0.2)
    assert editor.boxes == []
    assert editor.heard == [TICK_FIRST, TICK_FIRST]


@pytest.mark.parametrize(
    ("drag", "moved_to"),
    [
        ((0.5, 0.5, 0.6, 0.45), (0.5, 0.35)),
        ((0.5, 0.5, 1.4, 0.5), (0.8, 0.4)),
        ((0.5, 0.5, -0.4, 0.5), (0.0, 0.4)),
        ((0.5, 0.5, 0.5, 1.4), (0.4, 0.8)),
        ((0.5, 0.5, 0.5, -0.4), (0.4, 0.0)),
    ],
    ids=["freely", "to the right edge", "to the left edge", "to the bottom", "to the top"],
)
def test_a_drag_in_the_chosen_box_moves_it_and_keeps_its_size(editor, drag, moved_to):
    editor.put(SMALL, selected=1)
    editor.drag(*drag)
    assert editor.boxes == [("a2", *moved_to, 0.2, 0.2)]


@pytest.mark.parametrize(
    ("drag", "box"),
    [
        ((0.6, 0.6, 0.7, 0.8), ("a2", 0.4, 0.4, 0.3, 0.4)),
        ((0.4, 0.4, 0.3, 0.2), ("a2", 0.3, 0.2, 0.3, 0.4)),
        ((0.6, 0.4, 0.7, 0.3), ("a2", 0.4, 0.3, 0.3, 0.3)),
        ((0.4, 0.6, 0.3, 0.7), ("a2", 0.3, 0.4, 0.3, 0.3)),
        ((0.6, 0.5, 0.7, 0.9), ("a2", 0.4, 0.4, 0.3, 0.2)),
        ((0.5, 0.6, 0.9, 0.7), ("a2", 0.4, 0.4, 0.2, 0.3)),
        ((0.6, 0.6, 1.5, 1.5), ("a2", 0.4, 0.4, 0.6, 0.6)),
        ((0.4, 0.4, -0.5, -0.5), ("a2", 0.0, 0.0, 0.6, 0.6)),
        ((0.6, 0.6, 0.1, 0.1), ("a2", 0.4, 0.4, 0.01, 0.01)),
        ((0.4, 0.4, 0.9, 0.9), ("a2", 0.59, 0.59, 0.01, 0.01)),
    ],
    ids=[
        "se",
        "nw",
        "ne",
        "sw",
        "e",
        "s",
        "to the far corner",
        "to the origin",
        "not smaller than a box",
        "nor turned",
    ],
)
def test_a_drag_at_a_handle_resizes(editor, drag, box):
    editor.put(SMALL, selected=1)
    editor.drag(*drag)
    assert editor.boxes == [box]


@pytest.mark.parametrize("how", ["shift", "drawing", "not chosen"])
def test_a_box_is_drawn_inside_another(editor, how):
    editor.put(BIG, selected=None if how == "not chosen" else 1)
    if how == "drawing":
        editor.page.evaluate("editor.drawing = true")
    if how == "shift":
        editor.page.keyboard.down("Shift")
    editor.drag(0.3, 0.3, 0.6, 0.6)
    editor.page.keyboard.up("Shift")
    assert editor.boxes == [BIG, ("a1", 0.3, 0.3, 0.3, 0.3)]
    assert editor.selected == 2


def test_a_click_chooses_the_smallest_box_and_the_next_the_one_around_it(editor):
    editor.put(BIG, SMALL)
    chosen = []
    for _ in range(3):
        editor.click(0.5, 0.5)
        chosen.append(editor.selected)
    assert chosen == [2, 1, 2]
    editor.click(0.95, 0.95)  # beside both
    assert editor.selected is None


def test_a_tiny_movement_moves_nothing(editor):
    editor.put(SMALL, selected=1)
    editor.drag(0.5, 0.5, 0.51, 0.5)  # four pixels
    assert editor.boxes == [SMALL]
    assert editor.page.evaluate("state.canUndo && (state.undo(), state.canUndo)") is False


def test_two_clicks_draw_as_well(editor):
    editor.click(0.2, 0.3)
    assert editor.heard == ["First corner set. Mark the opposite corner, or press Escape."]
    editor.click(0.6, 0.5)
    assert editor.boxes == [("a1", 0.2, 0.3, 0.4, 0.2)]


def test_escape_gives_up_the_first_corner_then_the_choice(editor):
    editor.click(0.2, 0.3)
    escape = "editor.escape()"
    assert editor.page.evaluate(escape) is True
    assert editor.page.evaluate(escape) is False
    editor.put(SMALL, selected=1)
    assert editor.page.evaluate(escape) is True
    assert editor.selected is None


@pytest.mark.parametrize("begun", ["draw", "move", "resize"])
def test_escape_in_a_drag_leaves_everything_as_it_was(editor, begun):
    editor.put(SMALL, selected=1)
    editor.press(*{"draw": (0.1, 0.1), "move": (0.5, 0.5), "resize": (0.6, 0.6)}[begun])
    editor.page.mouse.move(*editor.at(0.8, 0.9))
    editor.page.evaluate("editor.escape()")
    editor.page.mouse.move(*editor.at(0.7, 0.9))
    editor.page.mouse.up()
    assert editor.boxes == [SMALL]


@pytest.mark.parametrize("corner", [(0.5, 0.5), (0.6, 0.6)], ids=["moved", "resized"])
@pytest.mark.parametrize("taken_by", ["state.undo()", "state.adopt({})", "editor.delete(1)"])
def test_a_box_that_is_taken_away_while_it_is_dragged_ends_the_drag(editor, corner, taken_by):
    editor.put(SMALL, selected=1)
    editor.press(*corner)
    editor.page.mouse.move(*editor.at(0.7, 0.8))
    editor.page.evaluate(taken_by)
    editor.page.mouse.move(*editor.at(0.8, 0.9))
    editor.page.mouse.up()
    assert editor.boxes == []
    editor.drag(0.2, 0.3, 0.6, 0.5)
    assert editor.boxes == [("a1", 0.2, 0.3, 0.4, 0.2)]


@pytest.mark.parametrize("button", ["right", "middle"])
def test_only_the_first_button_draws(editor, button):
    editor.page.mouse.move(*editor.at(0.2, 0.2))
    editor.page.mouse.down(button=button)
    editor.page.mouse.move(*editor.at(0.6, 0.6))
    editor.page.mouse.up(button=button)
    assert editor.boxes == []


@pytest.mark.parametrize(
    ("keys", "box"),
    [
        (["ArrowRight"], (0.41, 0.4, 0.2, 0.2)),
        (["ArrowLeft", "ArrowUp"], (0.39, 0.39, 0.2, 0.2)),
        (["ArrowDown"], (0.4, 0.41, 0.2, 0.2)),
        (["Alt+ArrowRight"], (0.402, 0.4, 0.2, 0.2)),
        (["Shift+ArrowRight"], (0.4, 0.4, 0.21, 0.2)),
        (["Shift+ArrowUp"], (0.4, 0.4, 0.2, 0.19)),
        (["Alt+Shift+ArrowDown"], (0.4, 0.4, 0.2, 0.202)),
        (["ArrowRight"] * 45, (0.8, 0.4, 0.2, 0.2)),
        (["Shift+ArrowLeft"] * 25, (0.4, 0.4, 0.01, 0.2)),
        (["Control+ArrowRight"], (0.4, 0.4, 0.2, 0.2)),
    ],
    ids=[
        "right",
        "left and up",
        "down",
        "finely",
        "wider",
        "lower",
        "finely higher",
        "to the edge",
        "smallest",
        "Ctrl",
    ],
)
def test_arrow_keys_move_and_resize_the_box_that_has_the_focus(editor, keys, box):
    editor.put(SMALL, selected=1)
    for key in keys:
        editor.page.keyboard.press(key)
    assert editor.boxes == [("a2", *box)]


def test_arrow_keys_held_down_are_undone_in_one_step(editor):
    editor.put(SMALL, selected=1)
    for _ in range(3):
        editor.page.keyboard.press("ArrowRight")
    editor.page.evaluate("state.undo()")
    assert editor.boxes == [SMALL]


@pytest.mark.parametrize("key", ["Delete", "Backspace"])
def test_deleting_goes_to_another_box_of_the_attribute_and_says_when_there_is_none(editor, key):
    editor.page.evaluate(
        "() => { window.emptied = 0; editor.addEventListener('emptied', () => (emptied += 1)); }"
    )
    editor.put(BIG, BIG, SMALL, selected=2)
    editor.page.keyboard.press(key)
    assert (editor.boxes, editor.selected) == ([BIG, SMALL], 1)
    editor.page.keyboard.press(key)
    assert (editor.boxes, editor.selected) == ([SMALL], None)
    assert editor.page.evaluate("emptied") == 1
    editor.page.evaluate("state.undo()")
    assert editor.boxes == [BIG, SMALL]


def test_tab_chooses_the_box_it_comes_to(editor):
    editor.put(BIG, SMALL)
    editor.page.locator("[data-box]").first.focus()
    assert editor.selected == 1
    editor.page.keyboard.press("Tab")
    assert editor.selected == 2


def test_a_box_is_named_by_its_number_word_and_place(editor):
    editor.put(SMALL)
    name = editor.page.locator("[data-box]").get_attribute("aria-label")
    assert name == "Box 1, word a2: 40 % from the left, 40 % from the top, 20 % wide, 20 % high"


def test_boxes_added_by_keyboard_are_inside_the_picture_and_apart(editor):
    editor.page.evaluate("for (let n = 0; n < 6; n += 1) editor.addInTheMiddle('a1')")
    places = [(box["x"], box["x"] + box["width"]) for box in editor.page.evaluate("state.now.boxes")]
    assert len({x for x, _ in places}) == 6
    assert all(x >= 0 and end <= 1 for x, end in places)
    assert editor.selected == 6


def test_a_new_picture_starts_without_a_selection(editor):
    editor.put(SMALL, selected=1)
    editor.press(0.5, 0.5)
    editor.page.evaluate("editor.resize(300, 300)")
    editor.page.mouse.move(*editor.at(0.7, 0.7))
    editor.page.mouse.up()
    assert (editor.boxes, editor.selected) == ([SMALL], None)


@pytest.mark.parametrize(
    ("factors", "scale"), [([1.5], 1.5), ([2, 2], 4), ([100], 8), ([0.5], 1), ([4, 0.01], 1)]
)
def test_the_picture_is_enlarged_up_to_eight_times_and_never_made_smaller(editor, factors, scale):
    for factor in factors:
        editor.page.evaluate("(factor) => zoom.by(factor)", factor)
    assert editor.page.evaluate("zoom.scale") == scale


@pytest.mark.parametrize(
    ("pan", "left", "top"),
    [((0, 0), -250, -150), ((1000, 1000), 0, 0), ((-1000, -1000), -500, -300), ((20, -30), -230, -180)],
    ids=["around the middle", "to the top left", "to the bottom right", "a little"],
)
def test_the_enlarged_picture_always_fills_its_frame(editor, pan, left, top):
    editor.page.evaluate("([dx, dy]) => { zoom.by(2); zoom.pan(dx, dy); }", list(pan))
    frame, layer = (
        editor.page.evaluate(f"document.getElementById('{name}').getBoundingClientRect().toJSON()")
        for name in ("frame", "layer")
    )
    assert (layer["x"] - frame["x"], layer["y"] - frame["y"]) == pytest.approx((left, top))
    assert (layer["width"], layer["height"]) == pytest.approx((1000, 600))


def test_boxes_drawn_on_the_enlarged_picture_are_in_fractions_of_the_picture(editor):
    editor.page.evaluate("zoom.by(2)")
    # The centre stays in place, and everything else is twice as far from it.
    editor.drag(0.3, 0.3, 0.7, 0.5)
    assert editor.boxes == [("a1", 0.4, 0.4, 0.2, 0.1)]
    editor.page.evaluate("zoom.reset()")
    editor.drag(0.5, 0.45, 0.6, 0.45)
    assert editor.boxes == [("a1", 0.5, 0.4, 0.2, 0.1)]


def test_with_nothing_to_draw_a_drag_moves_the_enlarged_picture(editor):
    editor.page.evaluate("() => { activeAttribute = null; zoom.by(2); }")
    editor.drag(0.5, 0.5, 0.6, 0.5)
    assert (
        editor.page.evaluate("document.getElementById('layer').style.transform")
        == "translate(-210px, -150px)"
    )
    assert editor.heard == []
