"""The pages and the API of a study's images."""

import io
import re
import zipfile
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from foundation.errors import NotFound
from generation.models import GenerationRequest, Image
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from jobs.run.control import cancel, retry
from jobs.run.execution import run_here
from jobs.run.recovery import sweep

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(study, lead, prompts):
    """Twelve sketches, and a run with one blanked and one failed request."""
    planned = plan_run(study=study, backend="sketch", by=lead, parameters={"default_probability": 0.3})
    run(run=planned, progress=Unwatched())
    other = plan_run(study=study, backend="sketch", by=lead, model_label="pencil")
    keys = list(other.requests.values_list("pk", flat=True)[:2])
    other.requests.filter(pk=keys[0]).update(outcome="blanked", reason="The safety checker blanked it.")
    other.requests.filter(pk=keys[1]).update(outcome="failed", reason="The pipeline failed: no memory.")
    return planned


def page(client, name, study, **query) -> str:
    answer = client.get(reverse(f"generation:{name}", args=[study.slug]), query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("name", ["images", "not_made", "generate", "import_images"])
def test_people_who_are_not_members_cannot_find_the_page(study, name, stranger_client):
    url = reverse(f"generation:{name}", args=[study.slug])
    assert stranger_client.get(url).status_code == 404
    assert Client().get(url).status_code == 302


@pytest.mark.parametrize("name", ["generate", "import_images"])
def test_an_analyst_sees_images_but_neither_makes_nor_imports_them(study, name, analyst_client):
    assert "Generate images" not in page(analyst_client, "images", study)
    url = reverse(f"generation:{name}", args=[study.slug])
    assert analyst_client.get(url).status_code == 403
    assert analyst_client.post(url).status_code == 403


class TestContactSheet:
    def test_images_are_grouped_by_group_and_model_behind_a_warning(self, made, study, lead_client):
        text = page(lead_client, "images", study)
        assert re.findall(r"<h2[^>]*>(Orsani|Velmari)</h2>", text) == ["Orsani", "Velmari"]
        assert text.count("<img ") == 12
        assert text.count('loading="lazy"') == 12
        assert re.search(r'<details class="content-warning"(?! open)', text)

    def test_pictures_open_with_their_provenance(self, made, study, lead_client):
        text = page(lead_client, "images", study)
        (small, *_) = re.findall(r'<img src="(/images/[^"]+)"', text)
        assert Client().get(small)["Content-Type"] == "image/webp"
        assert Image.objects.first().sha256 in text
        assert "<dt>Seed</dt>" in text
        assert "<dt>Drawn</dt>" in text

    def test_filters_live_in_the_address_and_open_the_sheet(self, made, study, lead_client):
        text = page(lead_client, "images", study, group="Velmari", model="sketch", condition="default")
        assert text.count("<img ") == 6
        assert "Orsani</h2>" not in text
        assert re.search(r'<details class="content-warning" open', text)
        assert "No images match" in page(lead_client, "images", study, condition="target")
        assert page(lead_client, "images", study, condition="sideways").count("<img ") == 12

    def test_a_large_study_comes_in_pages_with_as_many_queries(
        self, made, study, lead_client, django_assert_max_num_queries
    ):
        first = Image.objects.first()
        Image.objects.bulk_create(
            Image(
                study=study,
                group=first.group,
                model_label="sketch",
                sha256=f"{index:064x}",
                file=first.file,
                prompt="a figure",
            )
            for index in range(150)
        )
        with django_assert_max_num_queries(14):
            text = page(lead_client, "images", study)
        assert text.count("<img ") == 60
        sheet = reverse("generation:images", args=[study.slug])
        shown, last = [], lead_client.get(sheet).context["page"]
        for _ in range(2):
            shown += [image.pk for image in last]
            last = lead_client.get(sheet + last.next).context["page"]
        shown += [image.pk for image in last]
        assert (len(last), last.next) == (42, "")
        in_order = study.images.order_by("group__display_name", "model_label", "condition", "pk")
        assert shown == list(in_order.values_list("pk", flat=True))
        before = lead_client.get(sheet + last.previous)
        assert [image.pk for image in before.context["page"]] == shown[60:120]

    def test_a_study_without_images_says_what_to_do(self, study, lead_client, analyst_client):
        assert "Generate images from the study" in page(lead_client, "images", study)
        assert "A lead of the study" in page(analyst_client, "images", study)

    def test_blanked_and_failed_images_are_listed_separately(self, made, study, lead_client):
        assert "1 blanked, 0 refused, 1 failed" in page(lead_client, "images", study)
        text = page(lead_client, "not_made", study)
        assert "The safety checker blanked it." in text
        assert "The pipeline failed: no memory." in text

    def test_published_labels_without_files_are_shown_as_such(self, study, lead_client):
        Image.objects.create(study=study, source_name="set/Velmari5.png", group=study.groups.first())
        text = page(lead_client, "images", study)
        assert "The file was not published" in text
        assert "set/Velmari5.png" in text


class TestGenerate:
    def test_the_count_is_shown_before_anything_starts(self, study, prompts, lead_client):
        text = page(lead_client, "generate", study)
        assert "Make 12 images" in text
        assert "a photo of a Velmari person" in text
        assert not GenerationRequest.objects.exists()

    def test_when_nothing_is_left_there_is_nothing_to_start(self, made, study, lead_client):
        text = page(
            lead_client, "generate", study, backend="sketch", default_probability="0.3", model_label="sketch"
        )
        assert "No images are left to generate" in text
        assert '<form method="post" data-submit-once' not in text

    def test_start_plans_the_run_and_leads_to_the_study(self, study, prompts, lead_client):
        url = reverse("generation:generate", args=[study.slug])
        answer = lead_client.post(
            url, {"backend": "sketch", "default_probability": "0.2", "model_label": "pen"}
        )
        assert Job.objects.count() == 1
        assert answer["Location"] == reverse("studies:detail", args=[study.slug])
        planned = study.generation_runs.get()
        assert (planned.model_label, planned.parameters["default_probability"]) == ("pen", 0.2)
        assert planned.requests.count() == 12
        again = lead_client.post(
            url, {"backend": "sketch", "default_probability": "0.2", "model_label": "pen"}
        )
        assert again.status_code == 400
        assert "already being generated" in again.content.decode()

    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            ({"backend": "crayon"}, "Select a valid choice"),
            ({"backend": "diffusers"}, "Enter a model: a folder on the server"),
            ({"backend": "diffusers", "model_id": "x", "width": "30"}, "divisible by 8"),
            ({"backend": "sketch", "default_probability": "7"}, "less than or equal to 1"),
        ],
    )
    def test_errors_are_shown_beside_the_field(self, study, prompts, lead_client, data, sentence):
        url = reverse("generation:generate", args=[study.slug])
        for answer in (lead_client.get(url, data), lead_client.post(url, data)):
            assert sentence in answer.content.decode()
        assert not study.generation_runs.exists()

    def test_sketch_is_offered_in_simulated_studies_only(self, study, prompts, lead_client):
        url = reverse("generation:generate", args=[study.slug])
        assert '<option value="sketch"' in lead_client.get(url).content.decode()
        study.simulated = False
        study.save(update_fields=["simulated"])
        text = page(lead_client, "generate", study)
        assert 'value="sketch"' not in lead_client.get(url).content.decode()
        assert "Choose a model to see how many images it will generate" in text
        refused = lead_client.post(url, {"backend": "sketch", "default_probability": "0.1"})
        assert refused.status_code == 400
        assert "Select a valid choice" in refused.content.decode()
        assert not study.generation_runs.exists()
        call_command("generate", "--study", study.slug, "--backend", "sketch", "--limit", "1")
        assert study.generation_runs.get().backend == "sketch"

    def test_a_study_without_prompts_says_so(self, study, lead_client):
        assert "The study has no prompts" in page(lead_client, "generate", study)


