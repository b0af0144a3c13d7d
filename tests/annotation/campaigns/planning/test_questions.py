"""The tasks that a campaign of questions about images plans and stores."""

from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.campaigns import clone, extension, feasibility, lifecycle
from annotation.campaigns.planning import task_plan
from annotation.campaigns.planning.estimate import estimate
from annotation.kinds.registry import KINDS, kind_of
from annotation.models import Campaign, Task, TaskAttribute, TaskStimulus
from foundation.errors import DomainError
from generation.models import Image
from tests.annotation.factories import add_images, add_prompted_images, new_annotator, options_for

pytestmark = pytest.mark.django_db

PROMPTS = ("a photo of a {id} person", "a {id} house")
OF_QUESTIONS = [key for key, kind in KINDS.items() if not kind.about_attributes]


def draft(study, lead, kind, **settings):
    settings.setdefault("options", options_for(KINDS[kind]))
    return lifecycle.create(study=study, name=f"Draft {kind}", kind=kind, by=lead, **settings)


def images_of(task):
    return [stimulus.image_id for stimulus in task.stimuli if stimulus.image_id]


def test_a_pair_shows_two_models_images_of_one_prompt_and_the_prompt(study, lead):
    add_prompted_images(study, PROMPTS, per_prompt=2)
    plan = task_plan.plan(draft(study, lead, "pairwise"))
    images = Image.objects.in_bulk()
    # 2 groups × 2 prompts × (2 × 2 images of the two models)
    assert (plan.screens, plan.images, plan.attributes, plan.problems) == (16, 16, 0, ())
    assert plan.judgements == 16 * 2 * 3  # 2 questions, 3 annotators
    for task in plan.tasks:
        first, second, prompt = task.stimuli
        pair = [images[first.image_id], images[second.image_id]]
        assert {image.model_label for image in pair} == {"north", "south"}
        assert {image.prompt for image in pair} == {prompt.text}
        assert prompt.image_id is None
        assert (task.image_id, task.attribute_ids, task.sensitive) == (None, (), False)
        assert {image.group_id for image in pair} == {task.group_id}
    first_models = Counter(images[task.stimuli[0].image_id].model_label for task in plan.tasks)
    assert first_models == {"north": 8, "south": 8}


def test_the_number_of_screens_of_a_prompt_is_limited(study, lead):
    add_prompted_images(study, PROMPTS, per_prompt=3)
    plan = task_plan.plan(draft(study, lead, "pairwise", options={"combinations": 4}))
    assert set(Counter(task.stimuli[2].text for task in plan.tasks).values()) == {4}


def test_a_ranking_shows_as_many_models_as_there_are_up_to_four(study, lead):
    add_prompted_images(study, PROMPTS[:1], models=("a", "b", "c", "d", "e"))
    add_prompted_images(study, PROMPTS[1:], models=("a", "b", "c"))
    plan = task_plan.plan(draft(study, lead, "ranking"))
    assert {len(task.stimuli) - 1 for task in plan.tasks if "photo" in task.stimuli[-1].text} == {4}
    assert {len(task.stimuli) - 1 for task in plan.tasks if "house" in task.stimuli[-1].text} == {3}


def test_prompts_with_too_few_models_are_left_out_and_named(study, lead):
    add_prompted_images(study, PROMPTS[:1])
    add_prompted_images(study, PROMPTS[1:], models=("north",))
    plan = task_plan.plan(draft(study, lead, "pairwise"))
    assert plan.screens == 2
    assert plan.problems == (
        "2 prompts have no images by two different models and are left out: “a Orsani house”, “a Velmari house”.",
    )


def test_images_without_a_prompt_are_left_out_where_the_prompt_matters(study, lead):
    add_prompted_images(study, PROMPTS)
    add_images(study, 1)
    for kind in ("pairwise", "image_text"):
        assert (
            "2 images have no known prompt and are left out."
            in task_plan.plan(draft(study, lead, kind)).problems
        )
    plan = task_plan.plan(draft(study, lead, "rubric"))
    assert (plan.images, plan.problems) == (10, ())


def test_a_campaign_with_nothing_to_ask_says_why(study, lead):
    campaign = draft(study, lead, "pairwise")
    with pytest.raises(DomainError, match="has no images to show"):
        lifecycle.open_(campaign=campaign, by=lead)
    add_prompted_images(study, PROMPTS, models=("north",))
    with pytest.raises(DomainError, match="no images by two different models"):
        lifecycle.open_(campaign=campaign, by=lead)


