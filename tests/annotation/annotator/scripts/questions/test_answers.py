"""The payload sent by the screen of a kind of questions: each type of question, and conditions."""

import pytest

from tests.annotation.annotator.scripts.pages import SECOND
from tests.annotation.annotator.scripts.questions.payloads import (
    asking,
    choice,
    comment,
    compare,
    rank,
    scale,
    text,
    words,
)
from tests.annotation.annotator.scripts.questions.steps import announced, press, sent
from tests.annotation.annotator.scripts.server import Reply
from tests.annotation.annotator.scripts.steps import open_task, saved, says, submissions

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]

PROMPT = "a red kite over the harbour"
WORST = {"question": "quality", "answers": [1]}


@pytest.mark.parametrize(
    ("question", "pictures", "keys", "value"),
    [
        pytest.param(scale(), 1, "3", 3, id="a point of a scale"),
        pytest.param(scale(), 1, "0", 0, id="a point that stands apart"),
        pytest.param(scale(), 1, "32", 2, id="another point instead"),
        pytest.param(choice(), 1, "2", "face", id="one answer"),
        pytest.param(choice(several=True), 1, "21", ["hands", "face"], id="several answers, in their order"),
        pytest.param(choice(several=True), 1, "211", ["face"], id="an answer taken back"),
        pytest.param(compare(), 2, "1", "s1", id="the first"),
        pytest.param(compare(), 2, "2", "s2", id="the second"),
        pytest.param(compare(), 2, "0", "tie", id="a tie"),
        pytest.param(rank(), 3, "231", {"s1": 2, "s2": 3, "s3": 1}, id="a ranking"),
        pytest.param(rank(ties=True), 3, "112", {"s1": 1, "s2": 1, "s3": 3}, id="a shared first place"),
        pytest.param(
            rank(ties=True), 3, "322", {"s1": 3, "s2": 1, "s3": 1}, id="places that leave the first out"
        ),
        pytest.param(words(), 1, "0", [], id="no word"),
        pytest.param(scale(each=True), 2, "31", {"s1": 3, "s2": 1}, id="each on a scale"),
        pytest.param(choice(each=True), 3, "123", {"s1": "hands", "s2": "face", "s3": "nothing"}, id="each"),
    ],
)
def test_digits_answer_and_the_payload_matches_the_contract(page, server, question, pictures, keys, value):
    open_task(page, server, asking(question, pictures=pictures, prompt=PROMPT))
    press(page, *keys)
    assert sent(page, server) == {"answers": {question["name"]: value}, "regions": {}}


@pytest.mark.parametrize(
    ("key", "value"),
    [("ArrowLeft", "s1"), ("=", "tie"), ("ArrowRight", "s2")],
    ids=["left", "equals", "right"],
)
def test_arrows_and_equals_compare(page, server, key, value):
    open_task(page, server, asking(compare(), pictures=2))
    press(page, key)
    assert sent(page, server)["answers"] == {"better": value}


@pytest.mark.parametrize("before", ["1", "2"])
def test_arrows_compare_where_an_answer_has_the_focus(page, server, before):
    open_task(page, server, asking(compare(), pictures=2))
    press(page, before, "ArrowRight", "ArrowLeft")
    assert sent(page, server)["answers"] == {"better": "s1"}


def test_arrows_stay_with_another_question_that_has_the_focus(page, server):
    open_task(page, server, asking(scale(), compare(), pictures=2))
    page.get_by_label("Poor").check()
    press(page, "ArrowDown")
    assert page.get_by_label("Fair").is_checked()
    assert page.locator(".asked-compare :checked").count() == 0


def test_without_a_tie_there_is_no_key_for_it(page, server):
    open_task(page, server, asking(compare(tie=None), pictures=2))
    press(page, "0", "=")
    assert page.locator(":checked[type=radio][name^=answers]").count() == 0


def test_words_and_text_are_answered_by_mouse(page, server):
    open_task(page, server, asking(words(), comment(), prompt=PROMPT))
    for word in ("red", "harbour"):
        page.get_by_label(word, exact=True).check(force=True)
    page.get_by_role("textbox", name="Why?").fill("They are not there.")
    answers = {"missed": [1, 5], "why": "They are not there."}
    assert sent(page, server) == {"answers": answers, "regions": {}}


def test_words_and_none_of_them_exclude_each_other(page, server):
    open_task(page, server, asking(words(), prompt=PROMPT))
    page.get_by_label("kite", exact=True).check(force=True)
    press(page, "0")
    assert page.locator(".word :checked").count() == 0
    page.get_by_label("over", exact=True).check(force=True)
    assert sent(page, server)["answers"] == {"missed": [3]}


