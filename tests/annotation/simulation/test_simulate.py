"""Simulated annotators label over HTTP, with the set error rates."""

from io import StringIO

import pytest
from django.core.management import call_command

from accounts.models import Annotator, ApiToken
from annotation.campaigns import known_tasks, lifecycle
from annotation.models import (
    Annotation,
    Assignment,
    Box,
    Campaign,
    Judgement,
    PracticeAnswer,
    PracticeRound,
)
from annotation.simulation.simulate import simulate
from annotation.simulation.truth import Truth
from catalog.models import Attribute
from foundation.errors import DomainError
from generation.models import Image
from tests.annotation.databases import shared_database
from tests.annotation.factories import add_images


@pytest.fixture
def drawn(transactional_db, tmp_path, study, lead):
    """An open marking campaign of a simulated study whose images show a tall hat and nothing else."""
    type(study).objects.filter(pk=study.pk).update(simulated=True)
    study.refresh_from_db()
    add_images(study, 3)
    box = {"attribute": "tall hat", "x": 0.4, "y": 0.1, "width": 0.2, "height": 0.2}
    Image.objects.update(provenance={"drawn": [box]})
    draft = lifecycle.create(study=study, name="Marking", kind="stereotype_marking", by=lead)
    campaign = lifecycle.open_(campaign=draft, by=lead)
    with shared_database(tmp_path):
        yield campaign


def test_annotators_without_errors_tick_exactly_what_was_drawn(drawn):
    done = simulate(campaign=drawn, annotators=3, seed=1, false_negative=0, false_positive=0)
    assert done.submissions == Annotation.objects.filter(status="accepted").count() == drawn.tasks.count() * 3
    assert set(Judgement.objects.filter(present=True).values_list("attribute__text", flat=True)) == {
        "tall hat"
    }
    assert not Judgement.objects.filter(present=False, attribute__text="tall hat").exists()
    for box in Box.objects.all():
        assert box.x == pytest.approx(0.4, abs=0.1)
        assert box.width == pytest.approx(0.2, abs=0.15)


def test_simulated_annotators_have_consent_a_profile_and_revoked_keys(drawn):
    simulate(campaign=drawn, annotators=2, seed=1)
    people = Annotator.objects.filter(origin="simulated")
    assert people.count() == 2
    for person in people:
        assert person.consents.filter(withdrawn_at=None).exists()
        assert person.profile.region_of_origin == "north isles"  # its own code
    assert not ApiToken.objects.filter(revoked_at=None).exists()


def known(campaign, purpose, text, right, image=None):
    attribute = Attribute.objects.get(text=text)
    return known_tasks.add(
        campaign=campaign,
        purpose=purpose,
        by=None,
        content=known_tasks.TaskContent(image=image, attributes=[attribute]),
        answers={attribute: right},
    )


def test_simulated_annotators_practise_first_and_pass_by_the_second_attempt(drawn):
    images = list(drawn.study.images.order_by("pk"))
    known(drawn, "practice", "tall hat", True, images[0])
    # The lead's right answer may be invisible: at the second attempt, it is given as explained.
    known(drawn, "practice", "drum", True, images[1])
    done = simulate(campaign=drawn, annotators=2, seed=1, false_negative=0, false_positive=0)
    assert (
        done.submissions
        == Annotation.objects.filter(status="accepted").count()
        == drawn.tasks.filter(purpose="label").count() * 2
    )
    rounds = PracticeRound.objects.order_by("enrolment", "number").values_list("number", "passed")
    assert list(rounds) == [(1, False), (2, True)] * 2
    assert PracticeAnswer.objects.exclude(answer__boxes=[]).exists()


def test_simulated_annotators_who_fail_practice_label_nothing(drawn):
    lifecycle.change_settings(campaign=drawn, by=None, options={"practice_attempts": 1})
    known(drawn, "practice", "drum", True, drawn.study.images.first())
    assert simulate(campaign=drawn, annotators=2, seed=1, false_positive=0).submissions == 0
    assert set(drawn.enrolments.values_list("state", flat=True)) == {"paused"}


