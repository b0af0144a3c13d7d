"""From "New study" to a recruitment that a panel can fill, in a real browser, by links and buttons only.

Three languages, two quotas, 60 places at the stand-in for Prolific. The browser counts pages and presses.
"""

import csv
import io
import re
from decimal import Decimal
from urllib.parse import urlsplit

import pytest

from annotation.models import Campaign
from annotation.recruitment.models import Recruitment
from tests.annotation.recruitment.conftest import fake  # noqa: F401 - a fixture
from tests.e2e.test_walk import sign_in
from tests.e2e.worker import finish_jobs
from tests.generation.backends.images_endpoint import images_endpoint

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

MOST_PAGES, MOST_PRESSES = 9, 60
CONSENT = (
    "The Harbour Institute asks you to look at pictures and pays for it. "
    "Write to office@harbour.example with questions."
)
# An effective press of the mouse or of a key counts once, as does text in one field. A choice from a list or of a
# file counts twice: it is opened, then chosen.
COUNT = """
(() => {
  const filled = new WeakSet();
  addEventListener("pointerdown", (event) => countPress(1, event.target.textContent.trim().slice(0, 40)), true);
  addEventListener("keydown", (event) => {
    if (["Enter", " "].includes(event.key) && !event.target.matches("input, textarea")) countPress(1, event.key);
  }, true);
  addEventListener("input", (event) => {
    const field = event.target;
    if (!field.matches("input, select, textarea") || ["checkbox", "radio"].includes(field.type)) return;
    const chosen = field.matches("select, input[type=file]");
    if (filled.has(field) && !chosen) return;
    filled.add(field);
    countPress(chosen ? 2 : 1, field.name);
  }, true);
})();
"""


class Counter:
    """Counts, in the browser, the presses of a lead and the pages visited, by address without query."""

    def __init__(self, page) -> None:
        self.page, self.log, self.pages = page, [], []
        page.expose_function("countPress", lambda number, what: self.log.append((number, what)))
        page.add_init_script(COUNT)
        page.on("framenavigated", self._look)

    @property
    def presses(self) -> int:
        return sum(number for number, _ in self.log)

    def _look(self, frame) -> None:
        path = urlsplit(frame.url).path
        if frame == self.page.main_frame and path not in self.pages:
            self.pages.append(path)

    def start(self) -> None:
        self.log.clear()
        self.pages.clear()


class Lead:
    """A lead in the browser, who uses only links and buttons."""

    def __init__(self, page) -> None:
        self.page = page

    def press(self, role, name, **options) -> None:
        self.page.get_by_role(role, name=name, **options).first.click()
        self.page.wait_for_load_state("load")

    def tab(self, name) -> None:
        self.page.get_by_role("navigation", name="Parts of the campaign").get_by_role(
            "link", name=name
        ).click()
        self.page.wait_for_load_state("load")

    def unfold(self, summary) -> None:
        self.page.locator("summary", has_text=summary).first.click()

    def fill(self, label, text) -> None:
        self.page.get_by_label(re.compile(rf"^{re.escape(label)}( \(optional\))?$")).first.fill(text)

    def choose(self, label, option) -> None:
        self.page.get_by_label(label, exact=True).first.select_option(label=option)

    def check(self, label) -> None:
        self.page.get_by_label(label, exact=True).first.check()


@pytest.fixture
def painter(settings):
    """Configure an endpoint that generates images, as the operator allows one."""
    pytest.importorskip("openai", reason="the full requirements are not installed")
    with images_endpoint() as server:
        settings.OPENAI_BASE_URLS = [server.url]
        settings.OPENAI_API_KEY = "sk-of-this-test"
        yield server


def make_study(lead: Lead) -> None:
    page = lead.page
    lead.press("link", "Create the first study")
    lead.press("link", "Invented peoples")
    lead.fill("Name", "Walk")
    lead.press("button", "Select all shown")
    lead.fill("Prompts", "a photo of {a_an} {id} person")
    lead.fill("Images per prompt and group", "2")
    lead.press("button", "Create study")
    page.wait_for_url("**/studies/walk/")


def make_images(lead: Lead) -> None:
    page = lead.page
    lead.press("link", "Generate images")
    lead.choose("Back-end", "openai: a model behind an endpoint")
    lead.fill("Model", "painter-3")
    lead.press("button", "Make 4 images")
    page.wait_for_url("**/studies/walk/")
    page.get_by_role("heading", name="In progress").wait_for()
    finish_jobs(page)
    page.get_by_role("link", name="New campaign").first.wait_for()


