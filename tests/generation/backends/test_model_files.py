"""Weights other than a whole folder: single files, LoRA, pickles; and how often large files are read."""

import os
import shutil
import time

import pytest

from foundation.errors import DomainError
from generation.backends import digests
from generation.backends.base import ImageRequest
from generation.backends.diffusers.backend import DiffusersBackend
from tests.generation.backends.single_file import save_single_file
from tests.generation.backends.tiny_pipeline import save_tiny_pipeline

QUICK = {"num_inference_steps": 2, "width": 32, "height": 32, "device": "cpu"}
WANTED = ImageRequest("a person", 5)
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


def load(model_id, **parameters):
    backend = DiffusersBackend()
    return backend.load(model_id=str(model_id), parameters=backend.clean({**QUICK, **parameters}, groups=[]))


def refused(model_id, **parameters) -> str:
    with pytest.raises(DomainError) as refusal:
        load(model_id, **parameters)
    return refusal.value.message


class TestOptions:
    @pytest.mark.parametrize("name", ["vae_tiling", "vae_slicing", "channels_last"])
    def test_an_option_that_saves_memory_or_time_is_recorded(self, folder, name):
        answer = load(folder, **{name: "yes"}).draw(WANTED)
        assert answer.outcome == "done"
        assert answer.provenance[name] is True
        assert name not in load(folder).draw(WANTED).provenance

    def test_only_the_denoiser_is_compiled(self, folder):
        model = load(folder, compile="yes")
        assert model._pipeline.unet._compiled_call_impl is not None
        assert model._pipeline.vae._compiled_call_impl is None
        assert model._provenance["compile"] is True


class TestPickles:
    @pytest.fixture
    def pickled(self, folder, tmp_path):
        from diffusers import StableDiffusionPipeline

        pipeline = StableDiffusionPipeline.from_pretrained(folder)
        pipeline.save_pretrained(tmp_path / "pickled", safe_serialization=False)
        if not list((tmp_path / "pickled").rglob("*.bin")):
            pytest.skip("this version of the libraries writes no pickles")
        return tmp_path / "pickled"

    def test_pickles_are_refused_and_the_setting_is_named(self, pickled):
        assert refused(pickled) == (
            f"“{pickled}” has no weights as safetensors. Pickle files can contain more than weights, so "
            f"they are loaded only if the operator sets ALLOW_PICKLED_WEIGHTS=yes."
        )

    def test_the_operator_may_allow_them(self, pickled, settings, folder):
        settings.ALLOW_PICKLED_WEIGHTS = True
        drawn = load(pickled).draw(WANTED).picture
        assert drawn.tobytes() == load(folder).draw(WANTED).picture.tobytes()

    def test_a_single_file_that_is_a_pickle_is_refused(self, tmp_path):
        (tmp_path / "model.ckpt").write_bytes(b"")
        assert "is a pickle" in refused(tmp_path / "model.ckpt")


def lora_of(
    folder, to, *, layer="down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q", names="lora_A"
):
    """Write a LoRA of one layer; return it with the weight change that it makes at full scale."""
    import torch
    from diffusers import UNet2DConditionModel
    from safetensors.torch import save_file

    weight = UNet2DConditionModel.from_pretrained(folder, subfolder="unet").get_submodule(layer).weight
    generator = torch.Generator().manual_seed(1)
    down = torch.randn(2, weight.shape[1], generator=generator)
    up = torch.randn(weight.shape[0], 2, generator=generator)
    first, second = {"lora_A": ("lora_A", "lora_B"), "lora.down": ("lora.down", "lora.up")}[names]
    to.parent.mkdir(parents=True, exist_ok=True)
    save_file({f"unet.{layer}.{first}.weight": down, f"unet.{layer}.{second}.weight": up}, to)
    return layer, up @ down


