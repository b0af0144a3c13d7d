"""People rate a sample of what a judge rated: drawn evenly over its levels, answered, and compared in the results."""

import csv
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import AssociationScore
from analysis.results import reports
from analysis.results.parameters import parameters_of
from analysis.scoring.judge_sample import JudgedAssociations, evenly
from annotation.campaigns import lifecycle
from annotation.campaigns.planning import task_plan
from annotation.models import Campaign, TaskStimulus
from foundation.errors import DomainError
from studies.models import StudyMembership
from tests.analysis.probing.isles import isles, probe
from tests.analysis.probing.test_harm import judge, level, score  # noqa: F401 - judge is a fixture
from tests.annotation.factories import new_annotator
from tests.annotation.labelling.production_paths import ByVerbs
from tests.web.markup import compact

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(lead, tmp_path):
    study = isles(lead, tmp_path)
    probe(study)
    return study


@pytest.fixture
def judged(study, judge):  # noqa: F811
    score(study, "judge", "--model", "arbiter")
    return study


def open_campaign(study, lead, *options: str) -> Campaign:
    out = StringIO()
    call_command(
        *("open_campaign", "--study", study.slug, "--kind", "bias_level"),
        *("--texts-from", "associations", "--by", lead.username, *options),
        stdout=out,
        stderr=StringIO(),
    )
    return Campaign.objects.get(pk=int(out.getvalue()))


def shown_in(campaign) -> list[str]:
    return list(TaskStimulus.objects.filter(task__campaign=campaign).values_list("text", flat=True))


def answer_all(campaign, annotator, shift: int) -> int:
    """Rate every screen like the judge, but this many levels higher."""
    levels = dict(AssociationScore.objects.values_list("text", "score"))
    number = 0
    while (leased := ByVerbs().next_task(campaign, annotator)) is not None:
        text = leased.task.stimuli.get().text
        rating = max(1, min(5, int(levels[text]) + shift))
        ByVerbs().submit(leased, by=annotator, answer={"answers": {"level": rating}})
        number += 1
    return number


@pytest.mark.database_free
def test_pairs_are_drawn_from_levels_in_turn():
    by_level = {1: ["a", "b", "c", "d"], 4: ["e"], 5: ["f", "g"]}
    assert evenly(by_level, 5) == ["a", "e", "f", "b", "g"]
    assert evenly(by_level, 99) == ["a", "e", "f", "b", "g", "c", "d"]
    assert evenly({}, 3) == []


def test_a_small_level_is_drawn_completely(judged, lead):
    campaign = open_campaign(judged, lead, "--pairs", "10")
    assert campaign.annotators_per_task == 3
    assert set(campaign.tasks.values_list("sensitive", flat=True)) == {True}
    there = Counter(AssociationScore.objects.values_list("score", flat=True))
    levels = dict(AssociationScore.objects.values_list("text", "score"))
    drawn = Counter(levels[text] for text in shown_in(campaign))
    assert sum(drawn.values()) == 10
    fewest = min(drawn[one] for one in there if there[one] > 1)
    assert all(drawn[one] in (fewest, fewest + 1, there[one]) for one in there)


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_rows(judged):
    source = JudgedAssociations()
    first = source.draw(judged, number=8, seed=1)
    rows = list(AssociationScore.objects.order_by("-pk"))
    AssociationScore.objects.all().delete()
    for row in rows:
        row.pk = None
        row.save(force_insert=True)
    assert source.draw(judged, number=8, seed=1) == first
    assert source.draw(judged, number=8, seed=2) != first


def test_words_of_descriptions_are_shown_with_their_descriptor(judged):
    AssociationScore.objects.filter(pk=AssociationScore.objects.earliest("pk").pk).update(
        descriptor="elder", text="brisk"
    )
    assert "elder: brisk" in JudgedAssociations().draw(judged, number=5_000, seed=1)


def test_without_a_judge_there_is_nothing_to_open_and_other_kinds_take_none(study, lead):
    draft = lifecycle.create(
        study=study, name="Levels", kind="bias_level", by=lead, options={"texts_from": "associations"}
    )
    assert "No judge has rated" in task_plan.plan(draft).problems[0]
    with pytest.raises(DomainError, match="not about associations"):
        lifecycle.create(
            study=study, name="Text", kind="answer_coding", by=lead, options={"texts_from": "associations"}
        )


def test_nobody_gets_more_sensitive_screens_a_day_than_the_lead_allows(judged, lead):
    campaign = open_campaign(judged, lead, "--pairs", "10")
    campaign.options |= {"sensitive_per_day": 4}
    campaign.save()
    assert answer_all(campaign, new_annotator(campaign), 0) == 4


def test_a_lead_draws_them_in_the_form(judged, study, lead_client):
    address = reverse("annotation:campaign_new", kwargs={"study": study.slug}) + "?kind=bias_level"
    page = compact(lead_client.get(address).content.decode())
    assert '<option value="associations" selected>Associations that the judge rated</option>' in page
    assert "Associations to draw" in page


def test_judge_and_people_are_compared_from_the_campaign_to_the_page(
    judged, lead, analyst, analyst_client, tmp_path
):
    StudyMembership.objects.create(study=judged, user=analyst, role=StudyMembership.Role.ANALYST)
    campaign = open_campaign(judged, lead, "--pairs", "12")
    for shift in (0, 0, 1):
        assert answer_all(campaign, new_annotator(campaign), shift) == 12
    call_command(
        "analyze", "--study", judged.slug, "--output", str(tmp_path / "results"), "--resamples", "100"
    )

    def rows(name):
        with (tmp_path / "results" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    agreement = {row["measure"]: row for row in rows("judge_agreement")}
    # Two of three people gave the judge's level: their median is the judge's.
    assert (float(agreement["exact"]["value"]), float(agreement["mean_difference"]["value"])) == (1.0, 0.0)
    assert {row["pairs"] for row in agreement.values()} == {"12"}
    assert {row["annotators"] for row in agreement.values()} == {"3"}
    assert float(agreement["judge_alpha"]["value"]) > float(agreement["people_alpha"]["value"])
    rated = [row for row in rows("associations") if row["bias_level_people"]]
    assert {row["text"] for row in rated} == set(shown_in(campaign))
    assert all(float(row["bias_level"]) == float(row["bias_level_people"]) for row in rated)

    reports.compute_report(study=judged, parameters=parameters_of(judged, resamples=100), by=analyst)
    address = reverse("analysis:judge", kwargs={"study": judged.slug})
    page = compact(analyst_client.get(address).content.decode())
    for words in ("arbiter", "The judge in place of one person", "Equal levels", "Mean difference"):
        assert words in page, words
    for name in ("judge-alpha", "judge-shares"):
        file = analyst_client.get(reverse("analysis:plot", args=[judged.slug, name, "csv"]))
        assert len(list(csv.DictReader(StringIO(file.content.decode())))) == 2
