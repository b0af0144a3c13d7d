"""Arguments and settings of a pipeline: those requested, and defaults that suit its kind of model."""

import inspect
from typing import Any

from foundation.errors import DomainError
from generation.backends.base import Parameters

# Parameters that are passed to the pipeline's call.
_OF_THE_CALL = (
    "num_inference_steps",
    "guidance_scale",
    "true_cfg_scale",
    "width",
    "height",
    "negative_prompt",
)
# Schedulers of models distilled to a few steps; the defaults of their pipelines suit the slow originals.
_FEW_STEPS = ("LCMScheduler", "TCDScheduler")


def dtype_for(device: str, index: dict[str, Any]) -> str:
    """Return the default precision: float32 on a CPU; on a GPU, float16, or bfloat16 for transformers.

    The values of transformers overflow float16.
    """
    if not device.startswith("cuda"):
        return "float32"
    return "bfloat16" if "transformer" in index else "float16"


def call_options(pipeline: Any, parameters: Parameters, *, model_id: str) -> dict[str, Any]:
    """Return the arguments of the pipeline's call; refuse arguments that its class does not accept."""
    accepted = inspect.signature(pipeline.__call__).parameters
    if "prompt" not in accepted or (
        "image" in accepted and accepted["image"].default is inspect.Parameter.empty
    ):
        raise DomainError(
            "not_text_to_image",
            f"“{model_id}” ({type(pipeline).__name__}) cannot generate images from text alone.",
        )
    options = {name: parameters[name] for name in _OF_THE_CALL if parameters[name] is not None}
    for name in options:
        if name not in accepted:
            message = f"A {type(pipeline).__name__} has no parameter {name}. Leave the parameter out."
            raise DomainError("parameter_not_taken", message, fields={name: message})
    # Pipelines such as Flux ignore a negative prompt unless true_cfg_scale is above 1.
    if (
        options.get("negative_prompt")
        and "true_cfg_scale" in accepted
        and not options.get("true_cfg_scale", 0) > 1
    ):
        message = f"A {type(pipeline).__name__} reads a negative prompt only with true_cfg_scale above 1."
        raise DomainError("negative_prompt_not_read", message, fields={"negative_prompt": message})
    return {name: value for name, value in _suited(pipeline).items() if name in accepted} | options


def _suited(pipeline: Any) -> dict[str, Any]:
    """Return settings that suit a distilled model better than the defaults of its class."""
    config = getattr(getattr(pipeline, "transformer", None), "config", {})
    scheduler = pipeline.scheduler
    if type(pipeline).__name__.startswith("Flux") and config.get("guidance_embeds") is False:
        return {"num_inference_steps": 4, "guidance_scale": 0.0}
    if type(scheduler).__name__ in _FEW_STEPS:
        return {"num_inference_steps": 4, "guidance_scale": 1.0}
    # The configuration that SD-Turbo and SDXL-Turbo are published with.
    if (
        type(scheduler).__name__ == "EulerAncestralDiscreteScheduler"
        and scheduler.config.get("timestep_spacing") == "trailing"
    ):
        return {"num_inference_steps": 1, "guidance_scale": 0.0}
    return {}


def in_force(pipeline: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the call except the size, including the defaults of the class."""
    accepted = inspect.signature(pipeline.__call__).parameters
    return {
        name: options.get(name, accepted[name].default)
        for name in _OF_THE_CALL
        if name in accepted
        and name not in {"width", "height"}
        and options.get(name, accepted[name].default) is not None
    }


def set_scheduler(pipeline: Any, name: str) -> None:
    """Replace the scheduler by one of another class with the same settings."""
    import diffusers

    kind = getattr(diffusers, name, None)
    if kind is None or not hasattr(kind, "from_config") or not name.endswith("Scheduler"):
        message = f"diffusers has no scheduler “{name}”."
        raise DomainError("scheduler_unknown", message, fields={"scheduler": message})
    pipeline.scheduler = kind.from_config(pipeline.scheduler.config)


def tune(pipeline: Any, parameters: Parameters) -> dict[str, bool]:
    """Turn on options that save memory or time but may change an image's last bits; return them for provenance."""
    chosen = [name for name in ("vae_tiling", "vae_slicing", "channels_last", "compile") if parameters[name]]
    for name in chosen:
        {"vae_tiling": _tile, "vae_slicing": _slice, "channels_last": _channels_last, "compile": _compile}[
            name
        ](pipeline)
    return dict.fromkeys(chosen, True)


def _tile(pipeline: Any) -> None:
    _vae_that("enable_tiling", "vae_tiling", pipeline).enable_tiling()


def _slice(pipeline: Any) -> None:
    _vae_that("enable_slicing", "vae_slicing", pipeline).enable_slicing()


def _vae_that(does: str, parameter: str, pipeline: Any) -> Any:
    vae = getattr(pipeline, "vae", None)
    if not hasattr(vae, does):
        message = f"A {type(pipeline).__name__} does not support {parameter}. Leave the parameter out."
        raise DomainError("parameter_not_taken", message, fields={parameter: message})
    return vae


def _channels_last(pipeline: Any) -> None:
    import torch

    for name in ("unet", "transformer", "vae"):
        module = getattr(pipeline, name, None)
        if module is not None:
            module.to(memory_format=torch.channels_last)


def _compile(pipeline: Any) -> None:
    """Compile only the denoiser, which is called at each step; compilation happens at its first call."""
    for name in ("unet", "transformer"):
        module = getattr(pipeline, name, None)
        if module is not None:
            module.compile()