class TestLora:
    @pytest.mark.parametrize("names", ["lora_A", "lora.down"])
    def test_a_lora_changes_the_weights_by_its_product_and_is_recorded(self, folder, tmp_path, names):
        import torch
        from diffusers import StableDiffusionPipeline

        layer, change = lora_of(folder, tmp_path / "style" / "style.safetensors", names=names)
        model = load(folder, lora=str(tmp_path / "style"), lora_scale=0.5)
        by_hand = StableDiffusionPipeline.from_pretrained(folder, safety_checker=None)
        with torch.no_grad():
            by_hand.unet.get_submodule(layer).weight += 0.5 * change
        size = {name: QUICK[name] for name in ("num_inference_steps", "width", "height")}
        expected = by_hand("a person", generator=torch.Generator("cpu").manual_seed(5), **size).images[0]
        answer = model.draw(WANTED)
        assert answer.picture.tobytes() == expected.tobytes()
        assert answer.picture.tobytes() != load(folder).draw(WANTED).picture.tobytes()
        made = answer.provenance["lora"]
        assert (made["name"], made["scale"]) == ("style.safetensors", 0.5)
        assert made["digest"].startswith("sha256:")
        # Another LoRA is another revision: a run is not resumed with it.
        assert model.revision.startswith(f"{load(folder).revision}+lora:")

    def test_a_lora_of_another_model_is_refused(self, folder, tmp_path):
        from safetensors.torch import save_file

        lora_of(folder, tmp_path / "wide.safetensors")
        import torch

        layer = "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q"
        save_file(
            {f"{layer}.lora_A.weight": torch.ones(2, 99), f"{layer}.lora_B.weight": torch.ones(16, 2)},
            tmp_path / "wide.safetensors",
        )
        assert "made for another model" in refused(folder, lora=str(tmp_path / "wide.safetensors"))
        save_file(
            {"unet.nowhere.lora_A.weight": torch.ones(2, 4), "unet.nowhere.lora_B.weight": torch.ones(4, 2)},
            tmp_path / "nowhere.safetensors",
        )
        assert "made for another model" in refused(folder, lora=str(tmp_path / "nowhere.safetensors"))
        save_file({"something": torch.ones(1)}, tmp_path / "none.safetensors")
        assert "is not a LoRA" in refused(folder, lora=str(tmp_path / "none.safetensors"))

    def test_a_folder_without_exactly_one_file_is_refused(self, folder, tmp_path):
        assert "There is no file or folder" in refused(folder, lora=str(tmp_path / "none"))
        assert "exactly one" in refused(folder, lora=str(tmp_path))


class TestDigests:
    @pytest.fixture
    def large(self, tmp_path):
        (tmp_path / "model").mkdir()
        file = tmp_path / "model" / "weights.safetensors"
        file.write_bytes(b"a" * digests._LARGE)
        self.age(file, 60)
        return file

    @staticmethod
    def age(file, seconds):
        when = time.time_ns() - int(seconds * 1e9)
        os.utime(file, ns=(when, when))

    def test_a_large_file_is_read_again_only_when_size_or_time_changed(self, large):
        first = digests.folder_digest(large.parent)
        found = large.stat()
        # Only the content changes, which no program does: the unchanged digest shows that the file was not read.
        large.write_bytes(b"b" * digests._LARGE)
        os.utime(large, ns=(found.st_mtime_ns, found.st_mtime_ns))
        assert digests.folder_digest(large.parent) == first
        self.age(large, 30)
        second = digests.folder_digest(large.parent)
        assert second != first
        large.write_bytes(b"b" * (digests._LARGE + 1))
        self.age(large, 30)
        assert digests.folder_digest(large.parent) != second

    def test_digests_of_files_written_just_now_are_not_cached(self, large, settings):
        large.touch()
        digests.folder_digest(large.parent)
        assert not settings.MODEL_DIGESTS.exists()

    def test_a_damaged_or_unwritable_digest_cache_costs_only_time(self, large, settings, tmp_path):
        first = digests.file_digest(large)
        settings.MODEL_DIGESTS.write_text('["nonsense"]')
        assert digests.file_digest(large) == first
        settings.MODEL_DIGESTS = tmp_path / "model" / "weights.safetensors" / "digests.json"
        assert digests.file_digest(large) == first


class TestSingleFile:
    def test_a_single_file_makes_the_images_of_the_folder_without_a_hub(self, folder, tmp_path, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        file = save_single_file(folder, tmp_path / "painter.safetensors")
        # Only the description, without weights.
        config = tmp_path / "config"
        shutil.copytree(folder, config, ignore=shutil.ignore_patterns("*.safetensors", "*.bin"))
        model = load(file, config=str(config))
        answer = model.draw(WANTED)
        assert answer.picture.tobytes() == load(folder).draw(WANTED).picture.tobytes()
        made = answer.provenance["single_file"]
        assert (made["config"], made["digest"][:7]) == ("config", "sha256:")
        assert model.revision.startswith("sha256:")
        assert model.revision != load(folder).revision

    def test_a_single_file_needs_a_folder_that_describes_it(self, tmp_path):
        file = tmp_path / "weights.safetensors"
        assert "There is no file" in refused(file)
        file.write_bytes(b"")
        assert "With the parameter config" in refused(file)
        assert "There is no folder" in refused(file, config=str(tmp_path / "none"))
