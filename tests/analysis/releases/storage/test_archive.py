"""Releases asked for on the pages: built by a worker, kept as a zip."""

import hashlib
import io
import zipfile

import pytest
from django.core.files.storage import default_storage

from analysis import releases
from analysis.models import Release
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.storage.zips import open_archive
from foundation.errors import Conflict, NotFound
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from jobs.run.execution import run_here
from studies.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_var(settings, tmp_path):
    settings.VAR = tmp_path / "var"


def build(study, by, **choices) -> Job:
    return run_here(
        releases.request(study=study, parameters=ReleaseParameters(**choices), by=by), Unwatched()
    )


def test_a_job_builds_and_stores_the_release(marked, lead):
    job = build(marked.study, lead)
    release = Release.objects.get(pk=job.result["release"])
    assert (job.state, release.built_by) == (Job.State.SUCCEEDED, lead)
    assert job.result["summary"] == "Version 1 with 60 judgements is ready."
    with open_archive(release) as file:
        content = file.read()
    assert len(content) == release.archive_bytes
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert "isles-v1/release.json" in archive.namelist()
        assert {one.compress_type for one in archive.infolist()} == {zipfile.ZIP_STORED}
    assert AuditEntry.objects.filter(action="release.built", actor=lead).count() == 1


def test_a_rebuild_gives_the_same_zip_and_deletes_the_old_one(
    marked, lead, django_capture_on_commit_callbacks
):
    digests = []
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            build(marked.study, lead)
        with open_archive(Release.objects.get()) as file:
            digests.append(hashlib.sha256(file.read()).hexdigest())
    assert digests[0] == digests[1]
    folder = f"releases/{marked.study.pk}"
    assert len(default_storage.listdir(folder)[1]) == 1


def test_a_build_under_way_is_not_started_twice(marked, lead, analyst):
    first = releases.request(study=marked.study, parameters=ReleaseParameters(), by=lead)
    again = releases.request(study=marked.study, parameters=ReleaseParameters(), by=analyst)
    assert again == first


@pytest.mark.parametrize("other", [{"k": 9}, {"licence": "CC0-1.0"}, {"include_justifications": True}])
def test_other_choices_are_refused_during_a_build(marked, lead, analyst, other):
    releases.request(study=marked.study, parameters=ReleaseParameters(), by=lead)
    with pytest.raises(Conflict, match="other choices"):
        releases.request(study=marked.study, parameters=ReleaseParameters(**other), by=analyst)
    assert Job.objects.filter(kind=releases.JOB_KIND).count() == 1


def test_a_study_that_is_gone_fails_in_one_sentence(marked, lead):
    job = releases.request(study=marked.study, parameters=ReleaseParameters(), by=lead)
    Job.objects.filter(pk=job.pk).update(arguments={**job.arguments, "study": 0})
    with pytest.raises(NotFound):
        run_here(Job.objects.get(pk=job.pk), Unwatched())


def test_a_release_whose_files_were_not_kept_says_so(marked, lead):
    build(marked.study, lead)
    release = Release.objects.get()
    default_storage.delete(release.archive)
    with pytest.raises(NotFound, match="Build the release again"):
        open_archive(release)
