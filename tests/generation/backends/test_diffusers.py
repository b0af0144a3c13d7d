"""Images by a real diffusers pipeline, tiny and with random weights, through the code that loads a user's weights."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from foundation.errors import DomainError
from generation.backends.base import ImageRequest, ModelUnusable
from generation.backends.diffusers.backend import DiffusersBackend
from generation.backends.diffusers.options import dtype_for
from generation.models import Image
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Unwatched
from tests.foundation.database.own_database import own_server
from tests.generation.backends.tiny_pipeline import save_tiny_pipeline
from tests.generation.backends.tiny_pipelines import (
    add_checker_of_if,
    save_tiny_3,
    save_tiny_flux,
    save_tiny_if,
    save_tiny_unconditional,
    save_tiny_xl,
)

ROOT = Path(__file__).resolve().parents[3]
QUICK = {"num_inference_steps": 2, "width": 32, "height": 32}
# Warnings of the libraries on import or load are ignored.
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


def load_as_it_is(folder, **parameters):
    """Load a model with its default steps and guidance."""
    return load(folder, device="cpu", width=16, height=16, num_inference_steps=None, **parameters)


def refused(folder, **parameters) -> str:
    with pytest.raises(DomainError) as refusal:
        load(folder, **parameters)
    assert "\n" not in refusal.value.message
    return refusal.value.message


def test_one_request_is_one_image_with_everything_that_made_it(folder):
    answer = load(folder, device="cpu").draw(ImageRequest("an orsani person", seed=5))
    assert (answer.outcome, answer.picture.size) == ("done", (32, 32))
    made = answer.provenance
    assert made["versions"].keys() == {
        "python",
        "diffusers",
        "transformers",
        "torch",
        "accelerate",
        "safetensors",
        "huggingface-hub",
        "pillow",
    }
    assert made["in_force"] == {"num_inference_steps": 2, "guidance_scale": 7.5}
    assert made["platform"]
    assert (made["device"], made["dtype"], made["pipeline"]) == ("cpu", "float32", "StableDiffusionPipeline")
    assert (made["scheduler"], made["images_per_call"]) == ("DDIMScheduler", 1)
    assert made["threads"] >= 1


def test_the_same_request_gives_the_same_bytes_whatever_was_drawn_before(folder):
    first = load(folder, device="cpu")
    wanted = ImageRequest("an orsani person", seed=2**62 + 1)
    data = first.draw(wanted).picture.tobytes()
    first.draw(ImageRequest("something else", seed=3))
    assert first.draw(wanted).picture.tobytes() == data
    assert load(folder, device="cpu").draw(wanted).picture.tobytes() == data
    assert first.draw(ImageRequest("an orsani person", seed=4)).picture.tobytes() != data
    assert first.draw(ImageRequest("a velmari person", seed=2**62 + 1)).picture.tobytes() != data


def test_a_scheduler_can_be_chosen_by_name(folder):
    model = load(folder, device="cpu", scheduler="EulerDiscreteScheduler")
    assert model.draw(ImageRequest("a person", 1)).provenance["scheduler"] == "EulerDiscreteScheduler"
    assert refused(folder, scheduler="EulerDiscrete") == "diffusers has no scheduler “EulerDiscrete”."


def test_an_image_that_the_safety_checker_blanks_is_counted_and_not_kept(tmp_path):
    folder = save_tiny_pipeline(tmp_path / "checked", safety_checker=True)
    answer = load(folder, device="cpu").draw(ImageRequest("a person", 1))
    assert (answer.outcome, answer.data, answer.picture) == ("blanked", b"", None)
    assert "safety checker" in answer.reason
    assert load(folder, device="cpu", safety_checker="no").draw(ImageRequest("a person", 1)).outcome == "done"


class TestBatches:
    """One call for several images, where the run requests it."""

    REQUESTS = [ImageRequest("an orsani person", seed) for seed in range(5)]

    def test_images_of_one_call_record_their_place_in_it(self, folder):
        model = load(folder, device="cpu", batch_size=3, negative_prompt="a hat")
        assert model.at_once == 3
        answers = model.draw_together(self.REQUESTS)
        assert [answer.provenance["images_per_call"] for answer in answers] == [3, 3, 3, 2, 2]
        assert answers[4].provenance["batch"] == {
            "position": 1,
            "members": [{"prompt": "an orsani person", "seed": seed} for seed in (3, 4)],
        }
        assert len({answer.picture.tobytes() for answer in answers}) == 5
        assert "batch" not in model.draw(self.REQUESTS[0]).provenance

    def test_an_image_that_is_blanked_in_a_batch_is_the_right_one(self, tmp_path):
        model = load(
            save_tiny_pipeline(tmp_path / "checked", safety_checker=True), device="cpu", batch_size=2
        )
        _blank_only(model, index=1)
        answers = model.draw_together(self.REQUESTS[:2])
        assert [answer.outcome for answer in answers] == ["done", "blanked"]

    @pytest.mark.parametrize("said", ["accelerator", "CPU"])
    def test_a_batch_that_does_not_fit_is_halved(self, folder, said):
        model = load(folder, device="cpu", batch_size=5)
        _room_for(model, 2, said)
        answers = model.draw_together(self.REQUESTS)
        assert [answer.provenance["images_per_call"] for answer in answers] == [2, 2, 2, 2, 1]
        assert model.at_once == 2

    def test_the_run_stops_when_not_even_one_image_fits(self, folder):
        model = load(folder, device="cpu", batch_size=2)
        _room_for(model, 0, "accelerator")
        with pytest.raises(
            ModelUnusable, match="One image needs more memory than cpu has; choose a smaller size"
        ):
            model.draw_together(self.REQUESTS)


def _room_for(model, most, said):
    """Let the pipeline's own U-Net run out of memory, with the exception its device would raise."""
    import torch

    errors = {
        "accelerator": torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        "CPU": RuntimeError(
            "[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."
        ),
    }

    def look(_module, given, _options):
        # With guidance, each image is there twice.
        if given[0].shape[0] > 2 * most:
            raise errors[said]

    model._pipeline.unet.register_forward_pre_hook(look, with_kwargs=True)


