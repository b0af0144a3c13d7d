"""Sampling of a campaign's tasks: the ViSAGe protocol, deterministic from the seed."""

import random
from collections import Counter

import pytest
from django.db.models import F

from annotation.answers.validation import Answer
from annotation.assignment.leases import next_assignment
from annotation.campaigns import lifecycle
from annotation.campaigns.planning import task_plan
from annotation.models import CampaignAttribute, TaskAttribute
from catalog.models import Attribute, Stereotype
from foundation.errors import DomainError
from generation.models import Image
from studies.models import Study, StudyGroup
from tests.annotation.factories import add_images, new_annotator, submit

pytestmark = pytest.mark.django_db


def draft(study, lead, kind="stereotype_marking", **settings):
    return lifecycle.create(study=study, name=f"Draft {kind}", kind=kind, by=lead, **settings)


def texts(ids):
    found = dict(Attribute.objects.values_list("pk", "text"))
    return [found[pk] for pk in ids]


def by_group(plan, role):
    names = dict(StudyGroup.objects.values_list("pk", "name"))
    found = {}
    for one in plan.planned_attributes:
        if one.role == role:
            found.setdefault(names[one.group_id], set()).update(texts([one.attribute_id]))
    return found


def test_a_rating_asks_once_about_each_stereotype_of_any_group(study, lead):
    plan = task_plan.plan(draft(study, lead, "attribute_likert"))
    asked = [text for task in plan.tasks for text in texts(task.attribute_ids)]
    # 'kite' and the Orsani's 'tall hat' have too few raters; the Velmari's 'tall hat' has enough.
    assert sorted(asked) == ["blue scarf", "drum", "lantern", "round glasses", "tall hat", "umbrella"]
    assert all(task.image_id is None for task in plan.tasks)
    assert plan.judgements == 18


def test_a_rating_of_all_asks_about_every_listed_attribute(study, lead):
    plan = task_plan.plan(draft(study, lead, "attribute_likert", options={"attributes": "all"}))
    assert plan.attributes == 7


def test_a_marking_asks_stereotypes_and_as_many_random_ones_that_are_not_listed(study, lead):
    add_images(study, 1)
    plan = task_plan.plan(draft(study, lead))
    assert by_group(plan, "stereotype") == {
        "Velmari": {"tall hat", "blue scarf", "lantern"},
        "Orsani": {"round glasses", "drum", "umbrella"},
    }
    drawn = by_group(plan, "random")
    assert drawn["Velmari"] == {"round glasses", "drum", "umbrella"}
    # 'tall hat' is listed for the Orsani, by too few raters for a stereotype: it is not random either.
    assert drawn["Orsani"] == {"blue scarf", "lantern"}
    assert any(
        "Orsani should get 3 random attributes, but the study has only 2" in problem
        for problem in plan.problems
    )


def test_screens_hold_at_most_five_and_the_last_one_is_shorter(study, lead):
    add_images(study, 2)
    plan = task_plan.plan(draft(study, lead))
    sizes = {}
    for task in plan.tasks:
        sizes.setdefault(task.image_id, []).append((task.screen, len(task.attribute_ids)))
    assert sorted(map(tuple, sizes.values())) == [((0, 5),), ((0, 5),), ((0, 5), (1, 1)), ((0, 5), (1, 1))]
    assert plan.images == 4
    assert plan.judgements == (6 + 6 + 5 + 5) * 3


def test_every_image_shows_each_attribute_of_its_group_once(study, lead):
    add_images(study, 3)
    plan = task_plan.plan(draft(study, lead, attributes_per_screen=2))
    expected = Counter()
    for one in plan.planned_attributes:
        for image in Image.objects.filter(group=one.group_id):
            expected[image.pk, one.attribute_id] += 1
    shown = Counter((task.image_id, attribute) for task in plan.tasks for attribute in task.attribute_ids)
    assert shown == expected