def test_each_image_is_a_screen_of_its_own_and_a_sample_is_drawn_by_group_and_model(study, lead):
    add_prompted_images(study, PROMPTS, per_prompt=3)
    Image.objects.filter(pk=Image.objects.first().pk).update(retracted_at="2026-01-01T00:00Z")
    plan = task_plan.plan(draft(study, lead, "rubric"))
    assert sorted(image for task in plan.tasks for image in images_of(task)) == sorted(
        Image.objects.filter(retracted_at=None).values_list("pk", flat=True)
    )
    sample = task_plan.plan(
        draft(study, lead, "open_question", options={"images_per_group": 2, "model_labels": ["north"]})
    )
    assert sample.screens == 2 * 2
    assert [(group.name, group.images, group.screens) for group in sample.groups] == [
        ("Orsani", 2, 2),
        ("Velmari", 2, 2),
    ]
    # 3 scales, 1 choice; the reason depends on an answer.
    assert plan.judgements == plan.screens * 4 * 3


@pytest.mark.parametrize("kind", OF_QUESTIONS)
def test_opening_writes_tasks_and_stimuli_as_planned(study, lead, kind):
    add_prompted_images(study, PROMPTS, models=("a", "b", "c"))
    campaign = draft(study, lead, kind)
    plan = task_plan.plan(campaign)
    campaign = lifecycle.open_(campaign=campaign, by=lead)
    tasks = list(Task.objects.filter(campaign=campaign).order_by("pk").prefetch_related("stimuli"))
    assert [
        [(stimulus.position, stimulus.image_id, stimulus.text) for stimulus in task.stimuli.all()]
        for task in tasks
    ] == [
        [(position, stimulus.image_id, stimulus.text) for position, stimulus in enumerate(task.stimuli)]
        for task in plan.tasks
    ]
    sensitive = kind == "bias_level"
    assert {(task.image_id, task.sensitive, task.wanted) for task in tasks} == {(None, sensitive, 3)}
    assert not TaskAttribute.objects.exists()


def test_the_plan_is_the_same_whatever_the_order_of_rows(study, lead):
    add_prompted_images(study, PROMPTS, per_prompt=3)
    campaign = draft(study, lead, "pairwise", options={"combinations": 5})
    digests = dict(Image.objects.values_list("pk", "sha256"))
    before = [[digests[pk] for pk in images_of(task)] for task in task_plan.plan(campaign).tasks]
    rows = list(Image.objects.order_by("-sha256"))
    Image.objects.all().delete()
    for row in rows:
        row.pk = None
    Image.objects.bulk_create(rows)
    digests = dict(Image.objects.values_list("pk", "sha256"))
    assert before == [[digests[pk] for pk in images_of(task)] for task in task_plan.plan(campaign).tasks]


@pytest.mark.parametrize("kind", OF_QUESTIONS)
def test_a_campaign_keeps_its_kind_as_it_was_declared(study, lead, kind, monkeypatch):
    add_prompted_images(study, PROMPTS, models=("a", "b", "c"))
    campaign = Campaign.objects.get(pk=draft(study, lead, kind).pk)
    assert kind_of(campaign) == KINDS[kind]
    words = campaign.instruments.get()
    assert (words.statement, words.labels, words.guidelines) == ("", {}, KINDS[kind].guidelines)
    monkeypatch.setitem(KINDS, kind, KINDS[kind].model_copy(update={"name": "Declared otherwise"}))
    assert kind_of(campaign).name != "Declared otherwise"
    copy = clone.clone(campaign=campaign, by=lead)
    assert kind_of(Campaign.objects.get(pk=copy.pk)).name != "Declared otherwise"


def test_kinds_about_attributes_keep_no_declaration(study, lead):
    assert draft(study, lead, "stereotype_marking").declaration is None


def test_a_copy_with_the_same_draw_asks_the_same_in_the_same_order(study, lead):
    add_prompted_images(study, PROMPTS, per_prompt=3)
    campaign = draft(study, lead, "pairwise", options={"combinations": 5})
    copy = clone.clone(campaign=campaign, by=lead, same_draw=True)
    assert task_plan.plan(copy).tasks == task_plan.plan(campaign).tasks
    assert task_plan.plan(clone.clone(campaign=campaign, by=lead)).tasks != task_plan.plan(campaign).tasks


def test_an_opened_campaign_is_extended(study, lead):
    add_prompted_images(study, PROMPTS)
    campaign = lifecycle.open_(campaign=draft(study, lead, "pairwise"), by=lead)
    extension.extend(campaign=campaign, annotators_per_task=5, by=lead)
    assert set(campaign.tasks.values_list("wanted", flat=True)) == {5}