class TestImport:
    def archive(self, picture, **more):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for index in range(3):
                archive.writestr(f"Velmari/{index}.png", picture((index, 0, 0)))
            for name, data in more.items():
                archive.writestr(name, data)
        return SimpleUploadedFile("pictures.zip", file.getvalue(), "application/zip")

    def post(self, client, study, **data):
        url = reverse("generation:import_images", args=[study.slug])
        return client.post(url, {"layout": "groups", "condition": "default", **data})

    def test_an_archive_is_imported_by_a_job(self, study, picture, lead_client):
        answer = self.post(
            lead_client,
            study,
            archive=self.archive(picture, **{"Velmari/no.png": b"hello"}),
            model_label="painter",
        )
        job = Job.objects.get()
        assert answer["Location"] == reverse("jobs:detail", args=[job.pk])
        done = run_here(job, Unwatched())
        assert done.result["summary"].startswith("4 files: 3 kept")
        assert done.result["lines"] == ["Rejected: Velmari/no.png: it is not an image."]
        assert set(Image.objects.values_list("model_label", flat=True)) == {"painter"}
        assert default_storage.exists(job.arguments["upload"])
        # Killed before its success was stored, the job is repeated and succeeds.
        Job.objects.update(state=Job.State.QUEUED, finished_at=None)
        assert run_here(job, Unwatched()).state == Job.State.SUCCEEDED
        assert Image.objects.count() == 3
        sweep()
        assert not default_storage.exists(job.arguments["upload"])
        sweep()
        content = lead_client.get(reverse("jobs:detail", args=[job.pk])).content.decode()
        assert "it is not an image" in content
        new_campaign = reverse("annotation:campaign_new", args=[study.slug])
        assert f'href="{new_campaign}">New campaign with these images</a>' in content

    def test_the_archive_of_a_cancelled_import_is_deleted_eventually(self, study, picture, lead_client):
        self.post(lead_client, study, archive=self.archive(picture))
        job = cancel(job=Job.objects.get())
        sweep()
        assert default_storage.exists(job.arguments["upload"])
        Job.objects.update(finished_at=timezone.now() - timedelta(days=8))
        sweep()
        assert not default_storage.exists(job.arguments["upload"])
        job = retry(job=job)
        with pytest.raises(NotFound, match=r"was deleted\. Upload the file again"):
            run_here(job, Unwatched())

    @pytest.mark.parametrize(
        ("name", "data", "sentence"),
        [
            ("a.zip", b"hello", "The file is not a zip archive, or it is damaged."),
            ("a.zip", b"", "The submitted file is empty."),
        ],
    )
    def test_files_that_are_not_archives_are_refused_at_once(self, study, lead_client, name, data, sentence):
        answer = self.post(lead_client, study, archive=SimpleUploadedFile(name, data))
        assert answer.status_code == 400
        assert sentence in answer.content.decode()
        assert not Job.objects.exists()

    def test_an_archive_over_the_limit_is_refused_at_once(self, study, picture, lead_client, settings):
        settings.ARCHIVE_MAX_BYTES = 100
        answer = self.post(lead_client, study, archive=self.archive(picture))
        assert "The archive is larger than the limit of 0 MiB." in answer.content.decode()

    def test_a_path_out_of_the_archive_is_refused_at_once(self, study, picture, lead_client):
        answer = self.post(lead_client, study, archive=self.archive(picture, **{"../evil.png": b"x"}))
        assert "is outside the folder or archive" in answer.content.decode()
        assert not (default_storage.exists("uploads") and default_storage.listdir("uploads")[1])

    def test_a_missing_file_is_reported(self, study, lead_client):
        assert "This field is required." in self.post(lead_client, study).content.decode()


class TestApi:
    def test_members_read_images_and_their_addresses(
        self, made, study, lead_client, stranger_client, django_assert_max_num_queries
    ):
        url = f"/api/v1/studies/{study.slug}/images/"
        with django_assert_max_num_queries(5):
            body = lead_client.get(url).json()
        assert len(body["results"]) == 12
        first = body["results"][0]
        assert (first["model"], first["condition"], first["retracted_at"]) == ("sketch", "default", None)
        assert first["group"] in {"Velmari", "Orsani"}
        assert "drawn" in first["provenance"]
        assert Client().get(first["url"].removeprefix("http://testserver")).status_code == 200
        assert stranger_client.get(url).status_code == 404
        assert Client().get(url).status_code == 401

    def test_images_are_filtered_and_come_in_pages(self, made, study, lead_client):
        url = f"/api/v1/studies/{study.slug}/images/"
        body = lead_client.get(url, {"group": "Velmari", "page_size": 4}).json()
        assert len(body["results"]) == 4
        rest = lead_client.get(body["next"]).json()
        assert len(rest["results"]) == 2
        assert rest["next"] is None
