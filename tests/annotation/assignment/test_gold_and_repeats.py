"""Gold tasks and repeats are mixed in unnoticed, in the set shares, never alone, and never count as labels."""

import random
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.annotator.payload import leased_payload, task_payload
from annotation.answers.inclusion import counted, not_counted
from annotation.answers.submission import SentAnswer, submit_and_next
from annotation.answers.validation import Answer
from annotation.assignment import gold_and_repeats, leases, selection
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.coverage import coverage
from annotation.campaigns.images import retraction
from annotation.campaigns.progress import progress
from annotation.lead.people.annotator_lines import annotator_lines
from annotation.models import Annotation, Assignment, Enrolment
from annotation.people import enrolments, withdrawal
from studies import consent
from tests.annotation.assignment.test_leases import next_for, slots_are_counted
from tests.annotation.factories import add_images, new_annotator, none_of_them, submit

pytestmark = pytest.mark.django_db

Purpose = Assignment.Purpose


def add_gold(campaign, number, by=None):
    """Make `number` gold tasks of the campaign's own images and attributes."""
    made = []
    labels = campaign.tasks.filter(purpose="label").select_related("image").order_by("pk")
    for task in labels[:number]:
        asked = [shown.attribute for shown in task.task_attributes.select_related("attribute")]
        rating = campaign.kind == "attribute_likert"
        answers = {asked[0]: [4, 5] if rating else True}
        made.append(
            known_tasks.add(
                campaign=campaign,
                purpose="gold",
                content=known_tasks.TaskContent(image=task.image, attributes=asked),
                answers=answers,
                by=by,
            )
        )
    return made


def opened(study, lead, *, images=3, wanted=2, gold=0, kind="stereotype_marking", **options):
    screens = {}
    if kind == "stereotype_marking":
        add_images(study, images)
        screens["attributes_per_screen"] = 3
    draft = lifecycle.create(
        study=study,
        name="Checked",
        kind=kind,
        by=lead,
        annotators_per_task=wanted,
        options=options,
        **screens,
    )
    campaign = lifecycle.open_(campaign=draft, by=lead)
    add_gold(campaign, gold, by=lead)
    return campaign


def careful(campaign, annotator):
    """Answer everything, one verb after the other; return the assignments in the order given."""
    done = []
    while (leased := next_for(annotator, campaign)) is not None:
        submit(leased)
        done.append(leased)
    return done


def quick(campaign, annotator):
    """Answer everything as the API does: submit and get the next one in one request."""
    done, leased = [], next_for(annotator, campaign)
    while leased is not None:
        done.append(leased)
        answer = {"none_of_the_above": True}
        saved = submit_and_next(SentAnswer(annotator.user_id, leased.public_id, uuid.uuid4(), answer))
        assert saved.following is not None or next_for(annotator, campaign) is None
        leased = saved.following and Assignment.objects.get(pk=saved.following.pk)
    return done


@pytest.mark.parametrize("way", [careful, quick])
def test_checks_come_as_often_as_the_shares_say_and_never_alone(study, lead, way):
    campaign = opened(study, lead, images=12, gold=16, gold_share=0.2, repeat_share=0.1, repeat_after=4)
    anna = new_annotator(campaign)
    done = way(campaign, anna)
    kinds = [one.purpose for one in done]
    assert kinds.count("label") == 48
    # Never more than the share, begun anywhere. Checks wait for the next image of four screens, so at the end some
    # may not have come up yet: of a hundred draws the worst lacked 1.2 of 13 gold tasks and 2.5 of 7 repeats.
    assert -4 <= kinds.count("gold") - 0.2 * len(kinds) <= 1
    assert -4 <= kinds.count("repeat") - 0.1 * len(kinds) <= 1
    assert kinds[-1] == "label"
    assert Assignment.objects.exclude(purpose="label").filter(slot__isnull=False).count() == 0
    assert slots_are_counted()
    assert counted(campaign).count() == 48
    stati = list(Annotation.objects.order_by("pk").values_list("status", flat=True))
    assert stati == [{"label": "accepted"}.get(kind, kind) for kind in kinds]


