"""Answers to declared questions as results read them: counting, subjects and number of queries."""

import pytest
from django.utils import timezone

from analysis.results.data.labels import load
from analysis.results.parameters import parameters_of
from annotation.models import Annotation, Campaign
from generation.models import Image
from tests.analysis.questions.answering import STRENGTHS, comparing
from tests.analysis.questions.campaigns import Given, images_of, label, open_campaign, people
from tests.analysis.questions.kinds import PAIR, RUBRIC


@pytest.fixture
def pairs(study):
    """Three prompts, two models; four people compare each pair."""
    images = images_of(study, models=["aurora", "birch"], prompts=3)
    annotators = people(study, 4)
    campaign = open_campaign(study, PAIR, annotators)
    screens = [images[place : place + 2] for place in range(0, 6, 2)]
    label(campaign, screens, annotators, comparing(STRENGTHS, seed=1), prompt_shown=True)
    return campaign


def read(study, **chosen):
    return load(study=study, parameters=parameters_of(study, **chosen)).answers


def test_each_judgement_has_its_model_group_and_prompt(study, pairs):
    (answers,) = read(study)
    assert len(answers.annotations) == 12
    quality = answers.of(PAIR.question("quality"))
    assert len(quality) == 24
    assert set(quality["model"]) == {"aurora", "birch"}
    assert quality.groupby("unit")["annotator"].nunique().tolist() == [4] * 6
    better = answers.of(PAIR.question("better"))
    assert better["model"].isna().all()  # the two images of a pair share the prompt, but no model
    assert sorted(better["prompt"].unique()) == [f"a kite over water {place}" for place in range(3)]
    assert set(better["code"].dropna()) <= {"tie"}
    assert (answers.stimuli.loc[answers.stimuli["image"].isna(), "words"] == 5).all()


def test_the_order_shown_is_kept(study, pairs):
    (answers,) = read(study)
    for _, shown in answers.stimuli.groupby("task"):
        assert shown.sort_values("position")["model"].tolist() == ["aurora", "birch", None]


@pytest.mark.parametrize("status", ["surplus", "excluded", "gold", "repeat"])
def test_answers_that_do_not_count_are_not_read(study, pairs, status):
    Annotation.objects.filter(pk=pairs.annotations.first().pk).update(status=status)
    (answers,) = read(study)
    assert len(answers.annotations) == 11
    assert answers.not_counted == {status: 1}
    assert set(answers.judgements["annotation"]) == set(answers.annotations["annotation"])


def test_a_screen_with_a_retracted_image_does_not_count(study, pairs):
    Image.objects.filter(pk=pairs.tasks.first().stimuli.all()[1].image_id).update(retracted_at=timezone.now())
    (answers,) = read(study)
    assert answers.not_counted == {"retracted": 4}
    assert len(answers.annotations) == 8


def test_a_screen_with_an_image_of_another_condition_is_left_out(study, pairs):
    Image.objects.filter(pk=pairs.tasks.first().stimuli.all()[0].image_id).update(condition="stereotypical")
    (answers,) = read(study)
    assert answers.not_counted == {"other_condition": 4}


def test_a_campaign_about_another_condition_counts_images_of_that_one(study, pairs):
    Image.objects.exclude(pk=pairs.tasks.first().stimuli.all()[0].image_id).update(condition="stereotypical")
    Campaign.objects.filter(pk=pairs.pk).update(options={"condition": "stereotypical"})
    (answers,) = read(study)
    assert answers.not_counted == {"other_condition": 4}
    assert len(answers.annotations) == 8
    assert answers.condition == "stereotypical"


def test_annotators_the_analyst_leaves_out_are_not_read(study, pairs):
    (answers,) = read(study, without_annotators=["p002"])
    assert answers.not_counted == {"excluded_by_analyst": 3}
    assert "p002" not in set(answers.annotations["annotator"])


def test_only_chosen_campaigns_are_read(study, pairs):
    open_campaign(study, RUBRIC, [])
    assert [answers.campaign for answers in read(study)] == ["pair", "rubric"]
    assert [answers.campaign for answers in read(study, campaigns=["rubric"])] == ["rubric"]


def test_texts_are_counted_and_points_kept(study):
    images = images_of(study, models=["aurora"], prompts=2)
    annotators = people(study, 2)
    campaign = open_campaign(study, RUBRIC, annotators)

    def answer(person, shown):
        yield Given.of("why", text="three small words")
        yield Given("worst", values={"rating": 1}, points=((0.1, 0.2), (0.3, 0.4)))

    label(campaign, [[image] for image in images], annotators, answer)
    (answers,) = read(study)
    assert answers.of(RUBRIC.question("why"))["words"].tolist() == [3] * 4
    assert answers.of(RUBRIC.question("why"))["image"].nunique() == 2
    assert answers.points[["x", "y"]].to_numpy().tolist() == [[0.1, 0.2], [0.3, 0.4]] * 4


def test_reading_takes_as_many_queries_for_many_answers_as_for_few(
    study, pairs, django_assert_max_num_queries, django_assert_num_queries
):
    parameters = parameters_of(study)
    with django_assert_max_num_queries(60) as few:
        load(study=study, parameters=parameters)
    images = list(Image.objects.order_by("pk"))
    label(pairs, [images[:2]] * 5, people(study, 5, first=4), comparing(STRENGTHS, seed=2), prompt_shown=True)
    with django_assert_num_queries(len(few)):
        load(study=study, parameters=parameters)
