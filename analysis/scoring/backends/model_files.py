"""Model files on this server or the hub, and error messages about them."""

import pickle
from importlib.util import find_spec
from pathlib import Path

from foundation.errors import DomainError
from generation.backends.digests import file_digest, folder_digest

# The libraries have no exceptions of their own; they raise these for unsuitable weights, settings or inputs.
FAILURES = (
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    AssertionError,
    ImportError,
    EOFError,
)
# torch refuses a pickle that is damaged or would run code when loaded.
_DAMAGED = (pickle.UnpicklingError, EOFError)
_UNREACHABLE = (
    "LocalEntryNotFoundError",
    "OfflineModeIsEnabled",
    "ConnectError",
    "ConnectionError",
    "ProxyError",
)


def loading_failures() -> tuple[type[Exception], ...]:
    """Return the exceptions that libraries raise for unloadable files; the packages must be installed."""
    from safetensors import SafetensorError

    return (*FAILURES, *_DAMAGED, SafetensorError)


def require(*packages: str) -> None:
    """Raise DomainError if a package is not installed: web servers have no model libraries."""
    for package in packages:
        if find_spec(package) is None:
            raise DomainError(
                "package_not_installed",
                f"The package {package} is not installed; install requirements.txt on the machine that scores.",
            )


def is_path(model_id: str) -> bool:
    """Return whether `model_id` is a path rather than an id on the hub."""
    return model_id.startswith(("/", ".", "~")) or model_id.count("/") > 1 or Path(model_id).exists()


def local_path(model_id: str) -> str:
    """Return the path of a model, or a hub id unchanged; raise DomainError if the path does not exist."""
    if not is_path(model_id):
        return model_id
    path = Path(model_id).expanduser()
    if not path.exists():
        raise DomainError("model_missing", f"There is no file or folder “{model_id}” on this server.")
    return str(path)


def short_name(model_id: str) -> str:
    """Return a name without the server's folders: the last part of a path, or the hub id."""
    if is_path(model_id):
        path = Path(model_id.rstrip("/"))
        return path.stem if path.suffix in {".pt", ".pth", ".bin", ".safetensors", ".json"} else path.name
    return model_id


def digest(path: Path) -> str:
    """Return the digest of a file, or of all files in a folder."""
    return folder_digest(path) if path.is_dir() else file_digest(path)


def hub_commit(path: str | Path | None) -> str:
    """Return the commit of a file in the hub's cache, or ""."""
    parts = Path(path).parts if path else ()
    return parts[parts.index("snapshots") + 1] if "snapshots" in parts[:-1] else ""


def transformers_revision(model_id: str, file: str = "config.json") -> str:
    """Return the commit of a hub model that transformers has loaded, or the digest of a local folder."""
    if is_path(model_id):
        return digest(Path(model_id).expanduser())
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(model_id, file)
    return hub_commit(cached) if isinstance(cached, str) else ""


def unloadable(model_id: str, error: BaseException) -> DomainError:
    """Return the error for a model that cannot be loaded."""
    name = short_name(model_id)
    if any(type(cause).__name__ in _UNREACHABLE for cause in _chain(error)):
        return DomainError(
            "hub_unreachable",
            f"“{name}” is not on this server, and the hub cannot be reached. Enter a local folder, or give "
            f"the worker access to the hub.",
        )
    if any(isinstance(cause, _DAMAGED) for cause in _chain(error)):
        return DomainError(
            "model_unloadable",
            f"“{name}” cannot be loaded: it is not a checkpoint, is damaged, or contains more than weights. "
            f"Download the file again, or use a .safetensors file.",
        )
    return DomainError("model_unloadable", f"“{name}” cannot be loaded: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """Return the first line of the error's message, or the error's class name if the message is empty."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]


def _chain(error: BaseException | None) -> list[BaseException]:
    causes: list[BaseException] = []
    while error is not None and error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__
    return causes