def draft_campaign(lead: Lead) -> None:
    page = lead.page
    lead.press("link", "New campaign")
    lead.press("link", "Stereotype marking")
    lead.fill("Name", "Marking")
    lead.fill("Annotators per task", "3")
    lead.check("At least one woman and one man")
    lead.unfold("Pay")
    lead.fill("Rate", "0.30")
    lead.fill("Budget", "300")
    lead.press("button", "Save draft")
    page.wait_for_url("**/campaigns/marking/")


def write_consent(lead: Lead) -> None:
    """Write the consent text, before the translations that contain it."""
    page = lead.page
    lead.press("link", "Open campaign")
    lead.unfold("Write the consent text here")
    lead.fill("What annotators agree to", CONSENT)
    lead.press("button", "Publish this text")
    page.get_by_text("Version 1 is published").wait_for()
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Marking").click()


def translate(lead: Lead) -> None:
    page = lead.page
    lead.tab("Languages")
    for language in ("German", "Spanish"):
        lead.choose("Add a language", language)
        lead.press("button", "Add", exact=True)
        page.get_by_role("cell", name="incomplete").first.wait_for()
    with page.expect_download() as download:
        lead.press("link", "Download CSV")
    text = download.value.path().read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        for code in ("de", "es"):
            row[code] = row[code] or f"[{code}] {row['source']}"
    filled = io.StringIO()
    writer = csv.DictWriter(filled, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    page.locator("input[type=file]").set_input_files(
        {"name": "texts.csv", "mimeType": "text/csv", "buffer": filled.getvalue().encode()}
    )
    lead.press("button", "Upload")
    assert page.get_by_role("cell", name="complete").count() == 2


def launch(lead: Lead) -> None:
    page = lead.page
    lead.tab("Draft")
    lead.press("link", "Open campaign")
    for box in page.get_by_role("checkbox").all():
        box.check()
    lead.fill("Reason", "A first round, on invented peoples.")
    lead.press("button", "Waive")
    lead.press("button", "Open campaign")
    page.wait_for_url("**/campaigns/marking/")


def recruit(lead: Lead, fake) -> None:  # noqa: F811
    page = lead.page
    lead.press("link", "Recruit from a panel")
    lead.press("link", "Prolific", exact=True)
    lead.fill("API token", fake.token)
    lead.fill("Id of the workspace", fake.workspace)
    lead.fill("Places: Gender: woman", "30")
    lead.fill("Places: Gender: man", "30")
    lead.fill("Places: Anybody", "0")
    lead.fill("Reward per place", "3.00")
    lead.press("button", "Create recruitments")
    page.wait_for_url("**/recruitment/publish/")
    page.get_by_text("239.94 GBP").wait_for()  # 60 × 3.00 and 33.3 %
    lead.press("button", "Publish 2 drafts")
    page.wait_for_url("**/campaigns/marking/")


def test_from_a_new_study_to_people_who_can_come(new_page, lead, resource, painter, fake):  # noqa: F811
    page = new_page()
    counter, someone = Counter(page), Lead(page)
    sign_in(page, "lena")
    page.get_by_role("link", name="Create the first study").wait_for()
    counter.start()
    make_study(someone)
    make_images(someone)
    draft_campaign(someone)
    write_consent(someone)
    translate(someone)
    launch(someone)
    recruit(someone, fake)

    campaign = Campaign.objects.get()
    assert campaign.state == "open"
    assert sorted(campaign.offered_languages) == ["de", "en", "es"]
    created = Recruitment.objects.order_by("pk")
    assert [(one.places, one.state, one.remote_state) for one in created] == [(30, "open", "ACTIVE")] * 2
    # The panel reserves our estimate, within one per cent.
    ours = sum(one.places * one.reward * (100 + one.fee_percent) / 100 for one in created)
    theirs = sum(one.remote_cost for one in created)
    assert abs(theirs - ours) * 100 <= Decimal(ours)
    assert counter.pages[0] == "/studies/new/"
    assert len(counter.pages) <= MOST_PAGES, counter.pages
    assert 30 < counter.presses <= MOST_PRESSES, counter.log
