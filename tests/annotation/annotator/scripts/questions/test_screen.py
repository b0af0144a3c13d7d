"""The screen of a kind of questions from task to task: pictures, drafts, undo, corrections, reports, other tabs."""

import pytest

from tests.annotation.annotator.scripts.conftest import until
from tests.annotation.annotator.scripts.pages import SECOND, TASK_PATH, task_page
from tests.annotation.annotator.scripts.questions.payloads import (
    asking,
    choice,
    comment,
    compare,
    picture,
    rank,
    scale,
    text,
    words,
)
from tests.annotation.annotator.scripts.questions.steps import press, sent
from tests.annotation.annotator.scripts.server import Reply
from tests.annotation.annotator.scripts.steps import kept, open_task, ready, saved, says, submissions

pytestmark = [pytest.mark.e2e, pytest.mark.database_free]


def accepted(payload) -> Reply:
    return Reply(200, {"status": "accepted", "next": payload})


def test_one_task_after_another_by_keys_alone(page, server):
    asked = [compare(), comment(required=False)]
    server.replies.append(accepted(asking(*asked, pictures=2, assignment=SECOND, prompt="a blue boat")))
    open_task(page, server, asking(*asked, pictures=2, prompt="a red kite"))
    press(page, "1", "Enter")
    saved(page)
    assert page.locator("[data-prompt]").text_content() == "a blue boat"
    assert page.evaluate("document.activeElement.matches('[data-question]')")
    assert page.locator("[name='answers.better']:checked").count() == 0
    press(page, "ArrowRight")
    server.replies.append(accepted(asking(*asked, pictures=2)))
    press(page, "Enter")
    until(page, lambda: submissions(server, SECOND))
    assert submissions(server)[0].body["answer"]["answers"] == {"better": "s1"}
    assert submissions(server, SECOND)[0].body["answer"]["answers"] == {"better": "s2"}


def test_the_next_task_may_show_more_pictures_and_other_words(page, server):
    asked = [rank(), words(), scale(each=True)]
    server.replies.append(accepted(asking(*asked, pictures=5, assignment=SECOND, prompt="one two")))
    open_task(page, server, asking(*asked, pictures=3, prompt="a red kite"))
    press(page, "1", "2", "3", "0", "3", "3", "3")
    page.locator("[data-question]").focus()
    press(page, "Enter")
    saved(page)
    assert page.locator("[data-stimulus]").count() == 5
    assert page.locator("[data-row=s5] [data-key='5']").count() == 1
    assert page.locator(".word").all_inner_texts() == ["one", "two"]
    assert page.locator("[data-asked] :checked").count() == 0
    press(page, *"54321")
    page.get_by_label("two", exact=True).check(force=True)
    page.locator("[data-question]").focus()
    press(page, *"33333")
    server.replies.append(accepted(asking(*asked, pictures=3)))
    page.keyboard.press("Control+Enter")
    until(page, lambda: submissions(server, SECOND))
    answers = submissions(server, SECOND)[0].body["answer"]["answers"]
    assert answers["order"] == {"s1": 5, "s2": 4, "s3": 3, "s4": 2, "s5": 1}
    assert answers["missed"] == [1]
    assert answers["quality"] == dict.fromkeys(["s1", "s2", "s3", "s4", "s5"], 3)


def test_copied_elements_have_complete_ids_and_names(page, server):
    asked = [scale(each=True), rank(), comment(each=True)]
    server.replies.append(accepted(asking(*asked, pictures=4, assignment=SECOND)))
    open_task(page, server, asking(*asked, pictures=3))
    before = page.locator("[data-asked]").first.inner_html()
    press(page, *"333", *"123")
    for name in ("s1", "s2", "s3"):
        page.locator(f"[data-part={name}] textarea").fill("Words.")
    page.keyboard.press("Control+Enter")
    saved(page)
    html = page.locator(".task-grid").evaluate(
        "(grid) => grid.outerHTML.replace(/<template.*?<.template>/gs, '')"
    )
    assert "{ref}" not in html
    assert "{name}" not in html
    assert "asked-quality-s4-name" not in before
    assert page.get_by_role("radiogroup", name="Picture 4").is_visible()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(({ id }) => id)")
    assert len(ids) == len(set(ids))


