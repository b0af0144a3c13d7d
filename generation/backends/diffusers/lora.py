"""Low-rank additions (LoRA) to the weights of a pipeline.

Before the first image, the weights become W + scale · (alpha / rank) · B A, so calls do not take longer.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foundation.errors import DomainError
from generation.backends.digests import file_digest

_DOWN = re.compile(r"(\.lora_A|\.lora\.down|\.lora_linear_layer\.down|_lora\.down)\.weight$")
_UP = {
    ".lora_A": ".lora_B",
    ".lora.down": ".lora.up",
    ".lora_linear_layer.down": ".lora_linear_layer.up",
    "_lora.down": "_lora.up",
}


@dataclass(frozen=True)
class Lora:
    """A file of low-rank additions, and the scale with which they are added."""

    file: Path
    digest: str
    scale: float

    @property
    def facts(self) -> dict[str, Any]:
        """Return the provenance of the file."""
        return {"name": self.file.name, "digest": self.digest, "scale": self.scale}


def find_lora(location: str, scale: float) -> Lora | None:
    """Return the LoRA at a file, or the only file in a folder; None for an empty location."""
    if not location:
        return None
    path = Path(location).expanduser()
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path]
    if not path.exists():
        raise _wrong(f"There is no file or folder “{location}” on this server.")
    if len(files) != 1 or files[0].suffix.lower() != ".safetensors":
        raise _wrong(
            f"“{location}” is not a LoRA: give a .safetensors file, or a folder with exactly one such file."
        )
    return Lora(files[0], file_digest(files[0]), scale)


def add_lora(pipeline: Any, lora: Lora) -> None:
    """Add a LoRA to the weights of the pipeline; refuse a LoRA made for another model."""
    import torch

    weights, alphas = _weights(pipeline, lora)
    names = [name for name in weights if _DOWN.search(name)]
    if not names or 2 * len(names) != len([name for name in weights if not name.endswith(".alpha")]):
        raise _wrong(f"“{lora.file.name}” is not a LoRA that this server can read.")
    for name in names:
        ending = _DOWN.search(name)
        assert ending is not None
        module = _module(pipeline, name[: ending.start()], lora)
        down = weights[name].float()
        up = weights[name.replace(f"{ending[1]}.weight", f"{_UP[ending[1]]}.weight")].float()
        rank = down.shape[0]
        strength = lora.scale * _alpha(alphas, weights, name[: ending.start()], rank) / rank
        change = strength * (up.flatten(1) @ down.flatten(1))
        if change.numel() != module.weight.numel():
            raise _other_model(lora)
        with torch.no_grad():
            changed = module.weight.float() + change.reshape(module.weight.shape).to(module.weight.device)
            module.weight.copy_(changed.to(module.weight.dtype))


def _weights(pipeline: Any, lora: Lora) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors by the names of the pipeline's modules, whichever tool wrote the file."""
    if not hasattr(pipeline, "lora_state_dict"):
        raise _wrong(f"A {type(pipeline).__name__} does not support LoRA.")
    options: dict[str, Any] = {
        "weight_name": lora.file.name,
        "use_safetensors": True,
        "local_files_only": True,
    }
    if hasattr(pipeline, "unet"):
        options["unet_config"] = pipeline.unet.config
    state = type(pipeline).lora_state_dict(str(lora.file.parent), **options)
    weights, alphas = state if isinstance(state, tuple) else (state, {})
    return weights, alphas or {}


def _module(pipeline: Any, name: str, lora: Lora) -> Any:
    """Return the layer with this name; the oldest files name the attention processor instead."""
    part, _, inside = name.replace(".processor.", ".").partition(".")
    inside = re.sub(r"\.to_out$", ".to_out.0", inside)
    try:
        return getattr(pipeline, part).get_submodule(inside)
    except AttributeError:
        raise _other_model(lora) from None


def _alpha(alphas: dict[str, Any], weights: dict[str, Any], name: str, rank: int) -> float:
    """Return the alpha of a layer; if the file has none, the rank, so that alpha / rank is 1."""
    for tensors in (alphas, weights):
        for key, value in tensors.items():
            if key.startswith(f"{name}.") and key.endswith("alpha"):
                return float(value)
    return float(rank)


def _other_model(lora: Lora) -> DomainError:
    return _wrong(f"“{lora.file.name}” was made for another model: its layers do not match the chosen model.")


def _wrong(message: str) -> DomainError:
    return DomainError("lora_unusable", message, fields={"lora": message})
