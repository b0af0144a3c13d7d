"""Files in S3-compatible storage: every way in which files are written and read, over HTTP to a real server."""

import io
import uuid
import zipfile

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis import releases
from analysis.models import Release
from analysis.releases.parameters import ReleaseParameters
from analysis.releases.storage.zips import remove_files
from config import env
from foundation import storage
from foundation.storage import StorageUnavailable
from generation.images.signed_urls import FULL, image_url
from generation.images.storage import store_image
from generation.models import Image
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from jobs.run.execution import run_here
from jobs.run.recovery import sweep
from tests.analysis.conftest import marked
from tests.foundation.database.own_database import own_server
from tests.generation.conftest import picture
from tests.services.objects import object_server

__all__ = ["marked", "picture"]
pytestmark = [pytest.mark.services, pytest.mark.django_db, pytest.mark.database_free]


@pytest.fixture(scope="module")
def server():
    with object_server() as server:
        yield server


@pytest.fixture
def bucket(server, settings, tmp_path):
    """Store the files of this test in a separate bucket, and none in a folder."""
    settings.VAR = tmp_path / "var"
    settings.STORAGES = {
        **settings.STORAGES,
        "default": env.files(
            bucket=f"files-{uuid.uuid4().hex[:12]}",
            endpoint_url=server.url,
            access_key="an access key",
            secret_key="a secret key",
            region="us-east-1",
            prefix="isles",
        ),
    }
    default_storage.make_bucket()
    yield default_storage
    assert not settings.MEDIA_ROOT.exists()


def test_an_image_is_kept_once_and_served_reencoded(bucket, study, picture):
    data = picture()
    for _ in range(2):
        image = store_image(
            study=study, data=data, group=study.groups.get(name="Velmari"), model_label="painter"
        ).image
    assert bucket.size(image.file) == len(data)
    folder = image.file.rpartition("/")[0]
    assert bucket.listdir(folder) == ([], [image.file.rpartition("/")[2]])
    for _ in range(2):  # created, then from the cache
        answer = Client().get(image_url(image, viewer="user:1", size=FULL))
        assert (answer.status_code, answer["Content-Type"]) == (200, "image/webp")
        assert answer.content[:4] == b"RIFF"
    bucket.delete(f"shown/{image.sha256[:2]}/{image.sha256[2:4]}/{image.sha256}-1-0.webp")
    bucket.delete(image.file)
    assert Client().get(image_url(image, viewer="user:1", size=FULL)).status_code == 404


def test_an_uploaded_zip_is_imported_from_there_and_removed(bucket, study, picture, lead_client):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for index in range(3):
            archive.writestr(f"Velmari/{index}.png", picture((index, 0, 0)))
    lead_client.post(
        reverse("generation:import_images", args=[study.slug]),
        {
            "layout": "groups",
            "condition": "default",
            "model_label": "painter",
            "archive": SimpleUploadedFile("pictures.zip", file.getvalue(), "application/zip"),
        },
    )
    job = Job.objects.get()
    assert bucket.exists(job.arguments["upload"])
    done = run_here(job, Unwatched())
    assert done.result["summary"].startswith("3 files: 3 kept")
    sweep()
    assert not bucket.exists(job.arguments["upload"])
    assert all(bucket.exists(image.file) for image in Image.objects.all())


def test_a_release_is_built_into_it_downloaded_and_removed(
    bucket, marked, lead, lead_client, django_capture_on_commit_callbacks
):
    run_here(releases.request(study=marked.study, parameters=ReleaseParameters(), by=lead), Unwatched())
    release = Release.objects.get()
    assert bucket.size(release.archive) == release.archive_bytes
    page = lead_client.get(reverse("releases:download", args=[marked.study.slug, release.version]))
    content = page.getvalue()
    assert int(page["Content-Length"]) == len(content) == release.archive_bytes
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert "isles-v1/release.json" in archive.namelist()
    with django_capture_on_commit_callbacks(execute=True):
        remove_files(release=release, by=lead)
    assert not bucket.exists(release.archive)


