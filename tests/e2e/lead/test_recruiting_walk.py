"""From "New study" to people who can come from a panel, in a real browser and with as few presses as it takes:
three languages, two quotas, 60 places at the stand-in for Prolific."""

import csv
import io
import re
from decimal import Decimal
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command

from annotation.models import Campaign
from annotation.recruitment.models import Recruitment
from tests.annotation.recruitment.prolific.conftest import fake  # noqa: F401 - a fixture
from tests.e2e.test_walk import sign_in

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

MOST_PRESSES = 60
CONSENT = (
    "The Harbour Institute asks you to look at pictures and pays for it. "
    "Write to office@harbour.example with questions."
)


class Lead:
    """Somebody at the browser: each press on a button, link, box or field is counted, and each page they come to."""

    def __init__(self, page) -> None:
        self.page, self.presses, self.pages = page, 0, []

    def look(self) -> None:
        path = urlsplit(self.page.url).path
        if path not in self.pages:
            self.pages.append(path)

    def press(self, role, name, **options) -> None:
        self.page.get_by_role(role, name=name, **options).first.click()
        self._count()

    def fill(self, label, text) -> None:
        self.page.get_by_label(re.compile(rf"^{re.escape(label)}( \(optional\))?$")).first.fill(text)
        self._count()

    def choose(self, label, option) -> None:
        self.page.get_by_label(label, exact=True).first.select_option(label=option)
        self._count()

    def check(self, label) -> None:
        self.page.get_by_label(label, exact=True).first.check()
        self._count()

    def _count(self) -> None:
        self.presses += 1
        self.page.wait_for_load_state("load")
        self.look()


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
    lead.page.goto("/studies/walk/images/generate/?backend=sketch")
    lead.press("button", "Make 4 images")
    lead.page.wait_for_url("**/jobs/*/")
    call_command("db_worker", batch=True, startup_delay=False, interval=0.1, verbosity=0)
    lead.page.get_by_text("succeeded").first.wait_for()
    lead.look()


def write_consent(lead: Lead) -> None:
    lead.page.goto("/studies/walk/consent/")
    lead.look()
    lead.fill("What they agree to", CONSENT)
    lead.press("button", "Publish this version")


def draft_campaign(lead: Lead) -> None:
    lead.page.goto("/studies/walk/campaigns/new/?kind=stereotype_marking")
    lead.look()
    lead.fill("Name", "Marking")
    lead.fill("Annotators per task", "3")
    lead.check("At least one woman and one man")
    lead.fill("Rate", "0.30")
    lead.fill("Budget", "300")
    lead.press("button", "Save draft")
    lead.page.wait_for_url("**/campaigns/marking/")
    lead.look()


def translate(lead: Lead) -> None:
    page = lead.page
    page.goto("/studies/walk/campaigns/marking/languages/")
    lead.look()
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
    lead.presses += 1
    lead.press("button", "Upload")
    assert page.get_by_role("cell", name="complete").count() == 2


def launch(lead: Lead) -> None:
    page = lead.page
    page.goto("/studies/walk/campaigns/marking/launch/")
    lead.look()
    for box in page.get_by_role("checkbox").all():
        box.check()
        lead.presses += 1
    lead.fill("Reason", "A first round, on invented peoples.")
    lead.press("button", "Waive")
    lead.press("button", "Open campaign")
    page.wait_for_url("**/campaigns/marking/")


def recruit(lead: Lead, fake) -> None:  # noqa: F811
    page = lead.page
    page.goto("/studies/walk/campaigns/marking/recruitment/panels/new/?panel=prolific")
    lead.look()
    lead.fill("API token", fake.token)
    lead.fill("Id of the workspace", fake.workspace)
    lead.press("button", "Add the panel")
    page.wait_for_url("**/recruitment/all/")
    lead.fill("Places: Gender: woman", "30")
    lead.fill("Places: Gender: man", "30")
    lead.fill("Places: Anybody", "0")
    lead.fill("Reward of a place", "3.00")
    lead.press("button", "Create recruitments")
    page.wait_for_url("**/recruitment/publish/")
    page.get_by_text("239.94 GBP").wait_for()  # 60 × 3.00 and 33.3 %
    lead.press("button", "Publish 2 drafts")
    page.wait_for_url("**/recruitment/")


def test_from_a_new_study_to_people_who_can_come(new_page, lead, resource, fake):  # noqa: F811
    page = new_page()
    sign_in(page, "lena")
    someone = Lead(page)
    make_study(someone)
    make_images(someone)
    write_consent(someone)
    draft_campaign(someone)
    translate(someone)
    launch(someone)
    recruit(someone, fake)

    campaign = Campaign.objects.get()
    assert campaign.state == "open"
    assert sorted(campaign.offered_languages) == ["de", "en", "es"]
    created = Recruitment.objects.order_by("pk")
    assert [(one.places, one.state, one.remote_state) for one in created] == [(30, "open", "ACTIVE")] * 2
    # What the panel sets aside is what we said, within one per cent.
    ours = sum(one.places * one.reward * (100 + one.fee_percent) / 100 for one in created)
    theirs = sum(one.remote_cost for one in created)
    assert abs(theirs - ours) * 100 <= Decimal(ours)
    assert someone.presses <= MOST_PRESSES, someone.pages
