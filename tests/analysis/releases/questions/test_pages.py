"""The pages of releases in a study that asks declared questions, and building one there."""

import pytest
from django.urls import reverse

from analysis.models import Release
from analysis.releases.build_job import JOB_KIND
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.preview import preview
from analysis.releases.storage.archive import build_archive
from analysis.results import reports
from analysis.results.parameters import parameters_of
from annotation.models import Judgement
from jobs.models import Job
from jobs.run.execution import execute
from tests.analysis.questions.campaigns import open_campaign
from tests.analysis.questions.kinds import PAIR
from tests.analysis.releases.test_pages import CHOICES, text

pytestmark = pytest.mark.django_db
LIST = reverse("releases:list", kwargs={"study": "isles"})


def test_the_page_counts_answers_and_explains_the_treatment_of_own_words(asked, lead_client):
    page = text(lead_client.get(LIST))
    assert "answers 696" in page
    assert "places 96" in page
    assert "48 answers in annotators’ own words are left out unless you include what they wrote" in page
    assert "Answers to declared questions are left out" not in page
    assert "Include what annotators wrote in their own words" in page


def test_the_counts_equal_the_built_release(asked, released, analyst):
    released(asked)
    latest = Release.objects.get()
    for _ in range(2):
        before = preview(asked, k=5)
        assert (before.rows["answers"], before.rows["places"], before.texts) == (696, 96, 48)
        assert {name: latest.facts["rows"][name] for name in before.rows} == before.rows
        # The same with a report, which counts what its measures read.
        reports.compute_report(study=asked, parameters=parameters_of(asked, resamples=100), by=analyst)


def test_a_lead_builds_a_release_by_the_form_and_sees_its_contents(asked, lead, lead_client):
    answer = lead_client.post(reverse("releases:build", kwargs={"study": "isles"}), CHOICES)
    assert answer.status_code == 302
    execute(Job.objects.get(kind=JOB_KIND).pk)
    page = text(lead_client.get(reverse("releases:release", kwargs={"study": "isles", "version": 1})))
    assert "answers 696 one row per answer to a declared question" in page
    assert "What annotators wrote withheld" in page
    assert "declarations/rubric.json" in page


def test_older_releases_have_no_number_of_answers(marked, lead, lead_client):
    build_archive(study=marked.study, parameters=ReleaseParameters(k=2, formats=["csv"]), by=lead)
    assert "Answers" not in text(lead_client.get(LIST))
    open_campaign(marked.study, PAIR, [])
    page = lead_client.get(LIST)
    assert page.status_code == 200
    assert "Ratings Answers Annotators" in text(page)


def test_questions_without_answers_cannot_be_released(study, lead_client):
    open_campaign(study, PAIR, [])
    assert preview(study, k=5).empty
    assert "A release needs labels" in text(lead_client.get(LIST))


def test_texts_alone_can_be_released(asked):
    Judgement.objects.filter(text=None).delete()
    found = preview(asked, k=5)
    assert (found.rows["answers"], found.texts, found.empty) == (0, 48, False)
