"""Images by a real diffusers pipeline, tiny and of random weights, through the code a user's weights go through."""

import io
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image as Picture

from accounts.errors import DomainError
from generation.backends.base import ImageRequest
from generation.backends.diffusers import DiffusersBackend
from generation.models import Image
from generation.planning import plan_run
from generation.running import run
from jobs.progress import Unwatched
from tests.generation.tiny_pipeline import save_tiny_pipeline
from tests.own_database import own_server

ROOT = Path(__file__).resolve().parents[2]
QUICK = {"num_inference_steps": 2, "width": 32, "height": 32}
# What the libraries say about themselves on import or load is none of our business.
pytestmark = [
    pytest.mark.models,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("diffusers", reason="the full requirements are not installed")
    return save_tiny_pipeline(tmp_path_factory.mktemp("models") / "tiny")


def load(folder, **parameters):
    backend = DiffusersBackend()
    return backend.load(model_id=str(folder), parameters=backend.clean({**QUICK, **parameters}, groups=[]))


def refused(folder, **parameters) -> str:
    with pytest.raises(DomainError) as refusal:
        load(folder, **parameters)
    assert "\n" not in refusal.value.message
    return refusal.value.message


def test_one_request_is_one_image_with_everything_that_made_it(folder):
    answer = load(folder, device="cpu").draw(ImageRequest("an orsani person", seed=5))
    picture = Picture.open(io.BytesIO(answer.data))
    assert (answer.outcome, picture.format, picture.size) == ("done", "PNG", (32, 32))
    made = answer.provenance
    assert made["versions"].keys() == {"diffusers", "transformers", "torch", "pillow"}
    assert (made["device"], made["dtype"], made["pipeline"]) == ("cpu", "float32", "StableDiffusionPipeline")
    assert (made["scheduler"], made["images_per_call"]) == ("DDIMScheduler", 1)
    assert made["threads"] >= 1


def test_the_same_request_gives_the_same_bytes_whatever_was_drawn_before(folder):
    first = load(folder, device="cpu")
    wanted = ImageRequest("an orsani person", seed=2**62 + 1)
    data = first.draw(wanted).data
    first.draw(ImageRequest("something else", seed=3))
    assert first.draw(wanted).data == data
    assert load(folder, device="cpu").draw(wanted).data == data
    assert first.draw(ImageRequest("an orsani person", seed=4)).data != data
    assert first.draw(ImageRequest("a velmari person", seed=2**62 + 1)).data != data


def test_a_scheduler_can_be_chosen_by_name(folder):
    model = load(folder, device="cpu", scheduler="EulerDiscreteScheduler")
    assert model.draw(ImageRequest("a person", 1)).provenance["scheduler"] == "EulerDiscreteScheduler"
    assert refused(folder, scheduler="EulerDiscrete") == "diffusers has no scheduler “EulerDiscrete”."


def test_an_image_that_the_safety_checker_blanks_is_counted_and_not_kept(tmp_path):
    folder = save_tiny_pipeline(tmp_path / "checked", safety_checker=True)
    answer = load(folder, device="cpu").draw(ImageRequest("a person", 1))
    assert (answer.outcome, answer.data) == ("blanked", b"")
    assert "safety checker" in answer.reason
    assert load(folder, device="cpu", safety_checker="no").draw(ImageRequest("a person", 1)).outcome == "done"


def test_the_revision_of_a_folder_is_a_digest_that_changes_with_it(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    first = load(copy, device="cpu").revision
    assert first == load(folder, device="cpu").revision
    index = copy / "scheduler" / "scheduler_config.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), "steps_offset": 0}))
    assert load(copy, device="cpu").revision != first


class TestRefusals:
    def test_a_folder_that_is_not_there(self, tmp_path):
        assert refused(tmp_path / "none") == f"There is no folder “{tmp_path / 'none'}” on this server."

    def test_a_folder_that_is_no_pipeline(self, tmp_path):
        assert refused(tmp_path).endswith("is not a diffusers pipeline: it has no model_index.json.")

    def test_an_index_that_describes_nothing(self, tmp_path):
        (tmp_path / "model_index.json").write_text("{")
        assert refused(tmp_path).endswith("does not describe a pipeline.")

    @pytest.mark.parametrize("damage", ["cut weights", "missing weights", "broken config", "missing part"])
    def test_a_damaged_pipeline(self, folder, tmp_path, damage):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        weights = copy / "unet" / "diffusion_pytorch_model.safetensors"
        if damage == "cut weights":
            weights.write_bytes(weights.read_bytes()[:1000])
        elif damage == "missing weights":
            weights.unlink()
        elif damage == "broken config":
            (copy / "unet" / "config.json").write_text("{")
        else:
            shutil.rmtree(copy / "vae")
        assert refused(copy, device="cpu").startswith(f"“{copy}” cannot be loaded: ")

    def test_a_device_that_is_not_there(self, folder):
        assert refused(folder, device="cuda:99").startswith("The device “cuda:99” cannot be used: ")

    @pytest.mark.parametrize(
        ("parameters", "sentence"),
        [
            ({"steps": 3}, "diffusers has no parameter “steps”"),
            ({"num_inference_steps": 0}, "must be a whole number from 1 to 1000, not 0"),
            ({"num_inference_steps": "many"}, "num_inference_steps must be a number, not 'many'"),
            ({"width": 30}, "divisible by 8, not 30"),
            ({"guidance_scale": -1}, "guidance_scale must be from 0 to 100"),
            ({"dtype": "int8"}, "must be one of float32, float16, bfloat16"),
            ({"safety_checker": "maybe"}, "safety_checker must be yes or no"),
            ({"scheduler": 5}, "scheduler must be text"),
        ],
    )
    def test_parameters_that_make_no_sense(self, parameters, sentence):
        with pytest.raises(DomainError) as refusal:
            DiffusersBackend().clean(parameters, groups=[])
        assert sentence in refusal.value.message


@pytest.mark.django_db
class TestRun:
    def test_a_run_keeps_what_was_loaded_and_refuses_another_model_at_its_place(
        self, folder, tmp_path, study, lead, prompts
    ):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        planned = plan_run(
            study=study,
            backend="diffusers",
            model_id=str(copy),
            by=lead,
            parameters={**QUICK, "device": "cpu"},
        )
        assert run(run=planned, progress=Unwatched(), limit=4).done == 4
        planned.refresh_from_db()
        assert planned.model_label == "copy"
        assert planned.model_revision.startswith("sha256:")
        image = Image.objects.first()
        assert image.provenance["model_revision"] == planned.model_revision
        (copy / "unet" / "note.txt").write_text("other weights")
        with pytest.raises(DomainError, match="start a run of its own"):
            run(run=planned, progress=Unwatched())


@pytest.mark.slow
def test_killed_and_started_again_it_makes_each_image_once(folder, tmp_path):
    # One thread: threads that wait for each other on a busy machine make a tiny model slow.
    with own_server(tmp_path, OMP_NUM_THREADS="1") as server:
        server.ask(
            "from generation.creating import set_prompts\n"
            "study = Study.objects.create(name='Isles', slug='isles', seed=7)\n"
            "StudyGroup.objects.create(study=study, name='Orsani', display_name='Orsani')\n"
            "set_prompts(study=study, templates=['{a_an} {id} person'], images_per_prompt=12, by=None)\n"
            "answer = 0"
        )
        settings = {**QUICK, "num_inference_steps": 4, "device": "cpu"}
        params = [f"--param={name}={value}" for name, value in settings.items()]
        command = ["generate", "--study", "Isles", "--backend", "diffusers", "--model", str(folder), *params]
        done = "SELECT count(*) FROM generation_generationrequest WHERE outcome = 'done'"
        with server.start(*command) as first:
            end = time.monotonic() + 120
            while server.rows(done)[0][0] < 2:
                assert time.monotonic() < end, "no image is made"
                assert first.poll() is None, first.communicate()[0]
                time.sleep(0.02)
            first.kill()
        before = server.rows(done)[0][0]
        assert 2 <= before < 12
        assert f"{12 - before} image" in server.run(*command).stdout
        assert server.rows("SELECT count(*), count(DISTINCT sha256) FROM generation_image") == [(12, 12)]


def test_nothing_heavy_is_imported_before_a_model_is_loaded():
    code = (
        "import sys; sys.path[:0] = ['platform', '.']\n"
        "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\n"
        "import django; django.setup()\n"
        "from django.urls import resolve; resolve('/studies/isles/images/')\n"
        "print([name for name in ('torch', 'diffusers', 'transformers', 'inflect') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
