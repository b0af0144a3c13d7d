"""A lead declares a kind of campaign in a real browser: by mouse, by keys, and without scripts."""

import json

import pytest
from django.urls import reverse

from annotation.kinds import study_kinds
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import OWN_KIND
from annotation.models import Campaign, StudyKind
from tests.annotation.factories import add_prompted_images
from tests.annotation.kinds.test_adding_a_kind import shown
from tests.e2e.axe import open_parts, sign_in, violations
from tests.e2e.conftest import PHONE

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

NEW = reverse("annotation:kind_new", args=["isles"])
SLOW = 20_000


@pytest.fixture
def declared() -> dict:
    """Return the kind of docs/develop/adding-a-kind.md."""
    return json.loads(shown("declaration"))


@pytest.fixture
def expected() -> Kind:
    kind = study_kinds.from_file(shown("declaration").encode())
    return kind.model_copy(update={"public_help": OWN_KIND[1]})  # as in every kind made in the form


def field(page, path):
    return page.locator(f'#kind-form [name="{path}"]')


def fill(page, path, value):
    control = field(page, path)
    if isinstance(value, dict):
        for language, text in value.items():
            field(page, f"{path}.{language}").fill(text)
    elif isinstance(value, list):
        for box in control.all():
            box.set_checked(box.input_value() in value)
    elif isinstance(value, bool):
        control.set_checked(value)
    elif control.evaluate("control => control.localName") == "select":
        control.select_option(value)
    else:
        control.fill(str(value))


def press(page, action):
    """Press a button that changes the form, and wait for the change."""
    button = page.locator(f'button[value="{action}"]').first
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        button.click()


def update(page):
    """Update the dependent parts of the form."""
    button = page.get_by_role("button", name="Update the preview")
    if button.is_visible():
        with page.expect_navigation():
            button.click()


def declare(page, declared):
    """Build the declaration in the empty form."""
    for name in ("key", "name", "description", "campaign_name", "work", "unit", "guidelines"):
        fill(page, name, declared[name])
    stimuli = declared["stimuli"]
    fill(page, "stimuli.most", stimuli["most"])
    fill(page, "stimuli.least", stimuli["least"])
    update(page)
    expect(field(page, "stimuli.order")).to_be_visible(timeout=SLOW)
    for name in ("together", "order"):
        fill(page, f"stimuli.{name}", stimuli[name])
    for place, question in enumerate(declared["questions"]):
        add_question(page, f"questions.{place}", question)
    for place, question in enumerate(declared["questions"]):
        set_conditions(page, f"questions.{place}", question)
    update(page)
    for name in declared["measures"]:
        box = page.locator(f'#kind-form [name="measures"][value="{name}"]')
        expect(box).to_be_visible(timeout=SLOW)
        box.check()


def add_question(page, path, question):
    press(page, f"add questions {question['type']}")
    expect(field(page, f"{path}.name")).to_be_visible(timeout=SLOW)
    fill(page, f"{path}.name", question["name"])
    fill(page, f"{path}.label", question["label"])
    rows = "points" if "points" in question else "answers"
    there = page.locator(f'[id^="part_{path}.{rows}."]')
    while there.count() > len(question[rows]):
        last = there.count() - 1
        press(page, f"remove {path}.{rows}.{last}")
        expect(there).to_have_count(last, timeout=SLOW)
    for number, row in enumerate(question[rows]):
        for name, value in row.items():
            fill(page, f"{path}.{rows}.{number}.{name}", value)


def set_conditions(page, path, question):
    fill(page, f"{path}.each", question["each"])
    update(page)
    if when := question.get("when"):
        field(page, f"{path}.when.question").select_option(label=f"After {when['question']}")
        update(page)
        page.locator(f"[id='part_{path}']").get_by_label("1 · Restless").check(timeout=SLOW)
    if region := question.get("region"):
        field(page, f"{path}.region.shape").select_option(region["shape"])
        update(page)
        expect(field(page, f"{path}.region.required")).to_be_visible(timeout=SLOW)
        field(page, f"{path}.region.required").select_option("yes")
        page.locator(f"[id='part_{path}']").get_by_label("1 · Restless").check(timeout=SLOW)


def saved(page) -> Kind:
    page.get_by_role("button", name="Save kind").click()
    page.wait_for_url("**/kinds/calm_scenes/")
    return Kind.model_validate(StudyKind.objects.get().declaration)