@pytest.mark.parametrize(
    ("kind", "option"),
    [
        ("pairwise", "images_per_group"),
        ("rubric", "combinations"),
        ("rubric", "sensitive_per_day"),
        ("ranking", "random_per_stereotype"),
    ],
)
def test_options_that_mean_nothing_for_a_kind_are_refused(study, lead, kind, option):
    with pytest.raises(DomainError) as refused:
        draft(study, lead, kind, options={option: 1})
    assert refused.value.fields == {f"options.{option}": "There is no such option."}


def test_a_quota_may_speak_of_the_group_where_a_screen_shows_one(study, lead):
    add_prompted_images(study, PROMPTS)
    campaign = draft(study, lead, "pairwise", quotas=["at_least 1 nationality = group.nationality"])
    assert feasibility.before_opening(campaign, task_plan.plan(campaign)).sentences == (
        "Nobody who takes part has said anything about themselves yet. Quotas depend on these answers.",
    )
    campaign = lifecycle.open_(campaign=campaign, by=lead)
    assert campaign.tasks.values("quota_mix").distinct().count() == 2
    assert not campaign.tasks.filter(quota_mix__contains="/closed/").exists()
    for _ in range(2):
        new_annotator(campaign)


def test_images_of_no_group_meet_no_quota_about_the_group(study, lead):
    add_prompted_images(study, PROMPTS)
    Image.objects.filter(group__name="Orsani").update(group=None)
    campaign = draft(study, lead, "rubric", quotas=["at_least 1 nationality = group.nationality"])
    sentences = feasibility.before_opening(campaign, task_plan.plan(campaign)).sentences
    assert "for the images of no identity group" in sentences[0]


def test_a_quota_about_the_group_is_refused_where_a_screen_may_show_several(study, lead, monkeypatch):
    mixed = KINDS["pairwise"].stimuli.model_copy(
        update={"together": (), "differ": None, "prompt_shown": False}
    )
    monkeypatch.setitem(KINDS, "pairwise", KINDS["pairwise"].model_copy(update={"stimuli": mixed}))
    with pytest.raises(DomainError, match="its screens do not show one group"):
        draft(study, lead, "pairwise", quotas=["at_least 1 nationality = group.nationality"])


@pytest.mark.parametrize("kind", OF_QUESTIONS)
def test_the_estimate_allows_time_for_each_question(study, lead, kind):
    asking = estimate(draft(study, lead, kind))
    assert 5 <= asking.seconds_per_screen <= 60
    assert asking.shows_images == (KINDS[kind].stimuli.medium == "image")


def test_deleting_a_draft_deletes_its_stimuli(study, lead):
    add_prompted_images(study, PROMPTS)
    lifecycle.delete_draft(campaign=draft(study, lead, "pairwise"), by=lead)
    assert not TaskStimulus.objects.exists()


def test_each_text_is_a_screen_in_random_order(study, lead):
    texts = [f"Sentence {number}." for number in range(30)]
    campaign = draft(study, lead, "bias_level", options={"texts": [*texts, " Sentence 3. ", "  "]})
    plan = task_plan.plan(campaign)
    shown = [task.stimuli[0].text for task in plan.tasks]
    assert sorted(shown) == sorted(texts)
    assert shown != texts
    assert (plan.images, plan.judgements, plan.problems) == (0, 30 * 2 * 3, ())
    assert {len(task.stimuli) for task in plan.tasks} == {1}


def test_a_campaign_without_texts_says_so(study, lead):
    assert task_plan.plan(draft(study, lead, "bias_level", options={})).problems == (
        "There are no texts to show. Write one text on each line.",
    )


@pytest.mark.parametrize("texts", ["one text", [1], ["x" * 1_001], ["\x00"], [str(n) for n in range(5_001)]])
def test_texts_that_cannot_be_shown_are_refused(study, lead, texts):
    with pytest.raises(DomainError) as refused:
        draft(study, lead, "bias_level", options={"texts": texts})
    assert "a list of at most 5,000 texts" in refused.value.fields["options.texts"]


def test_the_command_opens_a_campaign_of_texts(study, lead):
    said, printed = StringIO(), StringIO()
    texts = ["All islanders drum.", "Some wear tall hats."]
    arguments = ["--study", study.slug, "--kind", "bias_level", "--text", *texts, "--by", lead.username]
    call_command("open_campaign", *arguments, stdout=printed, stderr=said)
    campaign = Campaign.objects.get(pk=int(printed.getvalue()))
    assert set(TaskStimulus.objects.filter(task__campaign=campaign).values_list("text", flat=True)) == set(
        texts
    )
    assert "2 screens (0 images), each for 3 annotators: 12 judgements." in said.getvalue()
