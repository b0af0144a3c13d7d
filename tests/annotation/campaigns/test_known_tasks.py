"""Tasks with known answers: creating them, and changing those that were answered."""

from typing import Any

import pytest

from annotation.answers.attribute_references import shown_attributes
from annotation.assignment import leases
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.images import retraction
from annotation.models import KnownAnswer, PracticeAnswer, PracticeRound, Task
from catalog.models import Attribute
from foundation.errors import Conflict, DomainError
from studies.models import AuditEntry
from tests.annotation.factories import add_images, new_annotator

GOLD, PRACTICE = Task.Purpose.GOLD, Task.Purpose.PRACTICE


def attributes(*texts):
    return [Attribute.objects.get(text=text) for text in texts]


@pytest.fixture
def picture(marking):
    return marking.study.images.order_by("pk").first()


@pytest.fixture
def hat(marking):
    return Attribute.objects.get(text="tall hat")


@pytest.fixture
def gold(marking, picture, lead):
    hat, drum, kite = attributes("tall hat", "drum", "kite")
    return known_tasks.add(
        campaign=marking,
        purpose=GOLD,
        by=lead,
        content=known_tasks.TaskContent(image=picture, attributes=[hat, drum, kite]),
        answers={hat: True, drum: False, kite: None},
        explanations={hat: "It  stands on the head."},
    )


def test_a_gold_task_is_asked_whole_and_scored_where_an_answer_is_known(gold):
    assert (gold.purpose, gold.wanted, gold.image.study_id) == (GOLD, 0, gold.campaign.study_id)
    assert {one.text for one in shown_attributes(gold)} == {"tall hat", "drum", "kite"}
    known = KnownAnswer.objects.filter(task=gold).order_by("attribute__text")
    assert list(known.values_list("attribute__text", "present", "ratings", "explanation")) == [
        ("drum", False, [], ""),
        ("tall hat", True, [], "It stands on the head."),
    ]
    entry = AuditEntry.objects.get(action="known_task.added")
    assert entry.details["answers"] == {"drum": False, "tall hat": True}
    assert entry.details["purpose"] == "gold"


def test_the_order_of_attributes_follows_from_the_seed_and_not_from_the_lead(marking, picture, lead):
    made = [
        known_tasks.add(
            campaign=marking,
            purpose=purpose,
            by=lead,
            content=known_tasks.TaskContent(image=picture, attributes=order),
            answers={order[0]: True},
        )
        for purpose, order in (
            (GOLD, attributes("tall hat", "drum", "kite")),
            (PRACTICE, attributes("kite", "drum", "tall hat")),
        )
    ]
    first, second = ([one.text for one in shown_attributes(task)] for task in made)
    assert first == second


def test_a_rating_has_one_attribute_and_a_list_of_right_answers(rating, lead):
    [drum] = attributes("drum")
    task = known_tasks.add(
        campaign=rating,
        purpose=PRACTICE,
        by=lead,
        content=known_tasks.TaskContent(attributes=[drum]),
        answers={drum: [5, 4, 4]},
    )
    assert KnownAnswer.objects.get(task=task).ratings == [4, 5]
    for wrong in ([], [0], [6], [1, 2, 3, 4, 5], [True], True, "4", [4.0]):
        with pytest.raises(DomainError, match="one to four"):
            known_tasks.add(
                campaign=rating,
                purpose=GOLD,
                by=lead,
                content=known_tasks.TaskContent(attributes=[drum]),
                answers={drum: wrong},
            )
    with pytest.raises(DomainError, match="Choose one attribute"):
        known_tasks.add(
            campaign=rating,
            purpose=GOLD,
            by=lead,
            content=known_tasks.TaskContent(attributes=attributes("drum", "kite")),
            answers={drum: [4]},
        )


@pytest.mark.parametrize(
    ("case", "field"),
    [
        ("no image", "image"),
        ("image elsewhere", "image"),
        ("retracted", "image"),
        ("no attributes", "attributes"),
        ("too many", "attributes"),
        ("twice", "attributes"),
        ("not listed", "attributes"),
        ("nothing scored", "answers"),
        ("not asked", "answers."),
        ("ratings", "answers."),
        ("long", "explanations."),
        ("explained, not scored", "explanations."),
    ],
)
def test_invalid_checks_are_refused_by_field(marking, picture, lead, study, hat, case, field):
    shown: dict[str, Any] = {"image": picture, "attributes": [hat]}
    given: dict[str, Any] = {"answers": {hat: True}, "explanations": {}}
    [drum] = attributes("drum")
    if case == "no image":
        shown["image"] = None
    elif case == "image elsewhere":
        study.pk, study.slug, study.name = None, "elsewhere", "Elsewhere"
        study.save()
        picture.pk = picture.public_id = None
        picture.study, picture.group = study, None
    elif case == "retracted":
        shown["image"] = retraction.retract(image=picture, by=lead, reason="broken")
    elif case == "no attributes":
        shown["attributes"], given["answers"] = [], {}
    elif case == "too many":
        shown["attributes"] = attributes("tall hat", "drum", "kite", "lantern")
    elif case == "twice":
        shown["attributes"] = [hat, hat]
    elif case == "not listed":
        shown["attributes"] = [hat, Attribute.objects.create(text="anchor")]
    elif case == "nothing scored":
        given["answers"] = {hat: None}
    elif case == "not asked":
        given["answers"] = {hat: True, drum: True}
    elif case == "ratings":
        given["answers"] = {hat: [4, 5]}
    elif case == "long":
        given["explanations"] = {hat: "x" * 501}
    elif case == "explained, not scored":
        shown["attributes"], given["explanations"] = [hat, drum], {drum: "No."}
    with pytest.raises(DomainError) as refused:
        known_tasks.add(
            campaign=marking, purpose=GOLD, by=lead, content=known_tasks.TaskContent(**shown), **given
        )
    assert refused.value.code == "known_task_invalid"
    assert any(name.startswith(field) for name in refused.value.fields)
    assert not Task.objects.exclude(purpose="label").exists()


