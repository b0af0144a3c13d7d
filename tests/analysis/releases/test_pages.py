"""The pages of releases: access, the preview before building, and past releases."""

import re
import zipfile
from io import BytesIO

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import AnnotatorProfile, ApiToken
from accounts.tokens import issue
from analysis.models import Release
from analysis.releases.build_job import JOB_KIND
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.storage.archive import build_archive
from analysis.results.parameters import parameters_of as report_parameters
from analysis.results.reports import compute_report
from annotation.campaigns.images import retraction
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import AuditEntry, Study, StudyMembership
from tests.analysis.releases.past_release import past_release

CHOICES = {"k": "2", "licence": "CC-BY-4.0", "formats": ["parquet", "csv"]}


def address(name, **places):
    return reverse(f"releases:{name}", kwargs={"study": "isles", **places})


def text(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def fetched(client, url, **options):
    answer = client.get(url, **options)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)  # the client closes the file at its end


@pytest.fixture
def built(marked, lead):
    """The first release, kept as a zip."""
    parameters = ReleaseParameters(k=2, formats=["parquet", "csv"], licence="CC-BY-4.0")
    return build_archive(study=marked.study, parameters=parameters, by=lead)


def test_strangers_and_annotators_get_404(built, stranger_client, annotator):
    annotator_client = Client()
    annotator_client.force_login(annotator.user)
    pages = [address("list"), address("release", version=1), address("download", version=1)]
    pages += [f"/api/v1/studies/isles/releases/{rest}" for rest in ("", "1/", "1/download/")]
    for client in (stranger_client, annotator_client):
        for page in pages:
            answer = client.get(page)
            assert answer.status_code == 404
            assert b"Velmari" not in answer.content
        assert client.post(address("build"), CHOICES).status_code == 404
        assert client.post("/api/v1/studies/isles/releases/").status_code == 404
    assert Client().get(address("list")).status_code == 302
    assert Client().get("/api/v1/studies/isles/releases/").status_code == 401
    assert not Job.objects.filter(kind=JOB_KIND).exists()


def test_an_analyst_reads_and_only_a_lead_builds(built, analyst_client, lead_client):
    for page in (address("list"), address("release", version=1)):
        assert analyst_client.get(page).status_code == 200
    assert fetched(analyst_client, address("download", version=1)).startswith(b"PK")
    assert "Build a release" not in text(analyst_client.get(address("list")))
    assert analyst_client.post(address("build"), CHOICES).status_code == 403
    assert analyst_client.post("/api/v1/studies/isles/releases/").status_code == 403
    assert not Job.objects.filter(kind=JOB_KIND).exists()
    for page in (address("set_aside", version=1), "/api/v1/studies/isles/releases/1/set-aside/"):
        assert analyst_client.post(page).status_code == 403
    assert "Build a release" in text(lead_client.get(address("list")))


def test_building_is_a_job_with_progress_and_runs_once_at_a_time(marked, lead_client):
    answer = lead_client.post(address("build"), CHOICES)
    assert answer.status_code == 302
    job = Job.objects.get(kind=JOB_KIND)
    assert job.arguments["parameters"] == {
        "k": 2,
        "formats": ["parquet", "csv"],
        "licence": "CC-BY-4.0",
        "include_justifications": False,
        "leave_out_people": False,
    }
    page = lead_client.get(address("list")).content.decode()
    assert f'data-poll="{reverse("jobs:progress", args=[job.pk])}"' in page
    lead_client.post(address("build"), CHOICES)
    assert Job.objects.filter(kind=JOB_KIND).count() == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"k": "1"}, "greater than or equal to 2"),
        ({"k": "many"}, "whole number"),
        ({"licence": "mine"}, "not one of the available choices"),
        ({"formats": ["images"]}, "needs its tables"),
        ({"formats": []}, "required"),
    ],
)
def test_a_wrong_choice_is_shown_beside_the_form(wrong, said, marked, lead_client):
    answer = lead_client.post(address("build"), {**CHOICES, **wrong})
    assert answer.status_code == 400
    assert said in text(answer)
    assert not Job.objects.filter(kind=JOB_KIND).exists()