def _blank_only(model, *, index):
    """Let the checker blank one image of the batch instead of those that it flags."""
    checker = model._pipeline.safety_checker
    look = checker.forward

    def forward(clip_input, images):
        seen, blanked = look(clip_input, images)
        return seen, [found and number == index for number, found in enumerate(blanked)]

    checker.forward = forward


class TestKindsOfPipelines:
    """The defaults of each kind of model, and the parameters that its class does not take."""

    def test_a_u_net_gets_half_precision_on_a_card_and_a_transformer_bfloat16(self):
        assert dtype_for("cuda", {"unet": []}) == "float16"
        assert dtype_for("cuda:1", {"transformer": []}) == "bfloat16"
        assert dtype_for("cpu", {"unet": []}) == "float32"

    def test_stable_diffusion_xl(self, tmp_path):
        model = load(save_tiny_xl(tmp_path / "xl"), device="cpu", negative_prompt="a hat", batch_size=2)
        answers = model.draw_together([ImageRequest("a person", seed) for seed in (1, 2)])
        assert {answer.outcome for answer in answers} == {"done"}
        assert answers[0].provenance["pipeline"] == "StableDiffusionXLPipeline"
        assert answers[0].provenance["in_force"]["guidance_scale"] == 5.0

    def test_turbo_is_made_in_one_step_whatever_scheduler_is_chosen(self, tmp_path):
        folder = save_tiny_xl(tmp_path / "turbo", turbo=True)
        for scheduler in ("", "DDIMScheduler"):
            made = load_as_it_is(folder, scheduler=scheduler).draw(ImageRequest("a person", 1)).provenance
            assert made["scheduler"] == (scheduler or "EulerAncestralDiscreteScheduler")
            assert (made["in_force"]["num_inference_steps"], made["in_force"]["guidance_scale"]) == (1, 0.0)

    def test_a_model_that_is_not_distilled_keeps_its_settings_with_the_scheduler_of_one(self, folder):
        model = load(folder, device="cpu", scheduler="LCMScheduler", guidance_scale=None)
        made = model.draw(ImageRequest("a person", 1)).provenance
        assert made["scheduler"] == "LCMScheduler"
        assert made["in_force"]["guidance_scale"] == 7.5

    def test_stable_diffusion_3(self, tmp_path):
        model = load(save_tiny_3(tmp_path / "three"), device="cpu", negative_prompt="a hat", batch_size=2)
        answers = model.draw_together([ImageRequest("a person", seed) for seed in (1, 2)])
        assert [answer.picture.size for answer in answers] == [(32, 32)] * 2
        made = answers[0].provenance
        assert made["pipeline"] == "StableDiffusion3Pipeline"
        assert made["in_force"]["guidance_scale"] == 7.0

    def test_images_flagged_by_the_checker_of_if_are_blanked(self, tmp_path):
        model = load(save_tiny_if(tmp_path / "if"), device="cpu")
        assert model.draw(ImageRequest("a person", 1)).outcome == "done"
        add_checker_of_if(model._pipeline)
        answer = model.draw(ImageRequest("a person", 1))
        assert answer.provenance["pipeline"] == "IFPipeline"
        assert (answer.outcome, answer.picture) == ("blanked", None)

    def test_flux_without_guidance_is_made_in_four_steps(self, tmp_path):
        folder = save_tiny_flux(tmp_path / "flux")
        model = load_as_it_is(folder)
        answer = model.draw(ImageRequest("a person", 1))
        assert answer.picture.size == (16, 16)
        assert answer.provenance["in_force"]["num_inference_steps"] == 4
        assert answer.provenance["in_force"]["guidance_scale"] == 0.0
        assert "true_cfg_scale above 1" in refused(folder, negative_prompt="a hat")

    def test_a_setting_that_the_class_does_not_take_is_refused_by_name(self, folder):
        assert (
            refused(folder, true_cfg_scale=2)
            == "A StableDiffusionPipeline has no parameter true_cfg_scale. Leave the parameter out."
        )

    def test_pipelines_that_make_no_images_from_text_are_refused(self, tmp_path):
        assert "cannot generate images from text alone" in refused(
            save_tiny_unconditional(tmp_path / "noise")
        )

    def test_offload_is_recorded(self, folder):
        made = load(folder, device="cpu", offload="model").draw(ImageRequest("a person", 1)).provenance
        assert made["offload"] == "model"


