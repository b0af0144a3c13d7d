"""open_clip encoders: any architecture with any checkpoint, from the hub, a folder or files."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.metrics.data.arrays import Array
from analysis.models import Encoder
from analysis.scoring.backends.choices import FULL, HUB, LOCAL, EncoderChoice
from analysis.scoring.backends.memory import device_of
from analysis.scoring.backends.model_files import (
    digest,
    hub_commit,
    is_path,
    loading_failures,
    local_path,
    require,
    short_name,
    unloadable,
)
from analysis.scoring.vectors import unit
from foundation.errors import DomainError

_TEXTS_AT_ONCE = 256


@dataclass(frozen=True)
class LoadedEncoder:
    """A model in memory and its row in the database."""

    row: Encoder
    prepare: Callable[[Any], Any]  # a picture to a tensor; thread-safe
    encode_images: Callable[[Sequence[Any]], Array]  # tensors to unit vectors
    encode_texts: Callable[[Sequence[str]], Array]


def load_encoder(choice: EncoderChoice, *, device: str = "") -> LoadedEncoder:
    """Load the model and get or create its row; raise DomainError if the model cannot be loaded."""
    require("torch", "open_clip")
    import open_clip
    from open_clip.transform import PreprocessCfg, image_transform_v2

    place = device_of(device)
    if choice.precision != FULL and place.type == "cpu":
        raise DomainError(
            "precision_needs_card",
            f"Half precision ({choice.precision}) needs a graphics card. Score with precision {FULL}, or on a worker "
            f"that has a graphics card.",
        )
    try:
        files = _locate_files(choice)
        model = open_clip.create_model(
            files.name,
            files.pretrained or None,
            precision=choice.precision,
            device=place,
            require_pretrained=True,
            pretrained_text=False,
            **files.options,
        )
        tokenizer = open_clip.get_tokenizer(files.name)
        transform = image_transform_v2(PreprocessCfg(**model.visual.preprocess_cfg), is_train=False)
    except loading_failures() as error:
        raise unloadable(choice.pretrained or choice.architecture, error) from None
    model.eval()
    texts = _text_encoder(model, tokenizer, place)
    row = _row(choice, files.revision, model, dim=int(texts(["a"]).shape[1]))
    return LoadedEncoder(row, transform, _image_encoder(model, place, choice.precision), texts)


@dataclass(frozen=True)
class _ModelFiles:
    name: str  # the name passed to open_clip
    pretrained: str
    revision: str
    options: dict[str, Any]


def _locate_files(choice: EncoderChoice) -> _ModelFiles:
    """Return the location and exact revision of the model's files; download them if they are on the hub."""
    import open_clip
    from open_clip.pretrained import download_pretrained_from_hf

    name = choice.architecture
    if name.startswith(HUB):
        weights = download_pretrained_from_hf(name.removeprefix(HUB))
        return _ModelFiles(name, "", hub_commit(weights) or digest(Path(weights)), {})
    if name.startswith(LOCAL) or (is_path(name) and Path(name).expanduser().is_dir()):
        folder = Path(local_path(name.removeprefix(LOCAL))).resolve()
        return _ModelFiles(f"{LOCAL}{folder}", "", digest(folder), {})
    if name.endswith(".json"):
        return _from_files(Path(local_path(name)), choice.pretrained)
    if name not in open_clip.list_models():
        raise DomainError("architecture_unknown", f"open_clip has no architecture “{name}”.")
    if not choice.pretrained:
        raise DomainError("checkpoint_missing", f"Give a checkpoint for {name}: an open_clip tag or a file.")
    if is_path(choice.pretrained):
        file = local_path(choice.pretrained)
        return _ModelFiles(name, file, digest(Path(file)), {})
    return _tagged(name, choice.pretrained)


def _tagged(name: str, tag: str) -> _ModelFiles:
    import open_clip

    described = open_clip.get_pretrained_cfg(name, tag)
    if not described:
        tags = ", ".join(open_clip.list_pretrained_tags_by_model(name)) or "none"
        raise DomainError(
            "checkpoint_unknown", f"open_clip has no checkpoint “{tag}” of {name}; it has {tags}."
        )
    weights = Path(open_clip.download_pretrained(described))
    # Weights trained with the fast GELU give different vectors with the exact GELU.
    options = {"force_quick_gelu": True} if described.get("quick_gelu") else {}
    return _ModelFiles(name, tag, digest(weights), options)


def _from_files(config: Path, pretrained: str) -> _ModelFiles:
    """Register the architecture of a JSON file with open_clip, under a name derived from its content."""
    import open_clip

    if not pretrained:
        raise DomainError(
            "checkpoint_missing", f"Give a file of weights for the configuration “{config.name}”."
        )
    weights = Path(local_path(pretrained))
    text = config.read_text(encoding="utf-8")
    described = json.loads(text)
    if not isinstance(described, dict):
        raise DomainError("config_invalid", f"“{config.name}” is not a configuration of open_clip.")
    model_config = described.get("model_cfg", described)
    name = f"{config.stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    if name not in open_clip.list_models():
        with tempfile.TemporaryDirectory() as folder:
            config_file = Path(folder) / f"{name}.json"
            config_file.write_text(json.dumps(model_config), encoding="utf-8")
            open_clip.add_model_config(config_file)
    if name not in open_clip.list_models():
        raise DomainError("config_invalid", f"“{config.name}” is not a configuration of open_clip.")
    combined = hashlib.sha256(f"{text}\0{digest(weights)}".encode()).hexdigest()
    options = {"force_preprocess_cfg": described["preprocess_cfg"]} if "preprocess_cfg" in described else {}
    return _ModelFiles(name, str(weights), f"sha256:{combined}", options)


def _row(choice: EncoderChoice, revision: str, model: Any, *, dim: int) -> Encoder:
    row, _ = Encoder.objects.get_or_create(
        architecture=short_name(choice.architecture.removeprefix(LOCAL)),
        pretrained=short_name(choice.pretrained) if choice.pretrained else "",
        revision=revision,
        precision=choice.precision,
        vector_type=choice.vectors,
        defaults={"dim": dim, "parameters": _facts(model)},
    )
    return row


def _facts(model: Any) -> dict[str, Any]:
    from importlib.metadata import version

    preprocess = {key: value for key, value in model.visual.preprocess_cfg.items() if key != "mode"}
    return {
        "logit_scale": float(model.logit_scale.detach().float().exp()),
        "preprocess": json.loads(json.dumps(preprocess, default=list)),
        "open_clip": version("open_clip_torch"),
    }


def _image_encoder(model: Any, device: Any, precision: str) -> Callable[[Sequence[Any]], Array]:
    import open_clip
    import torch

    dtype = open_clip.get_input_dtype(precision)

    def encode(tensors: Sequence[Any]) -> Array:
        with torch.inference_mode():
            batch = torch.stack(list(tensors)).to(device=device, dtype=dtype)
            return unit(model.encode_image(batch, normalize=True).float().cpu().numpy())

    return encode


def _text_encoder(model: Any, tokenizer: Any, device: Any) -> Callable[[Sequence[str]], Array]:
    import torch

    def encode(texts: Sequence[str]) -> Array:
        with torch.inference_mode():
            parts = [
                model.encode_text(
                    tokenizer(list(texts[start : start + _TEXTS_AT_ONCE])).to(device), normalize=True
                )
                for start in range(0, len(texts), _TEXTS_AT_ONCE)
            ]
            return unit(torch.cat(parts).float().cpu().numpy())

    return encode
