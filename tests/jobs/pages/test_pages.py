"""The pages and the API of jobs: access, content and number of queries."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from jobs.engine.leases import claim
from jobs.engine.workers import announced
from jobs.models import Job
from jobs.pages.summary import pace_in_words
from jobs.progress import log
from jobs.progress.reporter import JobProgress, Unwatched
from jobs.run.execution import run_here

pytestmark = pytest.mark.django_db


def test_members_of_the_study_see_its_jobs_and_strangers_do_not(
    make_job, lead_client, analyst_client, stranger_client
):
    job = make_job()
    url = reverse("jobs:detail", args=[job.pk])
    for client in (lead_client, analyst_client):
        assert client.get(url).status_code == 200
        assert "A steps job" in client.get(reverse("jobs:list")).content.decode()
    assert stranger_client.get(url).status_code == 404
    assert stranger_client.get(reverse("jobs:progress", args=[job.pk])).status_code == 404
    assert "A steps job" not in stranger_client.get(reverse("jobs:list")).content.decode()


def test_a_job_without_a_study_is_visible_to_the_person_who_started_it(
    make_job, stranger, stranger_client, lead_client
):
    job = make_job(by=stranger, study_id=None)
    url = reverse("jobs:detail", args=[job.pk])
    assert stranger_client.get(url).status_code == 200
    assert lead_client.get(url).status_code == 404


def test_former_members_do_not_see_the_jobs_they_started(make_job, lead, lead_client):
    job = make_job(by=lead)
    Job.objects.update(state=Job.State.FAILED, finished_at=timezone.now())
    lead.study_memberships.all().delete()
    assert lead_client.get(reverse("jobs:detail", args=[job.pk])).status_code == 404
    assert lead_client.post(reverse("jobs:retry", args=[job.pk])).status_code == 404


def test_nobody_sees_jobs_without_signing_in(make_job, client):
    job = make_job()
    for name, args in (("list", []), ("detail", [job.pk]), ("progress", [job.pk])):
        assert client.get(reverse(f"jobs:{name}", args=args)).status_code == 302


def test_the_page_polls_a_running_job_for_progress(make_job, lead_client):
    job = make_job()
    progress = JobProgress(claim(job.pk))
    progress.start(40)
    progress.advance(3, "a prompt")
    progress.write()
    Job.objects.update(step="Drawing", rate=2.5)
    page = lead_client.get(reverse("jobs:detail", args=[job.pk])).content.decode()
    assert f'data-poll="{reverse("jobs:progress", args=[job.pk])}"' in page
    answer = lead_client.get(reverse("jobs:progress", args=[job.pk]))
    assert answer.json() == {
        "state": "running",
        "done": 3,
        "total": 40,
        "message": "a prompt",
        "tone": "active",
        "step": "Drawing",
        "speed": "2.5 a second, about 15 seconds left",
        "finished": False,
        "lines": [],
    }
    assert answer["Cache-Control"] == "no-store"


def test_a_finished_job_shows_its_result_and_is_no_longer_polled(make_job, lead_client):
    job = run_here(make_job(), Unwatched())
    page = lead_client.get(reverse("jobs:detail", args=[job.pk])).content.decode()
    assert "3 steps done." in page
    assert "data-poll=" not in page


def test_a_failed_job_shows_its_sentence_and_can_be_tried_again(make_job, lead_client):
    job = make_job("break")
    with pytest.raises(ZeroDivisionError):
        run_here(job, Unwatched())
    page = lead_client.get(reverse("jobs:detail", args=[job.pk])).content.decode()
    assert "An unexpected error (ZeroDivisionError) stopped the job" in page
    lead_client.post(reverse("jobs:retry", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == Job.State.QUEUED


def test_an_analyst_may_look_at_a_job_but_not_cancel_it(make_job, analyst_client, lead_client):
    job = make_job()
    assert "Cancel" not in analyst_client.get(reverse("jobs:detail", args=[job.pk])).content.decode()
    assert analyst_client.post(reverse("jobs:cancel", args=[job.pk])).status_code == 403
    assert lead_client.get(reverse("jobs:cancel", args=[job.pk])).status_code == 405
    assert lead_client.post(reverse("jobs:cancel", args=[job.pk])).status_code == 302
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED


def test_the_list_takes_as_many_queries_for_many_jobs_as_for_one(
    make_job, lead_client, django_assert_max_num_queries
):
    for _ in range(30):
        make_job()
    with django_assert_max_num_queries(6):
        lead_client.get(reverse("jobs:list"))


def test_the_list_can_be_filtered_by_state(make_job, lead_client):
    make_job()
    page = lead_client.get(reverse("jobs:list"), {"state": "failed"}).content.decode()
    assert "No jobs in this state" in page


def test_a_list_without_jobs_says_where_they_come_from(lead_client, study):
    page = lead_client.get(reverse("jobs:list")).content.decode()
    assert "No jobs yet" in page
    assert '<a href="/">Go to your studies</a>' in page


def test_the_api_pages_through_the_jobs_of_the_members_studies(
    make_job, lead_client, stranger_client, django_assert_max_num_queries
):
    jobs = [make_job() for _ in range(3)]
    with django_assert_max_num_queries(4):
        first = lead_client.get("/api/v1/jobs/", {"page_size": 2}).json()
    assert [row["id"] for row in first["results"]] == [jobs[2].pk, jobs[1].pk]
    second = lead_client.get(first["next"]).json()
    assert [row["id"] for row in second["results"]] == [jobs[0].pk]
    assert stranger_client.get("/api/v1/jobs/").json()["results"] == []
    assert lead_client.get(f"/api/v1/jobs/{jobs[0].pk}/").json()["state"] == "queued"
    assert stranger_client.get(f"/api/v1/jobs/{jobs[0].pk}/").status_code == 404


def test_the_log_is_paged_and_polled_for_newer_lines(make_job, lead_client):
    job = make_job()
    claim(job.pk)
    for number in range(60):
        log.note(job, f"line <{number}>")
    url = reverse("jobs:detail", args=[job.pk])
    newest = job.lines.first().pk
    first = lead_client.get(url).content.decode()
    assert "line &lt;59&gt;" in first
    assert "line &lt;9&gt;" not in first
    assert f'data-log-newest="{newest}"' in first
    second = lead_client.get(url, {"page": 2}).content.decode()
    assert "line &lt;9&gt;" in second
    assert "data-log=" not in second
    log.note(job, "the newest")
    asked = reverse("jobs:progress", args=[job.pk])
    assert [line["text"] for line in lead_client.get(asked, {"after": newest}).json()["lines"]] == [
        "the newest"
    ]
    for nonsense in ("", "-1", "x", "9" * 40, "\u0663"):
        assert lead_client.get(asked, {"after": nonsense}).json()["lines"] == []


def test_a_waiting_job_says_what_it_waits_for(make_job, lead_client):
    job = make_job()
    asked = reverse("jobs:progress", args=[job.pk])
    assert lead_client.get(asked).json()["message"] == (
        "No worker takes jobs from the queue “default” now. The job starts as soon as a worker for this "
        "queue starts."
    )
    with announced(["default"]):
        assert lead_client.get(asked).json()["message"] == "The job starts as soon as a worker is free."
    Job.objects.update(wait_until=timezone.now() + timedelta(seconds=60))
    assert "This job is waiting. The job will continue in" in lead_client.get(asked).json()["message"]
    Job.objects.update(deaths=2)
    assert (
        "The worker that was running this job stopped unexpectedly. The job will be tried again in"
        in lead_client.get(asked).json()["message"]
    )


def test_the_log_names_who_cancelled_or_retried(make_job, lead_client):
    job = make_job()
    lead_client.post(reverse("jobs:cancel", args=[job.pk]))
    lead_client.post(reverse("jobs:retry", args=[job.pk]))
    assert [line.text for line in job.lines.all()] == ["Lena asked to try again.", "Lena cancelled the job."]


def test_a_job_of_unknown_length_says_how_much_is_done(make_job, lead_client):
    job = make_job()
    progress = JobProgress(claim(job.pk))
    progress.start()
    progress.advance(7)
    progress.write()
    page = lead_client.get(reverse("jobs:detail", args=[job.pk])).content.decode()
    assert "7 done" in page
    assert " of 0" not in page


@pytest.mark.parametrize(
    ("rate", "words"),
    [(2.34, "2.3 a second"), (250.0, "250 a second"), (0.25, "15 a minute"), (0.001, "3.6 an hour")],
)
def test_pace_is_shown_in_a_readable_unit(rate, words):
    assert pace_in_words(rate) == words
