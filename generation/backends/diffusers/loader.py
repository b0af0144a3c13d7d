"""Loading a pipeline from a folder, a file or the hub. Failures are DomainErrors of one sentence."""

import hashlib
import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from foundation.errors import DomainError
from generation.backends.base import Parameters
from generation.backends.diffusers.lora import Lora, add_lora, find_lora
from generation.backends.digests import file_digest, folder_digest

_SINGLE_FILE = ".safetensors"
_PICKLES = (".ckpt", ".pt", ".pth", ".bin")
_LORA = "+lora:"  # in a revision, separates the model's revision from the digest of the LoRA

# Exceptions of the libraries for weights, settings or prompts that do not fit; they define none of their own.
FAILURES = (
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    EOFError,
    pickle.UnpicklingError,
)


@dataclass(frozen=True)
class WeightsSource:
    """The location of a pipeline and its exact version."""

    model_id: str
    source: str  # argument of `from_pretrained`, or a single file
    commit: str | None  # of a hub model
    revision: str  # commit, or digest of the folder or file; then the LoRA, if any
    index: dict[str, Any]  # content of model_index.json
    config: str = ""  # of a single file: the folder that describes its pipeline
    lora: Lora | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Return the provenance of files other than the model's own."""
        facts: dict[str, Any] = {}
        if self.config:
            facts["single_file"] = {
                "config": Path(self.config).name,
                "digest": folder_digest(Path(self.config)),
            }
        if self.lora is not None:
            facts["lora"] = self.lora.facts
        return facts


def find(model_id: str, parameters: Parameters, revision: str) -> WeightsSource:
    """Find the folder or file, or the commit on the hub. `revision` is a revision found earlier, or ""."""
    lora = find_lora(parameters["lora"], parameters["lora_scale"])
    added = f"{_LORA}{lora.digest.removeprefix('sha256:')[:16]}" if lora is not None else ""
    folder = Path(model_id).expanduser()
    if _is_single_file(model_id):
        config = _config_of(model_id, parameters["config"])
        joint_digest = hashlib.sha256(f"{file_digest(folder)}\0{folder_digest(config)}".encode()).hexdigest()
        index = read_index(str(config))
        return WeightsSource(
            model_id, str(folder), None, f"sha256:{joint_digest}{added}", index, str(config), lora
        )
    if _is_path(model_id) or folder.exists():
        return WeightsSource(
            model_id, str(folder), None, folder_digest(folder) + added, read_index(model_id), lora=lora
        )
    commit = revision.partition(_LORA)[0] or _commit(model_id, parameters["revision"] or None)
    return WeightsSource(model_id, model_id, commit, commit + added, _hub_index(model_id, commit), lora=lora)


def _is_single_file(model_id: str) -> bool:
    return Path(model_id).suffix.lower() in {_SINGLE_FILE, *_PICKLES} and _is_path(model_id)


def _config_of(model_id: str, config: str) -> Path:
    """Return the folder that describes the pipeline of a single file, which contains only weights."""
    if not Path(model_id).expanduser().is_file():
        raise DomainError("model_missing", f"There is no file “{model_id}” on this server.")
    if Path(model_id).suffix.lower() != _SINGLE_FILE:
        raise DomainError(
            "pickled_weights",
            f"“{model_id}” is a pickle file, which can contain more than weights. Use a {_SINGLE_FILE} file.",
        )
    if not config:
        message = (
            "A single file contains only weights. With the parameter config, give the folder of a pipeline "
            "of the same kind, with model_index.json, configurations and tokenizer."
        )
        raise DomainError("config_missing", message, fields={"config": message})
    read_index(config)
    return Path(config).expanduser()


def read_index(model_id: str) -> dict[str, Any]:
    """Return the model_index.json of a folder; refuse a path that is not a pipeline."""
    folder = Path(model_id).expanduser()
    if not folder.is_dir():
        raise DomainError("model_missing", f"There is no folder “{model_id}” on this server.")
    index = folder / "model_index.json"
    if not index.is_file():
        raise DomainError(
            "not_a_pipeline", f"“{model_id}” is not a diffusers pipeline: it has no model_index.json."
        )
    return _parsed(index, model_id)


def check_files(model_id: str, parameters: Parameters) -> None:
    """Refuse a path that is not a pipeline before anything heavy is imported; hub ids are checked later."""
    if _is_single_file(model_id):
        _config_of(model_id, parameters["config"])
    elif _is_path(model_id) or Path(model_id).expanduser().exists():
        read_index(model_id)
    find_lora(parameters["lora"], parameters["lora_scale"])


def load(place: WeightsSource, parameters: Parameters, *, dtype: Any) -> Any:
    """Load the pipeline in its own class."""
    import diffusers.utils.logging
    import transformers.utils.logging
    from safetensors import SafetensorError

    # Commands and jobs show their own progress, which the progress bars of the libraries would overwrite.
    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.disable_progress_bar()
    options: dict[str, Any] = {"dtype": dtype, "use_safetensors": not settings.ALLOW_PICKLED_WEIGHTS or None}
    if place.commit:
        options["revision"] = place.commit
    if parameters["variant"]:
        options["variant"] = parameters["variant"]
    if not parameters["safety_checker"] and "safety_checker" in place.index:
        options |= {"safety_checker": None, "requires_safety_checker": False}
    try:
        pipeline = _single_file(place, dtype) if place.config else _pretrained(place, options)
        if place.lora is not None:
            add_lora(pipeline, place.lora)
    except (*FAILURES, SafetensorError) as error:
        if _holds_only_pickles(place, error):
            raise _pickled(place.model_id) from None
        raise _unloadable(place.model_id, error) from None
    return pipeline


