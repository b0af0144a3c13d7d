"""Annotators at work in a real browser, from the invitation to what the database holds."""

import re

import pytest

from accounts import consent, profiles
from annotation import campaigns, invitations
from annotation.models import Annotation, Assignment, Box
from generation.sketch.drawing import draw
from generation.storage import store_image
from tests.e2e.conftest import PHONE

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

# Left, top, right, bottom in fractions of the picture.
FIRST = (0.20, 0.10, 0.55, 0.40)
SECOND = (0.60, 0.50, 0.90, 0.85)


@pytest.fixture
def marking(study, lead):
    for index, group in enumerate(study.groups.order_by("name")):
        for number in range(2):
            data = draw(seed=10 * index + number, attributes={"tall hat", "drum"}).png
            store_image(study=study, data=data, group=group, model_label="sketch")
    # Screens of two or three words, whichever comes first: what is pressed below is on each of them.
    draft = campaigns.create(
        study=study, name="Marking", kind="stereotype_marking", by=lead, attributes_per_screen=3
    )
    return campaigns.open_(campaign=draft, by=lead)


@pytest.fixture
def rating(study, lead):
    draft = campaigns.create(study=study, name="Rating", kind="attribute_likert", by=lead)
    return campaigns.open_(campaign=draft, by=lead)


def link(campaign) -> str:
    return f"/annotate/i/{invitations.invite(campaign=campaign, by=None)[1]}/"


def join(page, campaign) -> None:
    """Come in by a link, with consent and profile out of the way, and open the first task."""
    address = link(campaign)
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/consent/")
    annotator = campaign.enrolments.latest("pk").annotator
    consent.give(annotator=annotator, text=consent.current_text(campaign.study))
    profiles.describe(annotator=annotator)
    page.goto(f"/annotate/{campaign.pk}/")
    ready(page)


def ready(page) -> None:
    """Wait until the task's module has taken over, and its picture is there.

    Asking what the page holds before that would ask the page one comes from, which a click leaves a little later.
    """
    page.locator("form[data-task][data-ready]").wait_for()
    if not page.locator("[data-image]").count():
        return
    seen = (
        "(({complete, naturalWidth}) => complete && naturalWidth > 0)(document.querySelector('[data-image]'))"
    )
    # A page under our policy evaluates no strings, so that waiting for a function is not possible.
    for _ in range(600):
        if page.evaluate(seen):
            return
        page.wait_for_timeout(50)
    pytest.fail("the picture did not load")


