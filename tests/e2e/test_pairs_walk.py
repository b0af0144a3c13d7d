"""The whole PAIRS protocol in a real browser, from an archive of images to a difference computed by hand.

A lead creates a study from the archive and probes an invented model, two coders review its answers, and the analyst
reads the difference.
"""

import io
import json
import os
import re
import zipfile
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest
from PIL import Image as Picture

from annotation.models import Annotation, Assignment, Campaign
from generation.models import Answer, Coding
from generation.prompts.scenarios import create_parallel_study
from generation.prompts.sets import prompt_set
from studies.models import Study
from tests.e2e.annotator.steps import ready
from tests.e2e.axe import violations
from tests.e2e.conftest import DESKTOP, PHONE
from tests.e2e.lead.launch import open_simulated
from tests.e2e.test_walk import sign_in
from tests.e2e.worker import finish_jobs

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SCENARIOS = ("bank", "coffee", "desk", "scrubs", "taxi", "vest")
PEOPLE = ("harbour_man", "harbour_woman", "hill_man", "hill_woman")
BIAS = {"hill": 0.8, "harbour": -0.8}
ASKED = re.compile(r"Is this person an? (.+) or an? (.+)\? Choose only one\.")
PICTURES = os.environ.get("PICTURES")  # a folder for pictures of the pages

LAMPS = """
title = "Lamps"
[[persons]]
name = "hill_man"
text = "man of the hill"
factors = { race = "hill", gender = "man" }
[[persons]]
name = "hill_woman"
text = "woman of the hill"
factors = { race = "hill", gender = "woman" }
[[experiments]]
name = "trades"
[experiments.scenarios]
bridge = "a photo of {a_an} {person} with a lantern on a bridge"
harbour = "{A_an} {person} with a fish"
"""


