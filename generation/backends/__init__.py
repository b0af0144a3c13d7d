"""The back-ends that make images, by name."""

from foundation.errors import DomainError
from generation.backends.base import Backend
from generation.backends.diffusers.backend import DiffusersBackend
from generation.backends.openai.backend import OpenAIBackend
from generation.backends.sketch.backend import SketchBackend

BACKENDS: dict[str, Backend] = {
    backend.name: backend for backend in (SketchBackend(), DiffusersBackend(), OpenAIBackend())
}


def backend_named(name: str) -> Backend:
    """Return the back-end called `name`; raise DomainError if there is none."""
    if name not in BACKENDS:
        message = f"There is no back-end “{name}”. The back-ends are {', '.join(sorted(BACKENDS))}."
        raise DomainError("backend_unknown", message, fields={"backend": message})
    return BACKENDS[name]