def shown_at(page) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the picture on the screen, without its letter-box."""
    return tuple(
        page.evaluate(
            """() => {
              const image = document.querySelector("[data-image]"), box = image.getBoundingClientRect();
              const scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
              const width = image.naturalWidth * scale, height = image.naturalHeight * scale;
              return [box.left + (box.width - width) / 2, box.top, width, height];
            }"""
        )
    )


def drag(page, corners) -> None:
    left, top, width, height = shown_at(page)
    x1, y1, x2, y2 = corners
    page.mouse.move(left + x1 * width, top + y1 * height)
    page.mouse.down()
    page.mouse.move(left + (x1 + x2) / 2 * width, top + (y1 + y2) / 2 * height, steps=4)
    page.mouse.move(left + x2 * width, top + y2 * height, steps=4)
    page.mouse.up()


def assert_holds(box: Box, corners) -> None:
    x1, y1, x2, y2 = corners
    found = (box.x, box.y, box.x + box.width, box.y + box.height)
    assert found == pytest.approx((x1, y1, x2, y2), abs=0.01)


def saved(page, done: int) -> None:
    page.locator("#progress").get_by_text(f"{done} done").wait_for()


def test_from_the_invitation_to_two_marked_pictures(page, marking):
    page.goto(link(marking))
    page.get_by_role("heading", name="You are invited to mark what pictures show").wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_label("Gender").fill("Woman")
    page.get_by_label("Languages").fill("Quechua, Spanish")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("This is your personal link").wait_for()
    page.get_by_role("link", name="Go to the first task").click()
    ready(page)

    first, second = (page.locator("[data-attribute]").nth(index) for index in (0, 1))
    asked = [
        first.locator(".choice [data-text]").inner_text(),
        second.locator(".choice [data-text]").inner_text(),
    ]
    first.get_by_role("checkbox").check()
    drag(page, FIRST)
    second.get_by_role("checkbox").check()
    drag(page, SECOND)
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    assert page.locator("#saved").inner_text() == "Saved."

    annotation = Annotation.objects.get()
    assert annotation.active_seconds > 0
    boxes = {box.judgement.attribute.text: box for box in Box.objects.select_related("judgement__attribute")}
    assert_holds(boxes[asked[0]], FIRST)
    assert_holds(boxes[asked[1]], SECOND)
    assert annotation.judgements.filter(present=True).count() == 2

    ready(page)
    page.get_by_role("checkbox", name="None of the above").check()
    page.get_by_role("button", name="Submit").click()
    saved(page, 2)
    assert Annotation.objects.latest("pk").none_of_the_above is True
    assert annotation.annotator.profile.languages == ["Quechua", "Spanish"]


def test_two_clicks_draw_a_box_that_can_be_moved_resized_deleted_and_brought_back(page, marking):
    join(page, marking)
    page.locator("[data-attribute] input").first.check()
    left, top, width, height = shown_at(page)
    for x, y in ((FIRST[0], FIRST[1]), (FIRST[2], FIRST[3])):
        page.mouse.click(left + x * width, top + y * height)
    box = page.locator("[data-overlay] [data-box]")
    box.wait_for()

    # It is chosen: dragging inside moves it, dragging a corner resizes it.
    page.mouse.move(left + 0.3 * width, top + 0.2 * height)
    page.mouse.down()
    page.mouse.move(left + 0.4 * width, top + 0.3 * height, steps=4)
    page.mouse.up()
    page.mouse.move(left + 0.65 * width, top + 0.5 * height)
    page.mouse.down()
    page.mouse.move(left + 0.75 * width, top + 0.6 * height, steps=4)
    page.mouse.up()
    page.keyboard.press("Delete")
    assert box.count() == 0
    page.keyboard.press("Control+z")
    assert box.count() == 1
    page.keyboard.press("Control+y")
    assert box.count() == 0
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    assert_holds(Box.objects.get(), (0.30, 0.20, 0.75, 0.60))


def test_a_box_is_drawn_inside_another(page, marking):
    join(page, marking)
    page.locator("[data-attribute] input").first.check()
    drag(page, (0.1, 0.1, 0.9, 0.9))
    page.keyboard.press("Escape")
    drag(page, (0.4, 0.4, 0.6, 0.6))
    # The one just drawn is chosen: with Shift a drag inside it draws instead of moving it.
    page.keyboard.down("Shift")
    drag(page, (0.45, 0.45, 0.55, 0.55))
    page.keyboard.up("Shift")
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    drawn = [(0.1, 0.1, 0.9, 0.9), (0.4, 0.4, 0.6, 0.6), (0.45, 0.45, 0.55, 0.55)]
    for box, corners in zip(Box.objects.order_by("pk"), drawn, strict=True):
        assert_holds(box, corners)


def test_by_keyboard_alone_a_box_is_placed_and_a_task_submitted(page, marking):
    join(page, marking)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.get_by_text("Draw a box around what shows it.", exact=True).wait_for()
    assert page.evaluate("document.activeElement.textContent").startswith("Add a box")
    page.keyboard.press("Enter")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused).endswith("30 % from the left, 30 % from the top, 30 % wide, 30 % high")
    for key in (
        "ArrowLeft",
        "ArrowLeft",
        "ArrowUp",
        "Shift+ArrowRight",
        "Shift+ArrowDown",
        "Shift+ArrowDown",
    ):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    saved(page, 1)
    assert_holds(Box.objects.get(), (0.28, 0.29, 0.59, 0.61))
    # The next question has the focus, and 'none' is one key away.
    assert page.evaluate("document.activeElement.matches('[data-question]')")
    ready(page)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page, 2)
    page.keyboard.press("s")
    page.get_by_text("Skipped.").wait_for()
    assert Assignment.objects.filter(state="skipped").count() == 1


def test_none_clears_ticks_and_undo_brings_them_back(page, marking):
    join(page, marking)
    page.keyboard.press("1")
    drag(page, FIRST)
    page.get_by_role("checkbox", name="None of the above").check()
    assert page.locator("[name=ticked]:checked").count() == 0
    assert page.locator("[data-box]").count() == 0
    page.get_by_role("button", name="Undo").click()
    assert page.locator("[name=ticked]:checked").count() == 1
    assert page.locator("[data-overlay] [data-box]").count() == 1
    assert not page.get_by_role("checkbox", name="None of the above").is_checked()


def test_nothing_chosen_is_refused_where_it_is_missing(page, marking):
    join(page, marking)
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Tick what the picture shows, or choose ‘None of the above’.").first.wait_for()
    assert not Annotation.objects.exists()


def test_a_reload_loses_nothing(page, marking):
    join(page, marking)
    page.keyboard.press("1")
    drag(page, FIRST)
    page.reload()
    ready(page)
    page.get_by_text("What you had begun is back.").wait_for()
    assert page.locator("[data-overlay] [data-box]").count() == 1
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    assert_holds(Box.objects.get(), FIRST)


def test_an_untouched_task_says_nothing_of_a_draft_after_a_reload(page, marking):
    join(page, marking)
    page.reload()
    ready(page)
    assert page.locator("#saved").inner_text() == ""


def test_a_lost_connection_is_said_and_the_answer_arrives_once(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    sent = []
    page.route("**/submit", lambda route: (sent.append(route.request.post_data_json), route.abort()))
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Not saved yet: no connection.").wait_for()
    page.unroute("**/submit")
    page.route("**/submit", lambda route: (sent.append(route.request.post_data_json), route.continue_()))
    saved(page, 1)
    assert Annotation.objects.count() == 1
    assert len(sent) >= 2
    assert len({one["submission_id"] for one in sent}) == 1
    page.complaints.clear()  # the browser reports the lost requests


def test_an_answer_on_its_way_when_the_page_is_closed_is_sent_again_by_itself(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    page.route("**/submit", lambda route: route.abort())
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Not saved yet").wait_for()
    page.unroute("**/submit")
    page.reload()
    saved(page, 1)
    assert Annotation.objects.get().none_of_the_above is True
    page.complaints.clear()


def test_the_last_answer_is_corrected(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page, 1)
    page.get_by_role("link", name="Previous answer").click()
    page.get_by_text("This is the answer you gave last.").wait_for()
    ready(page)
    page.keyboard.press("1")
    drag(page, SECOND)
    page.get_by_role("button", name="Save correction").click()
    page.wait_for_url(re.compile(rf"/annotate/{marking.pk}/$"))
    latest = Annotation.objects.get(is_latest=True)
    assert (latest.revision, latest.none_of_the_above) == (2, False)
    assert_holds(Box.objects.get(), SECOND)


def test_a_picture_that_does_not_load_can_be_tried_again_or_skipped(page, marking):
    page.route("**/images/**", lambda route: route.abort())
    page.goto(link(marking))
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    page.get_by_text("The picture did not load.").wait_for()
    page.keyboard.press("0")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Wait until the picture is there, or skip it.").wait_for()
    page.unroute("**/images/**")
    page.get_by_role("button", name="Try again").click()
    ready(page)
    page.get_by_text("The picture did not load.").wait_for(state="hidden")
    page.complaints.clear()


def test_ratings_by_key_with_a_reason_for_unsure(page, rating):
    join(page, rating)
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    saved(page, 1)
    page.keyboard.press("3")
    page.keyboard.press("Control+Enter")
    page.locator("#justification-error").get_by_text("Write why you are unsure").wait_for()
    page.keyboard.type("It depends on the weather.")
    page.keyboard.press("Control+Enter")
    saved(page, 2)
    assert list(Annotation.objects.order_by("pk").values_list("judgements__rating", "justification")) == [
        (5, ""),
        (3, "It depends on the weather."),
    ]


def test_all_words_rated_ends_with_thanks(page, rating):
    join(page, rating)
    tasks = rating.tasks.count()
    for done in range(1, tasks + 1):
        page.get_by_role("radio", name="Disagree", exact=True).check()
        page.get_by_role("button", name="Submit").click()
        if done < tasks:
            saved(page, done)
    page.get_by_role("heading", name="All done. Thank you.").wait_for()
    assert Annotation.objects.count() == tasks


def test_a_break_and_back_by_the_personal_link_from_another_device(page, new_page, marking):
    address = link(marking)
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    ready(page)
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    saved(page, 1)
    page.get_by_role("button", name="Take a break").click()
    page.get_by_role("heading", name="Enough for now. Thank you.").wait_for()
    phone = new_page(size=PHONE, touch=True)
    phone.goto(address)
    phone.get_by_role("button", name="Start").click()
    ready(phone)
    saved(phone, 1)
    assert marking.enrolments.count() == 1


def test_on_a_phone_a_box_is_drawn_by_two_taps(new_page, marking):
    phone = new_page(size=PHONE, touch=True)
    join(phone, marking)
    phone.locator("[data-attribute] input").first.check()
    phone.evaluate("window.scrollTo(0, 0)")
    left, top, width, height = shown_at(phone)
    phone.touchscreen.tap(left + FIRST[0] * width, top + FIRST[1] * height)
    phone.touchscreen.tap(left + FIRST[2] * width, top + FIRST[3] * height)
    phone.locator("[data-overlay] [data-box]").wait_for()
    assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    phone.get_by_role("button", name="Submit").click()
    saved(phone, 1)
    assert_holds(Box.objects.get(), FIRST)


def test_on_a_phone_a_finger_draws_a_box_and_does_not_scroll(new_page, marking):
    phone = new_page(size=PHONE, touch=True)
    join(phone, marking)
    phone.locator("[data-attribute] input").first.check()
    phone.evaluate("window.scrollTo(0, 0)")
    left, top, width, height = shown_at(phone)
    finger = phone.context.new_cdp_session(phone)

    def touch(kind, x, y):
        points = [] if kind == "touchEnd" else [{"x": left + x * width, "y": top + y * height}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x1, y1, x2, y2 = FIRST
    touch("touchStart", x1, y1)
    for step in range(1, 6):
        touch("touchMove", x1 + (x2 - x1) * step / 5, y1 + (y2 - y1) * step / 5)
    touch("touchEnd", x2, y2)
    phone.locator("[data-overlay] [data-box]").wait_for()
    assert phone.evaluate("window.scrollY") == 0
    phone.get_by_role("button", name="Submit").click()
    saved(phone, 1)
    assert_holds(Box.objects.get(), FIRST)


def test_without_scripts_words_are_rated_and_pictures_skipped(new_page, rating, marking):
    plain = new_page(java_script_enabled=False)
    for campaign in (rating, marking):
        plain.goto(link(campaign))
        plain.get_by_role("button", name="Start").click()
        if campaign == rating:
            plain.get_by_role("button", name="I am 18 or older and I agree").click()
            plain.get_by_role("button", name="Skip").click()
            plain.get_by_role("link", name="Go to the first task").click()
            plain.get_by_role("radio", name="Unsure").check()
            plain.get_by_label("Why are you unsure?").fill("It depends.")
            plain.get_by_role("button", name="Submit").click()
            plain.get_by_text("1 done").wait_for()
    assert Annotation.objects.get().justification == "It depends."
    plain.locator("noscript .notice").wait_for()
    plain.get_by_role("checkbox", name="None of the above").check()
    plain.get_by_role("button", name="Submit").click()
    plain.get_by_text("1 done").wait_for()
    plain.locator(".sticky-actions").get_by_role("button", name="Skip").click()
    plain.get_by_text("1 done").wait_for()
    assert Assignment.objects.filter(state="skipped").count() == 1


def test_everything_on_the_task_has_a_role_and_a_name(page, marking):
    join(page, marking)
    page.locator("[data-attribute] input").first.check()
    drag(page, FIRST)
    text = page.locator("[data-attribute] [data-text]").first.inner_text()
    page.get_by_role("heading", level=1, name="Which of these does the picture show, and where?").wait_for()
    page.get_by_role("img", name="The picture to judge").wait_for()
    page.get_by_role(
        "application", name=re.compile(rf"Box 1, {re.escape(text)}: 20 % from the left")
    ).wait_for()
    for role, name in [
        ("checkbox", text),
        ("checkbox", "None of the above"),
        ("button", f"Add a box for {text}, to place with the arrow keys"),
        ("button", "Box 1"),
        ("button", "Delete box 1"),
        ("button", "Undo"),
        ("button", "Submit"),
        ("button", "Skip"),
        ("button", "Take a break"),
    ]:
        page.get_by_role(role, name=name, exact=True).wait_for()
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, a, input, select, textarea, summary")]
          .filter((one) => one.type !== "hidden" && one.checkVisibility())
          .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim()))
          .map((one) => one.outerHTML)"""
    )
    assert unnamed == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_a_task_whose_time_has_run_out_says_so_and_can_still_be_submitted(page, marking):
    page.clock.install()
    join(page, marking)
    assert page.locator("#task-expired").is_hidden()
    page.clock.fast_forward("31:00")
    page.get_by_text("The time kept for this task has run out").wait_for()
    page.keyboard.press("0")
    page.get_by_role("button", name="Submit").click()
    saved(page, 1)


