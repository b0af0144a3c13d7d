"""What must not leave with a release, whatever table or document it might have left in."""

import pytest

from accounts.models import Annotator, AnnotatorProfile
from annotation.models import QuotaRule
from tests.analysis.releases.conftest import rows, tree

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


def test_the_only_imported_id_has_no_profile_beside_its_origin(marked, released):
    for annotator in marked.annotators.values():
        AnnotatorProfile.objects.create(annotator=annotator, gender="Woman")
    Annotator.objects.filter(pk=marked.annotators["p"].pk).update(origin="imported")
    _, folder = released(marked.study, k=2)
    said = sorted((row["origin"], row["gender"]) for row in rows(folder, "annotators") if row["gender"])
    assert said == [("person", "Woman")] * 2
    assert [row["gender"] for row in rows(folder, "annotators") if row["origin"] == "imported"] == [None]
