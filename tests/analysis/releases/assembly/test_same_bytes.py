"""A version and its digest identify the same bytes: every change of a file makes a new version."""

import pytest
from django.utils import timezone

from accounts.models import Annotator, AnnotatorProfile
from analysis.models import Release
from analysis.releases.assembly.build import build
from analysis.releases.parameters import ReleaseParameters
from annotation.models import Annotation, Box
from catalog.models import Attribute
from foundation.errors import Conflict
from generation.models import Image
from studies.models import Study
from tests.analysis.releases.conftest import tree

pytestmark = pytest.mark.django_db


def another_origin(marked):
    Annotator.objects.filter(pk=marked.annotators["p"].pk).update(origin="imported")


def another_pseudonym(marked):
    Annotator.objects.filter(pk=marked.annotators["p"].pk).update(pseudonym="A-another")


def another_text_of_an_attribute(marked):
    Attribute.objects.filter(text="clever").update(text="cunning")


def another_field_that_is_withheld(marked):
    AnnotatorProfile.objects.update(gender="", nationality="Peru")


def a_justification_that_does_not_count(marked):
    Annotation.objects.exclude(justification="").update(justification="")


def no_retracted_image_any_more(marked):
    Image.objects.filter(retracted_at__isnull=False).delete()


def a_moved_box(marked):
    Box.objects.filter(pk=Box.objects.earliest("pk").pk).update(width=0.05)


def another_prompt_of_the_images(marked):
    Image.objects.filter(retracted_at=None).update(prompt="Another prompt.")


def another_rating_of_an_association(marked):
    marked.study.associations.update(rating_1=-1)


def another_description_of_the_study(marked):
    Study.objects.filter(pk=marked.study.pk).update(description="Another description.")


@pytest.mark.parametrize(
    "change",
    [
        another_origin,
        another_pseudonym,
        another_text_of_an_attribute,
        another_field_that_is_withheld,
        a_justification_that_does_not_count,
        no_retracted_image_any_more,
        a_moved_box,
        another_prompt_of_the_images,
        another_rating_of_an_association,
        another_description_of_the_study,
    ],
    ids=lambda change: change.__name__,
)
def test_a_change_to_a_file_makes_a_new_version(marked, released, change):
    AnnotatorProfile.objects.create(annotator=marked.annotators["q"], gender="Woman")
    Image.objects.create(
        study=marked.study,
        group=marked.study.groups.order_by("pk").first(),
        model_label="sketch",
        source_name="unseen.png",
        retracted_at=timezone.now(),
    )
    first, here = released(marked.study)
    change(marked)
    second, there = released(marked.study)
    assert tree(here) != tree(there)
    assert (first.version, second.version) == (1, 2)
    assert second.inputs_digest != first.inputs_digest


def test_another_justification_makes_a_new_version_if_they_are_released(marked, released):
    Annotation.objects.filter(campaign=marked.likert).update(justification="Seen before.")
    first, _ = released(marked.study, include_justifications=True)
    Annotation.objects.filter(campaign=marked.likert).update(justification="Never seen.")
    second, _ = released(marked.study, include_justifications=True)
    assert second.version == first.version + 1


def test_the_text_of_an_attribute_that_was_not_asked_makes_no_new_version(marked, released):
    Attribute.objects.create(text="anvil")
    first, here = released(marked.study)
    Attribute.objects.filter(text="anvil").update(text="zither")
    second, there = released(marked.study)
    assert second == first
    assert tree(here) == tree(there)


def test_reasons_for_leaving_stay_as_first_released(marked, released):
    """Their labels left before they did: a new query of the database would give another reason."""
    released(marked.study)
    Annotation.objects.filter(annotator=marked.annotators["q"]).delete()
    second, here = released(marked.study)
    Annotator.objects.filter(pk=marked.annotators["q"].pk).delete()
    again, there = released(marked.study)
    assert again == second
    assert tree(here) == tree(there)
    assert second.facts["changes"]["annotators_gone"] == {"other": 1}


def test_of_two_builds_at_once_with_two_licences_one_is_refused(marked, tmp_path):
    """Both builds see no earlier release, and count the same labels."""

    def somebody_is_faster(ready, version):
        build(
            study=marked.study,
            parameters=ReleaseParameters(licence="CC0-1.0"),
            output=tmp_path / "theirs",
            by=None,
        )
        return lambda release: None

    with pytest.raises(Conflict) as refused:
        build(
            study=marked.study,
            parameters=ReleaseParameters(licence="CC-BY-4.0"),
            output=tmp_path / "ours",
            by=None,
            keep=somebody_is_faster,
        )
    assert refused.value.code == "release_built_meanwhile"
    assert not (tmp_path / "ours").exists()
    assert Release.objects.get().parameters["licence"] == "CC0-1.0"
