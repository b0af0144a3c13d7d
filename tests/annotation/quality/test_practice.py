"""Practice: it comes before real tasks, is explained, can be repeated, and never counts."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.answers.attribute_references import references
from annotation.answers.inclusion import counted
from annotation.answers.validation import Answer
from annotation.assignment import leases
from annotation.assignment.eligibility import State, state
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.images import retraction
from annotation.models import Annotation, Enrolment, PracticeAnswer, PracticeRound, Task
from annotation.people import enrolments
from annotation.quality.practice import rounds
from annotation.quality.practice.progress import practice_of
from catalog.models import Attribute
from foundation.errors import Conflict, DomainError, Forbidden, NotFound
from studies import consent
from tests.annotation.factories import new_annotator, submit


def attributes(*texts):
    return [Attribute.objects.get(text=text) for text in texts]


@pytest.fixture
def practised(marking, lead):
    """The marking campaign with two practice tasks: a tall hat and no drum, a kite; 60 % pass, 2 attempts."""
    hat, drum, kite = attributes("tall hat", "drum", "kite")
    first, second = marking.study.images.order_by("pk")[:2]
    add = {"campaign": marking, "purpose": Task.Purpose.PRACTICE, "by": lead}
    known_tasks.add(
        **add,
        content=known_tasks.TaskContent(image=first, attributes=[hat, drum, kite]),
        answers={hat: True, drum: False},
        explanations={drum: "A box is no drum."},
    )
    known_tasks.add(
        **add, content=known_tasks.TaskContent(image=second, attributes=[kite]), answers={kite: True}
    )
    return lifecycle.change_settings(
        campaign=marking, by=lead, options={"practice_pass_mark": 0.6, "practice_attempts": 2}
    )


@pytest.fixture
def person(practised):
    return new_annotator(practised).enrolments.select_related("annotator", "campaign").get()


def ask(enrolment):
    return rounds.next_task(campaign=enrolment.campaign, annotator=enrolment.annotator)


def ticks(task, *texts):
    wanted = {one.pk for one in attributes(*texts)}
    refs = [ref for ref, attribute in references(task).items() if attribute in wanted]
    return {"ticked": refs, "none_of_the_above": not refs}


def reply(enrolment, task, *texts):
    return rounds.answer(task=task, annotator=enrolment.annotator, data=ticks(task, *texts))


def go_through(enrolment, *answers):
    for texts in answers:
        reply(enrolment, ask(enrolment), *texts)
    enrolment.refresh_from_db()


RIGHT = (("tall hat",), ("kite",))
WRONG = (("drum",), ())


def lease(enrolment):
    return leases.next_assignment(campaign=enrolment.campaign, annotator=enrolment.annotator)


def test_a_campaign_without_practice_asks_for_none(marking):
    enrolment = new_annotator(marking).enrolments.get()
    assert state(enrolment) == State.NOT_NEEDED
    assert ask(enrolment) is None
    assert lease(enrolment)


def test_real_tasks_are_refused_until_practice_is_passed(person):
    assert state(person) == State.OPEN
    with pytest.raises(Forbidden) as refused:
        lease(person)
    assert refused.value.code == "practice_first"
    go_through(person, *RIGHT)
    assert state(person) == State.PASSED
    assert ask(person) is None
    assert lease(person).task.purpose == Task.Purpose.LABEL


def test_practice_added_during_a_task_comes_before_the_next_task(marking, path, request):
    """An annotator at work when practice is added may finish the open task, and practises before the next."""
    anna = new_annotator(marking)
    leased = path.next_task(marking, anna)
    practised = request.getfixturevalue("practised")
    enrolment = anna.enrolments.get()
    ask(enrolment)
    kept = path.submit(leased, by=anna)
    assert (kept.annotation.status, kept.following, kept.why) == ("accepted", None, "practice_first")
    go_through(enrolment, *RIGHT)
    following = path.next_task(practised, anna)
    assert path.submit(following, by=anna).following is not None


def test_each_answer_is_scored_and_explained(person):
    task = ask(person)
    kept = reply(person, task, "tall hat", "drum")
    assert (kept.correct, kept.scored) == (1, 2)
    told = {one.text: one for one in rounds.feedback(kept)}
    assert (told["tall hat"].present, told["tall hat"].right_present, told["tall hat"].correct) == (
        True, True, True,
    )  # fmt: skip
    assert (told["drum"].correct, told["drum"].explanation) == (False, "A box is no drum.")
    assert (told["kite"].correct, told["kite"].right_present) == (None, None)


def test_a_rating_is_right_when_it_is_one_of_the_right_ones(rating, lead):
    (drum,) = attributes("drum")
    known_tasks.add(
        campaign=rating,
        purpose=Task.Purpose.PRACTICE,
        by=lead,
        content=known_tasks.TaskContent(attributes=[drum]),
        answers={drum: [4, 5]},
    )
    for value, passed in ((4, True), (2, False)):
        enrolment = new_annotator(rating).enrolments.get()
        kept = rounds.answer(task=ask(enrolment), annotator=enrolment.annotator, data={"rating": value})
        (told,) = rounds.feedback(kept)
        assert (told.rating, told.right_ratings, told.correct) == (value, (4, 5), passed)
        assert enrolment.practice_rounds.get().passed is passed


def test_boxes_are_kept_and_neither_asked_for_nor_scored(person):
    task = ask(person)
    assert person.campaign.boxes_required
    data = ticks(task, "tall hat")
    box = {"attribute": data["ticked"][0], "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.4}
    kept = rounds.answer(task=task, annotator=person.annotator, data={**data, "boxes": [box]})
    assert (kept.correct, kept.scored) == (2, 2)
    assert rounds.boxes_of(kept) == [box]


def test_a_round_ends_with_its_last_task_and_can_be_tried_again(person):
    go_through(person, *WRONG)
    failed = practice_of(person)
    assert (failed.state, failed.left, failed.latest.passed) == (State.OPEN, 1, False)
    assert (failed.latest.correct, failed.latest.scored) == (0, 3)
    go_through(person, *RIGHT)
    assert list(person.practice_rounds.values_list("number", "passed")) == [(1, False), (2, True)]
    assert state(person) == State.PASSED


@pytest.mark.parametrize(("right", "mark", "passed"), [(2, 0.67, False), (2, 0.66, True), (3, 1.0, True)])
def test_the_pass_mark_is_the_share_that_is_right(person, lead, right, mark, passed):
    lifecycle.change_settings(campaign=person.campaign, by=lead, options={"practice_pass_mark": mark})
    go_through(person, ("tall hat",), ("kite",) if right == 3 else ())
    assert person.practice_rounds.get().passed is passed


def test_an_annotator_without_attempts_left_is_paused_until_the_lead_resumes_them(person, lead):
    go_through(person, *WRONG, *WRONG)
    assert (person.state, person.reason) == ("paused", rounds.FAILED_REASON)
    assert state(person) == State.FAILED
    for refused in (lambda: ask(person), lambda: lease(person)):
        with pytest.raises(Forbidden) as raised:
            refused()
        assert raised.value.code == "annotator_paused"
    enrolments.resume(enrolment=person, by=lead, reason="Talked it through.")
    person.refresh_from_db()
    granted = practice_of(person)
    assert (granted.state, granted.left) == (State.OPEN, 1)
    go_through(person, *WRONG)
    assert state(person) == State.FAILED
    enrolments.resume(enrolment=person, by=lead, reason="Once more.")
    person.refresh_from_db()
    go_through(person, *RIGHT)
    assert state(person) == State.PASSED


def test_annotators_who_labelled_before_practice_existed_skip_it(marking, lead):
    before, after = (new_annotator(marking).enrolments.get() for _ in range(2))
    submit(lease(before))
    holds = new_annotator(marking).enrolments.get()
    held = lease(holds)
    (hat,) = attributes("tall hat")
    known_tasks.add(
        campaign=marking,
        purpose=Task.Purpose.PRACTICE,
        by=lead,
        content=known_tasks.TaskContent(image=marking.study.images.first(), attributes=[hat]),
        answers={hat: True},
    )
    assert state(before) == State.NOT_NEEDED
    assert lease(before)
    assert state(after) == State.OPEN
    assert lease(holds) == held  # an open task stays with its annotator


def test_a_late_answer_before_practice_existed_is_enough_to_skip_it(marking, lead):
    late = new_annotator(marking).enrolments.get()
    leased = lease(late)
    lifecycle.close(campaign=marking, by=lead)
    assert submit(leased, now=leased.expires_at).status == "surplus"
    lifecycle.reopen(campaign=marking, by=lead)
    (hat,) = attributes("tall hat")
    content = known_tasks.TaskContent(image=marking.study.images.first(), attributes=[hat])
    known_tasks.add(campaign=marking, purpose="practice", by=lead, content=content, answers={hat: True})
    assert state(late) == State.NOT_NEEDED


def test_answers_in_another_campaign_replace_no_practice(person, rating):
    Enrolment.objects.create(campaign=rating, annotator=person.annotator)
    leased = leases.next_assignment(campaign=rating, annotator=person.annotator)
    submit(leased, Answer.parse({"rating": 4}, leased.task))
    assert state(person) == State.OPEN


def test_the_same_answer_again_changes_nothing_and_another_is_refused(person):
    task = ask(person)
    first = reply(person, task, "tall hat")
    assert reply(person, task, "tall hat") == first
    with pytest.raises(Conflict) as refused:
        reply(person, task, "drum")
    assert refused.value.code == "practice_answered"
    last = ask(person)
    done = reply(person, last, "kite")
    assert reply(person, last, "kite") == done  # a retry, after the round ended


def test_invalid_and_out_of_turn_answers_are_refused(person, marking, lead):
    first = Task.objects.filter(purpose="practice").first()
    with pytest.raises(Conflict, match="Ask for a practice task"):
        reply(person, first, "tall hat")
    task = ask(person)
    for wrong in ({}, {"ticked": ["unknown"]}, None, {"rating": 4}):
        with pytest.raises(DomainError):
            rounds.answer(task=task, annotator=person.annotator, data=wrong)
    assert not PracticeAnswer.objects.exists()
    known_tasks.remove(task=task, by=lead)
    with pytest.raises(Conflict):
        reply(person, marking.tasks.first())


def test_a_task_that_was_added_after_a_round_is_not_answered_in_it(person, marking, lead):
    go_through(person, *WRONG)
    (hat,) = attributes("tall hat")
    content = known_tasks.TaskContent(image=marking.study.images.latest("pk"), attributes=[hat])
    late = known_tasks.add(
        campaign=marking, purpose="practice", by=lead, content=content, answers={hat: True}
    )
    with pytest.raises(Conflict, match="This practice round has ended"):
        reply(person, late, "tall hat")
    assert not PracticeAnswer.objects.filter(task=late).exists()


def test_a_task_removed_during_a_round_ends_it_and_measures_nobody(person, lead):
    first = ask(person)
    reply(person, first, "drum")
    second = ask(person)
    known_tasks.remove(task=first, by=lead)
    reply(person, second, "kite")
    assert person.practice_rounds.get().passed
    assert state(person) == State.PASSED


def test_when_the_last_open_task_is_removed_the_next_request_ends_the_round(person, lead):
    reply(person, ask(person), "tall hat")
    known_tasks.remove(task=ask(person), by=lead)
    assert ask(person) is None
    assert state(person) == State.PASSED


def test_practice_with_a_retracted_image_is_not_asked(person, lead):
    retraction.retract(image=ask(person).image, by=lead, reason="broken")
    go_through(person, ("kite",))
    assert state(person) == State.PASSED


def test_practice_makes_no_annotation_and_never_counts(person):
    go_through(person, *RIGHT)
    assert not Annotation.objects.exists()
    assert not counted(person.campaign).exists()


def test_nobody_practises_without_consent_in_a_paused_campaign_or_elsewhere(person, lead, rating):
    task = ask(person)
    assert rounds.own_task(person.annotator.user_id, task.public_id) == task
    no_practice = person.campaign.tasks.filter(purpose="label").first()
    for who, wanted in ((new_annotator(rating), task), (person.annotator, no_practice)):
        with pytest.raises(NotFound):
            rounds.own_task(who.user_id, wanted.public_id)
    lifecycle.pause(campaign=person.campaign, by=lead)
    with pytest.raises(Conflict, match="paused"):
        ask(person)
    lifecycle.resume(campaign=person.campaign, by=lead)
    consent.withdraw(annotator=person.annotator, study=person.campaign.study)
    for refused in (lambda: ask(person), lambda: reply(person, task, "tall hat")):
        with pytest.raises(Forbidden, match="consent"):
            refused()
    assert PracticeRound.objects.count() == 1  # withdrawing deletes nothing


def test_asking_whether_practice_is_due_takes_one_query_without_and_two_with_it(rating, person):
    without = new_annotator(rating).enrolments.select_related("campaign").get()
    go_through(person, *RIGHT)
    for enrolment, most in ((without, 1), (person, 2)):
        with CaptureQueriesContext(connection) as captured:
            state(enrolment)
        assert len(captured) <= most
