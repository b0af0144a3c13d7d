"""open_clip models as people name them: files, folders, the hub; and their faults, reported in one sentence."""

import json

import numpy as np
import pytest

from analysis.models import Encoder
from analysis.scoring.backends.choices import EncoderChoice
from analysis.scoring.backends.encoders import load_encoder
from foundation.errors import DomainError
from tests.analysis.scoring import tiny_models

pytestmark = [pytest.mark.models, pytest.mark.django_db]


def test_every_way_to_name_the_same_weights_gives_the_same_vectors(models, clip):
    import torch

    config, safe = tiny_models.save_clip(models / "safe", kind="safetensors")
    folder = tiny_models.save_clip_folder(models / "folder")
    named = [
        EncoderChoice(clip["model_id"], clip["pretrained"]),
        EncoderChoice(str(config), str(safe)),
        EncoderChoice(f"local-dir:{folder}"),
        EncoderChoice(str(folder)),
    ]
    loaded = [load_encoder(one) for one in named]
    image = torch.rand(3, 32, 32, generator=torch.Generator().manual_seed(1))
    for one in loaded[1:]:
        np.testing.assert_allclose(
            one.encode_texts(["a kite"]), loaded[0].encode_texts(["a kite"]), atol=1e-6
        )
        np.testing.assert_allclose(one.encode_images([image]), loaded[0].encode_images([image]), atol=1e-6)
    assert loaded[2].row == loaded[3].row
    assert Encoder.objects.count() == 3  # as pt, as safetensors, as a folder
    row = loaded[0].row
    assert (row.architecture, row.pretrained, row.dim) == ("tiny-clip", "tiny-clip", 16)
    # What CLIP models begin with: a temperature of 0.07.
    assert row.parameters["logit_scale"] == pytest.approx(1 / 0.07, rel=1e-4)
    assert named[0].label == "tiny-clip tiny-clip"
    assert named[2].label == "folder"


def test_other_weights_under_the_same_name_are_another_encoder(models, clip):
    first = load_encoder(EncoderChoice(clip["model_id"], clip["pretrained"])).row
    config, weights = tiny_models.save_clip(models / "other", seed=1)
    second = load_encoder(EncoderChoice(str(config), str(weights))).row
    assert (first.architecture, first.pretrained) == (second.architecture, second.pretrained)
    assert first != second


def wrong(folder, clip) -> dict[str, EncoderChoice]:
    (folder / "broken.pt").write_bytes(b"no weights")
    (folder / "list.json").write_text("[]")
    (folder / "half.json").write_text(json.dumps({"embed_dim": 16}))
    (folder / "empty").mkdir()
    return {
        "open_clip has no architecture “ViT-Z”": EncoderChoice("ViT-Z", "openai"),
        "Give a checkpoint for ViT-B-32": EncoderChoice("ViT-B-32"),
        "no checkpoint “oak” of ViT-B-32; it has": EncoderChoice("ViT-B-32", "oak"),
        "There is no file or folder": EncoderChoice("ViT-B-32", str(folder / "none.pt")),
        "“broken” cannot be loaded": EncoderChoice(clip["model_id"], str(folder / "broken.pt")),
        "Give a file of weights": EncoderChoice(clip["model_id"]),
        "“list.json” is not a configuration": EncoderChoice(str(folder / "list.json"), clip["pretrained"]),
        "“half.json” is not a configuration": EncoderChoice(str(folder / "half.json"), clip["pretrained"]),
        "“empty” cannot be loaded": EncoderChoice(f"local-dir:{folder / 'empty'}"),
    }


def test_errors_are_reported_in_one_sentence(tmp_path, clip):
    for said, choice in wrong(tmp_path, clip).items():
        with pytest.raises(DomainError) as refused:
            load_encoder(choice)
        assert said in refused.value.message
        assert "\n" not in refused.value.message
    assert not Encoder.objects.exists()


def test_weights_of_another_shape_are_refused(models, clip):
    config, _ = tiny_models.save_clip(models / "wide")
    described = json.loads(config.read_text())
    described["text_cfg"]["width"] = 32
    config.write_text(json.dumps(described))
    with pytest.raises(DomainError, match="cannot be loaded"):
        load_encoder(EncoderChoice(str(config), clip["pretrained"]))


def test_an_unreachable_hub_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for choice in (EncoderChoice("ViT-B-32", "laion2b_s34b_b79k"), EncoderChoice("hf-hub:org/clip")):
        with pytest.raises(DomainError) as refused:
            load_encoder(choice)
        assert "is not on this server, and the hub cannot be reached" in refused.value.message


def test_a_package_that_is_not_installed_is_named(clip, monkeypatch):
    monkeypatch.setattr("analysis.scoring.backends.model_files.find_spec", lambda package: None)
    with pytest.raises(DomainError, match=r"The package torch is not installed; install requirements\.txt"):
        load_encoder(EncoderChoice(clip["model_id"], clip["pretrained"]))


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_half_precision_is_for_graphics_cards(clip, precision):
    choice = EncoderChoice(clip["model_id"], clip["pretrained"], precision)
    with pytest.raises(DomainError, match=f"Half precision \\({precision}\\) needs a graphics card"):
        load_encoder(choice, device="cpu")


def test_a_missing_device_is_reported(clip):
    with pytest.raises(DomainError, match="cannot be used"):
        load_encoder(EncoderChoice(clip["model_id"], clip["pretrained"]), device="cuda:99")
