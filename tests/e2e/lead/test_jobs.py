"""A lead watches a job in the browser and stops it."""

import pytest

from jobs.engine.leases import claim
from jobs.models import Job
from jobs.progress import log
from jobs.progress.reporter import Cancelled, JobProgress
from tests.e2e.axe import violations

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def running(study, lead):
    """A running job, and its progress reporter."""
    job = Job.objects.create(
        kind="generate", title="Generate images of Isles with painter", study_id=study.pk, created_by=lead
    )
    progress = JobProgress(claim(job.pk, worker="box:17:ab12cd"))
    log.note(job, "Attempt 1 began on box:17:ab12cd.")
    progress.step("Drawing")
    progress.start(2025)
    progress.advance(1, "a drawing of a Velmari person")
    progress.write()
    return job, progress


def sign_in(page, client, lead, live_server):
    client.force_login(lead)
    cookie = client.cookies["stereoscope_session"].value
    page.context.add_cookies([{"name": "stereoscope_session", "value": cookie, "url": live_server.url}])


def test_a_lead_watches_a_job_and_stops_it_by_keyboard(page, client, lead, live_server, running):
    job, progress = running
    sign_in(page, client, lead, live_server)
    page.goto(f"/jobs/{job.pk}/")
    playwright.expect(page.locator("[data-poll-text=progress]")).to_contain_text("1 of 2,025")
    assert page.locator("ol.log li").count() == 2
    page.wait_for_event("response", lambda answer: "/progress/" in answer.url)
    progress.advance(404, "a drawing of an Orsani person")
    progress.log("12 pictures were blanked")
    progress.write()
    Job.objects.update(rate=2.5)
    playwright.expect(page.locator("[data-poll-text=progress]")).to_contain_text("405 of 2,025")
    playwright.expect(page.locator("[data-poll-text=speed]")).to_have_text(
        "2.5 a second, about 11 minutes left"
    )
    playwright.expect(page.locator("ol.log li").first).to_contain_text("12 pictures were blanked")
    playwright.expect(page.locator("#announcer")).to_contain_text("Progress: 20 %")
    page.get_by_role("button", name="Cancel").focus()
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#live")).to_contain_text("The job will stop after this step.")
    progress._asked_at = float("-inf")
    with pytest.raises(Cancelled):
        progress.check_cancelled()


def test_the_page_tells_as_much_without_scripts(new_page, client, lead, live_server, running):
    job, progress = running
    page = new_page(java_script_enabled=False)
    sign_in(page, client, lead, live_server)
    page.goto(f"/jobs/{job.pk}/")
    playwright.expect(page.locator("#live")).to_contain_text("1 of 2,025")
    progress.advance(9)
    progress.write()
    page.reload()
    playwright.expect(page.locator("#live")).to_contain_text("10 of 2,025")
    page.get_by_role("button", name="Cancel").click()
    playwright.expect(page.locator("#live")).to_contain_text("The job will stop after this step.")


def test_axe_finds_nothing_on_a_job_that_runs_and_on_one_that_waits(
    page, client, lead, live_server, running, study
):
    job, _ = running
    waiting = Job.objects.create(kind="generate", title="Generate more", study_id=study.pk, queue="gpu")
    sign_in(page, client, lead, live_server)
    for one in (job, waiting):
        page.goto(f"/jobs/{one.pk}/")
        assert violations(page) == []
