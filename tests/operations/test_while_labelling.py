"""A backup during labelling: it has every answer acknowledged before its moment, and the files of a bucket."""

import uuid
from datetime import UTC, datetime

import pytest

from tests.foundation.database.own_database import own_server
from tests.operations.places import empty_place
from tests.services.annotators import Annotators, campaign, wait_until, web_server
from tests.services.objects import object_server

pytestmark = [pytest.mark.services, pytest.mark.slow]
TASKS = 1000
SUBMISSIONS = """
from annotation.models import Annotation
answer = [str(value) for value in Annotation.objects.values_list("submission_id", flat=True)]
"""


class TimedAnswers(list):
    """Records when each answer was acknowledged."""

    def append(self, answer):
        super().append((datetime.now(UTC), answer[0]))


def test_every_answer_acknowledged_before_the_moment_is_in_the_backup(tmp_path):
    folder = tmp_path / "backups"
    with own_server(tmp_path) as server:
        made = campaign(server, tasks=TASKS, annotators=4)
        with web_server(server, tmp_path) as web:
            annotators = Annotators(web.port, made)
            annotators.seen.acknowledged = TimedAnswers(annotators.seen.acknowledged)
            wait_until(lambda: annotators.acknowledged() > 10)
            server.run("backup", str(folder))
            assert annotators.at_work(), "the campaign ended before the backup"
            annotators.end = 0  # they stop with the next answer
            wait_until(lambda: not annotators.at_work())
        answers = annotators.seen.acknowledged
    (backup_name,) = (folder / "backups").iterdir()
    moment = datetime.strptime(backup_name.name, "%Y-%m-%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    before = {submission for acknowledged_at, submission in answers if acknowledged_at < moment}
    with empty_place(tmp_path / "place") as place:
        place.run("restore", str(folder))
        restored = set(place.ask(SUBMISSIONS))
    assert len(before) > 10
    assert before - restored == set()
    assert restored < {submission for _, submission in answers}


@pytest.mark.database_free
def test_files_of_a_bucket_are_backed_up_and_restored_into_another(tmp_path):
    with object_server() as objects:

        def settings(bucket):
            return {
                "FILES_BUCKET": bucket,
                "FILES_ENDPOINT_URL": objects.url,
                "FILES_REGION": "us-east-1",
                "FILES_ACCESS_KEY": "an access key",
                "FILES_SECRET_KEY": "a secret key",
                "FILES_PREFIX": "isles",
            }

        first, second = (f"files-{uuid.uuid4().hex[:12]}" for _ in range(2))
        folder = tmp_path / "backups"
        with own_server(tmp_path, **settings(first)) as server:
            server.run("prepare_files")
            server.ask("from tests.operations.source import fill\nanswer = fill(images=3)")
            assert "4 files (4 new" in server.run("backup", str(folder)).stdout
            assert "4 files (0 new" in server.run("backup", str(folder)).stdout
            assert "4 files are unchanged" in server.run("verify_backup", str(folder)).stdout
            names = server.ask(NAMES)
        with empty_place(tmp_path / "place", **settings(second)) as place:
            place.run("prepare_files")
            place.run("restore", str(folder))
            assert place.ask(NAMES) == names
            assert len(names) == 4
            refused = place.run("restore", str(folder), check=False)
            assert "already has" in refused.stderr


NAMES = """
import hashlib
from django.core.files.storage import default_storage
from operations.backups.files import stored_entries
answer = sorted(
    [entry.name, hashlib.sha256(default_storage.open(entry.name).read()).hexdigest()] for entry in stored_entries()
)
"""