def test_gold_tasks_are_answered_among_the_others(drawn):
    lifecycle.change_settings(campaign=drawn, by=None, options={"gold_share": 0.5})
    for image in drawn.study.images.all():
        known(drawn, "gold", "tall hat", True, image)
    simulate(campaign=drawn, annotators=3, seed=1, false_negative=0, false_positive=0)
    labels = drawn.tasks.filter(purpose="label").count()
    assert Annotation.objects.filter(status="accepted").count() == labels * 3
    gold = Annotation.objects.filter(status="gold")
    assert gold.exists()
    assert not gold.filter(none_of_the_above=True).exists()


def test_a_limit_stops_early_and_gives_open_tasks_back(drawn):
    assert simulate(campaign=drawn, annotators=2, seed=1, limit=3).submissions == 3
    assert Annotation.objects.count() == 3
    assert not Assignment.objects.filter(state="leased").exists()


def test_the_same_seed_continues_with_the_same_people(drawn):
    simulate(campaign=drawn, annotators=2, seed=1, limit=2)
    simulate(campaign=drawn, annotators=2, seed=1, limit=2)
    assert Annotator.objects.filter(origin="simulated").count() == 2


def test_error_rates_match_the_settings(drawn):
    images = list(Image.objects.values_list("pk", flat=True))
    assert images
    truth = Truth(seed=1)
    simulate(campaign=drawn, annotators=3, seed=1, truth=truth, false_negative=0.9, false_positive=0)
    marks = Judgement.objects.filter(attribute__text="tall hat")
    assert marks.filter(present=False).count() > marks.filter(present=True).count()


def test_a_table_of_the_truth_gives_probabilities(drawn, tmp_path):
    table = tmp_path / "truth.csv"
    table.write_text(
        "identity_group,attribute,p\nVelmari,blue scarf,1\nVelmari,tall hat,0\nOrsani,tall hat,0\n"
    )
    truth = Truth.read(table, seed=3)
    simulate(campaign=drawn, annotators=3, seed=1, truth=truth, false_negative=0, false_positive=0)
    ticked = Judgement.objects.filter(present=True)
    assert set(ticked.values_list("attribute__text", "annotation__task__image__group__name")) == {
        ("blue scarf", "Velmari")
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("attribute\nhat\n", "no column p"),
        ("attribute,p\nhat,2\n", "line 2: p must be"),
        ("attribute,p\nhat,\n", "line 2: p must be"),
        ("attribute,p\n,0.5\n", "line 2: An attribute is empty"),
    ],
)
def test_a_wrong_table_is_refused_naming_the_row(tmp_path, content, message):
    table = tmp_path / "truth.csv"
    table.write_text(content)
    with pytest.raises(DomainError, match=message):
        Truth.read(table, seed=0)


@pytest.mark.parametrize("annotators", [0, 10_001])
def test_a_number_of_annotators_out_of_range_is_refused_before_any_is_made(drawn, annotators):
    with pytest.raises(DomainError, match="annotators must be at"):
        simulate(campaign=drawn, annotators=annotators)
    assert not Annotator.objects.filter(origin="simulated").exists()


@pytest.mark.django_db
def test_a_study_of_people_is_refused(marking):
    with pytest.raises(DomainError, match="study of people"):
        simulate(campaign=marking, annotators=1)


def test_the_commands_open_a_campaign_and_label_it(drawn, study):
    printed = StringIO()
    call_command("open_campaign", study="isles", kind="attribute_likert", stdout=printed, stderr=StringIO())
    campaign = Campaign.objects.get(pk=int(printed.getvalue()))
    assert campaign.state == "open"
    said = StringIO()
    call_command(
        "simulate_annotators", campaign=campaign.pk, annotators=3, seed=2, stdout=said, stderr=StringIO()
    )
    assert "18 submissions with 18 judgements by 3 annotators" in said.getvalue()
    assert Judgement.objects.filter(rating__isnull=False).count() == 18
