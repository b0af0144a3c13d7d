"""The report that pages read: failed recomputations, kept choices of campaigns, several campaigns."""

from datetime import timedelta

import pytest
from django.test import RequestFactory
from django.utils import timezone

from analysis.models import Report
from analysis.pages.results_page import ResultsPage
from analysis.results import reports
from analysis.results.parameters import parameters_of
from annotation.campaigns.images import retraction
from annotation.models import Campaign, Task
from jobs.models import Job
from jobs.run.execution import execute

ADDRESS = "/studies/isles/results/"
API = "/api/v1/studies/isles/results/"


def computed(marked, **chosen) -> Report:
    return reports.compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=100, **chosen), by=None
    )


def hidden_fields(page: str) -> dict[str, list[str]]:
    """Return the data that the first form for computing posts."""
    form = page.split(f'action="{ADDRESS}compute/"')[1].split("</form>")[0]
    found: dict[str, list[str]] = {}
    for tag in form.split("<input ")[1:]:
        parts = dict(part.split('="', 1) for part in tag.split(">")[0].split('" ') if '="' in part)
        found.setdefault(parts["name"].strip('"'), []).append(parts.get("value", "").strip('"'))
    del found["csrfmiddlewaretoken"]
    return found


@pytest.mark.parametrize("state", reports.STOPPED)
def test_a_failed_computation_is_retried_on_request_and_not_by_reading(
    marked, lead, analyst_client, monkeypatch, state
):
    computed(marked, seed=7, campaigns=[marked.campaign.slug])
    monkeypatch.setattr(reports, "INLINE_JUDGEMENTS", 10)
    retraction.retract(image=marked.images["v1"], by=lead, reason="a real person")
    assert "Results are being computed" in analyst_client.get(ADDRESS).content.decode()
    Job.objects.update(state=state, finished_at=timezone.now(), error="No space was left.")
    for _ in range(2):
        page = analyst_client.get(ADDRESS).content.decode()
        assert "Results could not be computed" in page
        assert "No space was left." in page
        assert "Results are being computed" not in page
        assert analyst_client.get(f"{API}tendency.csv").status_code == 409
    assert Job.objects.count() == 1

    analyst_client.post(f"{ADDRESS}compute/", hidden_fields(page))
    again = Job.objects.latest("pk")
    assert Job.objects.count() == 2
    assert again.arguments["parameters"] == Report.objects.get().parameters
    execute(again.pk)
    assert analyst_client.get(f"{API}tendency.csv").status_code == 200


def test_labels_withdrawn_after_a_failure_are_left_out(marked, lead, analyst, monkeypatch):
    computed(marked)
    monkeypatch.setattr(reports, "INLINE_JUDGEMENTS", 10)
    first, second, *_ = marked.images.values()
    retraction.retract(image=first, by=lead, reason="a real person")
    _, job = reports.report_to_show(study=marked.study, by=analyst)
    Job.objects.update(state=Job.State.FAILED, finished_at=timezone.now())
    before = timezone.now() - timedelta(minutes=5)
    Job.objects.update(created_at=before)
    retraction.retract(image=second, by=lead, reason="a real person")
    assert reports.report_to_show(study=marked.study, by=analyst)[1] != job


def test_recomputing_keeps_the_campaigns(marked, analyst_client):
    computed(marked, campaigns=[marked.campaign.slug], seed=3)
    analyst_client.post(f"{ADDRESS}compute/", hidden_fields(analyst_client.get(ADDRESS).content.decode()))
    newest, before = Report.objects.order_by("-pk")
    assert newest.parameters == before.parameters
    wrong = analyst_client.post(f"{ADDRESS}compute/", {"campaigns": ["nothing"]})
    assert wrong.status_code == 400


def test_labels_of_several_campaigns_are_one_query_without_a_list_of_keys(marked, django_assert_num_queries):
    now = timezone.now()
    second = Campaign.objects.create(
        study=marked.study,
        slug="second",
        name="second",
        kind="stereotype_marking",
        state=Campaign.State.CLOSED,
        seed=2,
        opened_at=now,
        closed_at=now,
    )
    task = Task.objects.create(campaign=second, image=marked.images["v1"])
    more = marked.submit(task, marked.annotators["p"], 0, none=False)
    page = ResultsPage(RequestFactory().get(ADDRESS), marked.study, computed(marked), None)
    assert len(page.campaigns) == 3
    with django_assert_num_queries(1):
        found = list(page.marks([marked.images["v1"]]))
    assert len(found) == 4
    assert more in found
    with django_assert_num_queries(1):
        assert page.marks_where(task__image__study=marked.study).count() == 13
