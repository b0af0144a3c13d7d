"""The rules every campaign begins with: careless work over HTTP is flagged on both pages, honest work is not."""

import random
import uuid
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from accounts import tokens
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.answers.attribute_references import references, shown_attributes
from annotation.campaigns import clone, lifecycle
from annotation.kinds.registry import KINDS
from annotation.models import Annotation, Assignment, Campaign, QualityEvent, QualityRule
from annotation.quality import enforcement
from annotation.quality import rules as quality_rules
from annotation.quality.measured_answers import measures_of
from annotation.quality.measures import OTHERS_DUE, quality_of, variety
from tests.annotation.factories import add_images, new_annotator, options_for

pytestmark = pytest.mark.django_db
SCREENS = 40


@pytest.fixture
def wide(study, lead) -> Campaign:
    """An open marking campaign of 60 screens of three attributes, five people each."""
    add_images(study, 15)
    draft = lifecycle.create(
        study=study,
        name="Wide",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=5,
        attributes_per_screen=3,
        boxes_required=False,
    )
    return lifecycle.open_(campaign=draft, by=lead)


@pytest.fixture
def work(client):
    """Let somebody answer over HTTP: `work(campaign, annotator, answer, seconds, screens)`."""

    def answers(campaign, annotator, answer, seconds, screens=SCREENS):
        _, key = tokens.issue(user=annotator.user, name="test", scopes=["annotate"])
        sent = {"content_type": "application/json", "headers": {"authorization": f"Bearer {key}"}}
        task = client.post(f"/api/v1/campaigns/{campaign.pk}/next", **sent).json()
        warnings = []
        for _ in range(screens):
            leased = Assignment.objects.select_related("task").get(public_id=task["assignment"])
            # As if the time had passed: no screen is open for less than its reported working time.
            Assignment.objects.filter(pk=leased.pk).update(leased_at=timezone.now() - timedelta(minutes=5))
            ticked = answer(leased.task)
            body = {
                "submission_id": str(uuid.uuid4()),
                "active_seconds": seconds(),
                "answer": {"ticked": ticked, "boxes": [], "none_of_the_above": not ticked},
            }
            saved = client.post(f"/api/v1/assignments/{task['assignment']}/submit", body, **sent).json()
            warnings += [saved["warning"]] if saved["warning"] else []
            task = saved["next"]
        return warnings

    return answers


def seen_by(generator, *, overlooks=0.15, invents=0.05):
    """Return the answers of a careful annotator: a third of the attributes are present."""

    def answer(task):
        ticked = []
        # Presence must not depend on database ids, which continue from test to test.
        image = task.campaign.tasks.filter(image_id__lt=task.image_id).values("image_id").distinct().count()
        for one in shown_attributes(task):
            there = random.Random(f"{image}:{one.text}").random() < 1 / 3
            if generator.random() < (1 - overlooks if there else invents):
                ticked.append(one.ref)
        return ticked

    return answer


def nearly_always_none(generator):
    return lambda task: list(references(task))[:1] if generator.random() < 0.03 else []


def test_careless_work_is_flagged_on_both_pages_and_honest_work_on_none(
    wide, study, work, lead_client, analyst_client
):
    generator = random.Random(5)
    honest = [new_annotator(wide) for _ in range(3)]
    careless = new_annotator(wide)
    for person in honest:
        work(wide, person, seen_by(generator), lambda: generator.uniform(6, 30))
    work(wide, careless, nearly_always_none(generator), lambda: generator.uniform(0, 0.2))

    page = lead_client.get(f"/studies/isles/campaigns/{wide.slug}/annotators/")
    flags = {line.enrolment.annotator.pseudonym: line.flags for line in page.context["lines"]}
    assert [flags[person.pseudonym] for person in honest] == [[], [], []]
    quick, same = sorted(flags[careless.pseudonym])
    assert quick.startswith(
        "warned: median active seconds a task 0.1 s over 40 screens, at least 2.0 s asked"
    )
    assert same.startswith("warned: variety of answers ")
    assert same.endswith(" over 40 screens, at least 15 % asked")
    assert wide.enrolments.filter(state="active").count() == 4

    compute_report(study=study, parameters=parameters_of(study, resamples=100), by=None)
    analysed = analyst_client.get("/studies/isles/results/annotators/").context["rows"]
    words = {row["annotator"]: row["flag_words"] for row in analysed}
    assert {name: sorted(found) for name, found in words.items()} == {
        name: sorted(found) for name, found in flags.items()
    }
    assert {row["flags"] for row in analysed} == {None, "median_seconds variety"}
    assert quick in analyst_client.get("/studies/isles/results/annotators/").content.decode()