def test_a_repeat_is_an_earlier_task_of_the_annotator_and_comes_once(study, lead):
    campaign = opened(study, lead, repeat_share=0.4, repeat_after=3)
    done = careful(campaign, new_annotator(campaign))
    repeats = [place for place, one in enumerate(done) if one.purpose == "repeat"]
    assert len(repeats) > 3
    for place in repeats:
        (first,) = (at for at, one in enumerate(done[:place]) if one.task_id == done[place].task_id)
        assert done[first].purpose == "label"
        assert place - first > 3
    assert len({done[place].task_id for place in repeats}) == len(repeats)
    shown = [done[place].task.task_attributes.count() for place in repeats]
    assert len(list(gold_and_repeats.repeat_pairs(campaign))) == sum(shown)


def test_checks_are_drawn_from_seed_annotator_and_turn(study, lead):
    campaign = opened(study, lead, gold_share=0.1, repeat_share=0.2)
    draws = [gold_and_repeats.drawn(campaign, 5, turn) for turn in range(2000)]
    assert draws == [gold_and_repeats.drawn(campaign, 5, turn) for turn in range(2000)]
    assert draws != [gold_and_repeats.drawn(campaign, 6, turn) for turn in range(2000)]
    # Twice the share of the turns that begin an image.
    often = 2 * selection.screens_per_image(campaign)
    assert sum(Purpose.GOLD in one for one in draws) == pytest.approx(200 * often, abs=80)
    assert sum(Purpose.REPEAT in one for one in draws) == pytest.approx(400 * often, abs=100)


def test_no_check_comes_between_the_screens_of_an_image(study, lead):
    campaign = opened(study, lead, images=8, gold=6, gold_share=0.3, repeat_share=0.1, repeat_after=2)
    assert selection.screens_per_image(campaign) > 1
    given = careful(campaign, new_annotator(campaign))
    purposes = {one.purpose for one in given}
    assert Purpose.GOLD in purposes
    images = [one.task.image_id if one.purpose == "label" else None for one in given]
    runs = [image for number, image in enumerate(images) if number == 0 or images[number - 1] != image]
    labelled = [image for image in runs if image is not None]
    assert len(labelled) == len(set(labelled))


def test_without_shares_nothing_is_mixed_in_and_no_statement_is_added(marking, django_assert_num_queries):
    add_gold(marking, 2)
    with django_assert_num_queries(0):
        assert gold_and_repeats.fitting(gold_and_repeats.drawn(marking, 1, 1), marking, 1, turn=1) is None
        assert gold_and_repeats.expected(marking, 1, 5) == 0
    assert {one.purpose for one in careful(marking, new_annotator(marking))} == {"label"}


@pytest.mark.parametrize("way", [careful, quick])
def test_nothing_is_given_when_only_checks_are_left(study, lead, way):
    campaign = opened(study, lead, images=1, wanted=1, gold=3, gold_share=0.5, repeat_share=0.5)
    assert [one.purpose for one in way(campaign, new_annotator(campaign))].count("label") == 4
    late = new_annotator(campaign)
    assert next_for(late, campaign) is None
    assert not Assignment.objects.filter(annotator=late).exists()


def test_the_number_left_does_not_reveal_checks_and_ends_at_zero(study, lead):
    shares = {"gold_share": 0.15, "repeat_share": 0.15, "repeat_after": 3}
    campaign = opened(study, lead, images=4, wanted=6, gold=6, **shares)
    kinds, too_many = set(), []
    for _ in range(6):
        anna, shown = new_annotator(campaign), []
        while (leased := next_for(anna, campaign)) is not None:
            assert leased_payload(leased, campaign) == task_payload(leased)
            shown.append(task_payload(leased)["progress"])
            kinds.add(leased.purpose)
            submit(leased)
        assert [told["done"] for told in shown] == list(range(len(shown)))
        # With one annotator at work, each answer reduces the number by one; it is zero after the last task.
        together = [told["done"] + told["left"] for told in shown]
        assert set(together[:-1]) == {together[0]}
        assert len(shown) == together[-1] <= together[0]
        too_many.append(together[0] - together[-1])
        assert leases.open_tasks(campaign, anna.pk).count() == 0
        assert gold_and_repeats.expected(campaign, anna.pk, 0) == 0
    assert kinds == {"label", "gold", "repeat"}
    # Of 300 draws 1.4 in the mean and at most 5: what would have come had there been another image.
    assert sum(too_many) <= 3 * len(too_many)


def test_the_invitation_promises_no_fewer_tasks_than_come(study, lead):
    campaign = opened(study, lead, gold=5, gold_share=0.2, repeat_share=0.1, repeat_after=4)
    promised = gold_and_repeats.at_most(campaign, 12)
    assert 12 < len(careful(campaign, new_annotator(campaign))) <= promised <= 12 + 4 + 3