def test_the_api_states_the_limits_that_it_checks(marked, lead_client):
    schema = lead_client.get("/api/schema/?format=json").json()
    k = schema["components"]["schemas"]["ReleaseParameters"]["properties"]["k"]
    assert (k["minimum"], k["maximum"]) == (2, 1_000)
    answer = lead_client.post(
        "/api/v1/studies/isles/releases/", {"k": 1}, content_type="application/json"
    ).json()
    assert answer["error"]["message"] == "k must be a whole number from 2 to 1000, not 1."


def test_before_the_first_release_the_page_previews_its_contents(marked, lead_client):
    page = text(lead_client.get(address("list")))
    assert "No release yet" in page
    assert "judgements 48 one row per judgement" in page
    assert "ratings 12" in page
    assert "boxes 12" in page
    assert "annotators 3" in page
    assert "images 4" in page
    assert "None of the annotators whose labels count said anything about themselves" in page


def test_the_preview_counts_no_retracted_image(marked, lead, lead_client):
    retraction.retract(image=marked.images["v1"], by=lead, reason="A real person")
    page = text(lead_client.get(address("list")))
    assert "images 3" in page
    assert "judgements 36" in page


def test_the_privacy_check_follows_k(marked, lead_client):
    for annotator, gender in zip(marked.annotators.values(), ["woman", "woman", "man"], strict=True):
        AnnotatorProfile.objects.create(annotator=annotator, gender=gender)
    withheld = text(lead_client.get(address("list")))
    assert (
        "3 annotators said something about themselves. No combination of values would be released."
        in withheld
    )
    assert "gender 3 withheld 0" in withheld
    tried = text(lead_client.get(address("list") + "?k=2"))
    assert "gender 3" in tried
    assert "woman" not in tried
    for hostile in ("?k=0", "?k=x", "?k=", "?k=99999999999999999999"):
        assert lead_client.get(address("list") + hostile).status_code == 200


def test_an_empty_study_says_what_is_missing(study, lead_client, analyst_client):
    page = text(lead_client.get(address("list")))
    assert "A release needs labels" in page
    assert "judgements 0" in page
    assert analyst_client.get(address("release", version=1)).status_code == 404
    assert analyst_client.get("/api/v1/studies/isles/releases/").json()["results"] == []


def test_releases_of_another_study_are_not_listed(study, lead, analyst_client):
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    past_release(lakes, lead, version=7)
    assert analyst_client.get("/api/v1/studies/isles/releases/").json()["results"] == []
    assert list(analyst_client.get(address("list")).context["page"]) == []
    for page in (address("release", version=7), "/api/v1/studies/isles/releases/7/"):
        assert analyst_client.get(page).status_code == 404


def test_a_build_of_another_study_neither_shows_nor_prevents_one(marked, lead_client, lead):
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    ended = {
        "state": Job.State.FAILED,
        "finished_at": timezone.now(),
        "error": "No room",
        "error_code": "full",
    }
    for states in ({}, ended):
        Job.objects.create(
            kind=JOB_KIND, title="Build a release of Lakes", study_id=lakes.pk, created_by=lead, **states
        )
        page = lead_client.get(address("list")).content.decode()
        assert "data-poll" not in page
        assert "No room" not in page
    assert lead_client.post(address("build"), CHOICES).status_code == 302
    assert Job.objects.filter(kind=JOB_KIND, study_id=marked.study.pk).count() == 1


def test_a_release_is_not_built_twice_while_a_worker_builds_it(marked, lead_client):
    lead_client.post(address("build"), CHOICES)
    now = timezone.now()
    Job.objects.filter(kind=JOB_KIND).update(state=Job.State.RUNNING, started_at=now, lease_expires_at=now)
    lead_client.post(address("build"), CHOICES)
    assert Job.objects.filter(kind=JOB_KIND).count() == 1


