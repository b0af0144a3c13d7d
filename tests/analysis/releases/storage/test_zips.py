"""Files of releases in storage: complete with their row or absent, and removed on a lead's request."""

import errno
import os
import time

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from analysis.models import Release
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.storage import zips
from analysis.releases.storage.archive import build_archive
from annotation.models import Campaign
from foundation.errors import Conflict, NotFound
from studies.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_var(settings, tmp_path):
    settings.VAR = tmp_path / "var"


def build(marked, lead) -> Release:
    return build_archive(study=marked.study, parameters=ReleaseParameters(formats=["csv"]), by=lead)


def place(name="remove_files"):
    return reverse(f"releases:{name}", kwargs={"study": "isles", "version": 1})


def stored(marked) -> list[str]:
    folder = f"releases/{marked.study.pk}"
    return default_storage.listdir(folder)[1] if default_storage.exists(folder) else []


def test_a_lead_removes_the_files_and_their_description_stays(
    marked, lead, lead_client, django_capture_on_commit_callbacks
):
    release = build(marked, lead)
    assert "Remove files…" in lead_client.get(place("release")).content.decode()
    assert "Remove these files?" in lead_client.get(place()).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        assert lead_client.post(place()).status_code == 302
    assert stored(marked) == []
    removed = Release.objects.get()
    assert (removed.archive, removed.archive_bytes) == ("", None)
    assert removed.inputs_digest == release.inputs_digest
    entry = AuditEntry.objects.get(action="release.files_removed")
    assert (entry.actor, entry.details["version"]) == (lead, 1)
    page = lead_client.get(place("release")).content.decode()
    assert "A lead removed the files on" in page
    assert "Remove files…" not in page
    assert "removed on" in lead_client.get(reverse("releases:list", args=["isles"])).content.decode()
    assert lead_client.get(place("download")).status_code == 404
    assert lead_client.post(place()).status_code == 404
    assert AuditEntry.objects.filter(action="release.files_removed").count() == 1


def test_only_a_lead_removes_files(marked, lead, analyst_client, stranger_client):
    build(marked, lead)
    assert "Remove files…" not in analyst_client.get(place("release")).content.decode()
    for client, status in ((analyst_client, 403), (stranger_client, 404), (Client(), 302)):
        assert client.get(place()).status_code == status
        assert client.post(place()).status_code == status
    assert len(stored(marked)) == 1
    assert Release.objects.get().archive


def test_removed_files_come_back_when_the_same_labels_are_built_again(marked, lead):
    zips.remove_files(release=build(marked, lead), by=lead)
    again = build(marked, lead)
    assert (again.version, zips.REMOVED in again.facts) == (1, False)
    with zips.open_archive(again) as file:
        assert len(file.read()) == again.archive_bytes


def test_missing_files_cannot_be_removed(marked, lead):
    release = build(marked, lead)
    zips.remove_files(release=release, by=lead)
    with pytest.raises(NotFound, match="not stored on this server"):
        zips.remove_files(release=release, by=lead)


def test_files_are_deleted_only_when_their_removal_or_replacement_is_certain(
    marked, lead, django_capture_on_commit_callbacks
):
    release = build(marked, lead)
    with django_capture_on_commit_callbacks() as callbacks:
        zips.keep(release, name="releases/another.zip", size=1)
        assert len(stored(marked)) == 1
    Release.objects.update(archive=release.archive)
    with django_capture_on_commit_callbacks() as more:
        zips.remove_files(release=release, by=lead)
        assert len(stored(marked)) == 1
    assert (len(callbacks), len(more)) == (1, 1)


@pytest.mark.parametrize("step", ["save", "_zip"])
def test_a_full_disk_leaves_neither_version_nor_file(step, marked, lead, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    where = (
        "analysis.releases.storage.archive._zip"
        if step == "_zip"
        else "django.core.files.move.file_move_safe"
    )
    if step == "save":
        where = "django.core.files.storage.filesystem.locks.lock"
    monkeypatch.setattr(where, full)
    with pytest.raises(Conflict, match="No space left"):
        build(marked, lead)
    assert not Release.objects.exists()
    assert not AuditEntry.objects.filter(action="release.built").exists()
    assert stored(marked) == []


def test_a_version_that_cannot_be_stored_leaves_no_file(marked, lead, monkeypatch):
    def refuse(*_, **__):
        raise Conflict("release_built_meanwhile", "Somebody was faster.")

    monkeypatch.setattr("analysis.releases.assembly.build.put_in_place", refuse)
    with pytest.raises(Conflict, match="faster"):
        build(marked, lead)
    assert not Release.objects.exists()
    assert stored(marked) == []


def test_searching_for_leftovers_makes_no_folder(settings):
    assert zips.remove_leftovers() == 0
    assert not settings.VAR.exists()


def test_leftovers_of_killed_builds_are_deleted_after_a_day(settings):
    old, fresh, busy = (zips.building_place() / name for name in ("tmpold", "tmpnew", "tmpbusy"))
    long_ago = time.time() - 2 * 24 * 60 * 60
    for one in (old, fresh, busy):
        one.mkdir()
        (one / "annotators.csv").write_text("somebody")
    for one in (old / "annotators.csv", old, busy):
        os.utime(one, (long_ago, long_ago))
    assert "analysis.releases.storage.zips.remove_leftovers" in settings.JOB_SWEEPS
    assert zips.remove_leftovers() == 1
    assert [one.exists() for one in (old, fresh, busy)] == [False, True, True]


def test_a_deleted_study_takes_its_zips_with_it(marked, lead, django_capture_on_commit_callbacks):
    release = build(marked, lead)
    name = release.archive or Release.objects.get().archive
    assert default_storage.exists(name)
    with django_capture_on_commit_callbacks(execute=True):
        Release.objects.get().delete()
        assert default_storage.exists(name)  # until it is sure that the row is gone
    assert not default_storage.exists(name)
    build(marked, lead)
    name = Release.objects.get().archive
    with django_capture_on_commit_callbacks(execute=True):
        Campaign.objects.filter(study=marked.study).delete()
        marked.study.images.all().delete()
        marked.study.delete()
    assert not default_storage.exists(name)
