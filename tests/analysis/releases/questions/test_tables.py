"""The tables of declared questions: every answer that counts once, and references that lead somewhere."""

import json
from collections import Counter

import pytest

from analysis.releases.tables.columns import COLUMNS
from analysis.releases.tables.questions.columns import TABLES
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import frozen
from annotation.models import Annotation, Box, Judgement, Point, TaskStimulus
from generation.models import Image
from tests.analysis.questions.answering import STRENGTHS, comparing
from tests.analysis.questions.campaigns import images_of, label, open_campaign, people
from tests.analysis.questions.kinds import PAIR, RANKING, RUBRIC
from tests.analysis.releases.conftest import rows, tree

pytestmark = pytest.mark.django_db
VALUES = ("present", "rating", "code", "rank", "text")


def test_every_answer_that_counts_is_a_row_with_one_value(asked, released):
    _, folder = released(asked, include_justifications=True)
    answers = rows(folder, "answers")
    assert len(answers) == Judgement.objects.count()
    for answer in answers:
        assert sum(answer[name] is not None for name in VALUES) == 1
    stored = Counter(Judgement.objects.values_list("annotation__campaign__slug", "question", *VALUES))
    released_values = ("campaign", "question", *VALUES)
    assert Counter(tuple(answer[name] for name in released_values) for answer in answers) == stored


def test_answers_refer_to_their_screen_stimulus_and_annotator(asked, released):
    _, folder = released(asked)
    annotations = {row["annotation"]: row for row in rows(folder, "annotations")}
    shown = {(row["task"], row["position"]): row for row in rows(folder, "stimuli")}
    assert len(shown) == TaskStimulus.objects.count()
    images = {row["image"] for row in rows(folder, "images")}
    assert {row["image"] for row in shown.values()} == {*images, None}
    questions = {(row["campaign"], row["question"]): row for row in rows(folder, "questions")}
    options = {(row["campaign"], row["question"], row["code"]) for row in rows(folder, "options")}
    answers = rows(folder, "answers")
    for answer in answers:
        submission = annotations[answer["annotation"]]
        for name in ("campaign", "task", "annotator", "guidelines", "submitted"):
            assert answer[name] == submission[name]
        question = questions[answer["campaign"], answer["question"]]
        about_stimulus = question["each"] or question["type"] == "rank" or answer["present"] is not None
        assert (answer["position"] is not None) == about_stimulus
        if about_stimulus:
            assert shown[answer["task"], answer["position"]]["image"] in images
        code = answer["code"] or (None if answer["rating"] is None else str(answer["rating"]))
        if code is not None and not (question["type"] == "span" and code.startswith("w")):
            assert (answer["campaign"], answer["question"], code) in options
    by_number = {answer["answer"]: answer for answer in answers}
    places = rows(folder, "places")
    assert len(places) == Point.objects.count() == 96
    assert {by_number[place["answer"]]["question"] for place in places} == {"worst"}
    assert {(place["shape"], place["x"], place["y"], place["width"]) for place in places} == {
        ("point", 0.4, 0.2, None)
    }


def test_shown_and_chosen_stimuli_match_the_database(asked, released):
    """The image that an answer chose, by what the picture is and not by a key."""
    _, folder = released(asked)
    models = {(row["task"], row["position"]): row["model"] for row in rows(folder, "stimuli")}
    chosen = Counter(
        models[answer["task"], answer["position"]] for answer in rows(folder, "answers") if answer["present"]
    )
    stored = Judgement.objects.filter(present=True).values_list("stimulus__image__model_label", flat=True)
    assert chosen == Counter(stored)


def test_a_box_keeps_its_sides(asked, released):
    judgement = Judgement.objects.filter(question="worst").order_by("pk").last()
    Point.objects.filter(judgement=judgement).delete()
    Box.objects.create(judgement=judgement, x=0.1, y=0.2, width=0.3, height=0.4, clipped=True)
    _, folder = released(asked)
    (box,) = [place for place in rows(folder, "places") if place["shape"] == "box"]
    assert {name: box[name] for name in ("x", "y", "width", "height", "clipped")} == {
        "x": 0.1,
        "y": 0.2,
        "width": 0.3,
        "height": 0.4,
        "clipped": True,
    }