def test_only_gold_and_practice_have_known_answers(marking, picture, lead, hat):
    with pytest.raises(DomainError, match="gold or practice"):
        known_tasks.add(
            campaign=marking,
            purpose="label",
            by=lead,
            content=known_tasks.TaskContent(image=picture, attributes=[hat]),
            answers={hat: True},
        )


def test_the_same_check_is_made_once(gold, lead, marking, picture):
    asked = attributes("kite", "drum", "tall hat")
    with pytest.raises(Conflict) as refused:
        known_tasks.add(
            campaign=marking,
            purpose=GOLD,
            by=lead,
            content=known_tasks.TaskContent(image=picture, attributes=asked),
            answers={asked[0]: False},
        )
    assert refused.value.code == "known_already"


def test_drafts_open_and_paused_campaigns_take_checks_and_closed_ones_none(study, lead):
    add_images(study, 1)
    draft = lifecycle.create(study=study, name="M", kind="stereotype_marking", by=lead)
    hat, drum, kite, lantern = attributes("tall hat", "drum", "kite", "lantern")
    image = study.images.first()

    def add(attribute):
        return known_tasks.add(
            campaign=draft,
            purpose=PRACTICE,
            by=lead,
            content=known_tasks.TaskContent(image=image, attributes=[attribute]),
            answers={attribute: True},
        )

    in_draft = add(hat)
    lifecycle.open_(campaign=draft, by=lead)
    add(drum)
    lifecycle.pause(campaign=draft, by=lead)
    add(kite)
    lifecycle.close(campaign=draft, by=lead)
    for refused in (
        lambda: add(lantern),
        lambda: known_tasks.change(task=in_draft, by=lead, answers={hat: False}),
        lambda: known_tasks.remove(task=in_draft, by=lead),
    ):
        with pytest.raises(Conflict, match="closed"):
            refused()


def test_right_answers_can_be_changed(gold, lead, hat):
    [drum] = attributes("drum")
    known_tasks.change(task=gold, by=lead, answers={hat: False}, explanations={hat: "A cap is no tall hat."})
    known = KnownAnswer.objects.get(task=gold)
    assert (known.attribute, known.present, known.explanation) == (hat, False, "A cap is no tall hat.")
    assert AuditEntry.objects.get(action="known_task.changed").details["answers"] == {"tall hat": False}
    with pytest.raises(DomainError):
        known_tasks.change(task=gold, by=lead, answers={drum: None})
    assert KnownAnswer.objects.filter(task=gold).count() == 1


def test_a_check_that_nobody_answered_is_deleted(gold, lead):
    known_tasks.remove(task=gold, by=lead)
    assert not Task.objects.filter(pk=gold.pk).exists()
    assert AuditEntry.objects.get(action="known_task.removed").details["answers"] == {
        "drum": False,
        "tall hat": True,
    }


def test_a_check_that_was_answered_stays_withdrawn_even_when_its_image_is_restored(
    gold, lead, marking, picture
):
    enrolment = new_annotator(marking).enrolments.get()
    practice = PracticeRound.objects.create(enrolment=enrolment, number=1)
    PracticeAnswer.objects.create(round=practice, task=gold, answer={}, correct=1, scored=2)
    known_tasks.remove(task=gold, by=lead)
    retraction.retract(image=picture, by=lead, reason="broken")
    retraction.restore(image=picture, by=lead)
    gold.refresh_from_db()
    assert gold.withdrawn
    assert not gold.known_answers.exists()
    with pytest.raises(Conflict, match="known answers of this task were removed"):
        known_tasks.change(task=gold, by=lead, answers={})


def test_a_label_task_is_no_check_to_change_or_remove(marking, lead):
    for refused in (
        lambda task: known_tasks.remove(task=task, by=lead),
        lambda task: known_tasks.change(task=task, by=lead, answers={}),
    ):
        with pytest.raises(Conflict):
            refused(marking.tasks.first())


def test_a_check_is_nobodys_open_task(gold, marking):
    person = new_annotator(marking)
    assert gold not in leases.open_tasks(marking, person.pk)
