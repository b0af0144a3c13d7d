"""What must not leave with a release, whatever table or document it might have left in."""

import pytest

from accounts.models import AnnotatorProfile
from annotation.models import QuotaRule
from tests.analysis.releases.conftest import tree

pytestmark = pytest.mark.django_db


def readable(folder) -> str:
    """All text of a release, in one case; Parquet holds the same as CSV."""
    return (
        b"\n".join(content for name, content in tree(folder).items() if name[:5] != "data/").decode().lower()
    )


def test_values_of_quotas_stay_and_their_fields_are_named(marked, released):
    AnnotatorProfile.objects.create(annotator=marked.annotators["p"], nationality="Orsanian")
    QuotaRule.objects.create(
        campaign=marked.campaign, kind="at_least", field="nationality", k=1, values=["orsanian"]
    )
    _, folder = released(marked.study, k=5)
    assert "orsanian" not in readable(folder)
    assert "by nationality" in (folder / "README.md").read_text()