def _pretrained(place: WeightsSource, options: dict[str, Any]) -> Any:
    from diffusers import AutoPipelineForText2Image, DiffusionPipeline

    try:
        return AutoPipelineForText2Image.from_pretrained(place.source, **options)
    except ValueError:
        # The automatic class does not list every pipeline, but every pipeline names its own class.
        return DiffusionPipeline.from_pretrained(place.source, **options)


def _single_file(place: WeightsSource, dtype: Any) -> Any:
    """Load the weights of one file into the class that its configuration names; download nothing."""
    import diffusers

    kind = getattr(diffusers, str(place.index["_class_name"]), None)
    if kind is None or not hasattr(kind, "from_single_file"):
        raise DomainError(
            "single_file_unknown", f"A {place.index['_class_name']} cannot be loaded from a single file."
        )
    options = {} if "safety_checker" not in place.index else {"safety_checker": None}
    return kind.from_single_file(
        place.source, config=place.config, torch_dtype=dtype, local_files_only=True, **options
    )


def _holds_only_pickles(place: WeightsSource, error: Exception) -> bool:
    """Return whether the model has its weights only as pickles, judging by the text of the error."""
    words = str(error).lower()
    if settings.ALLOW_PICKLED_WEIGHTS or "safetensors" not in words:
        return False
    if place.commit:
        return "could not find the necessary `safetensors` weights" in words
    return "no file named" in words and any(Path(place.source).rglob("*.bin"))


def _pickled(model_id: str) -> DomainError:
    return DomainError(
        "pickled_weights",
        f"“{model_id}” has no weights as safetensors. Pickle files can contain more than weights, so they "
        f"are loaded only if the operator sets ALLOW_PICKLED_WEIGHTS=yes.",
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message, at most 200 characters."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]


def _is_path(model_id: str) -> bool:
    return model_id.startswith(("/", ".", "~")) or model_id.count("/") > 1


def _commit(model_id: str, revision: str | None) -> str:
    from huggingface_hub import resolve_revision
    from huggingface_hub.errors import RevisionResolutionError

    try:
        return str(resolve_revision(model_id, revision=revision).resolved)
    except (*FAILURES, RevisionResolutionError) as error:
        raise _unloadable(model_id, error) from None


def _hub_index(model_id: str, commit: str) -> dict[str, Any]:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    try:
        return _parsed(Path(hf_hub_download(model_id, "model_index.json", revision=commit)), model_id)
    except LocalEntryNotFoundError as error:
        raise _unloadable(model_id, error) from None
    except EntryNotFoundError:
        raise DomainError(
            "not_a_pipeline", f"“{model_id}” is not a diffusers pipeline: it has no model_index.json."
        ) from None
    except FAILURES as error:
        raise _unloadable(model_id, error) from None


def _unloadable(model_id: str, error: Exception) -> DomainError:
    from huggingface_hub.errors import (
        GatedRepoError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
        RevisionResolutionError,
    )

    causes = _chain(error)
    for kinds, code, sentence in (
        (
            (GatedRepoError,),
            "model_gated",
            "needs permission on the hub: accept the model’s terms there and set HF_TOKEN.",
        ),
        (
            (RepositoryNotFoundError,),
            "model_missing",
            "is neither a folder on this server nor a model of the hub.",
        ),
        ((RevisionNotFoundError,), "revision_missing", "has no such revision on the hub."),
        (
            (RevisionResolutionError, LocalEntryNotFoundError, OfflineModeIsEnabled, ConnectionError),
            "hub_unreachable",
            "is incomplete on this server, and the hub cannot be reached. Try again later, or give a folder.",
        ),
    ):
        if any(isinstance(cause, kinds) for cause in causes):
            return DomainError(code, f"“{model_id}” {sentence}")
    if any(isinstance(cause, pickle.UnpicklingError) for cause in causes):
        return DomainError(
            "pipeline_unloadable",
            f"“{model_id}” cannot be loaded: one of its files is not a checkpoint, is damaged, or contains "
            f"more than weights. Download the model again, or use a model with .safetensors files.",
        )
    return DomainError("pipeline_unloadable", f"“{model_id}” cannot be loaded: {first_line(error)}")


def _chain(error: BaseException) -> list[BaseException]:
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    return chain


def _parsed(index: Path, model_id: str) -> dict[str, Any]:
    try:
        described = json.loads(index.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError):
        described = None
    if not isinstance(described, dict) or "_class_name" not in described:
        raise DomainError(
            "pipeline_corrupt", f"The model_index.json of “{model_id}” does not describe a pipeline."
        )
    return described
