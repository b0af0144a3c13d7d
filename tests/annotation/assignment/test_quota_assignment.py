"""Quotas during labelling: at assignment, for late answers, under concurrency, and after profile changes."""

import uuid
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import profiles
from annotation.annotator.payload import task_payload
from annotation.answers import exclusion
from annotation.assignment import leases, quota_rules
from annotation.assignment.campaign_quotas import load_quotas, own_values
from annotation.assignment.slots import profiles_of
from annotation.campaigns import feasibility, lifecycle
from annotation.campaigns.planning import task_plan
from annotation.kinds.registry import KINDS
from annotation.models import QuotaRule
from foundation.errors import DomainError
from tests.annotation.assignment.test_concurrency import at_once, label_all
from tests.annotation.assignment.test_leases import slots_are_counted
from tests.annotation.databases import shared_database
from tests.annotation.factories import add_images, new_annotator, submit

pytestmark = pytest.mark.django_db


def opened(study, lead, *quotas, wanted=2, images=1, **settings):
    add_images(study, images)
    draft = lifecycle.create(
        study=study,
        name="Marking",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=wanted,
        attributes_per_screen=3,
        quotas=quotas,
        **settings,
    )
    return lifecycle.open_(campaign=draft, by=lead)


def person(campaign, **said):
    annotator = new_annotator(campaign)
    profiles.describe(annotator=annotator, **said)
    return annotator


def next_for(campaign, annotator, now=None):
    return leases.next_assignment(campaign=campaign, annotator=annotator, now=now)


def rules_hold(campaign):
    """Return whether the annotators of every full task meet the campaign's rules, counted from scratch."""
    quotas = load_quotas(campaign)
    for task in campaign.tasks.select_related("image"):
        holders = task.assignments.filter(slot__isnull=False).select_related("annotator__profile")
        found = profiles_of(one.annotator_id for one in holders).values()
        rules = quotas.of_group(task.image.group_id if task.image else None)
        if not rules.completable([rules.member(one) for one in found], task.wanted):
            return False
    return True


def test_the_last_place_waits_for_somebody_whom_the_rule_needs(study, lead):
    campaign = opened(study, lead, "at_least 1 gender != man")
    first, second = person(campaign, gender="Man"), person(campaign, gender="man ")
    third = person(campaign, gender="Woman")
    assert label_all(campaign, first) == 4
    assert next_for(campaign, second) is None
    assert label_all(campaign, third) == 4
    assert rules_hold(campaign)
    assert slots_are_counted()


def test_an_unanswered_field_does_not_count_as_another_gender(study, lead):
    campaign = opened(study, lead, "at_least 1 gender != man")
    assert label_all(campaign, person(campaign, gender="man")) == 4
    assert next_for(campaign, new_annotator(campaign)) is None


def test_a_skipped_place_is_open_again_to_everybody(study, lead):
    campaign = opened(study, lead, "at_most 1 gender = man")
    man, other = person(campaign, gender="man"), person(campaign, gender="man")
    leased = [next_for(campaign, man)]
    submit(leased[0])
    leases.skip(assignment=next_for(campaign, man), annotator=man)
    assert label_all(campaign, other) == 3
    assert rules_hold(campaign)


def test_the_group_shown_decides_where_a_rule_refers_to_it(study, lead):
    study.groups.filter(name="Velmari").update(iso_code="KEN")
    study.groups.filter(name="Orsani").update(iso_code="PER")
    campaign = opened(study, lead, "at_least 1 nationality = group.nationality", wanted=1)
    kenyan = person(campaign, nationality="kenya")
    shown = []
    while (leased := next_for(campaign, kenyan)) is not None:
        submit(leased)
        shown.append(leased.task.image.group.name)
    assert set(shown) == {"Velmari"}
    assert next_for(campaign, person(campaign, nationality="Chad")) is None
    assert next_for(campaign, person(campaign, nationality="peruvian")) is not None


def test_all_differ_on_a_field(study, lead):
    campaign = opened(study, lead, "distinct region_of_origin")
    assert label_all(campaign, person(campaign, region_of_origin="Eastern Asia")) == 4
    assert next_for(campaign, person(campaign, region_of_origin="eastern  asia")) is None
    assert next_for(campaign, person(campaign)) is None
    assert label_all(campaign, person(campaign, region_of_origin="Polynesia")) == 4


def test_a_late_answer_takes_no_place_that_a_rule_needs_for_somebody_else(study, lead):
    campaign = opened(study, lead, "at_least 1 gender = woman")
    late = person(campaign, gender="man")
    leased = next_for(campaign, late)
    after = timezone.now() + timedelta(hours=2)
    assert leases.expire(campaign=campaign, now=after) == 1
    other = person(campaign, gender="man")
    while (theirs := next_for(campaign, other, now=after)) is not None:
        submit(theirs, now=after)
    kept = submit(leased, now=after)
    assert kept.status == "surplus"
    assert rules_hold(campaign)
    assert slots_are_counted()


