"""Stored reports: computed at once or by a worker, over the pages and the API."""

import pandas as pd
import pytest
from django.core.management import call_command

from accounts import tokens
from accounts.models import ApiToken
from analysis.models import Report
from analysis.results import reports
from analysis.results.data import labels
from analysis.results.data.digest import inputs_digest
from analysis.results.parameters import parameters_of
from annotation.campaigns.images import retraction
from annotation.people.withdrawal import withdraw
from jobs.models import Job
from jobs.progress.reporter import Cancelled, Unwatched
from jobs.run.execution import execute
from studies import consent
from studies.models import AuditEntry

RESULTS = "/api/v1/studies/isles/results/"


def test_a_small_study_is_computed_at_once(marked, analyst):
    report = reports.request_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst
    )
    assert isinstance(report, Report)
    assert report.computed_by == analyst
    assert report.summary["counted"]["judgements"] == 48
    assert AuditEntry.objects.filter(action="report.computed", actor=analyst).count() == 1


def test_a_large_study_is_computed_by_a_worker_while_the_page_follows(
    marked, analyst, analyst_client, monkeypatch
):
    monkeypatch.setattr(reports, "INLINE_JUDGEMENTS", 10)
    analyst_client.post("/studies/isles/results/compute/", {"resamples": "200", "seed": "5"})
    job = Job.objects.get()
    assert "Results are being computed" in analyst_client.get("/studies/isles/results/").content.decode()
    assert not Report.objects.exists()
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.steps_done) == ("succeeded", 7)
    assert job.result["summary"] == "Results of 48 judgements are ready."
    assert Report.objects.get().parameters["seed"] == 5
    assert "Results are being computed" not in analyst_client.get("/studies/isles/results/").content.decode()


def test_reading_many_labels_reports_progress_and_gives_the_same_result(marked, monkeypatch):
    told = []

    class Told(Unwatched):
        def advance(self, n: int = 1, message: str = "") -> None:
            told.append((n, message))

    parameters = parameters_of(marked.study)
    at_once = labels.load(study=marked.study, parameters=parameters)
    monkeypatch.setattr(labels, "_ANNOTATIONS_AT_ONCE", 5)
    in_parts = labels.load(study=marked.study, parameters=parameters, progress=Told())
    for name in ("judgements", "none_rows", "ratings", "boxes", "submissions"):
        pd.testing.assert_frame_equal(getattr(in_parts, name), getattr(at_once, name))
    assert inputs_digest(in_parts) == inputs_digest(at_once)
    # twelve annotations of images, four judgements each: five, five, two
    assert [n for n, message in told if message == "judgements read"][:3] == [20, 20, 8]
    assert {message for _, message in told} == {"annotations read", "judgements read", "boxes read"}


def test_reading_stops_when_the_job_is_cancelled(marked):
    class Stopped(Unwatched):
        def check_cancelled(self) -> None:
            raise Cancelled

    with pytest.raises(Cancelled):
        labels.load(study=marked.study, parameters=parameters_of(marked.study), progress=Stopped())


def test_a_second_request_waits_for_the_computation_under_way(marked, analyst, monkeypatch):
    monkeypatch.setattr(reports, "INLINE_JUDGEMENTS", 10)
    parameters = parameters_of(marked.study, resamples=200)
    first = reports.request_report(study=marked.study, parameters=parameters, by=analyst)
    second = reports.request_report(study=marked.study, parameters=parameters, by=analyst)
    assert first == second


def test_the_job_of_a_deleted_study_says_so(marked, analyst, monkeypatch):
    monkeypatch.setattr(reports, "INLINE_JUDGEMENTS", 10)
    job = reports.request_report(study=marked.study, parameters=parameters_of(marked.study), by=analyst)
    Job.objects.filter(pk=job.pk).update(arguments=job.arguments | {"study": 0})
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "The study that this job belongs to was deleted.")


def test_the_stored_tables_are_those_that_analyze_writes(marked, analyst, analyst_client, tmp_path):
    reports.compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst
    )
    call_command("analyze", "--study", "isles", "--output", str(tmp_path / "out"), "--resamples", "200")
    for path in set((tmp_path / "out").glob("*.csv")) - {tmp_path / "out" / "codebook.csv"}:
        answer = analyst_client.get(f"/studies/isles/results/tables/{path.name}")
        assert answer.content == path.read_bytes(), path.name
        assert analyst_client.get(f"{RESULTS}{path.name}").content == path.read_bytes()


def test_the_api_computes_and_reads_results(marked, analyst_client):
    missing = analyst_client.get(RESULTS)
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "no_results")
    made = analyst_client.post(RESULTS, {"resamples": 200, "seed": 1}, content_type="application/json")
    assert made.status_code == 201
    found = analyst_client.get(RESULTS).json()
    assert found["summary"]["headline"][0]["pooled"]["theta"] == pytest.approx(5)
    assert found["judgements_since"] == 0
    assert set(found["tables"]) >= {"likelihood", "tendency", "agreement"}
    assert analyst_client.get(found["tables"]["tendency"]).status_code == 200


def test_the_api_refuses_a_wrong_parameter_in_one_sentence(marked, analyst_client):
    answer = analyst_client.post(RESULTS, {"resamples": 1}, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["error"]["fields"]["resamples"].endswith("from 100 to 20,000, not 1.")


def test_a_token_that_may_only_read_computes_nothing(marked, analyst, client):
    _, key = tokens.issue(user=analyst, name="reader", scopes=[ApiToken.Scope.READ])
    headers = {"authorization": f"Bearer {key}"}
    assert client.get(RESULTS, headers=headers).status_code == 404
    answer = client.post(RESULTS, {}, content_type="application/json", headers=headers)
    assert answer.status_code == 403
    assert not Report.objects.exists()


def test_withdrawn_labels_leave_the_stored_results_at_once(marked, analyst, analyst_client):
    text = consent.current_text(marked.study)
    for annotator in marked.annotators.values():
        consent.give(annotator=annotator, text=text)
    old = reports.compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=200, seed=5), by=analyst
    )
    withdraw(annotator=marked.annotators["p"], study=marked.study)

    table = analyst_client.get(f"{RESULTS}likelihood.csv").content.decode()
    shown = {int(line.split(",")[3]) for line in table.splitlines()[1:]}
    # Each attribute was shown by three annotators for each image; a third of that is gone.
    before = {row["shown"] for row in old.rows("likelihood")}
    assert shown == {count * 2 // 3 for count in before}
    fresh = reports.latest_report(marked.study)
    assert fresh.pk != old.pk
    assert fresh.parameters == old.parameters
    assert reports.report_to_show(study=marked.study, by=analyst) == (fresh, None)


def test_results_with_withdrawn_labels_are_hidden_until_recomputed(
    marked, analyst, analyst_client, lead, monkeypatch
):
    reports.compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=200), by=analyst
    )
    monkeypatch.setattr(reports, "INLINE_JUDGEMENTS", 10)
    retraction.retract(image=next(iter(marked.images.values())), by=lead, reason="a real person")
    assert "Results are being computed" in analyst_client.get("/studies/isles/results/").content.decode()
    refused = analyst_client.get(f"{RESULTS}tendency.csv")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "results_outdated")
    execute(Job.objects.get().pk)
    assert analyst_client.get(f"{RESULTS}tendency.csv").status_code == 200