def test_of_a_pause_only_the_first_minute_counts_as_work(page, marking):
    page.clock.install()
    join(page, marking)
    page.clock.fast_forward("10:00")
    page.keyboard.press("0")
    with page.expect_request("**/submit") as sent:
        page.get_by_role("button", name="Submit").click()
    saved(page, 1)
    assert 60 <= sent.value.post_data_json["active_seconds"] < 90
    assert Annotation.objects.get().active_seconds < 60  # no longer than the lease has existed


def test_somebody_signed_out_keeps_the_answer(page, marking):
    join(page, marking)
    page.keyboard.press("0")
    page.context.clear_cookies(name="stereoscope_session")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("You are signed out. Your answer is kept on this device").wait_for()
    assert page.get_by_role("link", name="Sign in again").is_visible()
    page.complaints.clear()  # the browser reports the refused request


def test_single_keys_can_be_switched_off(page, marking):
    join(page, marking)
    page.get_by_text("Keys and drawing").click()
    page.get_by_role("checkbox", name="Use single keys on this device").uncheck()
    page.locator("h1").click()
    page.keyboard.press("1")
    assert page.locator("[name=ticked]:checked").count() == 0
    page.reload()
    ready(page)
    page.keyboard.press("1")
    assert page.locator("[name=ticked]:checked").count() == 0


