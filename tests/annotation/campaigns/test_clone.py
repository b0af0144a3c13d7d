"""Copies of campaigns."""

import pytest

from annotation.assignment import quota_rules
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.clone import clone
from annotation.campaigns.images import retraction
from annotation.campaigns.instruments import versions
from annotation.campaigns.planning import task_plan
from annotation.models import Campaign, KnownAnswer, QualityRule, Task
from catalog.models import Attribute
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry
from tests.annotation.factories import add_images, new_annotator

pytestmark = pytest.mark.django_db

RULES = ("at_least 1 gender != man", "distinct nationality")


@pytest.fixture
def rich(study, lead):
    """An open campaign in which every setting differs from its default."""
    add_images(study, 2)
    draft = lifecycle.create(
        study=study,
        name="Marking",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=2,
        attributes_per_screen=3,
        boxes_required=False,
        lease_minutes=12,
        options={"random_per_stereotype": 2, "gold_share": 0.1, "pay": "2 crowns"},
        quotas=RULES,
    )
    hat, drum = Attribute.objects.get(text="tall hat"), Attribute.objects.get(text="drum")
    for image in study.images.order_by("pk")[:2]:
        known_tasks.add(
            campaign=draft,
            purpose="gold",
            by=lead,
            content=known_tasks.TaskContent(image=image, attributes=[hat, drum]),
            answers={hat: True},
            explanations={hat: "It stands on the head."},
        )
    QualityRule.objects.create(
        campaign=draft, measure="gold_accuracy", threshold=0.7, minimum=5, action="pause"
    )
    opened = lifecycle.open_(campaign=draft, by=lead)
    versions.revise(campaign=opened, by=lead, guidelines="Look.", statement="What is shown?")
    return opened


def test_a_copy_is_a_draft_with_the_same_settings_words_and_rules(rich, lead):
    new_annotator(rich)
    copy = clone(campaign=rich, by=lead)
    assert (copy.state, copy.name, copy.slug, copy.cloned_from) == (
        "draft",
        "Marking (copy)",
        "marking-copy",
        rich,
    )
    for name in (
        "kind",
        "annotators_per_task",
        "attributes_per_screen",
        "boxes_required",
        "lease_minutes",
        "options",
    ):
        assert getattr(copy, name) == getattr(rich, name), name
    assert [quota_rules.line(rule) for rule in quota_rules.stored(copy)] == list(RULES)
    words = copy.instruments.get()
    assert (words.version, words.guidelines, words.statement) == (1, "Look.", "What is shown?")
    rule = copy.quality_rules.get(standard=False)
    assert (rule.measure, rule.threshold, rule.minimum, rule.action) == ("gold_accuracy", 0.7, 5, "pause")
    fields = ("measure", "threshold", "minimum", "action", "standard")
    assert list(copy.quality_rules.values(*fields)) == list(rich.quality_rules.values(*fields))
    assert not copy.enrolments.exists()
    assert not copy.tasks.filter(purpose="label").exists()
    entry = AuditEntry.objects.get(action="campaign.cloned")
    assert entry.details == {"source": "marking", "same_draw": False, "known_tasks_left_out": 0}


def test_gold_tasks_are_copied_unless_their_image_was_retracted(rich, lead):
    first, second = rich.study.images.order_by("pk")[:2]
    retraction.retract(image=first, by=lead, reason="A real person.")
    copy = clone(campaign=rich, by=lead)
    (gold,) = copy.tasks.filter(purpose="gold")
    assert (gold.image, gold.wanted, gold.task_attributes.count()) == (second, 0, 2)
    known = KnownAnswer.objects.get(task=gold)
    assert (known.attribute.text, known.present, known.explanation) == (
        "tall hat",
        True,
        "It stands on the head.",
    )


def test_a_copy_is_another_draw_unless_the_same_is_requested(rich, lead):
    other, same = clone(campaign=rich, by=lead), clone(campaign=rich, by=lead, same_draw=True)
    asked = [
        [(one.image_id, one.attribute_ids) for one in task_plan.plan(campaign).tasks]
        for campaign in (rich, other, same)
    ]
    assert asked[0] == asked[2] != asked[1]
    assert rich.seed == same.seed != other.seed


def test_a_copy_can_be_opened_and_is_independent(rich, lead):
    copy = lifecycle.open_(campaign=clone(campaign=rich, by=lead), by=lead)
    assert copy.tasks.filter(purpose="label").count() == rich.tasks.filter(purpose="label").count()
    versions.revise(campaign=copy, by=lead, guidelines="Look again.")
    assert versions.current(rich).guidelines == "Look."
    assert Task.objects.filter(campaign=rich, purpose="gold").count() == 2


def test_copies_get_distinct_names(rich, lead):
    names = [clone(campaign=rich, by=lead).name for _ in range(3)]
    assert names == ["Marking (copy)", "Marking (copy 2)", "Marking (copy 3)"]
    assert clone(campaign=rich, by=lead, name=" Next  round ").name == "Next round"
    with pytest.raises(DomainError):
        clone(campaign=rich, by=lead, name=" ")


def test_imported_labels_are_not_repeated(rich, lead):
    Campaign.objects.update(imported=True)
    rich.refresh_from_db()
    with pytest.raises(Conflict, match="imported"):
        clone(campaign=rich, by=lead)
