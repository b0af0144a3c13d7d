"""Known ids of a person and a place, traced through a whole run, occur only encrypted."""

import gzip
import logging
import zipfile

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.urls import reverse
from pyarrow import Table, parquet

from annotation.recruitment import background
from annotation.recruitment.models import PanelEvent
from annotation.recruitment.payments import decisions
from annotation.recruitment.prolific import reconcile, webhooks
from jobs.models import Job
from tests.annotation.recruitment.prolific.conftest import events_of
from tests.annotation.recruitment.test_lead_pages import page
from tests.privacy.traces import in_files

pytestmark = pytest.mark.django_db
PERSON = "5f3a0c77b1d2e4a6c8f00112"


@pytest.fixture
def run(fake, post, visitor, published, lead, caplog):
    """Somebody came, worked, returned and was paid; events arrived, some of them forged; Prolific sometimes failed."""
    caplog.set_level(logging.DEBUG)
    browser = visitor(PERSON)
    browser.answer(3)
    browser.finish()
    for event in events_of(fake, browser):
        post.bring(event)
        post.bring({**event, "id": "forged"}, secret="a-guess")
    background.wake(post.provider)
    fake.fault("submission", "502", times=2)
    webhooks.handle(post.provider)
    fake.fault("submissions", "429", seconds=0.1)
    reconcile.compare(published)
    decisions.approve_all(recruitment=published, by=lead)
    return browser


def test_no_row_session_or_log_holds_an_id(run, caplog, fake):
    assert PanelEvent.objects.count() == 3
    hidden = (PERSON, run.submission, fake.token)
    for model in apps.get_models(include_auto_created=True):
        for row in model._default_manager.values():
            assert not any(text in repr(row) for text in hidden), model
    for session in Session.objects.all():
        assert not any(text in repr(session.get_decoded()) for text in hidden)
    records = [*caplog.get_records("setup"), *caplog.records]
    own = [record.getMessage() for record in records if record.name != "django.db.backends"]
    assert own
    assert not any(text in line for line in own for text in hidden)


def test_no_page_table_or_answer_of_the_api_holds_an_id(run, published, lead_client, fake):
    at = {"study": "isles", "campaign": "marking"}
    place = {"recruitment": published.pk}
    addresses = [
        *(
            page(name)
            for name in ("campaign", "annotators", "pay", "pay_table", "annotations", "recruitments")
        ),
        *(page(name, **place) for name in ("recruitment", "recruitment_review", "recruitment_publish")),
        page("panel", panel=published.provider_id),
        page("panel_place", **place, place=run.place.pk),
        reverse("studies:history", args=["isles"]),
        reverse("jobs:list"),
        *(reverse("jobs:detail", args=[job.pk]) for job in Job.objects.all()),
        f"/api/v1/campaigns/{published.campaign_id}/annotators/",
        run.page("end"),
        run.page("welcome"),
    ]
    assert at
    hidden = (PERSON, run.submission, fake.token)
    for address in addresses:
        client = run if address.startswith("/annotate/") else lead_client
        response = client.get(address)
        assert response.status_code in {200, 302}, address
        content = b"".join(response) if response.streaming else response.content
        assert not any(text.encode() in content for text in hidden), address
        assert not any(text in str(response.headers) for text in hidden), address


def test_no_file_of_results_or_of_a_release_holds_an_id(run, published, fake, caplog, lead_client, tmp_path):
    """The person's answers count in the study: their pseudonym is in the release."""
    call_command("analyze", study="Isles", output=tmp_path / "results", resamples=100)
    call_command("release", study="Isles", output=tmp_path / "release")
    pay = lead_client.get(page("pay_table")).content
    (tmp_path / "results" / "pay.csv").write_bytes(pay)
    assert len(list((tmp_path / "results").rglob("*.csv"))) > 5
    assert run.place.enrolment.annotator.pseudonym in pay.decode()
    hidden = (PERSON, run.submission, fake.token)
    assert in_files(["tall hat"], tmp_path / "release")  # what is in a release is found
    assert in_files(hidden, tmp_path / "results", tmp_path / "release") == []
    records = [record for when in ("setup", "call") for record in caplog.get_records(when)]
    own = [record.getMessage() for record in records if record.name != "django.db.backends"]
    assert not any(text in line for line in own for text in hidden)


def test_the_search_finds_an_id_in_every_kind_of_file(tmp_path):
    parquet.write_table(Table.from_pydict({"id": [PERSON]}), tmp_path / "labels.parquet", compression="zstd")
    with zipfile.ZipFile(tmp_path / "release.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.csv", PERSON)
    (tmp_path / "labels.jsonl.gz").write_bytes(gzip.compress(PERSON.encode()))
    (tmp_path / "notes.csv").write_text(PERSON)
    files = {trace.rpartition("/")[2].partition(":")[0] for trace in in_files([PERSON], tmp_path)}
    assert files == {"labels.parquet", "release.zip", "labels.jsonl.gz", "notes.csv"}