def test_an_exclusive_answer_and_others_exclude_each_other(page, server):
    open_task(page, server, asking(choice(several=True)))
    press(page, "1", "2", "3")
    assert page.locator(".options :checked").evaluate_all("all => all.map(({ value }) => value)") == [
        "nothing"
    ]
    page.get_by_label("Face").check()
    assert sent(page, server)["answers"] == {"fault": ["face"]}


def test_words_of_a_text_are_counted_as_the_server_counts_them(page, server):
    shown = "one\u00a0two\u2003three  \x1cfour\ufefffive\n six "
    open_task(page, server, asking(words(none=None), stimuli=[text(1, "other words")]))
    server.replies.append(
        Reply(
            200,
            {
                "status": "accepted",
                "next": asking(words(none=None), assignment=SECOND, stimuli=[text(1, shown)]),
            },
        )
    )
    page.get_by_label("other", exact=True).check(force=True)
    press(page, "Control+Enter")
    saved(page)
    assert page.locator(".word").all_inner_texts() == shown.split()


def test_without_ties_choosing_a_taken_rank_swaps_the_two(page, server):
    open_task(page, server, asking(rank(), pictures=3))
    press(page, "1", "2", "3")
    page.locator("[data-row=s3] [data-key='1']").check(force=True)
    announced(page, "Picture 1 now has place 3.")
    assert sent(page, server)["answers"]["order"] == {"s1": 3, "s2": 2, "s3": 1}


def test_an_item_loses_its_rank_to_one_without_a_rank(page, server):
    open_task(page, server, asking(rank(), pictures=3))
    press(page, "1", "1")
    announced(page, "Picture 1 has no place now.")
    press(page, "2", "3")
    assert sent(page, server)["answers"]["order"] == {"s1": 2, "s2": 1, "s3": 3}


def test_keys_go_from_one_open_question_to_the_next(page, server):
    open_task(page, server, asking(scale(), choice(required=False), compare(), pictures=2))
    press(page, "3", "2")
    assert sent(page, server)["answers"] == {"quality": 3, "better": "s2"}


@pytest.mark.parametrize(("keys", "asked"), [("3", False), ("1", True), ("13", False)])
def test_a_met_condition_adds_a_question(page, server, keys, asked):
    open_task(page, server, asking(scale(), choice(when=WORST, required=False)))
    page.get_by_label("Good").focus()
    for key in keys:
        page.get_by_role("radio").locator(f"xpath=self::*[@data-key='{key}']").first.check()
    assert page.get_by_role("group", name="What is wrong?").is_visible() is asked


def test_a_newly_asked_question_is_announced_and_the_focus_stays(page, server):
    open_task(page, server, asking(scale(), comment(when=WORST)))
    page.get_by_label("Poor").click()
    announced(page, "One more question: Why?")
    assert page.evaluate("document.activeElement.value") == "1"


def test_a_condition_is_not_read_where_scripts_apply_it(page, server):
    open_task(page, server, asking(scale(), comment(when=WORST)))
    page.get_by_label("Poor").check()
    assert page.get_by_text("Answer this question only if you answered:").is_hidden()


def test_answers_to_hidden_questions_are_not_sent_but_restored(page, server):
    open_task(page, server, asking(scale(), comment(when=WORST)))
    page.get_by_label("Poor").check()
    page.get_by_role("textbox").fill("Blurred.")
    page.get_by_label("Good").check()
    assert page.get_by_role("textbox").count() == 0
    page.get_by_label("Poor").check()
    assert page.get_by_role("textbox").input_value() == "Blurred."
    page.get_by_label("Good").check()
    assert sent(page, server)["answers"] == {"quality": 3}


def test_a_hidden_question_returns_the_focus_to_the_one_it_depends_on(page, server):
    open_task(page, server, asking(scale(), choice(when=WORST)))
    press(page, "1", "1")
    page.get_by_label("Hands").focus()
    press(page, "Control+z", "Control+z")
    assert page.get_by_role("group", name="What is wrong?").is_hidden()
    assert page.evaluate("document.activeElement.name") == "answers.quality"


