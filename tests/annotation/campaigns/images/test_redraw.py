"""Failed scenarios are redrawn: their images no longer count, and the ordinary job makes new ones."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from accounts.models import User
from annotation.answers.questions.scenario_verdicts import Scenario, scenario_verdicts
from annotation.campaigns.images.redraw import REASON, failed_scenarios, plan_redraw, redraw
from annotation.models import Task
from foundation.errors import DomainError, NotFound
from generation.models import GenerationRequest, Image
from jobs.models import Job
from jobs.run.execution import execute
from studies.models import AuditEntry, Study
from tests.annotation.campaigns.images.scenarios import (
    ALIKE,
    DIFFERENT,
    answer,
    lamps_study,
    opened_check,
    planned_run,
)
from tests.annotation.lead.conftest import queries
from tests.generation.pages.test_runs import text_of
from tests.studies.isles import new_analyst, new_lead

__all__ = ["queries"]
pytestmark = pytest.mark.django_db
BRIDGE, HARBOUR = (Scenario("trades", name, "sketch") for name in ("bridge", "harbour"))


def write_rows(folder):
    """Write a study in which people kept the bridge and found the images of the harbour not alike."""
    lead = new_lead()
    study = lamps_study(folder, lead)
    study.memberships.create(user=new_analyst(), role="analyst")
    answer(opened_check(study, lead), {"bridge": [ALIKE] * 3, "harbour": [DIFFERENT] * 3})


@pytest.fixture
def lead(shared_rows, db) -> User:
    return User.objects.get(username="lena")


@pytest.fixture
def analyst(shared_rows, db) -> User:
    return User.objects.get(username="anton")


@pytest.fixture
def lamps(lead) -> Study:
    return Study.objects.get(name="Lamps")


def standing(study, scenario):
    return study.images.filter(scenario=scenario, retracted_at=None)


def test_a_failed_scenario_has_new_images_from_one_new_seed(lamps, lead):
    before = set(standing(lamps, "harbour").values_list("pk", flat=True))
    old_seeds = set(GenerationRequest.objects.values_list("seed", flat=True))
    redraw(study=lamps, scenarios=[HARBOUR], by=lead)
    assert not standing(lamps, "harbour").exists()
    assert set(Image.objects.exclude(retracted_at=None).values_list("pk", "retracted_reason")) == {
        (pk, REASON) for pk in before
    }
    requests = GenerationRequest.objects.filter(outcome="pending")
    assert set(requests.values_list("scenario", "index")) == {("harbour", 1)}
    assert len(set(requests.values_list("seed", flat=True)) - old_seeds) == 1
    execute(Job.objects.get(kind="generate").pk)
    groups = standing(lamps, "harbour").values_list("group__name", flat=True)
    assert sorted(groups) == ["short_orsani", "tall_orsani"]
    assert standing(lamps, "bridge").count() == 2
    entry = AuditEntry.objects.get(action="scenarios.redrawn")
    assert (entry.actor, entry.details) == (lead, {"scenarios": 1, "images": 2})


def test_images_of_the_scenario_by_another_model_stay(lamps, lead):
    Image.objects.create(
        study=lamps, experiment="trades", scenario="harbour", model_label="pencil", source_name="a.png"
    )
    redraw(study=lamps, scenarios=[HARBOUR], by=lead)
    assert standing(lamps, "harbour").get().model_label == "pencil"


def test_the_new_images_are_not_checked_until_people_are_asked_about_them(lamps, lead):
    redraw(study=lamps, scenarios=[HARBOUR], by=lead)
    execute(Job.objects.get(kind="generate").pk)
    assert HARBOUR not in scenario_verdicts(lamps)
    assert failed_scenarios(lamps) == []
    assert Task.objects.filter(withdrawn=True).count() == 1
    again = opened_check(lamps, lead, name="Again")
    assert again.tasks.count() == 1  # the bridge was already decided
    answer(again, {"harbour": [ALIKE] * 3})
    assert {str(found.verdict) for found in scenario_verdicts(lamps).values()} == {"kept"}


def test_a_scenario_that_fails_again_is_drawn_once_more(lamps, lead):
    redraw(study=lamps, scenarios=[HARBOUR], by=lead)
    execute(Job.objects.get(kind="generate").pk)
    answer(opened_check(lamps, lead, name="Again"), {"harbour": [DIFFERENT] * 3})
    redraw(study=lamps, scenarios=[HARBOUR], by=lead)
    assert not standing(lamps, "harbour").exists()
    pending = GenerationRequest.objects.filter(outcome="pending")
    assert set(pending.values_list("scenario", "index")) == {("harbour", 2)}


def test_the_seed_is_the_one_that_planning_more_images_would_give(lamps, lead):
    redraw(study=lamps, scenarios=[HARBOUR], by=lead)
    drawn = GenerationRequest.objects.filter(scenario="harbour", index=1).first().seed
    lamps.prompt_templates.update(images_per_prompt=2)
    GenerationRequest.objects.filter(index=1).delete()
    planned_run(lamps, lead)
    assert GenerationRequest.objects.filter(scenario="harbour", index=1).first().seed == drawn


def test_planning_again_asks_for_no_more(lamps, lead):
    redraw(study=lamps, scenarios=[HARBOUR], by=lead)
    number = GenerationRequest.objects.count()
    planned_run(lamps, lead)
    assert GenerationRequest.objects.count() == number


def test_a_person_without_an_image_is_drawn_too(lamps, lead):
    """The model had blanked one of the images: the whole scenario is redrawn."""
    lost = GenerationRequest.objects.filter(scenario="harbour").first()
    other = GenerationRequest.objects.filter(scenario="harbour").last()
    GenerationRequest.objects.filter(pk=lost.pk).update(outcome="blanked", image=None)
    redraw(study=lamps, scenarios=[HARBOUR], by=lead)
    pending = GenerationRequest.objects.filter(outcome="pending")
    assert {request.group_id for request in pending} == {lost.group_id, other.group_id}


class TestRefused:
    def test_scenarios_that_did_not_fail(self, lamps, lead):
        with pytest.raises(DomainError, match="did not fail"):
            redraw(study=lamps, scenarios=[HARBOUR, BRIDGE], by=lead)
        assert not Image.objects.exclude(retracted_at=None).exists()
        assert not Job.objects.exists()

    def test_an_empty_list_of_scenarios(self, lamps, lead):
        with pytest.raises(DomainError, match="at least one"):
            redraw(study=lamps, scenarios=[], by=lead)

    def test_images_that_were_not_made_here(self, lamps, lead):
        GenerationRequest.objects.all().delete()
        assert plan_redraw(lamps).imported == [HARBOUR]
        with pytest.raises(DomainError, match="were imported"):
            redraw(study=lamps, scenarios=[HARBOUR], by=lead)
        assert standing(lamps, "harbour").count() == 2

    def test_while_images_of_the_run_are_made(self, lamps, lead):
        run = planned_run(lamps, lead)
        run.job = Job.objects.create(kind="generate", title="Make", study_id=lamps.pk)
        run.save()
        with pytest.raises(DomainError, match="are being generated now"):
            redraw(study=lamps, scenarios=[HARBOUR], by=lead)
        assert standing(lamps, "harbour").count() == 2


class TestPages:
    def test_the_list_shows_verdicts_factors_and_images(self, lamps, lead_client, analyst_client):
        address = reverse("annotation:scenarios", args=["lamps"])
        for client in (lead_client, analyst_client):
            page = text_of(client.get(address))
            assert "trades: bridge alike by sketch · 3 alike, 0 with small" in page
            assert "trades: harbour not alike by sketch" in page
            assert "height: tall, people: Orsani" in page
        assert "Draw failed scenarios again" in text_of(lead_client.get(address))
        assert "Draw failed scenarios again" not in text_of(analyst_client.get(address))
        failed = text_of(lead_client.get(address, {"verdict": "failed"}))
        assert "trades: harbour" in failed
        assert "trades: bridge" not in failed

    def test_redrawing_is_confirmed_on_a_page_that_shows_its_extent(self, lamps, lead_client):
        address = reverse("annotation:scenarios_redraw", args=["lamps"])
        page = lead_client.get(address)
        assert "All listed scenarios together have 2 images" in text_of(page)
        assert standing(lamps, "harbour").count() == 2
        assert lead_client.post(address, {}).status_code == 400
        ((value, _),) = page.context["form"].fields["scenarios"].choices
        answered = lead_client.post(address, {"scenarios": [value]})
        assert answered["Location"] == reverse("annotation:scenarios", args=["lamps"])
        assert not standing(lamps, "harbour").exists()
        page = text_of(lead_client.get(answered["Location"]))
        assert "1 scenario is drawn again" in page
        assert "requested the images of failed scenarios again (1): 2 images" in text_of(
            lead_client.get(reverse("studies:history", args=["lamps"]))
        )

    def test_only_a_lead_draws_again(self, lamps, analyst_client, stranger_client):
        address = reverse("annotation:scenarios_redraw", args=["lamps"])
        assert [c.get(address).status_code for c in (analyst_client, stranger_client)] == [403, 404]
        assert [c.post(address).status_code for c in (analyst_client, stranger_client)] == [403, 404]
        assert stranger_client.get(reverse("annotation:scenarios", args=["lamps"])).status_code == 404

    def test_only_studies_of_pairs_show_the_tab(self, lamps, study, lead_client):
        assert ">Scenarios<" in lead_client.get("/studies/lamps/").content.decode()
        assert ">Scenarios<" not in lead_client.get("/studies/isles/").content.decode()

    def test_a_study_without_scenarios_says_where_they_come_from(self, study, lead_client):
        assert "No scenarios yet" in text_of(lead_client.get(reverse("annotation:scenarios", args=["isles"])))

    def test_queries_do_not_grow(self, lamps, lead, lead_client, queries):
        address = reverse("annotation:scenarios", args=["lamps"])
        before = queries(lead_client, address)
        images = list(lamps.images.all())
        for number in range(12):
            for image in images:
                image.pk, image.public_id, image.scenario = None, None, f"more {number}"
                image.public_id = image._meta.get_field("public_id").default()
                image.sha256 = f"{number}{image.sha256[:-2]}"[:64]
                image.save()
        assert queries(lead_client, address) == before


class TestCommand:
    def test_the_command_redraws_failed_scenarios(self, lamps, capsys):
        call_command("redraw_scenarios", "--study", "Lamps", "--dry-run")
        assert "1 scenario to draw again" in capsys.readouterr().out
        assert standing(lamps, "harbour").count() == 2
        call_command("redraw_scenarios", "--study", "Lamps")
        assert "2 images made" in capsys.readouterr().out
        assert standing(lamps, "harbour").count() == 2
        assert Image.objects.exclude(retracted_at=None).count() == 2

    def test_the_command_can_queue_the_redraw(self, lamps):
        call_command("redraw_scenarios", "--study", "lamps", "--scenario", "harbour", "--queue")
        assert Job.objects.filter(kind="generate", state="queued").count() == 1

    @pytest.mark.parametrize("arguments", [["--study", "Lamps", "--scenario", "bridge"], ["--study", "None"]])
    def test_unknown_names_are_reported(self, lamps, arguments):
        with pytest.raises(NotFound):
            call_command("redraw_scenarios", *arguments)