def test_an_excluded_answer_comes_back_only_where_the_rules_still_hold(study, lead):
    campaign = opened(study, lead, "at_most 1 gender = man")
    first = submit(next_for(campaign, person(campaign, gender="man")))
    exclusion.exclude(annotation=first, by=lead, reason="unreadable")
    assert label_all(campaign, person(campaign, gender="man")) == 4
    assert exclusion.readmit(annotation=first, by=lead).status == "surplus"
    assert rules_hold(campaign)


def test_tasks_use_the_annotators_current_profile(study, lead):
    campaign = opened(study, lead, "at_least 1 gender = woman")
    changed, man = person(campaign, gender="man"), person(campaign, gender="man")
    assert label_all(campaign, changed) == 4
    assert next_for(campaign, man) is None
    profiles.describe(annotator=changed, gender="woman")
    assert next_for(campaign, man) is not None


def test_the_number_left_counts_only_permitted_tasks(study, lead):
    campaign = opened(study, lead, "at_most 1 gender = man")
    assert label_all(campaign, person(campaign, gender="man")) == 4
    woman = person(campaign, gender="woman")
    assert task_payload(next_for(campaign, woman))["progress"] == {"done": 0, "left": 4}
    assert not leases.open_tasks(campaign, person(campaign, gender="man").pk).exists()


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("at_least 1 shoe = 43", "not a profile field"),
        ("some women", "is not a rule"),
        ("at_least 4 gender = woman", "4 of 2"),
        ("at_least 0 gender = woman", "requires nobody"),
        ("at_least 1 age_band = 17", "not an age band"),
        ("at_least 1 gender = group.size", "group.region or group.nationality"),
        ({"kind": "at_least", "field": "gender", "k": 1}, "give 1 to 250 values"),
        ({"kind": "at_least", "field": "gender", "k": 1, "hair": "red"}, "no hair"),
        ({"kind": "at_least", "field": "gender", "k": 1, "values": ["a\0b"]}, "control character"),
        ({"kind": "at_least", "field": "gender", "k": 1, "values": ["\ud800"]}, "control character"),
        (3, "Give the rule as a line of text or as an object"),
    ],
)
def test_a_wrong_rule_is_named(study, lead, rule, said):
    with pytest.raises(DomainError, match=said) as refused:
        lifecycle.create(
            study=study,
            name="C",
            kind="stereotype_marking",
            by=lead,
            annotators_per_task=2,
            quotas=["distinct gender", rule],
        )
    assert "quotas.2" in refused.value.fields
    assert not study.campaigns.exists()


def test_rules_that_exclude_each_other_are_refused(study, lead):
    with pytest.raises(DomainError, match="gender cannot all be met: 2 people answer each screen"):
        lifecycle.create(
            study=study,
            name="C",
            kind="stereotype_marking",
            by=lead,
            annotators_per_task=2,
            quotas=["at_least 2 gender = woman | man", "distinct gender", "at_most 0 gender = man"],
        )


def test_rules_read_the_same_as_lines_and_as_objects():
    lines = [
        "at_least 1 gender != man | non-binary",
        "distinct nationality",
        "at_most 2 languages in English",
    ]
    lines += ["at_least 1 region_of_origin = group.region"]
    objects = [
        {"kind": "at_least", "field": "gender", "k": 1, "values": ["Mann", "Nichtbinär"], "negated": True},
        {"kind": "distinct", "field": "nationality"},
        {"kind": "at_most", "field": "languages", "k": 2, "values": ["en"]},
        {"kind": "at_least", "field": "region_of_origin", "k": 1, "matches_group": "region"},
    ]
    given = {"annotators_per_task": 3, "kind": KINDS["stereotype_marking"]}
    rules = quota_rules.parse(lines, **given)
    assert rules == quota_rules.parse(objects, **given)
    assert quota_rules.parse([quota_rules.line(rule) for rule in rules], **given) == rules
    assert quota_rules.line(rules[2]) == "at_most 2 languages = en"
    assert quota_rules.in_words(rules[0]) == (
        "At least 1 of each task’s annotators: gender given, and not man or non-binary."
    )


@pytest.mark.parametrize(
    ("rule", "listed"),
    [
        ("at_least 1 gender != masculine-ish", "woman, man, non-binary"),
        ("at_least 1 nationality = Korean", "KOR"),
        ("at_least 1 region_of_origin = Middle East", "030"),
    ],
)
def test_a_value_without_a_code_is_refused_with_the_list(study, lead, rule, listed):
    add_images(study, 1)
    given = ["--study", "isles", "--kind", "stereotype_marking", "--by", lead.username]
    with pytest.raises(DomainError, match="is not a code for") as refused:
        call_command("open_campaign", *given, "--quota", rule)
    assert listed in refused.value.message
    assert not study.campaigns.exists()


def test_every_preset_opens_a_campaign(study, lead):
    add_images(study, 1)
    for name in quota_rules.PRESETS:
        given = ["--study", "isles", "--kind", "stereotype_marking", "--name", name, "--by", lead.username]
        call_command("open_campaign", *given, "--quota", name)
        stored = quota_rules.stored(study.campaigns.get(name=name))
        assert name in quota_rules.presets_in(stored)[0]


