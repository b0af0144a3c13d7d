"""Results and releases of studies in the two published kinds stay what they were, file by file.

`recorded_digests.json` was written at commit 12476fa, before kinds of campaign became declarations: a file that differs
says that a number, a column or a row has changed. Change the record only with what is meant to change, and say so in
the changelog.
"""

from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.test import override_settings

from accounts.models import Annotator
from analysis.releases.assembly.build import build
from analysis.releases.parameters import ReleaseParameters
from annotation.models import Annotation
from tests.analysis.recorded import RECORDED, digests

pytestmark = pytest.mark.django_db
# Tables, and tasks with their answers as Label Studio takes them; documents hold the day of the last label.
RELEASE_FILES = ("csv/*", "jsonl/*", "data/*", "coco/*", "label_studio/*")


@pytest.fixture
def recorded_study(marked):
    """The study of `conftest`; who answered has a name that does not change from run to run."""
    for name, annotator in marked.annotators.items():
        Annotator.objects.filter(pk=annotator.pk).update(pseudonym=f"A-{name}")
    # Releases name the day of each answer: the one on which the digests were recorded.
    Annotation.objects.update(submitted_at=datetime(2026, 11, 23, 12, tzinfo=UTC))
    return marked.study


def test_tables_of_results_are_as_recorded(recorded_study, tmp_path):
    call_command("analyze", "--study", recorded_study.slug, "--output", str(tmp_path), "--resamples", "100")
    tables = digests(tmp_path, "*.csv")
    del tables["codebook.csv"]
    assert tables == RECORDED["analyze"]


@override_settings(SECRET_KEY="the key of the recorded release")
def test_a_release_is_as_recorded(recorded_study, tmp_path):
    build(study=recorded_study, parameters=ReleaseParameters(), output=tmp_path / "release", by=None)
    tables = {
        name: value
        for pattern in RELEASE_FILES
        for name, value in digests(tmp_path / "release", pattern).items()
    }
    assert tables == RECORDED["release"]
