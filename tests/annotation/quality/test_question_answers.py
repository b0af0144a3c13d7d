"""Quality measures of kinds with declared questions, compared with hand calculations."""

import pytest

from annotation.campaigns import lifecycle
from annotation.kinds.registry import KINDS
from annotation.models import Annotation, QualityMeasure
from annotation.quality import rules
from annotation.quality.measured_answers import measures_of
from annotation.quality.measures import qualities
from foundation.errors import DomainError
from tests.annotation.factories import add_prompted_images, new_annotator
from tests.annotation.labelling.production_paths import ByVerbs

pytestmark = pytest.mark.django_db


def opened(study, lead, kind, *, per_prompt=2):
    add_prompted_images(study, ["a {id} house", "a {id} boat"], per_prompt=per_prompt)
    draft = lifecycle.create(study=study, name="Questions", kind=kind, by=lead, annotators_per_task=2)
    return lifecycle.open_(campaign=draft, by=lead)


def answer_all(campaign, annotator, answer_of):
    """Answer every screen; `answer_of` gets the number of the screen."""
    places = {
        pk: place for place, pk in enumerate(campaign.tasks.order_by("pk").values_list("pk", flat=True))
    }
    path = ByVerbs()
    while (leased := path.next_task(campaign, annotator)) is not None:
        path.submit(
            leased, by=annotator, answer={"answers": answer_of(places[leased.task_id]), "regions": {}}
        )


def compared(choice):
    return {"fits_prompt": choice, "overall": "tie"}


@pytest.fixture
def pairs(study, lead):
    """16 screens. Ada always takes the left one; Ben takes left, right and neither in turn."""
    campaign = opened(study, lead, "pairwise")
    ada, ben = new_annotator(campaign), new_annotator(campaign)
    answer_all(campaign, ada, lambda place: compared("s1"))
    answer_all(campaign, ben, lambda place: compared(("s1", "s2", "tie")[place % 3]))
    return campaign, ada, ben


def test_always_choosing_the_left_one_has_no_variety(pairs, monkeypatch):
    campaign, ada, ben = pairs
    monkeypatch.setattr("annotation.quality.measures.OTHERS_DUE", 5.0)
    measured = qualities(campaign)
    # On 16 screens Ben took s1 6 times (0, 3, …, 15): that often both gave the same answer.
    assert measured[ada.pk]["agreement"].value == measured[ben.pk]["agreement"].value == 6 / 16
    assert measured[ada.pk]["straight_lining"].value == 1.0
    assert measured[ben.pk]["straight_lining"].value == 6 / 16
    assert (measured[ada.pk]["variety"].value, measured[ada.pk]["variety"].rests_on) == (0.0, 16)
    assert measured[ada.pk]["median_seconds"].rests_on == 16
    assert measured[ada.pk]["gold_accuracy"].value is None


def test_the_first_question_with_a_single_answer_is_measured(study, lead):
    campaign = opened(study, lead, "rubric", per_prompt=1)
    ada, ben = new_annotator(campaign), new_annotator(campaign)
    others = {"appeal": 3, "favour": 4, "harms": ["none"]}
    answer_all(campaign, ada, lambda place: others | {"realism": 5})
    answer_all(campaign, ben, lambda place: others | {"realism": 5 if place % 2 else 1, "appeal": 1})
    measured = qualities(campaign)
    assert measured[ada.pk]["agreement"].value == 0.5
    assert (measured[ada.pk]["straight_lining"].value, measured[ben.pk]["straight_lining"].value) == (
        1.0,
        0.5,
    )


def test_a_kind_without_a_single_answer_is_timed_only(study, lead):
    campaign = opened(study, lead, "open_question", per_prompt=1)
    annotator = new_annotator(campaign)
    answer_all(campaign, annotator, lambda place: {"description": f"House {place}."})
    measured = qualities(campaign)[annotator.pk]
    assert {name for name, found in measured.items() if found.value is not None} == {"median_seconds"}
    assert Annotation.objects.count() == 8


@pytest.mark.parametrize(
    ("kind", "measures"),
    [
        ("pairwise", set(QualityMeasure.values)),
        ("ranking", {"median_seconds", "gold_accuracy", "self_consistency"}),
        ("open_question", {"median_seconds"}),
        ("rubric", set(QualityMeasure.values)),
        ("stereotype_marking", set(QualityMeasure.values)),
    ],
)
def test_a_kind_has_the_measures_that_mean_something(kind, measures):
    assert set(measures_of(KINDS[kind])) == measures


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_standard_rules_of_a_kind_use_its_measures(kind):
    assert {rule.measure for rule in KINDS[kind].standard_rules} <= set(measures_of(KINDS[kind]))


def test_a_rule_by_a_measure_that_the_kind_lacks_is_refused(study, lead):
    campaign = opened(study, lead, "open_question", per_prompt=1)
    with pytest.raises(DomainError, match="do not have the measure “accuracy on gold tasks”"):
        rules.set_rule(
            campaign=campaign, by=lead, measure="gold_accuracy", action="warn", threshold=0.5, minimum=5
        )