def test_questions_are_in_two_tables_and_one_file_for_each_campaign(asked, released):
    _, folder = released(asked)
    for kind in (PAIR, RANKING, RUBRIC):
        declared = (folder / "declarations" / f"{kind.key}.json").read_bytes()
        assert json.loads(declared) == frozen(kind)
        assert Kind.model_validate_json(declared) == kind
        asked_of = [row for row in rows(folder, "questions") if row["campaign"] == kind.key]
        assert [row["question"] for row in asked_of] == [question.name for question in kind.questions]
    why = next(row for row in rows(folder, "questions") if row["question"] == "why")
    assert (why["when_question"], json.loads(why["when_answers"])) == ("shows", ["partly", "no"])
    worst = next(row for row in rows(folder, "questions") if row["question"] == "worst")
    assert (worst["place"], json.loads(worst["place_after"])) == ("point", [1, 2])
    assert [row["code"] for row in rows(folder, "options") if row["alone"]] == ["none"]
    unsure = [row for row in rows(folder, "options") if row["apart"]]
    assert {(row["question"], row["code"], row["label"]) for row in unsure} == {
        ("quality", "9", "Unsure"),
        ("realism", "9", "Unsure"),
    }


def test_the_same_answers_give_the_same_bytes_and_others_another_version(asked, released):
    first, here = released(asked)
    again, there = released(asked)
    assert again == first
    assert tree(here) == tree(there)
    Judgement.objects.filter(pk=Judgement.objects.filter(question="quality").first().pk).update(rating=9)
    changed, _ = released(asked)
    assert changed.version == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda: Point.objects.filter(pk=Point.objects.first().pk).update(x=0.5),
        lambda: TaskStimulus.objects.exclude(text="").update(text="another prompt"),
        lambda: Annotation.objects.filter(pk=Annotation.objects.first().pk).update(active_seconds=11.0),
        lambda: Judgement.objects.filter(question="shows", code="no").update(code="partly"),
    ],
    ids=["a point", "a text shown", "seconds", "a choice"],
)
def test_a_change_to_a_file_makes_a_new_version(asked, released, change):
    first, here = released(asked)
    change()
    second, there = released(asked)
    assert tree(here) != tree(there)
    assert (first.version, second.version) == (1, 2)
    assert first.inputs_digest != second.inputs_digest


@pytest.fixture
def compare(marked):
    """A function that adds a campaign of questions to the study of both built-in kinds."""

    def add() -> None:
        annotators = people(marked.study, 3, first=100)
        campaign = open_campaign(marked.study, PAIR, annotators)
        images = images_of(marked.study, models=["aurora", "birch"], prompts=1)[-2:]
        label(campaign, [images], annotators, comparing(STRENGTHS), prompt_shown=True)

    return add


def test_a_study_without_declared_questions_has_no_table_of_them(marked, released):
    _, folder = released(marked.study)
    assert {path.stem for path in (folder / "data").iterdir()} == set(COLUMNS)
    assert not (folder / "declarations").exists()
    assert "task" not in rows(folder, "annotations")[0]
    assert "answers" not in rows(folder, "annotators")[0]


def test_campaigns_of_attributes_and_of_questions_coexist(marked, compare, released):
    first, before = released(marked.study)
    compare()
    second, after = released(marked.study)
    assert (first.version, second.version) == (1, 2)
    assert {path.stem for path in (after / "data").iterdir()} == {*COLUMNS, *TABLES}
    for name in ("judgements", "ratings", "boxes"):
        labels = [
            Counter(
                tuple(
                    value
                    for key, value in row.items()
                    if key in {"image", "attribute", "present", "rating", "x"}
                )
                for row in rows(folder, name)
            )
            for folder in (before, after)
        ]
        assert labels[0] == labels[1], name
    submissions = Counter(row["campaign"] for row in rows(after, "annotations"))
    assert submissions == {"stereotype-marking": 12, "attribute-likert": 12, "pair": 3}
    assert {row["task"] for row in rows(after, "annotations") if row["campaign"] != "pair"} == {None}
    counted = [row["answers"] for row in rows(after, "annotators")]
    assert sorted(counted) == [0, 0, 0, 3, 3, 3]
    changelog = (after / "CHANGELOG.md").read_text()
    assert "new campaign: pair" in changelog
    assert "| `answers` | 0 | 9 |" in changelog


def test_a_campaign_without_answers_has_only_its_questions(study, released):
    open_campaign(study, RUBRIC, [])
    _, folder = released(study)
    assert len(rows(folder, "questions")) == len(RUBRIC.questions)
    assert rows(folder, "answers") == rows(folder, "stimuli") == []
    card = (folder / "README.md").read_text()
    assert "rows of answers: No declared question has answers that count and can be released." in card


def test_images_are_named_as_in_the_table_of_images(asked, released):
    _, folder = released(asked)
    named = {row["image"]: row["prompt"] for row in rows(folder, "images")}
    screens = [row for row in rows(folder, "stimuli") if row["campaign"] == "rubric"]
    prompts = {row["task"]: row["text"] for row in screens if row["text"]}
    assert Image.objects.count() == len(prompts) == 24
    for row in screens:
        if row["image"]:
            assert named[row["image"]] == prompts[row["task"]]
