"""New studies of PAIRS and BiasDora, and their overview pages."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from catalog.imports.descriptors import import_descriptors
from catalog.models import Resource
from generation.models import Image
from generation.probing.codings import code_run
from generation.probing.execution import run
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from jobs.run.execution import execute
from studies.models import Study
from studies.protocol.creation import create_study
from tests.generation.pages.test_runs import text_of
from tests.generation.probing.probing_study import add_scenarios, planned, png, words

pytestmark = pytest.mark.django_db
PAIRS, BIASDORA = "/studies/new/pairs/", "/studies/new/biasdora/"
DESCRIPTORS = b"dimension,singular,plural\nheadgear,hat wearer,hat wearers\ntrade,baker,bakers\n"


def of_pairs(lead):
    return create_study(name="Scenes", resource=None, groups=[], by=lead, protocol=Study.Protocol.PAIRS)


def overview(client, study):
    page = client.get(reverse("studies:detail", args=[study.slug]))
    return {stage.name: (stage.state, stage.detail) for stage in page.context["stages"]}, text_of(page)


def archive(names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        for number, name in enumerate(names):
            zipped.writestr(name, png(number))
    return SimpleUploadedFile("images.zip", file.getvalue())


def test_new_study_offers_both_protocols(lead_client):
    page = lead_client.get("/studies/new/").content.decode()
    assert PAIRS in page
    assert BIASDORA in page


class TestPairs:
    def test_a_study_for_own_images_leads_to_their_import_in_the_layout_of_pairs(self, lead_client, lead):
        answer = lead_client.post(PAIRS, {"name": "Scenes", "images": "import", "seed": "3"})
        study = Study.objects.get()
        assert (study.protocol, study.seed, study.created_by) == ("pairs", 3, lead)
        assert answer["Location"] == reverse("generation:import_images", args=["scenes"])
        page = lead_client.get(answer["Location"]).content.decode()
        assert '<option value="pairs" selected>' in page

    def test_a_study_for_generated_images_has_groups_with_factors_and_prompts(self, lead_client):
        answer = lead_client.post(PAIRS, {"name": "Scenes", "images": "generate"})
        study = Study.objects.get()
        assert answer["Location"] == reverse("generation:generate", args=["scenes"])
        assert (study.groups.count(), study.prompt_templates.count()) == (4, 50)
        assert all(set(group.factors) == {"race", "gender"} for group in study.groups.all())
        page = text_of(lead_client.get(answer["Location"]))
        assert "PAIRS: parallel images" in page
        assert "by changing that image (image to image)" in page

    def test_other_studies_import_groups_by_default(self, lead_client, study):
        page = lead_client.get(reverse("generation:import_images", args=["isles"])).content.decode()
        assert '<option value="groups" selected>' in page

    def test_an_archive_of_the_tree_gives_scenarios_and_factors(self, lead_client, lead):
        study = of_pairs(lead)
        names = [f"trades/{scene}/{who}_{as_}.png" for scene in ("bridge", "harbour") for who in ("hill", "harbour")
                 for as_ in ("man", "woman")]  # fmt: skip
        sent = {"archive": archive(names), "layout": "pairs", "condition": "default"}
        lead_client.post(reverse("generation:import_images", args=[study.slug]), sent)
        execute(Job.objects.get().pk)
        assert Image.objects.filter(experiment="trades", scenario="bridge").count() == 4
        assert study.groups.get(name="hill_man").factors == {"race": "hill", "gender": "man"}
        stages, page = overview(lead_client, study)
        assert stages["Images"] == ("done", "8 images")
        assert stages["Probe"] == ("ready", "No model has been asked yet")
        assert "No model has been asked yet" in page.partition("Needs you")[2]

    @pytest.mark.slow
    def test_the_published_images_are_uploaded_whole(self, lead_client, lead, shared_data):
        study = of_pairs(lead)
        files = sorted((shared_data / "pairs").rglob("*.png"))
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as zipped:
            for path in files:
                zipped.write(path, path.relative_to(shared_data))
        zipped_images = SimpleUploadedFile("pairs.zip", file.getvalue())
        sent = {"archive": zipped_images, "layout": "pairs", "condition": "default"}
        lead_client.post(reverse("generation:import_images", args=[study.slug]), sent)
        execute(Job.objects.get().pk)
        images = study.images.filter(experiment__in=["occupations", "status", "potential_crime"])
        assert images.count() == len(files) == 200
        assert images.order_by().values("experiment", "scenario").distinct().count() == 50
        assert {group.name: group.factors for group in study.groups.all()} == {
            f"{race}_{gender}": {"race": race, "gender": gender}
            for race in ("black", "white")
            for gender in ("man", "woman")
        }
        chosen = {"probe_set": "pairs", "backend": "transformers", "model_id": "talker"}
        page = text_of(lead_client.get(reverse("generation:probe_estimate", args=[study.slug]), chosen))
        assert "Requests to send 3,120" in page or "3,120 Requests to send" in page

    @pytest.mark.parametrize("name", ["../trades/bridge/hill_man.png", "/trades/bridge/hill_man.png"])
    def test_an_archive_with_paths_outside_it_is_refused(self, lead_client, lead, name):
        study = of_pairs(lead)
        sent = {"archive": archive([name]), "layout": "pairs", "condition": "default"}
        answer = lead_client.post(reverse("generation:import_images", args=[study.slug]), sent)
        assert answer.status_code == 400
        assert "is outside" in answer.content.decode()
        assert not Job.objects.exists()


class TestBiasdora:
    def test_descriptors_come_from_uploaded_files(self, lead_client):
        file = SimpleUploadedFile("people.csv", DESCRIPTORS)
        sent = {"name": "Words", "uploads": [file], "resource_name": "Hats and trades"}
        answer = lead_client.post(BIASDORA, sent)
        study = Study.objects.get()
        assert answer["Location"] == reverse("generation:probe_new", args=["words"])
        assert (study.protocol, study.resource.name) == ("biasdora", "Hats and trades")
        assert set(study.groups.values_list("name", flat=True)) == {"hat wearer", "baker"}
        stages, page = overview(lead_client, study)
        assert stages["Plan"] == ("done", "2 descriptors")
        assert stages["Images"][0] == "skipped"
        assert stages["Probe"][0] == "ready"
        assert "A stereotype needs" not in page

    @pytest.mark.slow
    def test_the_published_files_are_uploaded_together(self, lead_client, shared_data):
        names = [f"t2t_setting{number}.csv" for number in range(1, 6)]
        files = [SimpleUploadedFile(name, (shared_data / "biasdora" / name).read_bytes()) for name in names]
        sent = {"name": "Words", "uploads": files, "resource_name": "BiasDora"}
        assert lead_client.post(BIASDORA, sent).status_code == 302
        report = import_descriptors(
            files=[shared_data / "biasdora" / name for name in names], name="By command", by=None
        )
        study = Study.objects.get()
        assert study.groups.count() == report.descriptors > 300
        assert set(study.groups.values_list("name", flat=True)) == set(
            report.resource.groups.values_list("name", flat=True)
        )

    def test_descriptors_may_come_from_a_resource(self, lead_client, resource):
        lead_client.post(BIASDORA, {
            "name": "Words", "uploads": [SimpleUploadedFile("p.csv", DESCRIPTORS)], "resource_name": "Hats",
        })  # fmt: skip
        page = lead_client.get(BIASDORA).content.decode()
        assert ">Hats</option>" in page
        assert ">Invented peoples</option>" not in page
        chosen = Resource.objects.get(name="Hats").pk
        assert lead_client.post(BIASDORA, {"name": "Again", "resource": chosen}).status_code == 302
        assert Study.objects.get(name="Again").groups.count() == 2

    @pytest.mark.parametrize(
        ("sent", "sentence"),
        [
            ({}, "Choose a resource, or upload files"),
            ({"uploads": DESCRIPTORS}, "Give the new resource a name"),
            (
                {"uploads": DESCRIPTORS, "resource_name": "Invented peoples"},
                "There is already a resource named",
            ),
            ({"uploads": b"a,b\n1,2\n", "resource_name": "New"}, "people.csv"),
            ({"uploads": b"\x00\xff", "resource_name": "New"}, "people.csv"),
        ],
    )
    def test_errors_are_shown_and_nothing_is_stored(self, lead_client, resource, sent, sentence):
        if "uploads" in sent:
            sent = sent | {"uploads": [SimpleUploadedFile("people.csv", sent["uploads"])]}
        answer = lead_client.post(BIASDORA, {"name": "Words", **sent})
        assert answer.status_code == 400
        assert sentence in text_of(answer)
        assert not Study.objects.exists()
        assert Resource.objects.count() == 1


@pytest.mark.parametrize("address", [PAIRS, BIASDORA])
def test_only_leads_create_studies(analyst_client, client, address):
    assert analyst_client.get(address).status_code == 403
    assert analyst_client.post(address, {"name": "Scenes", "images": "import"}).status_code == 403
    assert client.get(address).status_code == 302
    assert not Study.objects.exists()


class TestOverview:
    def test_a_study_without_images_asks_for_images(self, lead_client, lead):
        stages, page = overview(lead_client, of_pairs(lead))
        assert stages["Plan"] == ("ready", "The identity groups come with the imported images")
        assert stages["Images"] == ("ready", "No images yet")
        assert stages["Probe"][0] == stages["Measure"][0] == stages["Release"][0] == "waiting"
        assert "labels were imported" not in page

    def test_a_study_without_resource_says_labels_were_imported_only_if_they_were(self, lead_client, lead):
        study = create_study(name="Bare", resource=None, groups=[], by=lead)
        assert "labels were imported" not in overview(lead_client, study)[1]
        study.campaigns.create(
            name="Old", slug="old", imported=True, state="open", opened_at=timezone.now(), seed=1
        )
        assert "None: labels were imported" in overview(lead_client, study)[1]

    def test_stages_follow_probes_and_answers(self, lead_client, lead, study):
        Study.objects.update(protocol="pairs")
        add_scenarios(study)
        probe_run = planned(study, lead)
        stages, page = overview(lead_client, study)
        assert stages["Probe"] == ("stuck", "1 run not finished")
        assert "1 probe run is not finished" in page
        assert stages["Measure"] == ("waiting", "Needs answers of models first")
        run(run=probe_run, progress=Unwatched())
        code_run(run=probe_run, by=lead, progress=Unwatched())
        stages, page = overview(lead_client, study)
        assert stages["Probe"] == ("done", "1 model asked")
        assert stages["Review"] == ("waiting", "Nobody has reviewed answers yet")
        assert stages["Measure"][0] == stages["Release"][0] == "ready"
        assert "No campaign yet" not in page.partition("Needs you")[2]

    def test_a_run_whose_job_is_at_work_is_under_way(self, lead_client, lead, study):
        Study.objects.update(protocol="biasdora")
        probe_run = planned(study, lead, probe_set=words())
        probe_run.job = Job.objects.create(kind="probe", title="Ask", study_id=study.pk)
        probe_run.save()
        assert overview(lead_client, study)[0]["Probe"] == ("current", "Questions are being asked")

    def test_probes_cost_the_list_one_query_whatever_their_number(self, lead_client, lead, study, queries):
        add_scenarios(study)
        Study.objects.update(protocol="pairs")
        planned(study, lead)
        before = queries(lead_client, "/studies/")
        for number in range(4):
            of_more = create_study(
                name=f"More {number}", resource=None, groups=[], by=lead, protocol=Study.Protocol.PAIRS
            )
            add_scenarios(of_more)
            planned(of_more, lead)
        assert queries(lead_client, "/studies/") == before