def test_a_careless_annotator_is_warned_while_working(wide, work):
    cache.clear()
    generator = random.Random(6)
    work(wide, new_annotator(wide), seen_by(generator), lambda: 8.0, 50)
    careless = new_annotator(wide)
    assert work(wide, careless, nearly_always_none(generator), lambda: 0.1, 40) == []
    cache.clear()  # as if a minute had passed
    (warning,) = work(wide, careless, nearly_always_none(generator), lambda: 0.1, 1)
    assert "You usually spent 0.1 seconds on a task." in warning
    assert "You varied your answers" in warning
    assert {event.enrolment.annotator for event in QualityEvent.objects.all()} == {careless}


def test_finding_nothing_where_others_find_nothing_is_honest(wide, work):
    generator = random.Random(7)
    people = [new_annotator(wide) for _ in range(3)]
    for person in people:
        work(wide, person, lambda task: [], lambda: 9.0)
    work(wide, people[0], seen_by(generator), lambda: 9.0, 2)
    assert enforcement.check(campaign=wide) == []
    assert quality_of(wide, people[1].pk)["variety"].reason == "too_few_other_answers_due"


def test_tasks_nobody_else_answered_are_compared_with_the_latest_answers_of_others(study, lead, work):
    add_images(study, 60)
    draft = lifecycle.create(
        study=study,
        name="Once",
        kind="stereotype_marking",
        by=lead,
        annotators_per_task=1,
        attributes_per_screen=3,
        boxes_required=False,
    )
    once = lifecycle.open_(campaign=draft, by=lead)
    generator = random.Random(8)
    honest, careless = new_annotator(once), new_annotator(once)
    work(once, honest, seen_by(generator), lambda: 9.0)
    work(once, careless, lambda task: [], lambda: 9.0)
    found = quality_of(once, careless.pk)["variety"]
    assert (found.value, found.rests_on) == (0.0, SCREENS)
    # Only the careless annotator to compare with: no answers are expected.
    assert quality_of(once, honest.pk)["variety"].value is None
    assert [event.measure for event in enforcement.check(campaign=once)] == ["variety"]


def test_variety_is_the_smallest_ratio_of_given_to_expected_answers():
    # 100 answers, 5 of them yes; by the answers of others, 25 were expected.
    assert variety({0: 95, 1: 5}, {0: 75.0, 1: 25.0}) == 0.2
    # Ticking everything: five times no, where 75 were expected.
    assert variety({0: 5, 1: 95}, {0: 75.0, 1: 25.0}) == 5 / 75
    assert variety({0: 100, 1: 0}, {0: 80.1, 1: OTHERS_DUE - 0.1}) is None


def test_a_copy_has_the_rules_of_its_original_and_no_others(marking, lead):
    quality_rules.remove_rule(rule=marking.quality_rules.get(measure="variety"), by=lead)
    rule = quality_rules.set_rule(
        campaign=marking, measure="median_seconds", action="warn", threshold=4, minimum=5, by=lead
    )
    assert not rule.standard
    copy = clone.clone(campaign=marking, by=lead)
    rows = QualityRule.objects.filter(campaign=copy).values_list("measure", "threshold", "standard")
    assert set(rows) == {("median_seconds", 4.0, False), ("gold_accuracy", 0.6, True)}


def test_rules_consider_only_the_latest_answers(wide, work, monkeypatch):
    monkeypatch.setattr(enforcement, "LATEST", 20)
    anna = new_annotator(wide)
    work(wide, anna, lambda task: [], lambda: 0.1, 20)
    (event,) = enforcement.check(campaign=wide)
    assert (event.measure, event.rests_on) == ("median_seconds", 20)
    work(wide, anna, lambda task: [], lambda: 9.0, 20)
    enforcement.check(campaign=wide)
    assert QualityEvent.objects.get().ending == "recovered"
    assert Annotation.objects.count() == 40


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_rules_on_haste_uniform_answers_and_failed_gold_tasks(study, lead, kind):
    declared = KINDS[kind]
    draft = lifecycle.create(study=study, name="New", kind=kind, by=lead, options=options_for(declared))
    measured = set(measures_of(declared))
    rules = draft.quality_rules.all()
    assert {rule.measure for rule in rules} == measured & {"median_seconds", "variety", "gold_accuracy"}
    assert {(rule.action, rule.standard) for rule in rules} == {("warn", True)}
