"""Practice over HTTP: tasks, feedback, and the gate before real tasks."""

import re

import pytest

from annotation.campaigns import known_tasks, lifecycle
from annotation.models import Enrolment, Task
from catalog.models import Attribute
from tests.annotation.api.test_labelling import Browser
from tests.annotation.factories import new_annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def practised(marking, lead):
    hat, drum = (Attribute.objects.get(text=text) for text in ("tall hat", "drum"))
    known_tasks.add(
        campaign=marking,
        purpose=Task.Purpose.PRACTICE,
        by=lead,
        content=known_tasks.TaskContent(image=marking.study.images.first(), attributes=[hat, drum]),
        answers={hat: True},
        explanations={hat: "It is tall."},
    )
    return lifecycle.change_settings(campaign=marking, by=lead, options={"practice_attempts": 2})


def ask(browser, campaign, slash=""):
    return browser.post(f"campaigns/{campaign.pk}/practice/next{slash}")


def reply(browser, task, *texts, slash=""):
    ticked = [one["ref"] for one in task["attributes"] if one["text"] in texts]
    body = {"answer": {"ticked": ticked, "none_of_the_above": not ticked}}
    return browser.post(f"practice/{task['task']}/answer{slash}", body)


@pytest.mark.parametrize("slash", ["", "/"])
def test_practice_is_asked_answered_explained_and_opens_the_real_tasks(practised, slash):
    browser = Browser(new_annotator(practised).user)
    refused = browser.next(practised)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "practice_first")
    task = ask(browser, practised, slash).json()
    assert task["practice"] == {
        "state": "open", "tasks": 1, "pass_mark": 0.8, "rounds_left": 1,
        "round": {"number": 1, "passed": None, "answered": 0, "correct": 0, "scored": 0},
    }  # fmt: skip
    assert browser.client.get(task["image"]["url"]).status_code in {200, 404}  # the rows have no files here
    told = reply(browser, task, "tall hat", slash=slash).json()
    assert (told["correct"], told["scored"], told["practice"]["state"]) == (1, 1, "passed")
    by_text = {one["text"]: one for one in told["attributes"]}
    assert by_text["tall hat"] == {
        "ref": by_text["tall hat"]["ref"], "text": "tall hat", "yours": True, "right": True,
        "is_right": True, "explanation": "It is tall.",
    }  # fmt: skip
    assert (by_text["drum"]["right"], by_text["drum"]["is_right"]) == (None, None)
    assert ask(browser, practised, slash).status_code == 204
    assert browser.next(practised).status_code == 200


def test_practice_payloads_follow_an_allow_list(practised):
    browser = Browser(new_annotator(practised).user)
    task = ask(browser, practised).json()
    assert task.keys() == {
        "task", "kind", "instrument", "image", "attributes", "boxes_required", "practice",
    }  # fmt: skip
    assert task["image"].keys() == {"url", "width", "height"}
    answer = ask(browser, practised)
    sent = (answer.content + reply(browser, task, "drum").content).decode()
    for word in ("Velmari", "Orsani", "gold", "random", "stereotyp", "sketch"):
        assert word not in sent
    assert not re.search(r'"(group|role|prompt|condition|purpose)"', sent)


def test_failing_the_last_round_pauses_and_is_reported(practised):
    browser = Browser(new_annotator(practised).user)
    first = reply(browser, ask(browser, practised).json(), "drum").json()
    assert (first["practice"]["state"], first["practice"]["rounds_left"]) == ("open", 1)
    last = reply(browser, ask(browser, practised).json(), "drum").json()
    assert (last["practice"]["state"], last["practice"]["rounds_left"]) == ("failed", 0)
    assert ask(browser, practised).json()["error"]["code"] == "annotator_paused"
    assert Enrolment.objects.get().reason == "You did not pass the practice."


def test_a_refused_answer_names_its_fields_and_keeps_nothing(practised):
    browser = Browser(new_annotator(practised).user)
    task = ask(browser, practised).json()
    for body in ({}, {"answer": {"ticked": ["x"]}}, {"answer": 3}, []):
        refused = browser.post(f"practice/{task['task']}/answer", body)
        assert refused.status_code == 400
        assert refused.json()["error"]["code"] == "answer_invalid"


def test_practice_of_others_is_not_found(practised, rating, stranger):
    task = ask(Browser(new_annotator(practised).user), practised).json()
    label = practised.tasks.filter(purpose="label").first()
    insider, outsider = Browser(new_annotator(practised).user), Browser(new_annotator(rating).user)
    assert ask(outsider, practised).status_code == 404
    assert reply(outsider, task, "drum").status_code == 404
    assert insider.post(f"practice/{label.public_id}/answer", {"answer": {}}).status_code == 404
    assert ask(Browser(stranger), practised).status_code == 404
    assert ask(Browser(new_annotator(practised).user, scopes=("read",)), practised).status_code == 403