@pytest.mark.parametrize(
    ("first", "codes", "asked"),
    [
        pytest.param(compare(), ["s2"], ("s2",), id="the second of two"),
        pytest.param(compare(), ["tie"], ("tie",), id="a tie"),
        pytest.param(choice(several=True), ["face"], ("face",), id="one of several"),
        pytest.param(choice(), ["hands", "face"], ("hands", "face"), id="either"),
    ],
)
def test_conditions_on_each_type_of_answer(page, server, first, codes, asked):
    condition = {"question": first["name"], "answers": codes}
    open_task(page, server, asking(first, comment(when=condition), pictures=2))
    for control in page.locator("[name^=answers][data-key]").all():
        control.check()
        assert page.get_by_role("textbox").is_visible() is (control.get_attribute("value") in asked)
        if control.get_attribute("type") == "checkbox":
            control.uncheck()


def test_a_condition_applies_to_each_stimulus_separately(page, server):
    open_task(page, server, asking(scale(each=True), comment(each=True, when=WORST), pictures=2))
    press(page, "1", "3")
    page.get_by_role("textbox", name="Why? Picture 1").fill("Too dark.")
    assert page.get_by_role("textbox").count() == 1
    answers = {"quality": {"s1": 1, "s2": 3}, "why": {"s1": "Too dark."}}
    assert sent(page, server)["answers"] == answers


def test_a_condition_on_an_unasked_question_is_not_met(page, server):
    chain = [scale(), choice(when=WORST), comment(when={"question": "fault", "answers": ["face"]})]
    open_task(page, server, asking(*chain))
    press(page, "1", "2")
    assert page.get_by_role("textbox").is_visible()
    page.get_by_label("Good").check()
    assert page.get_by_role("textbox").count() == 0
    assert sent(page, server)["answers"] == {"quality": 3}


@pytest.mark.parametrize(
    ("question", "pictures", "keys", "refusal"),
    [
        pytest.param(scale(), 1, "", "Choose an answer.", id="scale"),
        pytest.param(choice(), 1, "", "Choose an answer.", id="choice"),
        pytest.param(choice(several=True), 1, "11", "Choose an answer.", id="several, taken back"),
        pytest.param(compare(), 2, "", "Choose an answer.", id="compare"),
        pytest.param(rank(), 3, "12", "Give each picture or text a place.", id="rank"),
        pytest.param(rank(required=False), 3, "1", "Give each picture or text a place.", id="rank begun"),
        pytest.param(comment(), 1, "", "Write an answer; a few words are enough.", id="text"),
        pytest.param(words(), 1, "", "Choose the words.", id="span"),
        pytest.param(words(none=None), 1, "0", "Choose the words.", id="span without none"),
    ],
)
def test_a_missing_required_answer_is_reported_and_focused(page, server, question, pictures, keys, refusal):
    open_task(page, server, asking(question, pictures=pictures, prompt=PROMPT))
    press(page, *keys, "Control+Enter")
    says(page, "Not submitted yet: an answer is missing.")
    page.locator(".asked").get_by_text(refusal).wait_for()
    assert page.evaluate("document.activeElement.closest('[data-asked]') !== null")
    assert submissions(server) == []


def test_missing_answers_are_counted_and_the_first_is_focused(page, server):
    open_task(page, server, asking(scale(each=True), compare(), pictures=2))
    press(page, "2")
    page.locator("[data-question]").focus()
    press(page, "Enter")
    says(page, "Not submitted yet: 2 answers are missing.")
    assert page.evaluate("document.activeElement.name") == "answers.quality.s2"
    press(page, "1")
    assert page.get_by_text("Choose an answer.").count() == 1  # no longer shown for an answered question


@pytest.mark.parametrize(
    "question",
    [scale(), choice(several=True), rank(), comment(), words(none=None)],
    ids=lambda one: one["type"],
)
def test_optional_questions_can_be_left_out(page, server, question):
    open_task(page, server, asking(question | {"required": False}, pictures=3, prompt=PROMPT))
    assert page.get_by_text("(optional)").is_visible()
    assert sent(page, server) == {"answers": {}, "regions": {}}


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("size", [(390, 844), (360, 640), (1280, 800)])
def test_questions_after_one_that_becomes_due_stay_where_they_are(page, server, each, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    pictures = 2 if each else 1
    kind = [scale(each=each), choice(each=each, when=WORST), comment(required=False)]
    open_task(page, server, asking(*kind, pictures=pictures))
    last, waiting = page.locator("[data-asked=why]"), page.locator("[data-asked=fault]")
    before = last.bounding_box()
    assert waiting.evaluate("(fieldset) => fieldset.inert")
    for code in ("1", "3", "1"):
        page.locator(f"[data-asked=quality] [data-part] input[value='{code}']").first.check()
        assert last.bounding_box() == before
    assert not waiting.evaluate("(fieldset) => fieldset.inert")
