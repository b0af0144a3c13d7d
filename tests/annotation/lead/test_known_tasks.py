"""The page of checks and practice: access, creating checks, and detecting a bad one."""

import pytest
from django.urls import reverse

from annotation.answers.attribute_references import references
from annotation.assignment import leases
from annotation.campaigns import known_tasks, lifecycle
from annotation.models import Annotation, Assignment, KnownAnswer, Task
from annotation.quality.practice import rounds
from catalog.models import Attribute
from studies import consent
from tests.annotation.factories import new_annotator

C = {"study": "isles", "campaign": "marking"}
PAGE = reverse("annotation:known_tasks", kwargs=C)
NEW = reverse("annotation:known_new", kwargs=C)
SETTINGS = reverse("annotation:known_settings", kwargs=C)


def attribute(text):
    return Attribute.objects.get(text=text)


@pytest.fixture
def gold(marking, lead):
    hat, drum = attribute("tall hat"), attribute("drum")
    return known_tasks.add(
        campaign=marking,
        purpose=Task.Purpose.GOLD,
        by=lead,
        content=known_tasks.TaskContent(image=marking.study.images.first(), attributes=[hat, drum]),
        answers={hat: True},
        explanations={hat: "It is tall."},
    )


def change_of(task):
    return reverse("annotation:known_change", kwargs={**C, "task": task.public_id})


def remove_of(task):
    return reverse("annotation:known_remove", kwargs={**C, "task": task.public_id})


def form_of(image, purpose="gold", **answers):
    """Return the fields of the form for an image: attributes not named are left out."""
    fields = {f"answer_{one.pk}": "left_out" for one in Attribute.objects.all()}
    fields |= {f"answer_{attribute(text.replace('_', ' ')).pk}": value for text, value in answers.items()}
    return f"{NEW}?image={image.public_id}", {**fields, "purpose": purpose}


def answer_gold(task, present):
    person = new_annotator(task.campaign)
    done = Assignment.objects.create(
        task=task, annotator=person, state="submitted", purpose="gold", expires_at="2030-01-01T00:00Z"
    )
    given = Annotation.objects.create(
        campaign=task.campaign, task=task, annotator=person, assignment=done, status="gold"
    )
    for one in task.task_attributes.all():
        given.judgements.create(attribute=one.attribute, present=present)


def test_a_member_reads_and_only_a_lead_changes(
    gold, lead_client, analyst_client, stranger_client, annotator_client
):
    for client, status in (
        (lead_client, 200), (analyst_client, 200), (stranger_client, 404), (annotator_client, 404),
    ):  # fmt: skip
        assert client.get(PAGE).status_code == status
    assert "Add a screen" in lead_client.get(PAGE).content.decode()
    page = analyst_client.get(PAGE).content.decode()
    assert "Add a screen" not in page
    assert "Remove" not in page
    for client, status in ((analyst_client, 403), (stranger_client, 404)):
        assert client.get(NEW).status_code == status
        assert client.get(change_of(gold)).status_code == status
        assert client.post(remove_of(gold)).status_code == status
        assert client.post(SETTINGS, {}).status_code == status
    assert Task.objects.filter(pk=gold.pk).exists()


def test_an_empty_page_says_what_to_do_next(marking, lead_client):
    page = lead_client.get(PAGE).content.decode()
    assert "No known answers yet" in page
    assert NEW in page


def picture_of(campaign):
    """Return a picture of the group whose screens ask about tall hats, drums and lanterns."""
    return campaign.study.images.filter(group__name="Velmari").first()


def test_a_check_is_made_from_a_picture(marking, lead_client):
    image = picture_of(marking)
    chosen = lead_client.get(NEW).content.decode()
    assert f"?image={image.public_id}" in chosen
    address, fields = form_of(image, tall_hat="yes", drum="no", lantern="unscored")
    fields[f"explanation_{attribute('drum').pk}"] = "A box is no drum."
    assert lead_client.get(address).status_code == 200
    assert lead_client.post(address, fields).headers["Location"] == PAGE
    task = Task.objects.get(purpose="gold")
    assert task.task_attributes.count() == 3
    known = KnownAnswer.objects.order_by("attribute__text").values_list(
        "attribute__text", "present", "explanation"
    )
    assert list(known) == [("drum", False, "A box is no drum."), ("tall hat", True, "")]


