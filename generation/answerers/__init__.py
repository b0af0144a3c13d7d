"""The back-ends for models that answer questions, by name."""

from foundation.errors import DomainError
from generation.answerers.base import AnswererBackend
from generation.answerers.chat import ChatBackend
from generation.answerers.script.backend import ScriptBackend
from generation.answerers.transformers.backend import TransformersBackend

ANSWERERS: dict[str, AnswererBackend] = {
    backend.name: backend for backend in (ScriptBackend(), ChatBackend(), TransformersBackend())
}


def answerer_named(name: str) -> AnswererBackend:
    """Return the answerer of that name."""
    if name not in ANSWERERS:
        message = f"There is no answerer “{name}”. The answerers are {', '.join(sorted(ANSWERERS))}."
        raise DomainError("backend_unknown", message, fields={"backend": message})
    return ANSWERERS[name]