def test_nothing_is_submitted_until_all_pictures_are_there(page, server):
    missing = {"ref": "s2", "image": {"url": "/missing.svg", "width": 400, "height": 400}}
    server.pages[TASK_PATH] = task_page(asking(compare(), pictures=2, stimuli=[picture(1), missing]))
    page.goto(TASK_PATH)
    page.locator("form[data-task][data-ready]").wait_for()
    page.locator("[data-stimulus=s2]").get_by_text("The picture did not load.").wait_for()
    assert page.locator("[data-stimulus=s1] [data-image-failed]").is_hidden()
    press(page, "1", "Enter")
    says(page, "Wait until all pictures have loaded, or skip them.")
    assert submissions(server) == []


def test_blurred_pictures_are_all_shown_before_they_are_answered(page, server):
    server.replies.append(accepted(asking(compare(), pictures=2, assignment=SECOND)))
    open_task(page, server, asking(compare(), pictures=2), blurred=True)
    page.locator("[data-stimulus=s1]").get_by_text("Show the picture").click()
    press(page, "1")
    page.locator("[data-question]").focus()
    press(page, "Enter")
    says(page, "Show all pictures first, or skip them.")
    press(page, "v", "Enter")
    saved(page)
    press(page, "2", "Enter")
    says(page, "Show all pictures first, or skip them.")
    assert submissions(server, SECOND) == []


def test_a_draft_is_restored_completely(page, server):
    asked = [scale(), choice(several=True), comment(), rank()]
    payload = asking(*asked, pictures=3)
    open_task(page, server, payload)
    press(page, "2", "1", "2")
    page.get_by_label("Face").check()
    page.get_by_role("textbox").fill("Too dark.")
    page.locator("[data-row=s2] [data-key='1']").check(force=True)
    assert kept(page)["answer"]["answers"] == {
        "quality": 2,
        "fault": ["face"] if page.get_by_label("Hands").is_checked() is False else ["hands", "face"],
        "why": "Too dark.",
        "order": {"s2": 1},
    }
    page.reload()
    ready(page)
    says(page, "Your unfinished answer is restored.")
    assert page.get_by_label("Fair").is_checked()
    assert page.get_by_label("Face").is_checked()
    assert page.get_by_role("textbox").input_value() == "Too dark."
    assert page.locator("[data-row=s2] :checked").get_attribute("value") == "1"


def test_undo_goes_back_step_by_step(page, server):
    open_task(page, server, asking(scale()))
    press(page, "1", "3", "Control+z")
    assert page.get_by_label("Poor").is_checked()
    press(page, "Control+z")
    assert page.locator("[data-asked] :checked").count() == 0
    press(page, "Control+y", "Control+y")
    assert page.get_by_label("Good").is_checked()


def test_an_earlier_answer_is_shown_and_corrected(page, server):
    answers = {"quality": {"s1": 1, "s2": 3}, "better": "s2", "why": "Sharper."}
    payload = asking(
        scale(each=True), compare(), comment(), pictures=2, answer={"answers": answers, "regions": {}}
    )
    open_task(page, server, payload, revising={"place": 1, "of": 1})
    page.get_by_role("group", name="How good is the picture? Picture 1").get_by_label("Fair").check()
    assert sent(page, server)["answers"] == answers | {"quality": {"s1": 2, "s2": 3}}


def test_refusals_of_the_server_are_shown_at_their_question(page, server):
    fields = {"answer.answers.quality.s2": "Choose one of the points.", "answer.answers.better": "Choose."}
    body = {"error": {"code": "answer_invalid", "message": "Not all is answered.", "fields": fields}}
    server.replies.append(Reply(400, body))
    open_task(page, server, asking(scale(each=True), compare(), pictures=2))
    press(page, "1", "1", "1", "Enter")
    says(page, "Not saved.")
    assert page.locator("[data-part=s2] [data-error]").text_content() == "Choose one of the points."
    assert page.evaluate("document.activeElement.name") == "answers.quality.s2"
    assert page.locator("#task-problem").is_hidden()