def test_a_draft_keeps_its_rules_and_checks_them_against_a_new_number(study, lead):
    draft = lifecycle.create(
        study=study, name="C", kind="attribute_likert", by=lead, quotas=["at_least 3 gender = woman"]
    )
    with pytest.raises(DomainError, match="3 of 2"):
        lifecycle.update_draft(campaign=draft, by=lead, annotators_per_task=2)
    lifecycle.update_draft(campaign=draft, by=lead, annotators_per_task=2, quotas=[])
    assert not draft.quota_rules.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "distinct", "field": "gender", "k": 2},
        {"kind": "at_least", "field": "gender", "k": 0},
        {"kind": "at_least", "field": "shoe", "k": 1},
        {"kind": "at_least", "field": "gender", "k": 1, "matches_group": "size"},
    ],
)
def test_the_database_refuses_a_rule_that_means_nothing(marking, wrong):
    with pytest.raises(IntegrityError), transaction.atomic():
        QuotaRule.objects.create(campaign=marking, **wrong)


def test_before_opening_the_lead_sees_who_is_missing(study, lead):
    add_images(study, 1)
    draft = lifecycle.create(
        study=study,
        name="C",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=2,
        quotas=["at_least 1 gender = woman"],
    )
    plan = task_plan.plan(draft)
    assert "Nobody who takes part has said anything" in feasibility.before_opening(draft, plan).sentences[0]
    for _ in range(2):
        person(draft, gender="man")
    (said,) = feasibility.before_opening(draft, plan).sentences
    assert said == (
        "With the people invited so far, quotas cannot be met for 2 of 2 groups: one more person with gender woman."
    )
    person(draft, gender="woman")
    assert feasibility.before_opening(draft, plan).sentences == ()


def test_during_a_campaign_the_lead_sees_stuck_tasks_and_who_is_missing(study, lead):
    campaign = opened(study, lead, "at_least 1 gender = woman")
    assert label_all(campaign, person(campaign, gender="man")) == 4
    person(campaign, gender="man")
    found = feasibility.during(campaign)
    assert found.stuck == 4
    assert found.sentences == (
        "4 tasks cannot be completed by the people who take part now.",
        "4 of these tasks need one more person with gender woman.",
    )
    person(campaign, gender="woman")
    assert feasibility.during(campaign).stuck == 0


def test_tasks_broken_by_a_changed_profile_are_reported(study, lead):
    campaign = opened(study, lead, "at_least 2 gender = woman")
    woman = person(campaign, gender="woman")
    assert label_all(campaign, woman) == 4
    profiles.describe(annotator=woman, gender="man")
    assert feasibility.during(campaign).broken == 4
    assert next_for(campaign, person(campaign, gender="woman")) is None


def test_a_group_of_unknown_region_is_reported_before_opening(study, lead):
    study.groups.filter(name="Velmari").update(region="")
    add_images(study, 1)
    draft = lifecycle.create(
        study=study,
        name="C",
        kind="stereotype_marking",
        by=lead,
        quotas=["at_least 1 region_of_origin = group.region"],
    )
    found = feasibility.before_opening(draft, task_plan.plan(draft))
    assert "Nobody can meet the quotas for the images of Velmari." in found.sentences


def test_the_command_takes_rules_and_says_who_is_missing(study, lead, capsys):
    add_images(study, 1)
    given = ["--study", "isles", "--kind", "stereotype_marking", "--by", lead.username]
    rules = ["--quota", "at_least 1 gender != man", "--quota", "distinct nationality"]
    call_command("open_campaign", *given, *rules, "--dry-run")
    assert "Nobody who takes part has said anything" in capsys.readouterr().err
    assert not study.campaigns.exists()
    call_command("open_campaign", *given, *rules)
    assert study.campaigns.get().quota_rules.count() == 2


@pytest.mark.parametrize(
    ("iso_code", "code"), [("KEN", "ken"), ("US-NY", "usa"), ("XXX", "velmari"), ("", "velmari")]
)
def test_a_group_has_the_code_of_its_country_or_its_own(study, iso_code, code):
    group = study.groups.get(name="Velmari")
    group.iso_code = iso_code
    assert own_values(group)["nationality"] == {code}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rule", ["at_least 1 gender != man", "at_most 1 gender = man", "distinct gender"])
def test_rules_hold_under_concurrency(study, lead, tmp_path, rule):
    with shared_database(tmp_path):
        campaign = opened(study, lead, rule, wanted=2, images=3)
        people = [
            person(campaign, gender=gender)
            for gender in ("man", "man", "man", "woman", "woman", "non-binary")
        ]
        done = at_once([lambda one=one: label_all(campaign, one) for one in people])
        assert all(isinstance(number, int) for number in done), done
        assert sum(done) == campaign.tasks.count() * 2
        assert rules_hold(campaign)
        assert slots_are_counted()


def test_the_same_answer_again_is_the_same_annotation_under_quotas(study, lead):
    campaign = opened(study, lead, "at_most 1 gender = man")
    leased = next_for(campaign, person(campaign, gender="man"))
    key = uuid.uuid4()
    assert submit(leased, submission_id=key) == submit(leased, submission_id=key)
