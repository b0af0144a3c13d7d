"""Several jobs make the images of one run: each image once, whatever happens to one of them."""

import threading
import time
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from foundation.errors import Conflict, DomainError
from generation.models import GenerationRequest, Image
from generation.runs.claims import Claims
from generation.runs.execution import run
from generation.runs.launch import go_on, start, start_here
from generation.runs.overview import runs_of
from generation.runs.planning import plan_run
from jobs.engine.leases import claim
from jobs.models import Job
from jobs.progress.reporter import Cancelled, Unwatched
from jobs.run.control import cancel, retry
from jobs.run.execution import execute
from jobs.run.teams import team_of
from tests.foundation.database.own_database import own_server
from tests.generation.backends.images_endpoint import image, images_endpoint, png


@pytest.fixture
def planned(study, lead, prompts):
    return plan_run(study=study, backend="sketch", by=lead)


def claimed_jobs(planned, lead, number: int, **options) -> list[Job]:
    jobs = list(team_of(start(run=planned, by=lead, workers=number, **options)))
    assert len(jobs) == number
    return [claim(job.pk) for job in jobs]


def keys(requests) -> set[int]:
    return {request.pk for request in requests}


@pytest.mark.django_db
class TestClaims:
    def test_two_jobs_claim_disjoint_requests_and_all_of_them(self, planned, lead):
        one, two = (Claims(planned, job, None) for job in claimed_jobs(planned, lead, 2))
        taken: list[int] = []
        for _ in range(12):
            for claims in (one, two):
                taken += keys(claims.take(1))
        assert sorted(taken) == sorted(planned.requests.values_list("pk", flat=True))
        assert one.take(1) == two.take(1) == []

    def test_claims_of_a_dead_job_are_freed_when_its_lease_ends(self, planned, lead):
        first, second = claimed_jobs(planned, lead, 2)
        lost = keys(Claims(planned, first, None).take(4))
        claims = Claims(planned, second, None)
        others = keys(claims.take(8))
        assert not lost & others
        assert claims.take(4) == []
        Job.objects.filter(pk=first.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
        assert keys(claims.take(4)) == lost

    def test_a_new_attempt_may_claim_the_requests_of_the_old_one(self, planned, lead):
        (job,) = claimed_jobs(planned, lead, 1)
        old = Claims(planned, job, None)
        lost = keys(old.take(3))
        Job.objects.filter(pk=job.pk).update(state="queued", lease_expires_at=None)
        again = claim(job.pk)
        assert lost <= keys(Claims(planned, again, None).take(12))
        # The old attempt, if it is still running, has no claims left.
        assert old.take(3) == []

    def test_a_limit_covers_all_jobs_together(self, planned, lead):
        one, two = claimed_jobs(planned, lead, 2, limit=5)
        assert one.arguments["until"] == 5
        taken = [Claims(planned, job, 5).take(4) for job in (one, two)]
        assert [len(some) for some in taken] == [4, 1]


@pytest.mark.django_db
class TestTeams:
    def test_each_job_makes_a_part_and_shows_the_progress_of_all(self, planned, lead):
        jobs = list(team_of(start(run=planned, by=lead, workers=2, limit=8)))
        assert [job.title[-8:] for job in jobs] == ["(1 of 2)", "(2 of 2)"]
        execute(jobs[0].pk)
        execute(jobs[1].pk)
        states = [(job.state, job.steps_done) for job in team_of(jobs[0])]
        assert states == [("succeeded", 8), ("succeeded", 0)]
        assert planned.requests.filter(outcome="done").count() == 8

    def test_images_that_others_made_are_counted_too(self, planned, lead):
        seen = []

        class Watching(Unwatched):
            def advance(self, n=1, message=""):
                seen.append(n)

        job, other = claimed_jobs(planned, lead, 2)
        Claims(planned, other, None).take(1)
        held = planned.requests.filter(held_by=other)
        made = held.count()

        class Model(Watching):
            def check_cancelled(self):
                held.update(outcome="refused")

        run(run=planned, progress=Model(), job=job)
        assert sum(seen) == 12
        assert seen.count(1) >= 12 - made

    def test_nothing_else_is_started_beside_any_job_of_a_team(self, planned, lead):
        first = start(run=planned, by=lead, workers=3)
        Job.objects.filter(pk=first.pk).update(state="succeeded", finished_at=timezone.now())
        with pytest.raises(Conflict, match="already being generated"):
            start(run=planned, by=lead)
        with pytest.raises(Conflict, match="already being generated"):
            start_here(run=planned, by=lead, progress=Unwatched())
        assert runs_of(planned.study)[0].state == "queued"

    def test_cancelling_and_retrying_apply_to_the_whole_team(self, planned, lead):
        first = start(run=planned, by=lead, workers=3)
        running = claim(team_of(first)[1].pk)
        cancel(job=first, by=lead)
        assert [job.state for job in team_of(first)] == ["cancelled", "running", "cancelled"]
        assert Job.objects.get(pk=running.pk).cancel_requested
        Job.objects.filter(pk=running.pk).update(state="cancelled", finished_at=timezone.now())
        retry(job=running, by=lead)
        assert [job.state for job in team_of(first)] == ["queued"] * 3
        execute(first.pk)
        assert planned.requests.filter(outcome="done").count() == 12

    def test_resuming_uses_as_many_workers_as_before(self, planned, lead):
        first = start(run=planned, by=lead, workers=3)
        cancel(job=first, by=lead)
        assert team_of(go_on(run=planned, by=lead)).count() == 3

    @pytest.mark.parametrize("number", [0, 65])
    def test_an_invalid_number_of_workers_is_refused(self, planned, lead, number):
        with pytest.raises(DomainError, match="spread over 1 to 64 workers"):
            start(run=planned, by=lead, workers=number)

    def test_a_lead_spreads_a_run_from_the_page_and_sees_its_jobs(self, study, prompts, lead_client):
        type(study).objects.update(simulated=True)  # its images are sketches
        url = reverse("generation:generate", args=[study.slug])
        answer = lead_client.post(url, {"backend": "sketch", "workers": "2"})
        first, second = Job.objects.order_by("pk")
        of_study = lead_client.get(answer["Location"]).content.decode()
        page_of_first = reverse("jobs:detail", args=[first.pk])
        assert page_of_first in of_study
        assert reverse("jobs:progress", args=[second.pk]) not in of_study
        page = lead_client.get(page_of_first).content.decode()
        assert "2 jobs share this work" in page
        assert reverse("jobs:detail", args=[second.pk]) in page
        assert "Cancel all 2 jobs" in page


STUDY = """
from generation.prompts.creation import set_prompts
study = Study.objects.create(name='Isles', slug='isles', seed=7)
StudyGroup.objects.create(study=study, name='Velmari', display_name='Velmari')
set_prompts(study=study, templates=['a {id}'], images_per_prompt=IMAGES, by=None)
answer = 0
"""
DONE = "SELECT count(*) FROM generation_generationrequest WHERE outcome = 'done'"


def wait_for(reached, what: str, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, what
        time.sleep(0.05)


@pytest.mark.slow
def test_three_workers_request_each_image_once_although_one_is_killed(tmp_path):
    """The endpoint counts requests: only those under way in the killed worker are repeated."""
    images, at_once = 60, 2
    with images_endpoint() as endpoint, ExitStack() as stack:
        endpoint.script = [0.15] * 500
        server = stack.enter_context(
            own_server(
                tmp_path,
                JOB_LEASE_SECONDS="2",
                OPENAI_BASE_URLS=endpoint.url,
                OPENAI_IMAGES_AT_ONCE=str(at_once),
            )
        )
        server.ask(STUDY.replace("IMAGES", str(images)))
        model = (
            "--backend",
            "openai",
            "--model",
            "painter",
            "--price",
            "1",
            "--budget",
            str(images + at_once),
        )
        said = server.run("generate", "--study", "Isles", *model, "--queue", "--workers", "3").stdout
        assert said == "Queued as jobs 1, 2, 3.\n"
        work = ("worker", "--interval", "0.1", "-v", "0")
        first, *_ = [stack.enter_context(server.start(*work)) for _ in range(3)]
        making = "SELECT count(DISTINCT held_by_id) FROM generation_generationrequest WHERE outcome = 'done'"
        wait_for(lambda: server.rows(making)[0][0] == 3, "not every worker makes images")
        first.kill()
        unfinished = "SELECT count(*) FROM jobs_job WHERE state <> 'succeeded'"
        wait_for(lambda: server.rows(unfinished) == [(0,)], "the jobs do not end")
        assert server.rows(DONE) == [(images,)]
        assert images <= len(endpoint.asked) <= images + at_once
        (spent,) = server.rows("SELECT sum(cost) FROM generation_generationrequest")
        # The cost is stored before the call: a kill in between leaves a cost without a call, never the reverse.
        assert len(endpoint.asked) <= float(spent[0]) <= images + at_once


@pytest.mark.slow
def test_a_budget_is_never_overdrawn_by_several_workers(tmp_path):
    with images_endpoint() as endpoint, ExitStack() as stack:
        endpoint.script = [0.02] * 500
        server = stack.enter_context(
            own_server(tmp_path, OPENAI_BASE_URLS=endpoint.url, OPENAI_IMAGES_AT_ONCE="3")
        )
        server.ask(STUDY.replace("IMAGES", "60"))
        model = ("--backend", "openai", "--model", "painter", "--price", "0.5", "--budget", "10")
        server.run("generate", "--study", "Isles", *model, "--queue", "--workers", "3")
        for _ in range(3):
            stack.enter_context(server.start("worker", "--interval", "0.1", "-v", "0"))
        unfinished = "SELECT count(*) FROM jobs_job WHERE state IN ('queued', 'running')"
        wait_for(lambda: server.rows(unfinished) == [(0,)], "the jobs do not end")
        assert set(server.rows("SELECT state, error_code FROM jobs_job")) == {("failed", "budget_spent")}
        assert len(endpoint.asked) == 20
        assert server.rows(DONE) == [(20,)]


@pytest.mark.django_db
def test_the_pool_stays_full_while_one_call_is_slow(study, lead, prompts, settings):
    """The first call is answered only when the last was sent: calls made in rounds would wait forever."""
    every_one_asked, waited = threading.Event(), []
    settings.OPENAI_IMAGES_AT_ONCE = 2
    with images_endpoint() as endpoint:

        def answer(body):
            with endpoint.lock:
                endpoint.asked.append(body)
                number = len(endpoint.asked)
            if number == 12:
                every_one_asked.set()
            if number == 1:
                waited.append(every_one_asked.wait(60))
            return image(png((number, 9, 7)))

        endpoint.answer = answer
        settings.OPENAI_BASE_URLS, settings.OPENAI_API_KEY = [endpoint.url], ""
        planned = plan_run(study=study, backend="openai", model_id="painter", by=lead)
        assert run(run=planned, progress=Unwatched()).done == 12
    assert waited == [True]


@pytest.mark.django_db
def test_cancelled_while_calls_are_under_way_every_answer_is_kept(study, lead, prompts, settings):
    class Stopping(Unwatched):
        asked = 0

        def check_cancelled(self):
            Stopping.asked += 1
            if Stopping.asked > 2:
                raise Cancelled

    settings.OPENAI_IMAGES_AT_ONCE = 4
    with images_endpoint() as endpoint:
        settings.OPENAI_BASE_URLS, settings.OPENAI_API_KEY = [endpoint.url], ""
        endpoint.script = [0.1, 0.3, 0.5, 0.7] * 3
        planned = plan_run(study=study, backend="openai", model_id="painter", by=lead)
        with pytest.raises(Cancelled):
            run(run=planned, progress=Stopping())
        assert planned.requests.filter(outcome="done").count() == len(endpoint.asked)
    assert Image.objects.exists()
    assert GenerationRequest.objects.filter(outcome="pending").exists()
