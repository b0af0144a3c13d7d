"""Pages contain every counted annotation once, for any page size."""

import numpy as np
import pytest

from analysis.releases.tables import label_pages
from annotation.models import Annotation, Judgement
from catalog.models import Attribute

pytestmark = pytest.mark.django_db


def read(marked, *, key=b"key"):
    rank = np.arange(Attribute.objects.order_by("-pk").first().pk + 1)
    return list(
        label_pages.pages(
            marked.campaign, using="default", key=key, attribute_rank=rank, justifications=False
        )
    )


@pytest.mark.parametrize("size", [1, 2, 5, 12, 100])
def test_every_answer_is_on_one_page(marked, monkeypatch, size):
    monkeypatch.setattr(label_pages, "PAGE", size)
    found = read(marked)
    keys = np.concatenate([page.annotations["pk"] for page in found])
    assert sorted(keys) == sorted(marked.campaign.annotations.values_list("pk", flat=True))
    judged = np.concatenate([page.judgements["pk"] for page in found])
    assert sorted(judged) == sorted(
        Judgement.objects.filter(annotation__campaign=marked.campaign).values_list("pk", flat=True)
    )
    for page in found:
        owners = dict(
            Judgement.objects.filter(pk__in=page.judgements["pk"].tolist()).values_list("pk", "annotation")
        )
        assert [owners[key] for key in page.judgements["pk"].tolist()] == (
            page.annotations["pk"][page.judgements["owner"]].tolist()
        )


def test_sparse_pages_contain_only_counted_annotations(marked, monkeypatch):
    """Sparse keys: the database leaves out rows of others."""
    monkeypatch.setattr(label_pages, "_SPARSE", 0)
    Annotation.objects.filter(campaign=marked.campaign, annotator=marked.annotators["q"]).update(
        status="excluded"
    )
    (page,) = read(marked)
    assert len(page.annotations["pk"]) == 8
    assert len(page.judgements["pk"]) == 32


def test_pages_without_counted_annotations_are_omitted(marked):
    Annotation.objects.filter(campaign=marked.campaign).update(status="excluded")
    assert read(marked) == []


def test_another_key_gives_another_order(marked):
    (one,), (again,), (other,) = read(marked), read(marked), read(marked, key=b"other")
    assert one.annotations["pk"].tolist() == again.annotations["pk"].tolist()
    assert one.annotations["pk"].tolist() != other.annotations["pk"].tolist()
    assert sorted(one.annotations["pk"]) == sorted(other.annotations["pk"])


def test_nulls_and_days_are_as_stored(marked):
    (page,) = read(marked)
    stored = {one.pk: one for one in Annotation.objects.all()}
    for index, key in enumerate(page.annotations["pk"].tolist()):
        annotation = stored[key]
        assert page.annotations["none_of_the_above"][index] == annotation.none_of_the_above
        assert page.annotations["active_seconds"][index] == annotation.active_seconds
        assert page.annotations["instrument"][index] == -1
        day = np.datetime64(annotation.submitted_at.replace(tzinfo=None), "D")
        assert page.annotations["submitted_at"][index] == day.astype(int)