def test_the_plan_is_the_same_whatever_the_order_of_rows(study, lead):
    for index in range(30):
        attribute = Attribute.objects.create(text=f"thing {index}")
        group = study.groups.all()[index % 2].group
        Stereotype.objects.create(group=group, attribute=attribute, in_region_stereotype=3)
    add_images(study, 3)
    campaign = draft(study, lead)
    before = task_plan.plan(campaign)
    named = [(task.image_id, task.screen, texts(task.attribute_ids)) for task in before.tasks]
    rows = list(
        Stereotype.objects.values("group_id", "attribute_id", "in_region_stereotype", "out_region_stereotype")
    )
    Stereotype.objects.all().delete()
    random.Random(3).shuffle(rows)
    Stereotype.objects.bulk_create(Stereotype(**row) for row in rows)
    after = task_plan.plan(campaign)
    assert named == [(task.image_id, task.screen, texts(task.attribute_ids)) for task in after.tasks]


def test_another_seed_draws_and_shuffles_otherwise(study, lead):
    velmari = study.groups.get(name="Velmari").group
    for index in range(12):
        attribute = Attribute.objects.create(text=f"thing {index}")
        Stereotype.objects.create(group=velmari, attribute=attribute, in_region_stereotype=3)
    add_images(study, 1)
    campaign = draft(study, lead)
    first = task_plan.plan(campaign)
    campaign.seed += 1
    second = task_plan.plan(campaign)
    assert by_group(first, "random")["Orsani"] != by_group(second, "random")["Orsani"]
    assert [task.attribute_ids for task in first.tasks] != [task.attribute_ids for task in second.tasks]


def test_exchanging_stereotypes_and_other_attributes_changes_nothing_shown(study, lead):
    add_images(study, 2)
    velmari = study.groups.get(name="Velmari").group
    orsani = study.groups.get(name="Orsani").group
    Stereotype.objects.filter(attribute__text="kite").delete()
    Stereotype.objects.filter(group=orsani, attribute__text="tall hat").delete()
    campaign = draft(study, lead, attributes_per_screen=3)
    before = task_plan.plan(campaign)
    Stereotype.objects.filter(group=velmari).update(group=orsani, rating_2=9)
    Stereotype.objects.filter(group=orsani).exclude(rating_2=9).update(group=velmari)
    after = task_plan.plan(campaign)
    assert by_group(before, "stereotype")["Velmari"] == by_group(after, "random")["Velmari"]
    assert before.tasks == after.tasks


def test_the_order_on_screen_does_not_reveal_the_role(study, lead):
    add_images(study, 40)
    plan = task_plan.plan(draft(study, lead, attributes_per_screen=1))
    velmari = study.groups.get(name="Velmari")
    images = set(Image.objects.filter(group=velmari).values_list("pk", flat=True))
    roles = {one.attribute_id: one.role for one in plan.planned_attributes if one.group_id == velmari.pk}
    first = Counter(
        roles[task.attribute_ids[0]] for task in plan.tasks if task.image_id in images and task.screen == 0
    )
    # 40 fair coins: fewer than 8 of either has a probability below 0.0002.
    assert min(first["stereotype"], first["random"]) >= 8


def test_only_images_with_a_file_that_are_not_retracted_and_of_the_condition_are_shown(study, lead):
    add_images(study, 3)
    Image.objects.create(study=study, group=study.groups.first(), source_name="gone/1.png")
    kept, retracted, other = Image.objects.filter(group=study.groups.first()).exclude(file="")
    Image.objects.filter(pk=retracted.pk).update(retracted_at=F("created_at"), retracted_reason="odd")
    Image.objects.filter(pk=other.pk).update(condition="stereotypical")
    plan = task_plan.plan(draft(study, lead))
    assert {task.image_id for task in plan.tasks} & {kept.pk, retracted.pk, other.pk} == {kept.pk}
    assert plan.images == 4


def test_images_can_be_limited_by_number_and_model(study, lead):
    add_images(study, 3)
    add_images(study, 3, model_label="other")
    both = task_plan.plan(draft(study, lead, options={"images_per_group": 2}))
    assert both.images == 2 * 2 * 2
    one = task_plan.plan(
        lifecycle.create(
            study=study,
            name="One",
            kind="stereotype_marking",
            by=lead,
            options={"images_per_group": 2, "model_labels": ["other"]},
        )
    )
    assert set(Image.objects.filter(pk__in=[t.image_id for t in one.tasks]).values_list("model_label")) == {
        ("other",)
    }


