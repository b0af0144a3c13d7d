"""A lead uploads an export of Label Studio and maps its names; a worker imports it."""

import json
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.label_studio.format import uploads
from annotation.models import Campaign, Judgement
from jobs.models import Job
from jobs.run.execution import execute
from jobs.uploads import remove_used
from tests.annotation.label_studio.format.test_importer import foreign, stars

pytestmark = pytest.mark.django_db
HERE = "/studies/isles/label-studio/file/"


def text(answer) -> str:
    return " ".join(answer.content.decode().split())


def upload(client, content, name="export.json", **more):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return client.post(HERE, {"file": SimpleUploadedFile(name, data)}, **more)


def looked_into(client, content) -> Job:
    assert upload(client, content).status_code == 302
    job = Job.objects.latest("pk")
    execute(job.pk)
    job.refresh_from_db()
    return job


@pytest.fixture
def group(study) -> str:
    return study.groups.earliest("pk").name


@pytest.fixture
def export(group):
    task = foreign()
    task["data"]["country"] = group
    return [task]


def said(**more) -> dict:
    return {
        "map_image": "picture",
        "map_group": "country",
        "map_present": "what",
        "map_box": "where",
        "asked": "tall hat\ndrum\n",
        **more,
    }


def test_a_foreign_export_is_inspected_mapped_and_imported(study, lead_client, export):
    page = text(lead_client.get("/studies/isles/label-studio/"))
    assert HERE in page
    look = looked_into(lead_client, export)
    assert look.state == Job.State.SUCCEEDED, look.error
    assert look.result["url"] == f"{HERE}{look.pk}/"
    page = text(lead_client.get(look.result["url"]))
    for words in ("/data/upload/a.png", "rectanglelabels", '<option value="what" selected>', "tall hat"):
        assert words in page
    answer = lead_client.post(look.result["url"], said(name="From elsewhere"))
    job = Job.objects.latest("pk")
    assert answer["Location"] == f"/jobs/{job.pk}/"
    execute(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.SUCCEEDED, job.error
    assert "2 rows read = 2 kept" in job.result["summary"]
    campaign = Campaign.objects.get(study=study)
    assert (campaign.name, campaign.imported) == ("From elsewhere", True)
    assert Judgement.objects.filter(present=True).count() == 2
    look.refresh_from_db()
    uploads.remove_used()
    assert not default_storage.exists(look.arguments["export"])
    gone = lead_client.post(look.result["url"], said())
    assert gone.status_code == 400
    assert "Upload the file again" in text(gone)


def test_the_report_lists_rejected_rows(study, lead_client, export):
    broken = json.loads(json.dumps(export[0]))
    broken["annotations"][0]["completed_by"] = None
    look = looked_into(lead_client, [*export, broken])
    lead_client.post(look.result["url"], said())
    job = Job.objects.latest("pk")
    execute(job.pk)
    job.refresh_from_db()
    assert "1 rejected" in job.result["summary"]
    assert job.result["lines"] == [
        "Rejected: task 2: annotation 1 of the task: the annotation has no number that identifies who "
        "answered (completed_by)"
    ]


def test_an_invalid_mapping_shows_the_names_in_the_file(study, lead_client, export):
    look = looked_into(lead_client, export)
    lead_client.post(look.result["url"], {"map_image": "picture"})
    job = Job.objects.latest("pk")
    execute(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "Controls that were answered: what (choices, 1 times)" in job.error
    assert not Campaign.objects.filter(study=study).exists()


def test_stars_are_suggested_as_ratings(study, lead_client):
    task = {"data": {"attribute": "Kind"}, "annotations": [{"result": [stars(4)], "completed_by": 3}]}
    look = looked_into(lead_client, [task])
    assert '<option value="rating" selected>' in text(lead_client.get(look.result["url"]))
    lead_client.post(look.result["url"], {"map_attribute": "attribute", "map_rating": "rating"})
    execute(Job.objects.latest("pk").pk)
    assert Judgement.objects.get().rating == 4


@pytest.mark.parametrize("same", [{"map_rating": "what"}, {"map_none_of_the_above": "where"}])
def test_one_control_cannot_have_two_meanings(study, lead_client, export, same):
    look = looked_into(lead_client, export)
    refused = lead_client.post(look.result["url"], said(**same))
    assert refused.status_code == 400
    assert "is mapped to two fields" in text(refused)
    invented = lead_client.post(look.result["url"], said(map_present="nowhere"))
    assert invented.status_code == 400
    assert Job.objects.count() == 1


@pytest.mark.parametrize("content", [b"{}", b"PK\x03\x04", b"\xff\xfe", b'"text"', b"<html>"])
def test_obviously_invalid_files_are_refused_at_once_and_not_stored(study, lead_client, content):
    refused = upload(lead_client, content)
    assert refused.status_code == 400
    assert "not a list of tasks" in text(refused)
    assert not Job.objects.exists()


def test_too_large_files_are_refused_at_once(study, lead_client, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 100)
    refused = upload(lead_client, b"[" + b" " * 200 + b"]")
    assert refused.status_code == 400
    assert "larger than the 100 bytes" in text(refused)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"[1, 2]",
        b"[]",
        b'[{"annotations": "x"}',
        b'[{"annotations": [], "data": "\xff"}]',
        b'[{"data": {}}]',
    ],
)
def test_files_that_only_resemble_an_export_are_refused_by_the_worker(study, lead_client, content):
    look = looked_into(lead_client, content)
    assert (look.state, look.error_code) == (Job.State.FAILED, "label_studio_unreadable")
    assert "export.json" in look.error


def test_names_in_a_file_are_escaped_and_storable(study, lead_client):
    evil = "<script>alert(1)</script>"
    data = {evil: evil, "nul\x00": "a\x00b", "half": "\ud800", "long" * 900: "x" * 9_000}
    task = {
        "data": data,
        "annotations": [{"result": [{"from_name": evil, "type": evil, "value": {"text": [evil]}}]}],
    }
    look = looked_into(
        lead_client, [task] + [{"data": {f"field {n}": n}, "annotations": []} for n in range(200)]
    )
    assert look.state == Job.State.SUCCEEDED, look.error
    page = lead_client.get(look.result["url"]).content.decode()
    assert evil not in page
    assert "&lt;script&gt;" in page
    assert len(look.result["inventory"]["fields"]) <= 60


def test_only_leads_of_the_study_have_access(study, lead_client, analyst_client, stranger_client, export):
    look = looked_into(lead_client, export)
    for url in (HERE, f"{HERE}{look.pk}/"):
        assert [client.get(url).status_code for client in (analyst_client, stranger_client)] == [403, 404]
        assert [client.post(url, said()).status_code for client in (analyst_client, stranger_client)] == [
            403,
            404,
        ]
    assert Job.objects.count() == 1
    assert lead_client.get(f"{HERE}{look.pk + 1}/").status_code == 404


def test_a_file_that_nobody_imports_is_eventually_removed(study, lead_client, export):
    look = looked_into(lead_client, export)
    uploads.remove_used()
    remove_used()  # the rule that removes other uploads
    assert default_storage.exists(look.arguments["export"])
    Job.objects.filter(pk=look.pk).update(finished_at=timezone.now() - timedelta(days=8))
    uploads.remove_used()
    assert not default_storage.exists(look.arguments["export"])
    assert "Uploaded files" not in text(lead_client.get(HERE))
