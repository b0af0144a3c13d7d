"""From a folder or a hub id to a pipeline in memory, or one sentence why not."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accounts.errors import DomainError
from generation.backends.base import Parameters
from generation.backends.folder_digest import folder_digest

# What the libraries raise on weights, settings or prompts that do not fit: they have no exceptions of their own.
FAILURES = (
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    EOFError,
)


@dataclass(frozen=True)
class Place:
    """Where a pipeline lies and what exactly lies there."""

    model_id: str
    source: str  # what `from_pretrained` takes
    commit: str | None  # of a hub model
    revision: str  # the commit, or a digest of the folder
    index: dict[str, Any]  # its model_index.json


def find(model_id: str, parameters: Parameters, revision: str) -> Place:
    """Look at the folder, or ask the hub which commit is meant; `revision` is one that was found before."""
    folder = Path(model_id).expanduser()
    if _is_path(model_id) or folder.exists():
        return Place(model_id, str(folder), None, folder_digest(folder), read_index(model_id))
    commit = revision or _commit(model_id, parameters["revision"] or None)
    return Place(model_id, model_id, commit, commit, _hub_index(model_id, commit))


def read_index(model_id: str) -> dict[str, Any]:
    """Return the model_index.json of a folder; refuse a path that is no pipeline."""
    folder = Path(model_id).expanduser()
    if not folder.is_dir():
        raise DomainError("model_missing", f"There is no folder “{model_id}” on this server.")
    index = folder / "model_index.json"
    if not index.is_file():
        raise DomainError(
            "not_a_pipeline", f"“{model_id}” is not a diffusers pipeline: it has no model_index.json."
        )
    return _parsed(index, model_id)


def check_folder(model_id: str) -> None:
    """Refuse a path that is no pipeline before anything heavy is imported; hub ids are looked up later."""
    if _is_path(model_id) or Path(model_id).expanduser().exists():
        read_index(model_id)


def load(place: Place, parameters: Parameters, *, dtype: Any) -> Any:
    """Load the pipeline in its own class."""
    import diffusers.utils.logging
    import transformers.utils.logging
    from diffusers import AutoPipelineForText2Image, DiffusionPipeline
    from safetensors import SafetensorError

    # Whoever started the run is shown its progress; bars of the libraries would be written across it.
    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.disable_progress_bar()
    options: dict[str, Any] = {"dtype": dtype}
    if place.commit:
        options["revision"] = place.commit
    if parameters["variant"]:
        options["variant"] = parameters["variant"]
    if not parameters["safety_checker"] and "safety_checker" in place.index:
        options |= {"safety_checker": None, "requires_safety_checker": False}
    try:
        try:
            return AutoPipelineForText2Image.from_pretrained(place.source, **options)
        except ValueError:
            # A pipeline that the automatic class does not list still knows its own class.
            return DiffusionPipeline.from_pretrained(place.source, **options)
    except (*FAILURES, SafetensorError) as error:
        raise _unloadable(place.model_id, error) from None


def first_line(error: BaseException) -> str:
    """Return what an exception of a library says, short enough for a page."""
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
            "asks for permission on the hub: accept its terms and set HF_TOKEN.",
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
            "is not whole on this server, and the hub cannot be reached; try again when it can, or name a folder.",
        ),
    ):
        if any(isinstance(cause, kinds) for cause in causes):
            return DomainError(code, f"“{model_id}” {sentence}")
    return DomainError("pipeline_unloadable", f"“{model_id}” cannot be loaded: {first_line(error)}")


def _chain(error: BaseException) -> list[BaseException]:
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None and cause not in found:
        found.append(cause)
    return found


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