def test_only_pictures_that_the_campaign_could_show_are_offered(marking, lead_client):
    other, homeless = marking.study.images.filter(group__name="Velmari").order_by("pk")[:2]
    marking.study.images.filter(pk=other.pk).update(condition="stereotypical")
    marking.study.images.filter(pk=homeless.pk).update(group=None, condition="target")
    page = lead_client.get(NEW).content.decode()
    for image in (other, homeless):
        assert f"?image={image.public_id}" not in page
        assert lead_client.get(f"{NEW}?image={image.public_id}").status_code == 404
    assert "?image=" in page


def test_errors_are_shown_beside_their_field(marking, lead_client):
    image = picture_of(marking)
    address, fields = form_of(image, tall_hat="unscored")
    fields[f"explanation_{attribute('tall hat').pk}"] = "Why?"
    page = lead_client.post(address, fields)
    assert page.status_code == 400
    assert "Only an answer that is scored can have an explanation." in page.content.decode()
    address, fields = form_of(image)
    assert "Choose 1 to 3 attributes." in lead_client.post(address, fields).content.decode()
    assert not Task.objects.exclude(purpose="label").exists()


def test_an_answer_becomes_a_check_with_its_marks_filled_in(answered, lead_client):
    given = answered.annotations.latest("pk")
    page = lead_client.get(reverse("annotation:annotation", kwargs={**C, "annotation": given.pk}))
    address = f"{NEW}?annotation={given.pk}"
    assert address in page.content.decode()
    form = lead_client.get(address).context["form"]
    assert {one.attribute_id: one.present for one in given.judgements.all()} == {
        one.pk: form.initial[f"answer_{one.pk}"] == "yes" for one in form.attributes
    }
    fields = {**form.initial, "purpose": "practice"}
    assert lead_client.post(address, fields).status_code == 302
    assert Task.objects.get(purpose="practice").image == given.task.image


def test_an_answer_of_another_campaign_is_not_available(answered, rating, lead_client):
    elsewhere = reverse("annotation:known_new", kwargs={**C, "campaign": rating.slug})
    assert lead_client.get(f"{elsewhere}?annotation={answered.annotations.first().pk}").status_code == 404


def test_a_rating_names_the_answers_that_are_right(rating, lead_client):
    new = reverse("annotation:known_new", kwargs={**C, "campaign": rating.slug})
    assert "drum" in lead_client.get(new).content.decode()
    drum = attribute("drum")
    address = f"{new}?attribute={drum.pk}"
    fields = {"purpose": "practice", f"answer_{drum.pk}": ["5", "4"]}
    assert lead_client.post(address, fields).status_code == 302
    assert KnownAnswer.objects.get().ratings == [4, 5]
    page = lead_client.get(reverse("annotation:known_tasks", kwargs={**C, "campaign": rating.slug}))
    assert "Strongly Agree or Agree" in page.content.decode()
    refused = lead_client.post(address, {"purpose": "gold"})
    assert (refused.status_code, "one to four" in refused.content.decode()) == (400, True)


def test_right_answers_are_changed_and_a_check_removed(gold, lead_client):
    hat, drum = attribute("tall hat"), attribute("drum")
    form = lead_client.get(change_of(gold)).context["form"]
    assert form.initial == {
        f"answer_{hat.pk}": "yes", f"explanation_{hat.pk}": "It is tall.", f"answer_{drum.pk}": "unscored",
    }  # fmt: skip
    fields = {f"answer_{hat.pk}": "no", f"answer_{drum.pk}": "unscored"}
    assert lead_client.post(change_of(gold), fields).headers["Location"] == PAGE
    assert KnownAnswer.objects.get().present is False
    assert lead_client.post(remove_of(gold)).headers["Location"] == PAGE
    assert not Task.objects.filter(pk=gold.pk).exists()


def test_a_check_that_most_people_miss_is_doubted(gold, lead_client):
    for _ in range(4):
        answer_gold(gold, False)
    assert "may be wrong" not in lead_client.get(PAGE).content.decode()
    answer_gold(gold, True)
    page = lead_client.get(PAGE).content.decode()
    assert "Only 1 of 5 people gave the right answer for “tall hat”" in page
    ((one, _),) = lead_client.get(PAGE).context["shown"]
    assert [line.share for line in one.lines if line.scored] == [0.2]