def test_a_build_that_somebody_cancelled_is_not_shown_as_failed(marked, lead_client):
    lead_client.post(address("build"), CHOICES)
    Job.objects.update(state=Job.State.CANCELLED, finished_at=timezone.now())
    assert lead_client.get(address("list")).context["failed_job"] is None


def test_a_download_of_a_release_is_recorded_with_its_version(marked, lead, analyst, analyst_client):
    build_archive(study=marked.study, parameters=ReleaseParameters(formats=["csv"]), by=lead)
    answer = analyst_client.get(address("download", version=1))
    assert b"".join(answer.streaming_content).startswith(b"PK")
    entry = AuditEntry.objects.get(action="file.downloaded")
    assert (entry.actor, entry.details["file"]) == (analyst, "release 1")


@pytest.mark.parametrize("version", ["0", "2", "99999999999999999999999"])
def test_an_unknown_version_is_not_found(version, built, lead_client):
    for place in (f"/studies/isles/releases/{version}/", f"/api/v1/studies/isles/releases/{version}/"):
        assert lead_client.get(place).status_code == 404
        assert lead_client.get(f"{place}download/").status_code == 404


@pytest.mark.parametrize(
    "body", ["[]", "{", '{"formats": "parquet"}', '{"formats": ["x"]}', '{"k": 1e99}', '"x"']
)
def test_invalid_requests_of_a_program_are_refused(body, marked, lead_client):
    answer = lead_client.post("/api/v1/studies/isles/releases/", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"]
    assert not Job.objects.filter(kind=JOB_KIND).exists()


def test_the_form_starts_with_the_choices_of_the_last_release(built, lead_client):
    page = lead_client.get(address("list"))
    assert page.context["form"].initial["k"] == page.context["tried"].initial["k"] == page.context["k"] == 2
    assert page.context["form"].initial["formats"] == ["parquet", "csv"]
    assert lead_client.get(address("list") + "?k=7").context["form"].initial["k"] == 7


def test_free_text_is_never_included_by_a_choice_made_before(built, lead_client):
    Release.objects.update(parameters=built.parameters | {"include_justifications": True})
    page = lead_client.get(address("list"))
    assert page.context["form"].initial["include_justifications"] is False
    assert "checked" not in str(page.context["form"]["include_justifications"])


def test_a_past_release_is_listed_with_its_digest_and_files(built, analyst_client):
    page = text(analyst_client.get(address("list")))
    assert "Release 1" in page
    assert built.inputs_digest[:12] in page
    shown = text(analyst_client.get(address("release", version=1)))
    assert built.inputs_digest in shown
    assert "This is the first release." in shown
    assert "Creative Commons Attribution 4.0 International" in shown
    with zipfile.ZipFile(BytesIO(fetched(analyst_client, address("download", version=1)))) as packed:
        names = {name.split("/", 1)[1] for name in packed.namelist()}
    assert {"README.md", "croissant.json", "data/judgements.parquet", "checksums.sha256"} <= names
    assert "data/judgements.parquet" in shown


def test_a_later_release_describes_its_changes(built, marked, lead, analyst_client):
    from accounts.consent_texts import default_text
    from studies.consent import give, withdraw

    leaving = marked.annotators["r"]
    give(annotator=leaving, text=default_text())
    withdraw(annotator=leaving, study=marked.study)
    parameters = ReleaseParameters(k=3, formats=["parquet"], licence="CC0-1.0")
    build_archive(study=marked.study, parameters=parameters, by=lead)
    page = text(analyst_client.get(address("release", version=2)))
    assert "1 annotator left out: they withdrew their consent" in page
    assert "licence is now CC0-1.0; it was CC-BY-4.0" in page
    facts = analyst_client.get("/api/v1/studies/isles/releases/2/").json()
    assert "1 annotator left out: they withdrew their consent" in facts["changes"]


def test_programs_read_with_a_token_and_build_with_the_scope_to_manage(built, marked, lead, analyst):
    def bearer(user, *scopes):
        _, key = issue(user=user, name="t", scopes=list(scopes))
        return {"headers": {"Authorization": f"Bearer {key}"}}

    read, manage = bearer(lead, ApiToken.Scope.READ), bearer(lead, ApiToken.Scope.MANAGE)
    client = Client()
    (listed,) = client.get("/api/v1/studies/isles/releases/", **read).json()["results"]
    assert (listed["version"], listed["inputs_digest"]) == (1, built.inputs_digest)
    assert listed["rows"]["judgements"] == 48
    assert client.get(listed["url"], **read).json()["changes"] == []
    downloaded = fetched(client, listed["download"], **read)
    assert downloaded.startswith(b"PK")
    assert len(downloaded) == listed["archive_bytes"]
    url, body = "/api/v1/studies/isles/releases/", {"k": 3, "formats": ["parquet"]}
    refused = client.post(url, body, content_type="application/json", **read)
    assert refused.status_code == 403
    answer = client.post(url, body, content_type="application/json", **manage)
    assert answer.status_code == 202
    job = Job.objects.get(pk=answer.json()["job"])
    assert job.arguments["parameters"]["licence"] == "all-rights-reserved"
    wrong = client.post(url, {"k": 0}, content_type="application/json", **manage)
    assert wrong.status_code == 400
    assert wrong.json()["error"]["fields"]["k"]


def test_a_release_whose_files_were_not_kept_says_so(marked, lead, analyst_client):
    past_release(marked.study, lead)
    assert "written to a folder by the command" in text(analyst_client.get(address("list")))
    page = text(analyst_client.get(address("release", version=2)))
    assert "The files were not kept here" in page
    assert "2 annotators left out: the lead excluded them" in page
    assert analyst_client.get(address("download", version=2)).status_code == 404
    assert analyst_client.get("/api/v1/studies/isles/releases/2/").json()["download"] is None


def test_queries_do_not_grow_with_releases(built, marked, analyst_client):
    def queries(url):
        with CaptureQueriesContext(
            connection,
        ) as counted:
            assert analyst_client.get(url).status_code == 200
        return len(counted)

    before = queries(address("list")), queries("/api/v1/studies/isles/releases/")
    for version in range(2, 6):
        built.pk, built.version, built._state.adding = None, version, True
        built.save()
    assert (queries(address("list")), queries("/api/v1/studies/isles/releases/")) == before
    assert before[0] <= 28
    assert Release.objects.count() == 5
    assert StudyMembership.objects.exists()


def test_counts_of_large_studies_come_from_their_results(marked, lead_client, lead):
    report = compute_report(
        study=marked.study, parameters=report_parameters(marked.study, resamples=200), by=lead
    )
    report.summary["counted"]["judgements"] = 47
    report.save()
    page = text(lead_client.get(address("list")))
    assert "judgements 47" in page
    assert "Labels as counted" in page
    whole = report.parameters
    for part in ({"campaigns": ["stereotype-marking"]}, {"without_annotators": ["A-NOBODY00"]}):
        report.parameters = whole | part  # results of a part do not describe the whole
        report.save()
        assert "judgements 48" in text(lead_client.get(address("list")))


def test_a_worker_builds_the_release_that_a_lead_requests(marked, lead_client, analyst_client):
    lead_client.post(address("build"), CHOICES)
    execute(Job.objects.get(kind=JOB_KIND).pk)
    page = text(analyst_client.get(address("list")))
    assert "A release is being built" not in page
    assert "Release 1" in page
    assert fetched(analyst_client, address("download", version=1)).startswith(b"PK")