def test_an_earlier_answer_is_corrected_from_the_list(page, marking):
    join(page, marking)
    for done in (1, 2):
        page.keyboard.press("0")
        page.keyboard.press("Enter")
        saved(page, done)
        ready(page)
    page.get_by_role("link", name="Previous answer").click()
    page.get_by_role("link", name="The one before").click()
    page.get_by_text("This is an answer you gave a little earlier.").wait_for()
    page.get_by_role("link", name="All that can still be corrected").click()
    page.get_by_role("link", name="Look and correct answer 1").click()
    ready(page)
    page.keyboard.press("1")
    drag(page, FIRST)
    page.get_by_role("button", name="Save correction").click()
    page.wait_for_url(re.compile(rf"/annotate/{marking.pk}/$"))
    first = Annotation.objects.filter(is_latest=True).order_by("assignment").first()
    assert (first.revision, first.none_of_the_above) == (2, False)


def test_one_key_goes_to_the_guidelines_and_back_to_where_one_was(page, marking):
    join(page, marking)
    guidelines = page.locator("[data-guidelines]")
    page.keyboard.press("1")
    page.keyboard.press("g")
    assert page.evaluate("document.activeElement.closest('[data-guidelines]') !== null")
    assert guidelines.get_attribute("open") is not None
    page.keyboard.press("g")
    assert page.evaluate("document.activeElement.name") == "ticked"
    assert guidelines.get_attribute("open") is None


def test_the_pay_so_far_grows_with_each_task(page, study, lead, marking):
    marking.options = marking.options | {"pay_amount": 0.5, "pay_currency": "EUR", "pay_per": "task"}
    marking.save()
    join(page, marking)
    page.get_by_text("€0.00 so far").wait_for()
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    page.get_by_text("€0.50 so far").wait_for()
    page.reload()
    ready(page)
    page.get_by_text("€0.50 so far").wait_for()


def test_on_a_phone_the_first_tick_does_not_move_the_picture(new_page, marking):
    phone = new_page(size=PHONE, touch=True)
    join(phone, marking)
    before = shown_at(phone)
    phone.locator("[data-attribute] input").first.evaluate("(input) => input.click()")
    phone.get_by_text("Draft kept on this device.").wait_for()
    assert shown_at(phone) == pytest.approx(before, abs=1)
