"""Practice pages: before the first task, without scripts, with feedback, and as blind as the rest."""

import json
import re

import pytest
from django.urls import reverse

from annotation.answers.attribute_references import references
from annotation.campaigns import known_tasks, lifecycle
from annotation.models import Annotation, PracticeAnswer, Task
from annotation.people import enrolments
from catalog.models import Attribute


def attribute(text):
    return Attribute.objects.get(text=text)


def add(campaign, lead, *, image=None, explanations=None, **answers):
    known = {attribute(text.replace("_", " ")): right for text, right in answers.items()}
    said = {attribute(text): words for text, words in (explanations or {}).items()}
    return known_tasks.add(
        campaign=campaign,
        purpose=Task.Purpose.PRACTICE,
        by=lead,
        content=known_tasks.TaskContent(image=image, attributes=list(known)),
        answers=known,
        explanations=said,
    )


@pytest.fixture
def practised(marking, lead, pictures):
    """Two practice tasks: a tall hat and no kite, a drum; 80 % pass, two tries."""
    add(
        marking, lead, image=pictures[0], explanations={"kite": "No kite <there>."}, tall_hat=True, kite=False
    )
    add(marking, lead, image=pictures[1], drum=True, lantern=None)
    return lifecycle.change_settings(campaign=marking, by=lead, options={"practice_attempts": 2})


def at(campaign, name="practice", *more):
    return reverse(f"annotate:{name}", args=[campaign.pk, *more])


def refs(task, *texts):
    wanted = {attribute(text).pk for text in texts}
    return [ref for ref, one in references(task).items() if one in wanted]


def answer(client, campaign, *texts, **more):
    """Answer the practice task that is next as a plain form does, and return the page that follows."""
    page = client.get(at(campaign, "practice_task"))
    task = Task.objects.get(public_id=page.context["payload"]["task"])
    fields = {"ticked": refs(task, *texts)} if texts else {"none_of_the_above": "1"}
    return client.post(at(campaign, "practice_answer", task.public_id), fields | more, follow=True)


def text_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split())


def test_the_first_task_waits_for_practice(practised, join):
    client = join(practised)
    assert client.get(at(practised, "task")).headers["Location"] == at(practised)
    page = text_of(client.get(at(practised)))
    assert "Practice first" in page
    assert "2 practice tasks" in page
    assert "80 % right answers needed" in page
    assert "2 tries left" in page
    assert client.post(at(practised)).headers["Location"] == at(practised, "practice_task")


def test_practice_works_without_scripts(practised, join):
    client = join(practised)
    page = answer(client, practised, "tall hat", "kite")
    said = text_of(page)
    assert page.redirect_chain
    assert "1 of 2 right" in said
    assert "No kite &lt;there&gt;." in page.content.decode()
    assert "Guidelines" in said
    page = answer(client, practised, "drum")
    assert "any answer: the question is not scored" in text_of(page)
    result = text_of(client.get(at(practised)))
    assert "Not passed yet" in result
    assert "2 of 3 answers were right. 80 % are needed." in result
    assert "1 try left" in result
    assert client.get(at(practised, "task")).headers["Location"] == at(practised)
    answer(client, practised, "tall hat")
    answer(client, practised, "drum")
    result = client.get(at(practised))
    assert "Practice passed" in text_of(result)
    assert at(practised, "task") in result.content.decode()
    assert client.get(at(practised, "task")).status_code == 200
    assert not Annotation.objects.exists()


def test_failing_the_last_attempt_pauses_with_reason_and_contact(practised, join, lead):
    client = join(practised)
    for _ in range(4):
        answer(client, practised)
    page = text_of(client.get(at(practised)))
    assert "Practice not passed" in page
    assert "Ask the person who invited you" in page
    assert client.get(at(practised, "task")).headers["Location"] == at(practised, "done")
    assert "You did not pass the practice." in text_of(client.get(at(practised, "done")))
    assert client.get(at(practised, "practice_task")).headers["Location"] == at(practised)
    client.enrolment.refresh_from_db()
    enrolments.resume(enrolment=client.enrolment, by=lead, reason="Once more.")
    assert "1 try left" in text_of(client.get(at(practised)))
    answer(client, practised, "tall hat")
    answer(client, practised, "drum")
    assert "Practice passed" in text_of(client.get(at(practised)))


def test_a_refused_answer_keeps_what_was_ticked_and_says_what_is_missing(practised, join):
    client = join(practised)
    page = client.get(at(practised, "practice_task"))
    address = at(practised, "practice_answer", page.context["payload"]["task"])
    refused = client.post(address, {})
    assert refused.status_code == 400
    assert "Tick what the picture shows" in text_of(refused)
    task = Task.objects.get(public_id=page.context["payload"]["task"])
    (hat,) = refs(task, "tall hat")
    refused = client.post(address, {"ticked": [hat], "none_of_the_above": "1"})
    assert re.search(rf'value="{hat}" checked', refused.content.decode())
    for wrong in ('{"ticked": 3}', "[]", '"x"', '{"ticked": [["x"]]}'):
        assert client.post(address, {"answer": wrong}).status_code == 400
    assert not PracticeAnswer.objects.exists()


