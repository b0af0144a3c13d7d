"""Results are computed when a campaign closes: once, and only where something changed."""

import pytest
from django.core import mail

from analysis.models import Report
from analysis.results import reports
from analysis.results.parameters import parameters_of
from annotation.campaigns import lifecycle
from annotation.campaigns.images import retraction
from annotation.models import Notice
from jobs.models import Job
from jobs.run.execution import execute


@pytest.fixture
def running(marked, lead):
    """A campaign with all its answers that is not closed yet."""
    return lifecycle.reopen(campaign=marked.campaign, by=lead)


def computations():
    return Job.objects.filter(kind=reports.JOB_KIND).order_by("pk")


def test_closing_computes_the_results_once(running, lead):
    lifecycle.close(campaign=running, by=lead)
    job = computations().get()
    assert (job.created_by, job.study_id) == (lead, running.study.pk)
    execute(job.pk)
    job.refresh_from_db()
    assert (job.state, Report.objects.count()) == (Job.State.SUCCEEDED, 1)
    lifecycle.reopen(campaign=running, by=lead)
    lifecycle.close(campaign=running, by=lead)
    assert computations().count() == 1


def test_a_stop_rule_computes_the_results_too(running):
    lifecycle.close(campaign=running, by=None, rule="date")
    assert computations().get().created_by is None


def test_results_are_recomputed_with_the_same_choices_when_labels_changed(running, lead):
    parameters = parameters_of(running.study, resamples=200, seed=5)
    reports.compute_report(study=running.study, parameters=parameters, by=lead)
    lifecycle.close(campaign=running, by=lead)
    assert not computations().exists()
    lifecycle.reopen(campaign=running, by=lead)
    retraction.retract(image=running.study.images.first(), reason="A test.", by=lead)
    lifecycle.close(campaign=running, by=lead)
    assert computations().get().arguments["parameters"]["seed"] == 5


def test_a_computation_is_queued_once_and_a_second_changes_nothing(running, lead):
    for _ in range(2):
        lifecycle.close(campaign=running, by=lead)
        lifecycle.reopen(campaign=running, by=lead)
    job = computations().get()
    arguments = job.arguments
    execute(job.pk)
    again = Job.objects.create(
        kind=reports.JOB_KIND, title="Again", arguments=arguments, study_id=job.study_id
    )
    execute(again.pk)
    again.refresh_from_db()
    assert again.result["summary"] == "The results are up to date: no labels or choices have changed."
    assert Report.objects.count() == 1


def test_a_study_without_answers_has_nothing_to_compute(study, lead):
    campaign = lifecycle.create(study=study, name="Ratings", kind="attribute_likert", by=lead)
    lifecycle.close(campaign=lifecycle.open_(campaign=campaign, by=lead), by=lead)
    assert not computations().exists()


def test_page_and_letter_of_a_closed_campaign_link_to_the_results(running, lead, lead_client, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.SITE_URL = "https://labels.example.org"
    lead.email = "lena@example.org"
    lead.save()
    address = f"/studies/isles/campaigns/{running.slug}/"
    link = 'href="/studies/isles/results/">See the results</a>'
    assert link not in lead_client.get(address).content.decode()
    lifecycle.close(campaign=running, by=None, rule="date")
    page = lead_client.get(address).content.decode()
    assert link in page
    assert f'href="/jobs/{computations().get().pk}/">Watch the results being computed</a>' in page
    notice = Notice.objects.create(campaign=running, kind=Notice.Kind.STOPPED, details="The date came.")
    letter = Job.objects.create(kind="annotation.notify", title="Tell", arguments={"notice": notice.pk})
    execute(letter.pk)
    assert "See the results: https://labels.example.org/studies/isles/results/" in mail.outbox[0].body


@pytest.mark.parametrize("who", ["lead_client", "analyst_client"])
def test_members_who_may_see_the_campaign_see_where_its_results_are(who, running, lead, request):
    lifecycle.close(campaign=running, by=lead)
    page = request.getfixturevalue(who).get(f"/studies/isles/campaigns/{running.slug}/")
    assert "This campaign is closed" in page.content.decode()
