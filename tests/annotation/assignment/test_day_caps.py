"""Daily caps on tasks and on sensitive tasks, in the server's time zone."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from accounts import profiles
from annotation.annotator.progress import standing
from annotation.assignment import day_caps, leases
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.images import retraction
from annotation.models import Assignment, Enrolment
from catalog.models import Stereotype
from tests.annotation.assignment.test_leases import next_for
from tests.annotation.factories import add_images, new_annotator, submit

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 5, 3, 12, tzinfo=UTC)


def opened(study, lead, *, kind="stereotype_marking", **options):
    if not study.images.exists():
        add_images(study, 1)
    screens = {"attributes_per_screen": 1} if kind == "stereotype_marking" else {}
    draft = lifecycle.create(study=study, name="Capped", kind=kind, by=lead, options=options, **screens)
    return lifecycle.open_(campaign=draft, by=lead)


@pytest.fixture
def offensive(resource):
    """The tall hat is rated offensive for the Velmari."""
    Stereotype.objects.filter(group__name="Velmari", attribute__text="tall hat").update(
        rating_2=1, offensiveness_stored=0.33
    )


def work(annotator, campaign, now):
    """Answer as many tasks as are given at one moment."""
    done = []
    while (leased := next_for(annotator, campaign, now)) is not None:
        submit(leased, now=now)
        done.append(leased.task)
    return done


def test_surplus_answers_count_among_the_tasks_of_the_day(study, lead):
    campaign = opened(study, lead, tasks_per_day=1)
    anna = new_annotator(campaign)
    leased = next_for(anna, campaign, NOON)
    lifecycle.close(campaign=campaign, by=lead)
    assert submit(leased, now=leased.expires_at).status == "surplus"
    campaign = lifecycle.reopen(campaign=campaign, by=lead)
    assert next_for(anna, campaign, NOON + timedelta(hours=2)) is None
    assert next_for(anna, campaign, NOON + timedelta(days=1)) is not None


def test_tasks_of_another_campaign_do_not_count(study, lead):
    campaigns = [opened(study, lead, tasks_per_day=1) for _ in range(2)]
    anna = new_annotator(campaigns[0])
    Enrolment.objects.create(campaign=campaigns[1], annotator=anna)
    assert [len(work(anna, campaign, NOON)) for campaign in campaigns] == [1, 1]


def test_a_task_is_sensitive_when_it_asks_for_an_offensive_stereotype_of_the_group_shown(
    study, lead, offensive
):
    campaign = opened(study, lead)
    found = campaign.tasks.filter(sensitive=True)
    (task,) = found.select_related("image__group")
    assert task.image.group.name == "Velmari"
    assert [shown.attribute.text for shown in task.task_attributes.all()] == ["tall hat"]
    # For the Orsani, the same words are at most a random attribute, which nobody rated offensive.
    assert campaign.tasks.filter(task_attributes__attribute__text="tall hat").count() <= 2


def test_a_gold_task_is_sensitive_like_any_other(study, lead, offensive):
    campaign = opened(study, lead, gold_share=0.5, sensitive_per_day=0)
    for task in campaign.tasks.filter(purpose="label").select_related("image"):
        asked = task.task_attributes.get().attribute
        gold = known_tasks.add(
            campaign=campaign,
            purpose="gold",
            content=known_tasks.TaskContent(image=task.image, attributes=[asked]),
            answers={asked: True},
            by=None,
        )
        assert gold.sensitive == task.sensitive
    done = work(new_annotator(campaign), campaign, NOON)
    assert "gold" in {task.purpose for task in done}
    assert not any(task.sensitive for task in done)


def test_a_rating_is_sensitive_whatever_group_the_attribute_is_offensive_for(study, lead, offensive):
    campaign = opened(study, lead, kind="attribute_likert")
    (task,) = campaign.tasks.filter(sensitive=True)
    assert task.task_attributes.get().attribute.text == "tall hat"


def test_ratings_decide_where_no_mean_is_stored(study, lead):
    listed = Stereotype.objects.filter(group__name="Velmari", attribute__text="lantern")
    listed.update(rating_1=None, rating_2=0, rating_3=1, offensiveness_stored=None)
    campaign = opened(study, lead)
    assert campaign.tasks.get(sensitive=True).task_attributes.get().attribute.text == "lantern"


def test_the_daily_cap_stops_work_until_the_next_day(study, lead):
    campaign = opened(study, lead, tasks_per_day=3)
    anna = new_annotator(campaign)
    assert len(work(anna, campaign, NOON)) == 3
    assert next_for(anna, campaign, NOON + timedelta(hours=11, minutes=59)) is None
    assert len(work(anna, campaign, NOON + timedelta(hours=12))) == 3
    assert len(work(new_annotator(campaign), campaign, NOON)) == 3


def test_a_skipped_task_leaves_room_for_another_and_an_open_one_does_not(study, lead):
    campaign = opened(study, lead, tasks_per_day=1)
    anna = new_annotator(campaign)
    first = next_for(anna, campaign, NOON)
    assert next_for(anna, campaign, NOON).pk == first.pk
    leases.skip(assignment=first, annotator=anna, now=NOON)
    second = next_for(anna, campaign, NOON)
    assert second.pk != first.pk
    submit(second, now=NOON)
    assert next_for(anna, campaign, NOON) is None


def test_after_the_sensitive_cap_only_other_tasks_are_given(study, lead, offensive):
    free, capped = (opened(study, lead, sensitive_per_day=cap) for cap in (None, 0))
    everything = work(new_annotator(free), free, NOON)
    assert sum(task.sensitive for task in everything) == 1
    anna = new_annotator(capped)
    assert len(work(anna, capped, NOON)) == len(everything) - 1
    assert not Assignment.objects.filter(annotator=anna, task__sensitive=True).exists()


def test_a_sensitive_one_that_was_skipped_was_seen(study, lead, offensive):
    Stereotype.objects.filter(group__name="Velmari").update(offensiveness_stored=1)
    campaign = opened(study, lead, sensitive_per_day=1)
    anna = new_annotator(campaign)
    while not (leased := next_for(anna, campaign, NOON)).task.sensitive:
        submit(leased, now=NOON)
    leases.skip(assignment=leased, annotator=anna, now=NOON)
    assert not any(task.sensitive for task in work(anna, campaign, NOON))
    assert next_for(anna, campaign, NOON + timedelta(days=1)).task.sensitive


def test_sensitive_caps_work_with_quotas(study, lead, offensive):
    add_images(study, 1)
    add_images(study, 1, model_label="other")
    draft = lifecycle.create(
        study=study,
        name="Both",
        kind="stereotype_marking",
        by=lead,
        attributes_per_screen=1,
        annotators_per_task=2,
        options={"sensitive_per_day": 1},
        quotas=["at_most 1 gender = man"],
    )
    campaign = lifecycle.open_(campaign=draft, by=lead)
    done = work(new_annotator(campaign), campaign, NOON)
    assert campaign.tasks.filter(sensitive=True).count() == 2
    assert sum(task.sensitive for task in done) == 1
    assert len(done) == campaign.tasks.count() - 1


def test_nothing_is_counted_where_no_cap_is_set(marking, django_assert_num_queries):
    anna = new_annotator(marking)
    with django_assert_num_queries(0):
        assert day_caps.today(marking, anna.pk) == day_caps.Today()


def test_the_page_says_when_to_come_back(study, lead, client):
    campaign = opened(study, lead, tasks_per_day=1)
    anna = new_annotator(campaign)
    profiles.describe(annotator=anna, gender="woman")
    submit(next_for(anna, campaign))
    client.force_login(anna.user)
    address = f"/annotate/{campaign.pk}/done/"
    assert client.get(f"/annotate/{campaign.pk}/").url == address
    page = client.get(address)
    assert "Enough for today" in page.text
    assert "All done" not in page.text
    found = standing(Enrolment.objects.get(annotator=anna))
    assert (found.state, found.done, found.left) == ("enough_for_today", 1, campaign.tasks.count() - 1)
    assert found.back_at - timezone.now() <= timedelta(hours=24)
    assert "enough for today" in client.get("/annotate/").text
    assert "Genug für heute" in client.get(address, headers={"accept-language": "de"}).text


def test_the_page_says_so_when_only_sensitive_ones_are_left_today(study, lead, offensive):
    campaign = opened(study, lead, sensitive_per_day=0)
    anna = new_annotator(campaign)
    assert len(work(anna, campaign, timezone.now())) == campaign.tasks.count() - 1
    assert standing(Enrolment.objects.get(annotator=anna)).state == "enough_for_today"


def test_screens_of_retracted_images_bring_nobody_back(study, lead):
    campaign = opened(study, lead, tasks_per_day=1)
    anna = new_annotator(campaign)
    submit(next_for(anna, campaign))
    for image in study.images.all():
        retraction.retract(image=image, by=lead, reason="A real person")
    found = standing(Enrolment.objects.get(annotator=anna))
    assert (found.state, found.done, found.left) == ("finished", 1, 0)


def test_a_day_begins_at_midnight_of_the_server_also_when_clocks_change(settings):
    settings.TIME_ZONE = "Europe/Berlin"
    timezone.get_default_timezone.cache_clear()
    try:
        before_the_change = datetime(2030, 3, 30, 22, 30, tzinfo=UTC)
        assert day_caps.tomorrow(before_the_change) == datetime(2030, 3, 30, 23, tzinfo=UTC)
        assert day_caps.tomorrow(before_the_change + timedelta(hours=1)) == datetime(
            2030, 3, 31, 22, tzinfo=UTC
        )
        autumn = datetime(2030, 10, 26, 22, 30, tzinfo=UTC)
        assert day_caps.tomorrow(autumn) == datetime(2030, 10, 27, 23, tzinfo=UTC)
    finally:
        timezone.get_default_timezone.cache_clear()
