"""The back-ends that can make images, by the name one asks for them with."""

from foundation.errors import DomainError
from generation.backends.base import Backend
from generation.backends.diffusers.backend import DiffusersBackend
from generation.backends.openai.backend import OpenAIBackend
from generation.backends.sketch.backend import SketchBackend

BACKENDS: dict[str, Backend] = {
    backend.name: backend for backend in (SketchBackend(), DiffusersBackend(), OpenAIBackend())
}


def backend_named(name: str) -> Backend:
    """Return the back-end of that name."""
    if name not in BACKENDS:
        message = f"There is no back-end “{name}”. The back-ends are {', '.join(sorted(BACKENDS))}."
        raise DomainError("backend_unknown", message, fields={"backend": message})
    return BACKENDS[name]
