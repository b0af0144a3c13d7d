"""Any text-to-image pipeline of the diffusers library: a local folder or a hub id."""

import io
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from accounts.errors import DomainError
from generation.backends.base import Drawn, ImageRequest, Model, Parameters
from generation.backends.diffusers_parameters import clean

# What the libraries raise on weights, settings or prompts that do not fit: they have no exceptions of their own.
_FAILURES = (
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    EOFError,
)
_PACKAGES = ("diffusers", "transformers", "torch", "pillow")


class DiffusersBackend:
    """Loads with `DiffusionPipeline.from_pretrained`; the parameters are listed in docs/generation.md."""

    name: ClassVar[str] = "diffusers"
    title: ClassVar[str] = "diffusers: a folder or hub id"
    needs_model_id: ClassVar[bool] = True
    queue: ClassVar[str] = "default"

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:  # noqa: ARG002
        return clean(parameters)

    def load(self, *, model_id: str, parameters: Parameters) -> Model:
        for package in ("torch", "diffusers", "transformers"):
            if find_spec(package) is None:
                raise DomainError(
                    "diffusers_not_installed",
                    f"The package {package} is not installed; install requirements.txt to use diffusers.",
                )
        _check_folder(model_id)
        return DiffusersModel(model_id, parameters)


class DiffusersModel:
    """A pipeline in memory. One call makes one image, for what a batch makes depends on its other members."""

    def __init__(self, model_id: str, parameters: Parameters) -> None:
        import torch

        self._torch = torch
        self._parameters = parameters
        self._device = parameters["device"] or ("cuda" if torch.cuda.is_available() else "cpu")
        self._dtype = parameters["dtype"] or ("float16" if self._device.startswith("cuda") else "float32")
        self._pipeline = _load_pipeline(model_id, parameters, dtype=getattr(torch, self._dtype))
        if parameters["scheduler"]:
            _set_scheduler(self._pipeline, parameters["scheduler"])
        try:
            self._pipeline.to(self._device)
        except (RuntimeError, AssertionError) as error:
            raise DomainError(
                "device_unavailable", f"The device “{self._device}” cannot be used: {_first_line(error)}"
            ) from None
        self._pipeline.set_progress_bar_config(disable=True)
        self.revision = _revision(model_id, parameters)

    def draw(self, request: ImageRequest) -> Drawn:
        """Run the pipeline once. Noise is drawn on the CPU, so a seed means the same on every device."""
        options = {
            name: self._parameters[name]
            for name in ("num_inference_steps", "guidance_scale", "width", "height", "negative_prompt")
            if self._parameters[name] is not None
        }
        generator = self._torch.Generator("cpu").manual_seed(request.seed)
        try:
            output = self._pipeline(request.prompt, generator=generator, **options)
        except _FAILURES as error:
            raise DomainError("pipeline_failed", f"The pipeline failed: {_first_line(error)}") from None
        if any(getattr(output, "nsfw_content_detected", None) or []):
            return Drawn(
                outcome="blanked",
                reason="The pipeline's safety checker blanked it.",
                provenance=self._provenance(),
            )
        file = io.BytesIO()
        output.images[0].save(file, "PNG")
        return Drawn(data=file.getvalue(), provenance=self._provenance())

    def _provenance(self) -> dict[str, Any]:
        return {
            "versions": {package: version(package) for package in _PACKAGES},
            "pipeline": type(self._pipeline).__name__,
            "scheduler": type(self._pipeline.scheduler).__name__,
            "device": self._device,
            "device_name": _device_name(self._torch, self._device),
            "dtype": self._dtype,
            "threads": self._torch.get_num_threads(),
            "images_per_call": 1,
        }


def _check_folder(model_id: str) -> None:
    """Refuse a path that is no pipeline before anything heavy is imported; diffusers looks up hub ids."""
    folder = Path(model_id).expanduser()
    if not _is_path(model_id) and not folder.exists():
        return
    if not folder.is_dir():
        raise DomainError("model_missing", f"There is no folder “{model_id}” on this server.")
    index = folder / "model_index.json"
    if not index.is_file():
        raise DomainError(
            "not_a_pipeline", f"“{model_id}” is not a diffusers pipeline: it has no model_index.json."
        )
    try:
        described = json.loads(index.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        described = None
    if not isinstance(described, dict) or "_class_name" not in described:
        raise DomainError(
            "pipeline_corrupt", f"The model_index.json of “{model_id}” does not describe a pipeline."
        )


def _is_path(model_id: str) -> bool:
    return model_id.startswith(("/", ".", "~")) or model_id.count("/") > 1


def _load_pipeline(model_id: str, parameters: Parameters, *, dtype: Any) -> Any:
    import diffusers.utils.logging
    import transformers.utils.logging
    from diffusers import AutoPipelineForText2Image, DiffusionPipeline
    from safetensors import SafetensorError

    # Whoever started the run is shown its progress; bars of the libraries would be written across it.
    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.disable_progress_bar()

    where = str(Path(model_id).expanduser()) if _is_path(model_id) or Path(model_id).exists() else model_id
    options: dict[str, Any] = {"dtype": dtype}
    if parameters["revision"]:
        options["revision"] = parameters["revision"]
    if parameters["variant"]:
        options["variant"] = parameters["variant"]
    if not parameters["safety_checker"]:
        options |= {"safety_checker": None, "requires_safety_checker": False}
    try:
        try:
            return AutoPipelineForText2Image.from_pretrained(where, **options)
        except ValueError:
            # A pipeline that the automatic class does not list still knows its own class.
            return DiffusionPipeline.from_pretrained(where, **options)
    except (*_FAILURES, SafetensorError) as error:
        raise DomainError(
            "pipeline_unloadable", f"“{model_id}” cannot be loaded: {_first_line(error)}"
        ) from None


def _set_scheduler(pipeline: Any, name: str) -> None:
    import diffusers

    kind = getattr(diffusers, name, None)
    if kind is None or not hasattr(kind, "from_config") or not name.endswith("Scheduler"):
        raise DomainError(
            "scheduler_unknown", f"diffusers has no scheduler “{name}”.", fields={"scheduler": "unknown"}
        )
    pipeline.scheduler = kind.from_config(pipeline.scheduler.config)


def _revision(model_id: str, parameters: Parameters) -> str:
    """Return the commit of a hub model, or a digest over the files of a local folder."""
    from generation.backends.folder_digest import folder_digest

    if _is_path(model_id) or Path(model_id).exists():
        return folder_digest(Path(model_id).expanduser())
    from huggingface_hub import try_to_load_from_cache

    index = try_to_load_from_cache(model_id, "model_index.json", revision=parameters["revision"] or None)
    return Path(index).parent.name if isinstance(index, str) else str(parameters["revision"] or "")


def _device_name(torch: Any, device: str) -> str:
    return str(torch.cuda.get_device_name(device)) if device.startswith("cuda") else "CPU"


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