def a_check(campaign, annotator, purpose):
    """Work until a check of this purpose is leased, and return it."""
    while (leased := next_for(annotator, campaign)) is not None:
        if leased.purpose == purpose:
            return leased
        submit(leased)
    pytest.fail("no check came")


@pytest.mark.parametrize("purpose", ["gold", "repeat"])
def test_checks_are_corrected_skipped_and_run_out_like_other_tasks(study, lead, purpose):
    campaign = opened(
        study, lead, gold=12, gold_share=0.3, repeat_share=0.0 if purpose == "gold" else 0.3, repeat_after=2
    )
    anna = new_annotator(campaign)
    leased = a_check(campaign, anna, purpose)
    kept = submit(leased)
    ref = leased.task.task_attributes.first()
    again = submit(leased, Answer(ticked=frozenset({ref.attribute_id}), none_of_the_above=False))
    assert (kept.status, again.status, again.revision) == (purpose, purpose, 2)

    skipped = a_check(campaign, anna, purpose)
    leases.skip(assignment=skipped, annotator=anna)
    others = [one for one in careful(campaign, anna) if one.task_id == skipped.task_id]
    assert all(one.purpose != purpose for one in others)
    assert slots_are_counted()


def test_a_late_answer_to_a_check_is_kept_even_when_the_campaign_is_closed(study, lead):
    campaign = opened(study, lead, gold=6, gold_share=0.5)
    anna = new_annotator(campaign)
    leased = a_check(campaign, anna, "gold")
    later = timezone.now() + timedelta(hours=3)
    assert leases.expire(campaign=campaign, now=later) == 1
    lifecycle.close(campaign=campaign, by=lead)
    kept = submit(leased, now=later)
    assert (kept.status, kept.status_reason) == ("gold", "")
    assert Assignment.objects.get(pk=leased.pk).state == "submitted"


def test_a_gold_task_that_ran_out_may_come_back_on_the_same_row(study, lead):
    campaign = opened(study, lead, gold=1, gold_share=0.5)
    anna = new_annotator(campaign)
    leased = a_check(campaign, anna, "gold")
    leases.release(annotator=anna, campaign=campaign)
    back = a_check(campaign, anna, "gold")
    assert (back.pk, back.public_id) == (leased.pk, leased.public_id)


def lease_gold(campaign, annotator, task):
    """Lease a gold task at once, without waiting for its turn."""
    now = timezone.now()
    pk = leases.lease(
        task.pk, annotator.pk, purpose=Purpose.GOLD, now=now, expires_at=now + timedelta(minutes=30)
    ).pk
    return Assignment.objects.get(pk=pk)


def test_gold_tasks_that_ran_out_do_not_count_as_given(study, lead):
    campaign = opened(study, lead, gold=3)
    anna = new_annotator(campaign)
    submit(next_for(anna, campaign))
    campaign.options = {**campaign.options, "gold_share": 0.5}
    campaign.save(update_fields=["options"])
    for task in campaign.tasks.filter(purpose="gold"):
        lease_gold(campaign, anna, task)
    assert leases.release(annotator=anna, campaign=campaign) == 3
    # One task was answered, and every second task should be a gold task, so the next may be one.
    assert gold_and_repeats.fitting((Purpose.GOLD,), campaign, anna.pk, turn=1) is not None


def test_a_gold_task_begins_no_image(study, lead):
    campaign = opened(study, lead, gold=1)
    anna = new_annotator(campaign)
    submit(lease_gold(campaign, anna, campaign.tasks.get(purpose="gold")))
    assert selection.screens_per_image(campaign) > 1
    choice = next(selection.choices(campaign, anna.pk, None, {}, turn=0))
    assert not choice.continues_image


def test_a_retracted_image_is_shown_in_no_check(study, lead):
    campaign = opened(study, lead, images=2, gold=8, gold_share=0.4, repeat_share=0.4, repeat_after=1)
    anna = new_annotator(campaign)
    leased = a_check(campaign, anna, "gold")
    gone = leased.task.image
    retraction.retract(image=gone, by=lead, reason="A real person")
    assert Assignment.objects.get(pk=leased.pk).state == "expired"
    assert all(one.task.image_id != gone.pk for one in careful(campaign, anna))
    assert submit(leased).status == "gold"
    assert all(row.task_id != leased.task_id for row in gold_and_repeats.gold_answers(campaign))