def test_a_picture_opens_larger_and_arrows_go_to_the_other(page, server):
    open_task(page, server, asking(compare(), pictures=2))
    page.locator("[data-stimulus=s1] [data-image]").click()
    view = page.get_by_role("dialog", name="Picture 1")
    view.wait_for()
    press(page, "ArrowRight")
    page.get_by_role("dialog", name="Picture 2").wait_for()
    press(page, "ArrowRight", "2", "Enter")
    assert page.locator("[data-asked] :checked").count() == 0  # nothing is answered from here
    page.get_by_role("dialog").wait_for(state="hidden")
    press(page, "l")
    view.wait_for()
    press(page, "Escape")
    view.wait_for(state="hidden")
    assert submissions(server) == []


def test_a_blurred_picture_does_not_open_larger(page, server):
    open_task(page, server, asking(compare(), pictures=2), blurred=True)
    press(page, "l")
    assert page.get_by_role("dialog").count() == 0
    press(page, "v", "l")
    page.get_by_role("dialog", name="Picture 1").wait_for()


def test_texts_are_judged_as_pictures_are(page, server):
    server.replies.append(
        accepted(asking(scale(), assignment=SECOND, stimuli=[text(1, "Another sentence.")]))
    )
    open_task(page, server, asking(scale(), stimuli=[text(1, "A sentence.")]))
    assert page.get_by_role("heading", level=1).text_content() == "Judge pictures"
    press(page, "3", "Enter")
    saved(page)
    assert page.locator("[data-text]").text_content() == "Another sentence."
    assert page.locator("[data-report-part]").count() == 0


@pytest.mark.parametrize(
    ("chosen", "stimulus"), [("All pictures", {}), ("Picture 4", {"stimulus": "s4"})], ids=["all", "one"]
)
def test_a_report_names_the_picture(page, server, chosen, stimulus):
    server.replies.append(accepted(asking(rank(), pictures=4, assignment=SECOND)))
    server.replies.append(Reply(204))
    open_task(page, server, asking(rank(), pictures=3))
    press(page, *"123", "Enter")
    saved(page)
    page.locator("[data-report-part] summary").click()
    page.get_by_label("Which picture?").select_option(chosen)
    page.locator("[name=reason][value=broken]").check()
    page.get_by_role("button", name="Send the report").click()
    says(page, "Reported. Thank you. You can go on, or skip this picture.")
    report = server.received[-1]
    assert report.path == f"/api/v1/assignments/{SECOND}/report"
    assert report.body == {"reason": "broken", "details": ""} | stimulus


def test_the_next_pictures_are_prefetched(page, server):
    server.ahead = {"images": ["/picture/a.svg", "/picture/b.svg"]}
    with page.expect_request("**/picture/a.svg"), page.expect_request("**/picture/b.svg"):
        open_task(page, server, asking(compare(), pictures=2))
        page.clock.run_for(1000)


def test_answers_in_one_tab_are_shown_in_the_other(page, server):
    other = page.context.new_page()
    for tab in (page, other):
        open_task(tab, server, asking(scale(), comment()))
    page.bring_to_front()
    press(page, "3")
    says(other, "Answer changed in another tab.")
    assert other.get_by_label("Good").is_checked()


def test_a_lost_network_loses_nothing(page, server):
    open_task(page, server, asking(scale()))
    press(page, "2", "Enter")
    until(page, lambda: submissions(server))
    assert kept(page)["sent"]["answer"] == {"answers": {"quality": 2}, "regions": {}}


def test_only_the_plain_form_has_names_that_the_server_reads(page, server):
    open_task(page, server, asking(scale(each=True), rank(), words(), comment(), pictures=3, prompt="a kite"))
    press(page, *"333", *"123", "0")
    page.get_by_role("textbox").fill("Words.")
    posted = page.evaluate("[...new FormData(document.querySelector('form[data-task]'))]")
    answers = [(name, value) for name, value in posted if name.startswith("answers.")]
    assert answers == [
        *((f"answers.quality.s{n}", "3") for n in (1, 2, 3)),
        *((f"answers.order.s{n}", str(n)) for n in (1, 2, 3)),
        ("answers.missed", "none"),
        ("answers.why", "Words."),
    ]