class TestHub:
    """A hub's cache as the library writes it, without a hub: in a process set to be offline."""

    COMMIT = "0123456789abcdef0123456789abcdef01234567"

    def ask(self, cache, *models):
        """Draw with each of the models, each given as `model` or `model@revision`."""
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _ASK, *models],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": "platform:.",
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "STEREOSCOPE_VAR": str(cache.parent / "var"),
                "HF_HUB_OFFLINE": "1",
                "HF_HUB_CACHE": str(cache),
                "OMP_NUM_THREADS": "1",
            },
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def test_the_commit_is_found_pinned_and_used_again(self, folder, tmp_path):
        cache = tmp_path / "hub"
        snapshots = cache / "models--velmari--tiny" / "snapshots"
        shutil.copytree(folder, snapshots / self.COMMIT)
        refs = cache / "models--velmari--tiny" / "refs"
        refs.mkdir()
        (refs / "main").write_text(self.COMMIT)
        # The hub's main branch has moved on: a run keeps the commit with which it began.
        moved = cache / "models--velmari--moved"
        shutil.copytree(cache / "models--velmari--tiny", moved)
        (moved / "refs" / "main").write_text("f" * 40)
        half = cache / "models--velmari--half"
        shutil.copytree(folder, half / "snapshots" / self.COMMIT)
        shutil.copytree(refs, half / "refs")
        (half / "snapshots" / self.COMMIT / "unet" / "diffusion_pytorch_model.safetensors").unlink()
        begun = f"velmari/moved@{self.COMMIT}"
        tiny, missing, broken, pinned = self.ask(cache, "velmari/tiny", "velmari/none", "velmari/half", begun)
        assert tiny == f"{self.COMMIT} done"
        assert missing == (
            "hub_unreachable: “velmari/none” is incomplete on this server, and the hub cannot be reached. "
            "Try again later, or give a folder."
        )
        assert broken.startswith(("hub_unreachable: ", "pipeline_unloadable: ")), broken
        assert pinned == f"{self.COMMIT} done"


