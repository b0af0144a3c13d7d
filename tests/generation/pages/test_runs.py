"""The lead's pages of runs and of a new study of MCAS: live counts, starting, resuming."""

import re
from decimal import Decimal

import pytest
from django.urls import reverse

from generation.models import GenerationRequest
from generation.prompts.sets import prompt_set
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from studies.models import Study

pytestmark = pytest.mark.django_db
NEW = "/studies/new/mcas/"


def text_of(answer) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


class TestGenerate:
    def estimate(self, client, study, **query):
        return text_of(client.get(reverse("generation:estimate", args=[study.slug]), query))

    def test_images_for_pull_are_planned_on_one_page(self, study, lead_client):
        said = self.estimate(lead_client, study, backend="sketch", prompt_set="visage-pull")
        assert "525 Images to generate" in said
        assert "Time not known yet" in said
        assert "Non-stereotypical 225 images of 15 prompts · 2 to 3 attributes for each group" in said
        url = reverse("generation:generate", args=[study.slug])
        answer = lead_client.post(url, {"backend": "sketch", "prompt_set": "visage-pull"})
        job = Job.objects.get()
        assert answer["Location"] == reverse("studies:detail", args=[study.slug])
        shown = lead_client.get(answer["Location"]).content.decode()
        assert f'data-poll="{reverse("jobs:progress", args=[job.pk])}"' in shown
        assert f'class="button primary" href="{url}"' not in shown  # it is not offered twice
        assert GenerationRequest.objects.count() == 525
        assert "Watch the job" in text_of(lead_client.get(url))

    def test_ids_are_unique_and_the_start_sends_the_counted_values(self, study, prompts, lead_client):
        url = reverse("generation:generate", args=[study.slug])
        page = lead_client.get(url, {"backend": "sketch", "model_label": "pencil"}).content.decode()
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        assert '<input type="hidden" name="model_label" value="pencil"' in page

    def test_a_run_with_another_model_label_may_be_started(self, study, lead, prompts, lead_client):
        run(run=plan_run(study=study, backend="sketch", by=lead), progress=Unwatched())
        query = {"backend": "sketch", "default_probability": "0.1"}
        assert "No images are left to generate" in self.estimate(lead_client, study, **query)
        assert "12 Images to generate" in self.estimate(lead_client, study, **query, model_label="pencil")

    def test_time_is_estimated_once_the_model_has_made_images(self, study, lead, prompts, lead_client):
        planned = plan_run(study=study, backend="sketch", by=lead)
        run(run=planned, progress=Unwatched(), limit=3)
        planned.requests.filter(outcome="done").update(seconds=20)
        said = self.estimate(lead_client, study, backend="sketch", default_probability="0.1")
        assert "9 Images to generate 3 minutes Estimated time" in said
        assert "20.00 s an image · with these settings" in said
        other = self.estimate(lead_client, study, backend="sketch", default_probability="0.2")
        assert "with other settings of this model" in other

    def test_cost_and_budget_are_shown_before_the_start(self, study, prompts, lead_client, settings):
        settings.OPENAI_BASE_URLS = ["https://api.example.org/v1"]
        query = {"backend": "openai", "model_id": "painter-3", "price": "0.04", "budget": "0.30"}
        said = self.estimate(lead_client, study, **query)
        assert "0.48 At most, in your currency" in said
        assert "The run stops when 0.30 are spent" in said
        lead_client.post(reverse("generation:generate", args=[study.slug]), query)
        planned = study.generation_runs.get()
        assert (planned.price, planned.budget) == (Decimal("0.04"), Decimal("0.30"))
        assert planned.parameters["endpoint"] == "https://api.example.org/v1"
        # They need not be entered again.
        del query["price"], query["budget"]
        assert "The run stops when 0.30 are spent" in self.estimate(lead_client, study, **query)

    def test_an_endpoint_that_is_not_allowed_cannot_be_chosen(self, study, prompts, lead_client, settings):
        settings.OPENAI_BASE_URLS = ["https://api.example.org/v1"]
        query = {"backend": "openai", "model_id": "x", "endpoint": "http://127.0.0.1:9/v1"}
        assert "Select a valid choice" in self.estimate(lead_client, study, **query)

    def test_failed_images_are_asked_for_again(self, study, lead, prompts, lead_client, analyst_client):
        planned = plan_run(study=study, backend="sketch", by=lead)
        run(run=planned, progress=Unwatched())
        keys = list(planned.requests.values_list("pk", flat=True)[:2])
        planned.requests.filter(pk__in=keys).update(outcome="failed", reason="No memory.", image=None)
        page = text_of(lead_client.get(reverse("generation:generate", args=[study.slug])))
        assert "Retry 2 failed with sketch" in page
        url = reverse("generation:go_on", args=[study.slug, planned.pk])
        assert analyst_client.post(url).status_code == 403
        answer = lead_client.post(url)
        assert answer["Location"] == reverse("jobs:detail", args=[Job.objects.get().pk])
        assert planned.requests.filter(outcome="pending").count() == 2

    def test_only_the_lead_counts_and_resumes(self, study, analyst_client, stranger_client):
        url = reverse("generation:estimate", args=[study.slug])
        assert analyst_client.get(url).status_code == 403
        assert stranger_client.get(url).status_code == 404