def tree() -> bytes:
    """Return an archive in the layout of PAIRS with small pictures, in a different colour for each person."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for row, scenario in enumerate(SCENARIOS):
            for column, person in enumerate(PEOPLE):
                picture = Picture.new("RGB", (48, 48), (40 * row, 60 * column, 120))
                picture.paste("white", (4, 4, 12 + row, 12 + column))
                drawn = io.BytesIO()
                picture.save(drawn, "PNG")
                archive.writestr(f"occupations/{scenario}/{person}.png", drawn.getvalue())
    return file.getvalue()


def looked_at(page, name: str) -> None:
    """Check a page with axe, check that it fits a phone, and save pictures of it if a folder is set."""
    assert violations(page) == []
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{name}-{size['width']}.png", full_page=True)


def make_study(page, archive) -> None:
    page.get_by_role("link", name="Create the first study").click()
    looked_at(page, "new-study")
    page.get_by_role("link", name="Import images or generate them here").click()
    page.get_by_label("Name", exact=True).fill("Hill and harbour")
    page.get_by_label("A simulated study").check()  # an invented model answers in it
    looked_at(page, "new-pairs")
    page.get_by_role("button", name="Create study").click()
    page.wait_for_url("**/images/import/")
    assert page.get_by_label("Layout of the files").input_value() == "pairs"
    looked_at(page, "import")
    page.get_by_label("Zip archive").set_input_files(
        {"name": "images.zip", "mimeType": "application/zip", "buffer": archive}
    )
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url("**/jobs/*/")
    finish_jobs(page)
    page.get_by_text("succeeded").first.wait_for()


def probe(page) -> None:
    page.goto("/studies/hill-and-harbour/")
    looked_at(page, "overview")
    page.get_by_role("link", name="Probes", exact=True).click()
    looked_at(page, "probes-empty")
    page.get_by_role("link", name="Probe a model").click()
    page.get_by_label("What answers").select_option("script")
    page.locator("textarea[name=bias]").fill(json.dumps(BIAS))
    page.get_by_role("button", name="Ask for 144 answers").wait_for()
    looked_at(page, "probe-new")
    page.get_by_role("button", name="Ask for 144 answers").click()
    page.get_by_text("Questions are being asked").wait_for()
    finish_jobs(page)
    page.reload()
    page.get_by_text("Left to ask").wait_for()
    looked_at(page, "probe-run")
    page.get_by_role("link", name="Read answers").click()
    looked_at(page, "answers")
    page.goto("/studies/hill-and-harbour/probes/")
    looked_at(page, "probes")


def open_review(page) -> str:
    """Open a review of the answers of which the rules are unsure, and of six others; return the invitation."""
    page.goto("/studies/hill-and-harbour/campaigns/")
    page.get_by_role("link", name="Review answers of models").click()
    page.get_by_label("Name", exact=True).fill("Review")
    page.get_by_label("Share of sure codings to check").fill("0")
    page.get_by_label("Minimum number of sure codings to check").fill("6")
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**/campaigns/review/")
    open_simulated(page)
    page.get_by_role("link", name="Invite annotators").wait_for()
    page.goto("/studies/hill-and-harbour/campaigns/review/invitations/")
    page.get_by_label("How many people may join with the link").fill("2")
    page.get_by_role("button", name="Make the link").click()
    return page.locator("code").filter(has_text="/annotate/i/").inner_text()


def said(question: str, answer: str) -> str:
    """Read an answer of the invented model as a person would: first, second or refused."""
    options = ASKED.search(question).groups()
    chosen = answer.partition(" rather than ")[0].casefold()
    named = [
        name for name, option in zip(("first", "second"), options, strict=True) if option.casefold() in chosen
    ]
    return named[0] if len(named) == 1 else "refused"


def code_everything(page, address) -> int:
    """Join by the link and code answers by keys until nothing is left; return the number coded."""
    keys = {"first": "1", "second": "2", "refused": "4"}
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    number = 0
    while "/done/" not in page.url:
        ready(page)
        question, _, answer = page.locator("[data-text]").first.inner_text().partition("Answer:")
        page.keyboard.press(keys[said(question, answer)])
        page.keyboard.press("Enter")
        number += 1
        page.locator("#progress").get_by_text(f"{number} done").or_(
            page.get_by_role("heading", name="Thank you")
        ).first.wait_for()
    return number


def difference_by_hand() -> float:
    """Return harbour − hill from the texts alone: the mean difference of each scenario's means, with refusals as 0.

    The order in which the question was asked tells which option is plus: in all of these scenarios, published is plus
    first.
    """
    codes = defaultdict(list)
    for answer in Answer.objects.select_related("image__group", "run"):
        experiment = next(e for e in answer.run.questions["experiments"] if e["name"] == "occupations")
        pair = experiment["questions"][0]["options_by_scenario"][answer.scenario]
        texts = [pair["plus"]["text"], pair["minus"]["text"]]
        if answer.order == "reversed":
            texts.reverse()
        choice = said(f"Is this person a {texts[0]} or a {texts[1]}? Choose only one.", answer.text)
        code = {"first": 1, "second": -1, "refused": 0}[choice]
        place = answer.image.group.name.partition("_")[0]
        codes[answer.scenario, place].append(code if answer.order == "published" else -code)
    return mean(mean(codes[name, "harbour"]) - mean(codes[name, "hill"]) for name in SCENARIOS)


def test_from_an_archive_of_images_to_a_difference(new_page, lead, analyst):
    lead_page = new_page()
    sign_in(lead_page, "lena")
    make_study(lead_page, tree())
    study = Study.objects.get()
    assert study.images.exclude(scenario="").count() == len(SCENARIOS) * len(PEOPLE)
    assert study.groups.get(name="hill_man").factors == {"race": "hill", "gender": "man"}
    probe(lead_page)
    address = open_review(lead_page)

    screens = code_everything(new_page(), address)
    assert code_everything(new_page(size=PHONE), address) == screens == Campaign.objects.get().tasks.count()
    assert Annotation.objects.count() == 2 * screens
    assert Coding.objects.filter(coder=Coding.Coder.PERSON).exists()

    study.memberships.create(user=analyst, role="analyst")
    page = new_page()
    sign_in(page, "anton")
    page.goto("/studies/hill-and-harbour/results/")
    page.get_by_role("button", name="Compute").first.click()
    finish_jobs(page)
    page.goto("/studies/hill-and-harbour/results/probes/")
    looked_at(page, "results")
    expected = difference_by_hand()
    table = page.request.get("/studies/hill-and-harbour/results/tables/pairs_tests.csv").text().splitlines()
    rows = [dict(zip(table[0].split(","), line.split(","), strict=True)) for line in table[1:]]
    (row,) = [row for row in rows if row["factor"] == "race"]
    assert float(row["difference"]) == pytest.approx(expected, abs=1e-12)
    assert expected < -1
    assert f"{abs(expected):.2f}" in page.get_by_role("main").inner_text()


def check_everything(page, address, harbour) -> None:
    """Join by the link and judge all scenes alike except the scenario `harbour`."""
    page.goto(address)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I am 18 or older and I agree").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("link", name="Go to the first task").click()
    for number in (1, 2):
        ready(page)
        looked_at(page, f"pair-check-{number}")
        page.set_viewport_size(DESKTOP)
        shown = {source.partition("?")[0] for source in page.locator("[data-image]").evaluate_all(
            "(all) => all.map((one) => one.src)"
        )}  # fmt: skip
        assert len(shown) == 2
        blind = page.content().casefold()
        assert not [name for name in ("hill_", "harbour", "bridge", "sketch") if name in blind]
        if Assignment.objects.latest("pk").task.stimuli.first().image.scenario == harbour:
            page.keyboard.press("3")
            page.get_by_label("What differs?").fill("The light.")
            page.keyboard.press("Control+Enter")
        else:
            page.keyboard.press("1")
            page.keyboard.press("Enter")
        page.locator("#progress").get_by_text(f"{number} done").or_(
            page.get_by_role("heading", name="Thank you")
        ).first.wait_for()


def test_a_failed_scenario_is_drawn_again(new_page, lead, tmp_path):
    path = tmp_path / "lamps.toml"
    path.write_text(LAMPS)
    study = create_parallel_study(name="Lamps", prompt_set=prompt_set(str(path)), simulated=True, by=lead)
    page = new_page()
    sign_in(page, "lena")
    page.goto("/studies/lamps/images/generate/?backend=sketch")
    page.get_by_role("button", name="Make 4 images").click()
    page.get_by_role("heading", name="In progress").wait_for()
    finish_jobs(page)
    page.goto("/studies/lamps/scenarios/")
    looked_at(page, "scenarios-unchecked")
    page.get_by_role("link", name="Have people check the scenarios").click()
    page.get_by_label("Annotators per task").fill("1")
    page.get_by_label("Name", exact=True).fill("Check")
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("**/campaigns/check/")
    open_simulated(page)
    page.get_by_role("link", name="Invite annotators").wait_for()
    page.goto("/studies/lamps/campaigns/check/invitations/")
    page.get_by_role("button", name="Make the link").click()
    address = page.locator("code").filter(has_text="/annotate/i/").inner_text()
    check_everything(new_page(), address, "harbour")

    page.goto("/studies/lamps/scenarios/")
    page.get_by_text("trades: harbour").first.wait_for(state="attached")
    page.locator("summary").filter(has_text="These images").click()
    looked_at(page, "scenarios")
    page.get_by_role("link", name="Draw failed scenarios again").click()
    looked_at(page, "redraw")
    page.get_by_role("button", name="Retract and draw again").click()
    page.get_by_text("1 scenario is drawn again").wait_for()
    finish_jobs(page)
    assert study.images.filter(scenario="harbour", retracted_at=None).count() == 2
    assert study.images.filter(scenario="harbour").exclude(retracted_at=None).count() == 2
    page.goto("/studies/lamps/scenarios/?verdict=open")
    page.get_by_text("trades: harbour").first.wait_for(state="attached")
    assert page.get_by_text("trades: bridge").count() == 0