def test_gold_tasks_of_another_campaign_are_not_shown(study, lead, rating):
    campaign = opened(study, lead, gold_share=0.5)
    add_gold(rating, 3, by=lead)
    anna = new_annotator(campaign)
    assert careful(campaign, anna)
    assert set(anna.assignments.values_list("purpose", "task__campaign")) == {("label", campaign.pk)}


def test_an_answered_task_of_a_retracted_image_is_not_repeated(study, lead):
    campaign = opened(study, lead, repeat_after=1)
    anna = new_annotator(campaign)
    first, second = (submit(next_for(anna, campaign)) for _ in range(2))
    assert first.task.image == second.task.image
    campaign.options = {**campaign.options, "repeat_share": 1.0}
    campaign.save(update_fields=["options"])

    def repeat():
        return gold_and_repeats.fitting((Purpose.REPEAT,), campaign, anna.pk, turn=1)

    assert repeat().task_id == first.task_id
    retraction.retract(image=first.task.image, by=lead, reason="A real person")
    assert repeat() is None


def test_answers_to_checks_count_nowhere_as_labels(study, lead):
    campaign = opened(study, lead, wanted=1, gold=4, gold_share=0.2, repeat_share=0.2, repeat_after=2)
    anna = new_annotator(campaign)
    done = careful(campaign, anna)
    kinds = [one.purpose for one in done]
    golds, repeats = kinds.count("gold"), kinds.count("repeat")
    assert golds
    assert repeats
    found = progress(campaign)
    assert (found.tasks, found.complete, found.begun, found.untouched) == (12, 12, 0, 0)
    assert (found.accepted, found.slots, found.free, found.surplus) == (12, 12, 0, 0)
    assert sum(group.tasks for group in found.groups) == 12
    assert sum(day.submitted for day in found.days) == 12
    assert found.finished
    (line,) = annotator_lines(campaign, campaign.enrolments.all())
    assert line.answered == 12
    reasons = not_counted(campaign)
    assert (reasons["gold"], reasons["repeat"], sum(reasons.values())) == (golds, repeats, golds + repeats)
    matrix = coverage(campaign, campaign.enrolments.all())
    assert matrix.rows[0][2] == 12


def test_excluding_an_annotator_or_withdrawing_consent_frees_no_place_that_a_check_never_held(study, lead):
    campaign = opened(study, lead, gold=5, gold_share=0.3, repeat_share=0.2, repeat_after=2)
    anna, bea = new_annotator(campaign), new_annotator(campaign)
    careful(campaign, anna)
    careful(campaign, bea)
    theirs = Enrolment.objects.get(campaign=campaign, annotator=anna)
    enrolments.exclude(enrolment=theirs, by=lead, reason="Bots", ask_again=True)
    assert slots_are_counted()
    assert set(Annotation.objects.filter(annotator=anna).values_list("status", flat=True)) == {
        "excluded",
        "gold",
        "repeat",
    }
    withdrawal.withdraw(annotator=bea, study=campaign.study)
    assert slots_are_counted()
    cato = new_annotator(campaign)
    consent.give(annotator=cato, text=consent.current_text(campaign.study))
    assert [one.purpose for one in careful(campaign, cato)].count("label") == 12


def test_a_rating_campaign_has_checks_too(study, lead):
    campaign = opened(
        study,
        lead,
        kind="attribute_likert",
        gold=3,
        gold_share=0.4,
        repeat_share=0.3,
        repeat_after=1,
    )
    anna, kinds = new_annotator(campaign), []
    answer = random.Random(4)
    while (leased := next_for(anna, campaign)) is not None:
        submit(leased, Answer(rating=answer.choice([1, 2, 4, 5])))
        kinds.append(leased.purpose)
    assert kinds.count("label") == 6
    assert {"gold", "repeat"} <= set(kinds)
    assert len(list(gold_and_repeats.gold_answers(campaign))) == kinds.count("gold")
    assert len(list(gold_and_repeats.repeat_pairs(campaign))) == kinds.count("repeat")


def test_the_same_answer_again_is_one_annotation_of_a_check_too(study, lead):
    campaign = opened(study, lead, gold=5, gold_share=0.5)
    anna = new_annotator(campaign)
    leased = a_check(campaign, anna, "gold")
    assert submit(leased, none_of_them(leased)) == submit(leased, none_of_them(leased))