_ASK = """
import sys, django
django.setup()
from foundation.errors import DomainError
from generation.backends.base import ImageRequest, ModelUnusable
from generation.backends.diffusers.backend import DiffusersBackend
from generation.backends.diffusers.options import dtype_for
backend = DiffusersBackend()
wanted = backend.clean({"num_inference_steps": 1, "width": 16, "height": 16, "device": "cpu"}, groups=[])
for named in sys.argv[1:]:
    model_id, _, revision = named.partition("@")
    try:
        model = backend.load(model_id=model_id, parameters=wanted, revision=revision)
        print(model.revision, model.draw(ImageRequest("a person", 1)).outcome)
    except DomainError as error:
        print(f"{error.code}: {error.message}")
"""


def test_the_revision_of_a_folder_is_a_digest_that_changes_with_it(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    first = load(copy, device="cpu").revision
    assert first == load(folder, device="cpu").revision
    index = copy / "scheduler" / "scheduler_config.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), "steps_offset": 0}))
    assert load(copy, device="cpu").revision != first


class TestRefusals:
    def test_a_missing_folder_is_refused(self, tmp_path):
        assert refused(tmp_path / "none") == f"There is no folder “{tmp_path / 'none'}” on this server."

    def test_a_folder_without_a_pipeline_is_refused(self, tmp_path):
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

    @pytest.mark.parametrize("content", [b"<html>not found</html>", pickle.dumps(print)])
    def test_a_pipeline_whose_weights_are_no_checkpoint(self, folder, tmp_path, content, settings):
        settings.ALLOW_PICKLED_WEIGHTS = True
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        (copy / "unet" / "diffusion_pytorch_model.safetensors").unlink()
        (copy / "unet" / "diffusion_pytorch_model.bin").write_bytes(content)
        sentence = refused(copy, device="cpu")
        assert sentence.startswith(f"“{copy}” cannot be loaded: ")
        assert "Unpickl" not in sentence

    def test_a_device_that_is_not_there(self, folder):
        assert refused(folder, device="cuda:99").startswith("The device “cuda:99” cannot be used: ")

    @pytest.mark.parametrize(
        ("parameters", "sentence"),
        [
            ({"steps": 3}, "diffusers has no parameter “steps”"),
            ({"num_inference_steps": 0}, "must be a whole number from 1 to 1000, not 0"),
            ({"num_inference_steps": "many"}, "must be a whole number from 1 to 1000, not 'many'"),
            ({"width": 30}, "divisible by 8, not 30"),
            ({"guidance_scale": -1}, "guidance_scale must be a number from 0 to 100"),
            ({"dtype": "int8"}, "must be one of float32, float16, bfloat16"),
            ({"safety_checker": "maybe"}, "safety_checker must be yes or no"),
            ({"scheduler": 5}, "scheduler must be text"),
        ],
    )
    def test_invalid_parameters_are_refused(self, parameters, sentence):
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
        with pytest.raises(DomainError, match="Start a new run"):
            run(run=planned, progress=Unwatched())


@pytest.mark.slow
def test_killed_and_started_again_it_makes_each_image_once(folder, tmp_path):
    # One thread: on a busy machine, threads waiting for each other slow a tiny model down.
    with own_server(tmp_path, OMP_NUM_THREADS="1") as server:
        server.ask(
            "from generation.prompts.creation import set_prompts\n"
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
        "heavy = ('torch', 'diffusers', 'transformers', 'inflect', 'pandas')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
