"""A language model in a local folder, which may support pictures."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from foundation.errors import DomainError
from foundation.parameters import parameter
from generation.answerers.base import Answerer, Parameters
from generation.answerers.parameters import SamplingParameters
from generation.backends.digests import folder_digest


class TransformersParameters(SamplingParameters):
    """The device and the precision of a model."""

    backend: ClassVar[str] = "transformers"

    batch_size: int = parameter(
        8,
        ge=1,
        le=256,
        label="Batch size",
        help="How many questions are asked at the same time. The number does not change the answers.",
    )
    device: str = parameter(
        "",
        max_length=20,
        label="Device",
        help="If empty, a graphics card is used if there is one.",
        pattern=r"^[\w:]*$",
    )
    dtype: str = parameter(
        "",
        words={"": "Chosen by device", "float32": "float32", "float16": "float16", "bfloat16": "bfloat16"},
        label="Numerical type",
        help="If empty, float32 is used on the CPU and bfloat16 on a graphics card.",
    )


class TransformersBackend:
    """Parameters: see `TransformersParameters`."""

    name: ClassVar[str] = "transformers"
    title: ClassVar[str] = "transformers: a model in a folder"
    needs_model_id: ClassVar[bool] = True
    wants_gpu: ClassVar[bool] = True

    def clean(self, parameters: Mapping[str, Any]) -> Parameters:
        return TransformersParameters.read(parameters).model_dump()

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Answerer:  # noqa: ARG002
        for package in ("torch", "transformers"):
            if find_spec(package) is None:
                raise DomainError(
                    "package_not_installed",
                    f"The package {package} is not installed; install requirements.txt on the worker.",
                )
        folder = Path(model_id).expanduser()
        if not (folder / "config.json").is_file():
            raise DomainError(
                "model_missing", f"There is no folder “{model_id}” with a model's config.json on this server."
            )
        from generation.answerers.transformers.answerer import TransformersAnswerer

        return TransformersAnswerer(folder, parameters, revision=folder_digest(folder))