def test_a_kind_is_built_previewed_and_planned(page, study, lead, client, live_server, declared, expected):
    add_prompted_images(study, ["a {id} house"], models=("north", "south", "east"))
    sign_in(page, client, lead, live_server)
    page.goto(NEW)
    status = page.locator('[data-live="status"]')
    expect(status).to_contain_text("Add a question to see the screen.")
    declare(page, declared)
    # The preview is the annotators' screen: three pictures, and each question about each of them.
    screen = page.frame_locator("iframe:not([data-loading])")
    expect(status).to_contain_text("Complete.", timeout=SLOW)
    expect(screen.get_by_text("How colourful is it?")).to_be_visible(timeout=SLOW)
    expect(screen.locator("figure.stimulus")).to_have_count(3)
    expect(screen.get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_label("Language").select_option("de")
    expect(screen.get_by_text("Wie farbig ist sie?")).to_be_visible(timeout=SLOW)
    assert saved(page) == expected

    page.get_by_role("link", name="New campaign").click()
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**/campaigns/calm-scenes/")
    page.get_by_role("link", name="Preview", exact=True).click()
    expect(page.get_by_role("group", name="How calm is this scene?").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.complaints.clear()  # the images of this study have no files
    assert Campaign.objects.get().kind == "calm_scenes"


def test_a_kind_is_built_without_scripts(new_page, study, lead, client, live_server, declared, expected):
    page = new_page(java_script_enabled=False)
    sign_in(page, client, lead, live_server)
    page.goto(NEW)
    declare(page, declared)
    update(page)
    expect(
        page.frame_locator("iframe:not([data-loading])").get_by_text("How colourful is it?")
    ).to_be_visible()
    assert saved(page) == expected


def test_focus_and_errors_lead_those_who_do_not_look(page, study, lead, client, live_server):
    sign_in(page, client, lead, live_server)
    page.goto(f"{NEW}?from=rubric")
    said = page.locator("#announcer")
    press(page, "add questions text")
    focused = page.locator(":focus")
    expect(focused).to_contain_text("Question 6", timeout=SLOW)
    expect(said).to_have_text("Question 6 is added.")
    page.keyboard.press("Tab")  # Up
    page.keyboard.press("Enter")
    expect(focused).to_contain_text("Question 5", timeout=SLOW)
    expect(said).to_have_text("Question 6 is now question 5.")
    page.locator('button[value="remove questions.4"]').focus()
    page.keyboard.press("Enter")
    expect(focused).to_contain_text("Question 5", timeout=SLOW)
    press(page, "add questions.0.points")
    expect(focused).to_have_attribute("name", "questions.0.points.5.code", timeout=SLOW)

    # During typing, an error appears and disappears at its field, and the focus stays.
    name = field(page, "questions.1.name")
    name.fill("Not a name")
    expect(name).to_have_attribute("aria-invalid", "true", timeout=SLOW)
    described = name.get_attribute("aria-describedby").split()
    error = page.locator(f"[id='{described[-1]}']")
    expect(error).to_contain_text("is not a valid name")
    expect(name).to_be_focused()
    name.fill("appeal")
    expect(error).to_have_count(0, timeout=SLOW)
    expect(name).not_to_have_attribute("aria-invalid", "true")

    # After a refusal, the list of errors has the focus, and leads to the field.
    page.get_by_role("button", name="Save kind").click()
    expect(page.locator(".error-summary")).to_be_focused(timeout=SLOW)
    page.get_by_role("link", name="Question 1, Point 6, Label (English)").click()
    expect(field(page, "questions.0.points.5.label.en")).to_be_focused()
    page.complaints.clear()  # the browser reports the status 400
    assert not StudyKind.objects.exists()


def test_a_form_is_not_lost_when_one_is_signed_out(page, study, lead, client, live_server):
    sign_in(page, client, lead, live_server)
    page.goto(f"{NEW}?from=rubric")
    page.context.clear_cookies(name="stereoscope_session")
    field(page, "name").fill("Typed long")
    status = page.locator('[data-live="status"]')
    expect(status).to_contain_text("You are signed out.", timeout=SLOW)
    page.get_by_role("button", name="Save kind").click()
    page.wait_for_url("**/sign-in/**")
    page.get_by_label("Username").fill("lena")
    page.get_by_label("Password", exact=True).fill("a long password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_text("You were signed out").wait_for()
    expect(field(page, "name")).to_have_value("Typed long")
    page.get_by_role("button", name="Save kind").click()
    page.wait_for_url("**/kinds/rubric_copy/")


def test_the_form_at_work_is_accessible_and_fits_a_phone(page, study, lead, client, live_server):
    study_kinds.add(study=study, content=shown("declaration").encode(), by=lead)
    sign_in(page, client, lead, live_server)
    page.goto(reverse("annotation:kind_edit", args=["isles", "calm_scenes"]))
    field(page, "questions.0.name").fill("Not a name")
    field(page, "questions.0.label.en").fill("")
    page.get_by_role("button", name="Save kind").click()
    page.locator(".error-summary").wait_for()
    page.complaints.clear()  # the browser reports the status 400
    open_parts(page)
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
