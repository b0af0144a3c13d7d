"""The study of docs/use/tutorial.md, from the resource to the release."""

import json
import re
from typing import Any

from tests.project.documentation.pictures.files import SIZE, save
from tests.project.documentation.pictures.server import PASSWORD, ROOT, USERNAME, Server

DATA = ROOT / "platform" / "demo" / "data"
STUDY = "/studies/islands"
CAMPAIGN = f"{STUDY}/campaigns/marking"
# The picture on the annotator's screen, and the attributes that the program drew in it.
OPEN_PICTURE = """
import json
from annotation.models import Assignment
task = Assignment.objects.get().task
print(json.dumps(task.image.provenance["drawn"]))
"""


class Tutorial:
    """A lead at the browser, and an annotator in another profile."""

    def __init__(self, browser: Any, server: Server) -> None:
        self.browser, self.server = browser, server
        self.page = self._profile()
        self.changed: list[str] = []

    def _profile(self) -> Any:
        context = self.browser.new_context(
            base_url=self.server.url,
            viewport={"width": SIZE[0], "height": SIZE[1]},
            color_scheme="light",
            locale="en-GB",
            reduced_motion="reduce",
        )
        context.set_default_timeout(60_000)
        return context.new_page()

    def take(self, name: str, page: Any = None, *, top: str | None = None) -> None:
        """Take a picture of the visible page, or of the part that begins with the heading `top`."""
        page = page or self.page
        page.wait_for_load_state("networkidle")
        if top is not None:
            page.get_by_role("heading", name=top, exact=True).first.evaluate(
                "(heading) => scrollTo(0, heading.getBoundingClientRect().top + scrollY - 24)"
            )
        page.evaluate("document.activeElement?.blur()")
        if save(name, page.screenshot(animations="disabled", caret="hide")):
            self.changed.append(name)

    def sign_in(self) -> None:
        self.page.goto("/account/sign-in/")
        self.page.get_by_label("Username").fill(USERNAME)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in", exact=True).click()
        self.page.wait_for_url("**/studies/")

    def import_resource(self) -> None:
        page = self.page
        page.goto("/resources/import/")
        page.get_by_label("Name", exact=True).fill("Invented peoples")
        page.get_by_label("CSV file").set_input_files(DATA / "invented_peoples.csv")
        page.get_by_label("Geography").set_input_files(DATA / "invented_geography.csv")
        page.get_by_role("button", name="Import").click()
        page.get_by_text("succeeded", exact=True).wait_for()
        page.goto("/resources/invented-peoples/")
        self.take("tutorial-resource")

    def create_study(self) -> None:
        page = self.page
        page.goto("/studies/new/?resource=invented-peoples")
        page.get_by_label("Name", exact=True).fill("Islands")
        page.get_by_label("A simulated study").check()
        page.get_by_role("button", name="Select all shown").click()
        page.get_by_label("Prompts").fill("a photo of {a_an} {id} person\na portrait of {a_an} {id} person")
        page.get_by_label("Images per prompt and group").fill("4")
        page.get_by_label("Seed").fill("7")
        page.get_by_label("Seed").blur()
        page.get_by_text(re.compile("^48$")).first.wait_for()
        self.take("tutorial-study", top="Prompts")
        page.get_by_role("button", name="Create study").click()
        page.wait_for_url(f"**{STUDY}/")

    def generate_images(self) -> None:
        page = self.page
        page.goto(f"{STUDY}/images/generate/?backend=sketch")
        page.get_by_label("Probability of each attribute").fill("0.4")
        page.get_by_role("button", name="Make 48 images").click()
        page.get_by_role("heading", name="In progress").wait_for()
        page.get_by_text("48 images", exact=True).first.wait_for(timeout=180_000)
        page.goto(f"{STUDY}/images/")
        page.locator("summary", has_text="These images may show").click()
        page.locator(".contact-sheet img").first.wait_for()
        self.take("tutorial-images", top="Brevakian")

    def open_campaign(self) -> None:
        page = self.page
        page.goto(f"{STUDY}/campaigns/new/?kind=stereotype_marking")
        page.get_by_label("Name", exact=True).fill("Marking")
        page.get_by_role("button", name="Save draft").click()
        page.wait_for_url(f"**{CAMPAIGN}/")
        self.take("tutorial-draft")
        page.get_by_role("link", name="Open campaign").click()
        page.get_by_role("button", name="Open campaign").click()
        page.get_by_role("link", name="Invite annotators").wait_for()

    def invite(self) -> str:
        page = self.page
        page.goto(f"{CAMPAIGN}/invitations/")
        page.get_by_label("How many people may join with the link").fill("2")
        page.get_by_role("button", name="Make the link").click()
        address = page.locator("code").filter(has_text="/annotate/i/").inner_text()
        self.take("tutorial-link")
        return str(address)

    def label_a_screen(self, address: str) -> None:
        page = self._profile()
        page.goto(address)
        self.take("tutorial-invitation", page)
        page.get_by_role("button", name="Start").click()
        page.get_by_role("button", name="I am 18 or older and I agree").click()
        page.get_by_role("button", name="Skip").click()
        page.get_by_role("link", name="Go to the first task").click()
        page.locator("form[data-task][data-ready]").wait_for()
        self._answer(page)
        self.take("tutorial-task", page)
        page.get_by_role("button", name="Submit").click()
        page.locator("#progress").get_by_text("1 done").wait_for()
        page.get_by_role("button", name="Take a break").click()

    def _answer(self, page: Any) -> None:
        """Tick the drawn attributes and draw a box around each."""
        drawn = {
            shape["attribute"]: shape
            for shape in json.loads(self.server.run("shell", "-v", "0", "-c", OPEN_PICTURE))
        }
        shown = page.locator("[data-attributes] > [data-attribute]").all()
        present = {attribute.locator(".choice [data-text]").inner_text(): attribute for attribute in shown}
        if not present.keys() & drawn.keys():
            page.get_by_role("checkbox", name="None of the above").check()
        for name in present.keys() & drawn.keys():
            present[name].get_by_role("checkbox").check()
            self._draw(page, drawn[name])

    def _draw(self, page: Any, shape: dict[str, float]) -> None:
        left, top, width, height = page.evaluate(
            """() => {
              const image = document.querySelector("[data-image]"), box = image.getBoundingClientRect();
              const scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
              const width = image.naturalWidth * scale, height = image.naturalHeight * scale;
              return [box.left + (box.width - width) / 2, box.top, width, height];
            }"""
        )
        x, y = left + shape["x"] * width, top + shape["y"] * height
        page.keyboard.down("Shift")  # so that a drag inside existing boxes also draws
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + shape["width"] * width, y + shape["height"] * height, steps=4)
        page.mouse.up()
        page.keyboard.up("Shift")

    def simulate(self) -> None:
        options = ["--campaign", "1", "--annotators", "6", "--seed", "1"]
        self.server.run("simulate_annotators", *options, "--base-url", self.server.url)
        self.page.goto(f"{CAMPAIGN}/")
        self.take("tutorial-progress")

    def read_results(self) -> None:
        page = self.page
        page.goto(f"{STUDY}/results/")
        page.get_by_role("button", name="Compute").first.click()
        page.get_by_text("pooled θ").first.wait_for()
        page.goto(f"{STUDY}/results/")
        self.take("tutorial-results", top="By group")
        page.goto(f"{STUDY}/results/groups/")
        page.get_by_role("table").get_by_role("link", name="Velmari").first.click()
        page.wait_for_load_state()
        self.take("tutorial-group")

    def release(self) -> None:
        self.page.goto(f"{STUDY}/releases/")
        self.take("tutorial-release", top="Build a release")


def take_tutorial(browser: Any, server: Server) -> list[str]:
    """Go through the tutorial and return the names of pictures that changed."""
    tutorial = Tutorial(browser, server)
    tutorial.sign_in()
    tutorial.import_resource()
    tutorial.create_study()
    tutorial.generate_images()
    tutorial.open_campaign()
    tutorial.label_a_screen(tutorial.invite())
    tutorial.simulate()
    tutorial.read_results()
    tutorial.release()
    return tutorial.changed


def take_overview(browser: Any, server: Server) -> list[str]:
    """Take README's picture, of the demo's results."""
    tutorial = Tutorial(browser, server)
    tutorial.sign_in()
    tutorial.page.goto("/studies/invented-peoples/results/")
    tutorial.page.get_by_label("Images of").evaluate(
        "(field) => scrollTo(0, field.getBoundingClientRect().top + scrollY - 56)"
    )
    tutorial.take("overview")
    return tutorial.changed
