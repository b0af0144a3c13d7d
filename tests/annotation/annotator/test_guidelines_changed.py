"""Annotators are notified of changed guidelines; each answer stores the version its annotator saw."""

import uuid

import pytest

from annotation.campaigns.instruments import versions as instruments_versions
from annotation.models import Annotation
from tests.annotation.api.test_labelling import Browser
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db
NONE = {"none_of_the_above": True}


@pytest.fixture
def worker(marking):
    return Browser(new_annotator(marking).user)


def revise(campaign, text="Look twice."):
    return instruments_versions.revise(campaign=campaign, by=None, guidelines=text)


def versions():
    return list(Annotation.objects.order_by("pk").values_list("instrument__version", flat=True))


def test_an_answer_keeps_the_version_that_came_with_its_task(marking, worker):
    task = worker.next(marking).json()
    revise(marking)
    saved = worker.submit(task, NONE, instrument_version=task["instrument"]["version"]).json()
    assert saved["next"]["instrument"]["version"] == 2
    worker.submit(saved["next"], NONE, instrument_version=2)
    assert versions() == [1, 2]


def test_without_a_version_the_latest_is_assumed(marking, worker):
    task = worker.next(marking).json()
    revise(marking)
    worker.submit(task, NONE)
    assert versions() == [2]


def test_a_correction_names_its_own_version(marking, worker):
    task = worker.next(marking).json()
    worker.submit(task, NONE, instrument_version=1)
    revise(marking)
    ref = task["attributes"][0]["ref"]
    box = {"attribute": ref, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
    worker.submit(task, {"ticked": [ref], "boxes": [box]}, instrument_version=2)
    assert versions() == [1, 2]


@pytest.mark.parametrize("wrong", [0, 2, 99_999, "1", True, 1.5])
def test_an_unknown_version_is_refused_and_nothing_is_saved(marking, worker, wrong):
    task = worker.next(marking).json()
    answer = worker.submit(task, NONE, instrument_version=wrong)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "instrument_unknown")
    assert not Annotation.objects.exists()
    assert worker.submit(task, NONE, instrument_version=1).status_code == 200


def test_versions_of_another_campaign_count_for_nothing(marking, rating, worker):
    revise(rating)
    task = worker.next(marking).json()
    answer = worker.submit(task, NONE, instrument_version=2)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "instrument_unknown")
    worker.submit(task, NONE)
    instrument = Annotation.objects.get().instrument
    assert (instrument.campaign, instrument.version) == (marking, 1)


def post(client, campaign, page, **more):
    payload = page.context["payload"]
    url = f"/annotate/{campaign.pk}/answer/{payload['assignment']}/"
    return client.post(url, {"submission_id": str(uuid.uuid4()), "none_of_the_above": "1", **more})


def test_the_page_shows_the_changes_once(marking, client):
    from accounts import profiles

    annotator = new_annotator(marking)
    profiles.describe(annotator=annotator)
    client.force_login(annotator.user)
    url = f"/annotate/{marking.pk}/"
    first = client.get(url)
    assert 'name="instrument_version" value="1"' in first.content.decode()
    post(client, marking, first, instrument_version="1")
    marking.instruments.update(guidelines="Look closely.")
    begun = client.get(url)
    revise(marking, "Look twice.")
    post(client, marking, begun, instrument_version="1")
    page = client.get(url)
    text = page.content.decode()
    assert "The guidelines changed" in text
    assert "closely." in text.split("<del>")[1].split("</del>")[0]
    post(client, marking, page, instrument_version="2")
    assert "The guidelines changed" not in client.get(url).content.decode()
    assert versions() == [1, 1, 2]


def test_annotators_who_begin_with_the_new_version_see_no_changes(marking, client):
    from accounts import profiles

    revise(marking)
    annotator = new_annotator(marking)
    profiles.describe(annotator=annotator)
    client.force_login(annotator.user)
    text = client.get(f"/annotate/{marking.pk}/").content.decode()
    assert "Look twice." in text
    assert "The guidelines changed" not in text
