"""A release is read from one moment of the database, while others go on writing."""

import numpy as np
import pytest
from django.db import connection, transaction

from analysis.releases.assembly.snapshot import snapshot
from analysis.releases.tables.label_pages import pages
from studies.models import Study
from tests.foundation.database.own_database import own_server


@pytest.mark.django_db(transaction=True)
def test_an_open_transaction_is_refused():
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"), snapshot():
        pass


_WRITE_MEANWHILE = """
from analysis.releases.assembly.snapshot import snapshot
from django.db import connection
with snapshot() as using:
    before = Study.objects.using(using).count()
    Study.objects.create(name="Later", slug="later", seed=1)
    answer = [before, Study.objects.using(using).count(), Study.objects.count()]
answer.append(connection.in_atomic_block)
"""

_WRITE_THROUGH_IT = """
from django.db import DatabaseError
from analysis.releases.assembly.snapshot import snapshot
answer = "written"
try:
    with snapshot() as using:
        Study.objects.using(using).bulk_create([Study(name="Through", slug="through", seed=1)])
except DatabaseError:
    answer = "refused"
"""


def test_concurrent_writes_are_not_in_the_snapshot_and_do_not_wait(tmp_path):
    with own_server(tmp_path) as server:
        assert server.ask(_WRITE_MEANWHILE) == [0, 0, 1, False]


def test_nothing_can_be_written_through_it(tmp_path):
    with own_server(tmp_path) as server:
        assert server.ask(_WRITE_THROUGH_IT) == "refused"


@pytest.mark.django_db
def test_a_test_reads_through_its_own_connection(marked):
    with snapshot() as using:
        assert using == connection.alias
        assert Study.objects.using(using).get() == marked.study
        found = list(
            pages(
                marked.campaign, using=using, key=b"k", attribute_rank=np.arange(10_000), justifications=False
            )
        )
    assert [len(page.annotations["pk"]) for page in found] == [12]


_BUILD = """
from pathlib import Path
from django.db import connection
from django.utils import timezone
from analysis.releases.assembly.build import build
from analysis.releases.parameters import ReleaseParameters
from annotation.kinds.registry import KINDS
from annotation.models import Campaign
study = Study.objects.create(name="Isles", slug="isles", seed=1)
for kind in KINDS:
    made = {"study": study, "slug": kind, "name": kind, "kind": kind, "seed": 1}
    Campaign.objects.create(state="open", opened_at=timezone.now(), **made)
read = []
def note(execute, sql, params, many, context):
    read.append(sql)
    return execute(sql, params, many, context)
for version in (1, 2):
    with connection.execute_wrapper(note):
        build(study=study, parameters=ReleaseParameters(k=version + 1), output=Path(r"{folder}"), by=None)
answer = [sql for sql in read if "annotation_" in sql or "generation_" in sql or "accounts_annotator" in sql]
"""


def test_all_labels_are_read_in_the_snapshot(tmp_path):
    """Queries on the other connection: the study, the consent text, and storing the release."""
    with own_server(tmp_path) as server:
        assert server.ask(_BUILD.replace("{folder}", str(tmp_path / "release"))) == []


_READ_AHEAD = """
import threading
from analysis.releases.assembly.snapshot import read_ahead, snapshot

threads = set()

def counted(using):
    for number in range(3):
        threads.add(threading.current_thread().name.split("_")[0])
        yield number, Study.objects.using(using).count()
    raise ValueError("the fourth cannot be read")

with snapshot() as using:
    found = []
    try:
        for item in read_ahead(using, counted(using)):
            Study.objects.create(name=f"Later {item[0]}", slug=f"later-{item[0]}", seed=1)
            found.append(item)
    except ValueError as error:
        found.append(str(error))
    answer = [found, Study.objects.using(using).count(), Study.objects.count(), sorted(threads)]
"""


def test_read_ahead_keeps_order_snapshot_and_errors(tmp_path):
    with own_server(tmp_path) as server:
        found, then, now, threads = server.ask(_READ_AHEAD)
    assert found == [[0, 0], [1, 0], [2, 0], "the fourth cannot be read"]
    assert (then, now) == (0, 3)
    assert threads == ["reading a release"]