def test_boxes_from_the_script_are_shown_with_the_feedback(practised, join):
    client = join(practised)
    task = practised.tasks.filter(purpose="practice").first()
    client.get(at(practised, "practice_task"))
    (hat,) = refs(task, "tall hat")
    box = {"attribute": hat, "x": 0.5, "y": 0.25, "width": 0.25, "height": 0.5}
    sent = json.dumps({"ticked": [hat], "boxes": [box], "none_of_the_above": False})
    page = client.post(at(practised, "practice_answer", task.public_id), {"answer": sent}, follow=True)
    width, height = task.image.width, task.image.height
    assert (
        f'x="{width / 2:.1f}" y="{height / 4:.1f}" width="{width / 4:.1f}" height="{height / 2:.1f}"'
        in page.content.decode()
    )


def test_an_answer_sent_twice_leads_to_the_stored_one(practised, join):
    client = join(practised)
    first = answer(client, practised, "tall hat")
    address = first.redirect_chain[-1][0]
    again = client.post(address, {"none_of_the_above": "1"}, follow=True)
    assert "2 of 2 right" in text_of(again)
    assert PracticeAnswer.objects.count() == 1


def test_a_rating_is_practised_with_the_words_of_its_answers(rating, join, lead):
    add(rating, lead, drum=[4, 5], explanations={"drum": "A drum can be pointed at."})
    client = join(rating)
    page = client.get(at(rating, "practice_task"))
    address = at(rating, "practice_answer", page.context["payload"]["task"])
    assert client.post(address, {}).status_code == 400
    said = text_of(client.post(address, {"rating": "2"}, follow=True))
    assert "0 of 1 right" in said
    assert "You Disagree Right Strongly Agree, Agree" in said
    assert "A drum can be pointed at." in said


def test_pages_redirect_when_there_is_nothing_to_practise(marking, practised, rating, join, lead):
    elsewhere = join(rating)
    assert elsewhere.get(at(rating)).headers["Location"] == at(rating, "task")
    assert elsewhere.get(at(practised)).status_code == 404
    task = practised.tasks.filter(purpose="practice").first()
    assert elsewhere.get(at(rating, "practice_answer", task.public_id)).status_code == 404
    label = practised.tasks.filter(purpose="label").first()
    client = join(practised)
    assert client.get(at(practised, "practice_answer", label.public_id)).status_code == 404
    assert client.get(at(practised, "practice_answer", task.public_id)).headers["Location"] == at(practised)
    lifecycle.pause(campaign=practised, by=lead)
    assert client.get(at(practised)).headers["Location"] == at(practised, "done")


def test_nobody_practises_before_agreeing_or_sees_it_after_withdrawing(practised, join):
    client = join(practised, ready=False)
    for name in ("practice", "practice_task"):
        assert client.get(at(practised, name)).headers["Location"] == at(practised, "consent")
    client = join(practised)
    told = answer(client, practised, "tall hat").redirect_chain[-1][0]
    client.post(at(practised, "withdraw"))
    assert client.get(told).headers["Location"] == at(practised)
    assert client.get(at(practised)).headers["Location"] == at(practised, "consent")


def test_a_paused_person_is_shown_no_further_task(practised, join, lead):
    client = join(practised)
    enrolments.pause(enrolment=client.enrolment, by=lead, reason="A question first.")
    assert client.get(at(practised)).headers["Location"] == at(practised, "done")
    assert client.get(at(practised, "practice_task")).headers["Location"] == at(practised)
    assert "A question first." in text_of(client.get(at(practised, "done")))


SECRETS = ("velmari", "orsani", "isles", "gold", "random", "stereotyp", "condition", "prompt", "sketch")


def test_practice_pages_reveal_no_group_prompt_condition_role_or_purpose(practised, join):
    client = join(practised)
    seen = [client.get(at(practised)), client.get(at(practised, "practice_task"))]
    seen += [answer(client, practised, "kite"), answer(client, practised), client.get(at(practised))]
    for page in seen:
        assert page.status_code == 200
        sent = (page.content.decode() + str(page.headers)).lower().replace("stereotype_marking", "")
        assert {secret for secret in SECRETS if secret in sent} == set()
        assert str(practised.study.images.first().public_id) not in sent


def test_practice_is_completely_translated_into_german(practised, join):
    client = join(practised)
    client.cookies["django_language"] = "de"
    page = client.get(at(practised), headers={"accept-language": "de"})
    assert "Practice" not in text_of(page)
    assert "Übung" in text_of(page) or "üben" in text_of(page).lower()