def test_a_large_file_is_read_in_pieces_from_anywhere(bucket, monkeypatch):
    monkeypatch.setattr(storage, "_PIECE", 1000)
    content = bytes(range(256)) * 40
    name = bucket.save("large.bin", ContentFile(content))
    with bucket.open(name) as file:
        assert file.size == len(content)
        assert file.read(10) == content[:10]
        file.seek(-300, io.SEEK_END)
        assert file.read() == content[-300:]
        file.seek(5000)
        assert file.read(2500) == content[5000:7500]
        assert file.seek(0) == 0
        assert file.read() == content
    assert bucket.save("large.bin", ContentFile(b"other")) != name


def test_a_file_that_changes_while_it_is_read_is_an_error_and_no_mixture(bucket, monkeypatch):
    monkeypatch.setattr(storage, "_PIECE", 100)
    name = bucket.save("changing.bin", ContentFile(b"a" * 1000))
    with bucket.open(name) as file:
        assert file.read(10) == b"a" * 10
        bucket.delete(name)
        assert bucket.save(name, ContentFile(b"b" * 1000)) == name
        with pytest.raises(StorageUnavailable):
            file.read(500)


def test_what_is_not_there_is_not_found(bucket):
    with pytest.raises(FileNotFoundError):
        bucket.open("nothing.png")
    with pytest.raises(FileNotFoundError):
        bucket.size("nothing.png")
    bucket.delete("nothing.png")


def take_away(bucket):
    """Make the storage stop responding."""
    bucket.client_config = bucket.client_config.merge(
        storage.Config(retries={"max_attempts": 0}, connect_timeout=1)
    )
    bucket._connections.connection = None
    bucket._bucket = None
    bucket.endpoint_url = "http://127.0.0.1:1"


def test_storage_that_is_away_makes_no_release_of_damaged_pictures(bucket, marked, lead):
    job = releases.request(study=marked.study, parameters=ReleaseParameters(), by=lead)
    take_away(bucket)
    with pytest.raises(StorageUnavailable):
        run_here(job, Unwatched())
    job.refresh_from_db()
    assert job.error == "The file storage does not answer (EndpointConnectionError)."
    assert not Release.objects.exists()


def test_storage_that_is_away_is_said_in_one_sentence_and_by_readyz(bucket, study, picture, client):
    image = store_image(
        study=study, data=picture(), group=study.groups.get(name="Velmari"), model_label="painter"
    ).image
    assert client.get("/readyz").json()["storage"] == "ok"
    take_away(bucket)
    answer = client.get(image_url(image, viewer="user:1", size=FULL))
    assert answer.status_code == 503
    assert "The file storage does not answer (EndpointConnectionError)." in answer.content.decode()
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["storage"] == "failed: The file storage does not answer (EndpointConnectionError)."


def test_the_servers_settings_and_commands_make_and_use_the_bucket(server, tmp_path):
    (tmp_path / "secret").write_text("a secret key\n")
    environment = {
        "FILES_BUCKET": f"files-{uuid.uuid4().hex[:12]}",
        "FILES_ENDPOINT_URL": server.url,
        "FILES_REGION": "us-east-1",
        "FILES_ACCESS_KEY": "an access key",
        "FILES_SECRET_KEY_FILE": str(tmp_path / "secret"),
    }
    with own_server(tmp_path, **environment) as platform:
        assert platform.run("prepare_files").stdout.startswith("Created the bucket files-")
        assert platform.run("prepare_files").stdout.endswith("exists.\n")
        kept = platform.ask(
            "from django.core.files.base import ContentFile\n"
            "from django.core.files.storage import default_storage\n"
            "answer = default_storage.open(default_storage.save('a.txt', ContentFile(b'kept'))).read().decode()"
        )
        assert kept == "kept"
        refused = platform.run("check", check=False, FILES_BUCKET="", FILES_SECRET_KEY_FILE="")
        assert refused.returncode == 1
        assert "stereoscope.E004" in refused.stderr
        assert "stereoscope.E005" in refused.stderr