class TestNewMcas:
    def values(self, client) -> dict[str, str]:
        form = client.get(NEW).context["form"]
        return {name: str(form[name].value() or "") for name in form.fields}

    def test_the_form_begins_with_the_published_study(self, lead_client):
        page = text_of(lead_client.get(NEW))
        assert "Images 688" in page
        assert re.search(r"560 28 × 20 ?: occupations 10 ?, sports 6 ?, objects 6 ?, scenes 6", page)
        assert "a teenage boy" in page
        assert "a male young adult" in text_of(lead_client.get(NEW, {"variant": "dall-e-2"}))
        assert "Choose sets and targets" in text_of(lead_client.get("/studies/new/"))

    def test_totals_follow_the_form(self, lead_client):
        values = self.values(lead_client) | {"phrases_a": "a wheel\n\na ball", "images_per_target": "1"}
        said = text_of(lead_client.post(f"{NEW}totals/", values))
        assert "Images 124" in said  # 28 × 1 + (2 + 4) × 16
        wrong = lead_client.post(f"{NEW}totals/", values | {"targets": "trades | Tiler"})
        assert wrong.status_code == 200
        assert "Images 96" in text_of(wrong)

    def test_any_two_sets_are_created_and_lead_to_their_images(self, lead_client):
        values = self.values(lead_client) | {
            "name": "Shapes",
            "name_a": "round",
            "texts_a": "wheel\nball",
            "phrases_a": "a wheel",
            "name_b": "square",
            "texts_b": "box",
            "phrases_b": "a box",
            "targets": "trades | Tiler | a tiler | square\nthings | Kite | a kite",
            "action": "create",
        }
        answer = lead_client.post(NEW, values)
        study = Study.objects.get()
        assert answer["Location"] == reverse("generation:generate", args=[study.slug])
        assert study.phrases.count() == 4
        page = text_of(lead_client.get(answer["Location"], {"backend": "diffusers", "model_id": "painter"}))
        assert "72 Images to generate" in page  # 2 × 20 + 2 × 16
        assert "visage" not in page
        overview = text_of(lead_client.get(reverse("studies:detail", args=[study.slug])))
        assert "72 images of targets and attribute sets" in overview
        assert "Set A round wheel, ball" in overview
        assert "No campaign" not in overview

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"name": ""}, "This field is required."),
            ({"targets": "trades | Tiler"}, "Line 1 must have a category, a name and a phrase"),
            ({"targets": "trades | Tiler | a tiler | flat"}, "is not one of the attribute sets"),
            ({"name_b": "men"}, "Enter two attribute sets with different names."),
            ({"template": "an image"}, "must contain {phrase}"),
        ],
    )
    def test_errors_are_shown_and_nothing_is_created(self, lead_client, change, sentence):
        values = self.values(lead_client) | {"name": "Shapes", "action": "create"} | change
        answer = lead_client.post(NEW, values)
        assert answer.status_code == 400
        assert sentence in text_of(answer)
        assert not Study.objects.exists()

    def test_only_leads_create(self, analyst_client):
        assert analyst_client.get(NEW).status_code == 403


def test_images_are_filtered_by_attribute_and_phrase(study, lead, lead_client):
    planned = plan_run(study=study, backend="sketch", by=lead, prompt_set=prompt_set("visage-pull"))
    kept = planned.requests.filter(template__condition="stereotypical", index=0)
    planned.requests.exclude(pk__in=kept.values("pk")).delete()
    run(run=planned, progress=Unwatched())
    url = reverse("generation:images", args=[study.slug])
    page = lead_client.get(url, {"attribute": "drum"})
    assert "3 images match" in text_of(page)
    assert "0 images match" in text_of(lead_client.get(url, {"phrase": "Tiler"}))
    api = lead_client.get(f"/api/v1/studies/{study.slug}/images/", {"attribute": "drum"}).json()
    assert {one["attribute"] for one in api["results"]} == {"drum"}