def test_practice_counts_first_attempts_of_consenting_annotators(gold, marking, lead, lead_client):
    hat = attribute("tall hat")
    task = known_tasks.add(
        campaign=marking,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(image=marking.study.images.last(), attributes=[hat]),
        answers={hat: True},
    )
    people = [new_annotator(marking) for _ in range(2)]
    for person in people:
        for ticked in ([], list(references(task))):
            rounds.next_task(campaign=marking, annotator=person)
            rounds.answer(
                task=task, annotator=person, data={"ticked": ticked, "none_of_the_above": not ticked}
            )
    line = known_line(lead_client, task)
    assert (line.answered, line.agreed) == (2, 0)
    consent.withdraw(annotator=people[0], study=marking.study)
    assert known_line(lead_client, task).answered == 1


def known_line(client, task):
    (one,) = [one for one, _ in client.get(PAGE).context["shown"] if one.task == task]
    return one.lines[0]


def test_annotators_who_failed_are_listed_and_may_try_again(gold, marking, lead, lead_client):
    hat = attribute("tall hat")
    known_tasks.add(
        campaign=marking,
        purpose="practice",
        by=lead,
        content=known_tasks.TaskContent(image=marking.study.images.last(), attributes=[hat]),
        answers={hat: True},
    )
    lifecycle.change_settings(campaign=marking, by=lead, options={"practice_attempts": 1})
    person = new_annotator(marking)
    task = rounds.next_task(campaign=marking, annotator=person)
    rounds.answer(task=task, annotator=person, data={"none_of_the_above": True})
    page = lead_client.get(PAGE).content.decode()
    move = {**C, "enrolment": person.enrolments.get().pk, "move": "resume"}
    assert person.pseudonym in page
    assert reverse("annotation:enrolment_move", kwargs=move) in page
    consent.withdraw(annotator=person, study=marking.study)
    assert person.pseudonym not in lead_client.get(PAGE).content.decode()


def test_shares_are_changed_in_percent_while_the_campaign_is_open(marking, lead_client):
    fields = {
        "gold_share": "10", "repeat_share": "2.5", "repeat_after": "8", "practice_pass_mark": "75",
        "practice_attempts": "2",
    }  # fmt: skip
    assert lead_client.post(SETTINGS, fields).headers["Location"] == PAGE
    marking.refresh_from_db()
    assert marking.options | {
        "gold_share": 0.1, "repeat_share": 0.025, "repeat_after": 8, "practice_pass_mark": 0.75,
        "practice_attempts": 2,
    } == marking.options  # fmt: skip
    page = lead_client.post(SETTINGS, {**fields, "gold_share": "80"})
    assert page.status_code == 400
    assert "less than or equal to 50" in page.content.decode()
    assert "There are no checks to mix in yet" in lead_client.get(PAGE).content.decode()


def test_a_draft_takes_checks_too(draft, lead_client):
    kwargs = {**C, "campaign": draft.slug}
    assert reverse("annotation:known_tasks", kwargs=kwargs) in (
        lead_client.get(reverse("annotation:campaign", kwargs=kwargs)).content.decode()
    )
    image = picture_of(draft)
    address, fields = form_of(image, tall_hat="yes")
    address = address.replace("/marking/", f"/{draft.slug}/")
    assert lead_client.post(address, fields).status_code == 302
    assert draft.tasks.get().purpose == "gold"


@pytest.mark.parametrize("query", ["?image=x", "?image=%00", "?annotation=x", "?purpose=%00", "?group=x"])
def test_an_invalid_address_asks_to_choose_a_picture(marking, lead_client, query):
    assert "Which picture?" in lead_client.get(NEW + query).content.decode()


def test_queries_of_the_list_do_not_grow_with_its_length(gold, marking, lead, lead_client, queries):
    hat = attribute("tall hat")

    def add(image, purpose):
        known_tasks.add(
            campaign=marking,
            purpose=purpose,
            by=lead,
            content=known_tasks.TaskContent(image=image, attributes=[hat]),
            answers={hat: True},
        )

    images = list(marking.study.images.order_by("pk"))
    add(images[0], "practice")
    few = queries(lead_client, PAGE)
    for image in images[1:]:
        add(image, "gold")
        add(image, "practice")
    assert queries(lead_client, PAGE) <= few


def test_nobody_is_leased_a_practice_task(gold, marking):
    person = new_annotator(marking)
    assert leases.next_assignment(campaign=marking, annotator=person).task.purpose == "label"