def test_a_group_without_images_is_named(study, lead):
    add_images(study, 1)
    Image.objects.filter(group__name="Orsani").delete()
    plan = task_plan.plan(draft(study, lead))
    assert [group.name for group in plan.groups] == ["Velmari"]
    assert any("1 group has no images to show and is left out: Orsani." in one for one in plan.problems)


def test_visual_attributes_come_from_the_ratings_of_everybody(study, lead, rating):
    for number in range(3):
        annotator = new_annotator(rating)
        while (leased := next_assignment(campaign=rating, annotator=annotator)) is not None:
            text = leased.task.task_attributes.get().attribute.text
            low = text == "drum" or (text == "umbrella" and number == 0)
            submit(leased, Answer.parse({"rating": 2 if low else 4}, leased.task))
    add_images(study, 1)
    source = {"visual_source": f"campaign:{rating.slug}"}
    strict = task_plan.plan(draft(study, lead, options=source))
    assert by_group(strict, "stereotype")["Orsani"] == {"round glasses"}
    assert by_group(strict, "random")["Velmari"] == {"round glasses"}
    lenient = task_plan.plan(
        lifecycle.create(
            study=study,
            name="Lenient",
            kind="stereotype_marking",
            by=lead,
            options=source | {"visual_rule": "majority"},
        )
    )
    assert by_group(lenient, "stereotype")["Orsani"] == {"round glasses", "umbrella"}


def test_attributes_without_ratings_are_not_visual_and_are_counted(study, lead, rating):
    add_images(study, 1)
    plan = task_plan.plan(draft(study, lead, options={"visual_source": f"campaign:{rating.slug}"}))
    assert plan.tasks == ()
    assert "6 attributes of “Ratings” have no rating yet" in plan.problems[0]


def test_opening_writes_what_was_planned(study, lead):
    add_images(study, 2)
    campaign = draft(study, lead)
    plan = task_plan.plan(campaign)
    lifecycle.open_(campaign=campaign, by=lead)
    written = TaskAttribute.objects.filter(task__campaign=campaign).order_by("task", "position")
    assert [(one.task.image_id, one.task.screen, one.attribute_id) for one in written] == [
        (task.image_id, task.screen, attribute) for task in plan.tasks for attribute in task.attribute_ids
    ]
    draw = CampaignAttribute.objects.filter(campaign=campaign)
    assert {(one.group_id, one.attribute_id, one.role) for one in draw} == {
        (one.group_id, one.attribute_id, one.role) for one in plan.planned_attributes
    }


def test_another_study_of_the_same_groups_changes_nothing(study, lead):
    add_images(study, 1)
    campaign = draft(study, lead)
    before = task_plan.plan(campaign)
    other = Study.objects.create(name="Other", slug="other", resource=study.resource, seed=1)
    for group in study.resource.groups.all():
        StudyGroup.objects.create(study=other, group=group, name=group.name, display_name=group.name)
    assert task_plan.plan(campaign) == before


def test_later_changes_of_the_catalog_do_not_change_the_plan(study, lead, rating):
    before = task_plan.plan(rating)
    Stereotype.objects.all().delete()
    assert task_plan.plan(rating) == before


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"nonsense": 1}, "options.nonsense"),
        ({"attributes": "all"}, "options.attributes"),
        ({"visual_source": "campaign:none"}, "options.visual_source"),
        ({"visual_source": 3}, "options.visual_source"),
        ({"visual_rule": "some"}, "options.visual_rule"),
        ({"random_per_stereotype": -1}, "options.random_per_stereotype"),
        ({"random_per_stereotype": 1.5}, "options.random_per_stereotype"),
        ({"images_per_group": 0}, "options.images_per_group"),
        ({"images_per_group": True}, "options.images_per_group"),
        ({"model_labels": []}, "options.model_labels"),
        ({"model_labels": ["unknown"]}, "options.model_labels"),
        ({"condition": "odd"}, "options.condition"),
        ({"pay": 3}, "options.pay"),
    ],
)
def test_a_wrong_option_is_named(study, lead, options, field):
    with pytest.raises(DomainError) as refusal:
        draft(study, lead, options=options)
    assert list(refusal.value.fields) == [field]
