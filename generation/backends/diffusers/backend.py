"""Any text-to-image pipeline of the diffusers library: a local folder or a hub id."""

import gc
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, ClassVar

from foundation.errors import DomainError
from generation.backends.base import Drawn, ImageRequest, Model, ModelUnusable, Parameters
from generation.backends.diffusers.loader import FAILURES, check_files, find, first_line, load
from generation.backends.diffusers.nan_check import FiniteOutput
from generation.backends.diffusers.options import call_options, dtype_for, in_force, set_scheduler, tune
from generation.backends.diffusers.parameters import DiffusersParameters
from generation.backends.diffusers.variation import Variation

_PACKAGES = ("diffusers", "transformers", "torch", "accelerate", "safetensors", "huggingface-hub", "pillow")
# Messages of errors on a CPU; accelerators have an exception of their own.
# If a convolution does not fit into memory, oneDNN reports that it could not create it.
_OUT_OF_MEMORY = (
    "not enough memory",
    "can't allocate memory",
    "out of memory",
    "could not create a primitive",
    "could not create a memory",
)


class DiffusersBackend:
    """Loads a pipeline in its own class; the parameters are listed in docs/use/reference/generation.md."""

    name: ClassVar[str] = "diffusers"
    title: ClassVar[str] = "diffusers: a folder or hub id"
    needs_model_id: ClassVar[bool] = True
    wants_gpu: ClassVar[bool] = True

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:  # noqa: ARG002
        cleaned = DiffusersParameters.read(parameters).model_dump()
        if cleaned["parallel"] == "text":  # runs planned before this parameter existed remain the same runs
            del cleaned["parallel"], cleaned["strength"]
        return cleaned

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Model:
        for package in ("torch", "diffusers", "transformers"):
            if find_spec(package) is None:
                raise DomainError(
                    "diffusers_not_installed",
                    f"The package {package} is not installed; install requirements.txt to use diffusers.",
                )
        check_files(model_id, parameters)
        return DiffusersModel(model_id, parameters, revision)


class DiffusersModel:
    """A pipeline in memory. By default, a call makes one image, because images of a batch depend on each other."""

    def __init__(self, model_id: str, parameters: Parameters, revision: str = "") -> None:
        import torch

        self._torch = torch
        place = find(model_id, parameters, revision)
        self.revision = place.revision
        self.at_once = int(parameters["batch_size"])
        self._device = parameters["device"] or ("cuda" if torch.cuda.is_available() else "cpu")
        self._dtype = parameters["dtype"] or dtype_for(self._device, place.index)
        self._pipeline = load(place, parameters, dtype=getattr(torch, self._dtype))
        # The defaults depend on the scheduler that the model came with, so read them before it is replaced.
        self._options = call_options(self._pipeline, parameters, model_id=model_id)
        if parameters["scheduler"]:
            set_scheduler(self._pipeline, parameters["scheduler"])
        self._to_device(parameters["offload"])
        self._tuned = tune(self._pipeline, parameters)
        self._pipeline.set_progress_bar_config(disable=True)
        self._finite = FiniteOutput(self._pipeline)
        self._provenance = self._describe(parameters) | self._tuned | place.facts
        self._variation = None
        if parameters.get("parallel") == "variation":
            self._variation = Variation(self._pipeline, self._options, parameters)
            self.at_once = 1

    def draw(self, request: ImageRequest) -> Drawn:
        return self.draw_together([request])[0]

    def _first_image(self, request: ImageRequest) -> Any:
        """Return the scenario's first picture, made exactly as for its own request."""
        first = self._call([replace(request, prompt=request.first_prompt)])[0]
        if first.picture is None:
            raise DomainError(
                "first_image_missing",
                f"The first image of the scenario cannot be made: {first.reason}",
            )
        return first.picture

    def draw_together(self, requests: Sequence[ImageRequest]) -> list[Drawn]:
        """Make the images in as few calls as possible; halve the images per call whenever memory runs out."""
        answers: list[Drawn] = []
        while len(answers) < len(requests):
            batch = requests[len(answers) : len(answers) + self.at_once]
            try:
                answers += self._call(batch)
            except MemoryError:
                if len(batch) == 1:
                    raise ModelUnusable(
                        "out_of_memory",
                        f"One image needs more memory than {self._device} has; choose a smaller size, half "
                        "precision or offload.",
                    ) from None
                self.at_once = len(batch) // 2
                self._free()
        return answers

    def _call(self, batch: Sequence[ImageRequest]) -> list[Drawn]:
        """Run the pipeline once."""
        if self._variation is not None and batch[0].first_prompt not in {"", batch[0].prompt}:
            return [self._vary(self._variation, batch[0])]
        several = len(batch) > 1
        prompts = [request.prompt for request in batch]
        generators = [self._generator(request) for request in batch]
        options = dict(self._options)
        if several and "negative_prompt" in options:
            options["negative_prompt"] = [options["negative_prompt"]] * len(batch)
        self._finite.restart()
        output = self._output(
            self._pipeline,
            prompts if several else prompts[0],
            generator=generators if several else generators[0],
            **options,
        )
        blanked = _blanked(output) or [False] * len(batch)
        return [
            self._answer(
                picture, is_blanked, self._finite.is_finite(position), self._with_batch(batch, position)
            )
            for position, (picture, is_blanked) in enumerate(zip(output.images, blanked, strict=True))
        ]

    def _vary(self, variation: Variation, request: ImageRequest) -> Drawn:
        """Make an image of a scenario from its first image."""
        first = variation.first(request, self._first_image)
        variation.finite.restart()
        output = self._output(
            variation.pipeline,
            request.prompt,
            image=first,
            strength=variation.strength,
            generator=self._generator(request),
            **variation.options,
        )
        is_blanked = (_blanked(output) or [False])[0]
        provenance = {**self._with_batch([request], 0), "variation": variation.facts(request)}
        return self._answer(output.images[0], is_blanked, variation.finite.is_finite(0), provenance)

    def _generator(self, request: ImageRequest) -> Any:
        """Return the noise generator of an image, on the CPU so that every device gets the same noise."""
        return self._torch.Generator("cpu").manual_seed(request.seed)

    def _output(self, pipeline: Any, prompts: str | list[str], **options: Any) -> Any:
        try:
            return pipeline(prompts, **options)
        except FAILURES as error:
            if self._is_out_of_memory(error):
                raise MemoryError from None
            raise DomainError("pipeline_failed", f"The pipeline failed: {first_line(error)}") from None

    def _answer(self, picture: Any, is_blanked: bool, is_finite: bool, provenance: dict[str, Any]) -> Drawn:
        if not is_finite:
            reason = f"The model computed numbers that are not finite (NaN) in {self._dtype}."
            return Drawn(outcome="failed", reason=reason, provenance=provenance, remedy=self._remedy())
        if is_blanked:
            reason = "The pipeline's safety checker blanked the image."
            return Drawn(outcome="blanked", reason=reason, provenance=provenance)
        return Drawn(picture=picture, provenance=provenance, remedy=self._remedy())

    def _remedy(self) -> str:
        """Return advice for a model whose output is not an image."""
        if self._dtype == "float32":
            return (
                "The model already computes in float32, so the weights are damaged or do not work with "
                "the scheduler."
            )
        finer = "float32" if self._dtype == "bfloat16" else "float32 or bfloat16"
        upcast = ", or use a VAE made for half precision" if self._dtype == "float16" else ""
        return f"The model computes in {self._dtype}: choose dtype {finer}{upcast}."

    def _with_batch(self, batch: Sequence[ImageRequest], position: int) -> dict[str, Any]:
        provenance: dict[str, Any] = {**self._provenance, "images_per_call": len(batch)}
        if len(batch) > 1:
            members = [{"prompt": request.prompt, "seed": request.seed} for request in batch]
            provenance["batch"] = {"position": position, "members": members}
        return provenance

    def _to_device(self, offload: str) -> None:
        try:
            if offload == "model":
                self._pipeline.enable_model_cpu_offload(device=self._device)
            elif offload == "sequential":
                self._pipeline.enable_sequential_cpu_offload(device=self._device)
            else:
                self._pipeline.to(self._device)
        except (RuntimeError, AssertionError, ValueError, ImportError) as error:
            if self._is_out_of_memory(error):
                message = f"The model does not fit into the memory of {self._device}; choose offload or half precision."
                raise DomainError("out_of_memory", message) from None
            raise DomainError(
                "device_unavailable", f"The device “{self._device}” cannot be used: {first_line(error)}"
            ) from None

    def _is_out_of_memory(self, error: BaseException) -> bool:
        words = str(error).lower()
        return isinstance(error, self._torch.OutOfMemoryError) or (
            isinstance(error, RuntimeError) and any(phrase in words for phrase in _OUT_OF_MEMORY)
        )

    def _free(self) -> None:
        gc.collect()
        if self._device.startswith("cuda"):
            self._torch.cuda.empty_cache()

    def _describe(self, parameters: Parameters) -> dict[str, Any]:
        torch = self._torch
        on_cuda = self._device.startswith("cuda")
        provenance = {
            "versions": {"python": platform.python_version(), **_versions()},
            "pipeline": type(self._pipeline).__name__,
            "scheduler": type(self._pipeline.scheduler).__name__,
            "in_force": in_force(self._pipeline, self._options),
            "device": self._device,
            "device_name": str(torch.cuda.get_device_name(self._device)) if on_cuda else "CPU",
            "dtype": self._dtype,
            "threads": torch.get_num_threads(),
            "platform": platform.platform(),
        }
        if on_cuda:
            provenance["versions"] |= {
                "cuda": str(torch.version.cuda),
                "cudnn": str(torch.backends.cudnn.version()),
            }
        if parameters["offload"] != "none":
            provenance["offload"] = parameters["offload"]
        return provenance


def _blanked(output: Any) -> list[bool] | None:
    """Return the flags of the pipeline's own safety checker, which pipelines store under one of two names."""
    return getattr(output, "nsfw_content_detected", None) or getattr(output, "nsfw_detected", None)


def _versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
