"""A real server of chat completions that answers by a script or a function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.generation.backends.images_endpoint import Endpoint, images_endpoint


def completion(
    *texts: str | None,
    model: str = "talker-1-0601",
    fingerprint: str | None = "fp_1",
    usage: tuple[int, int] | None = (20, 5),
    finish_reason: str = "stop",
    **message: Any,
) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Return a completion with one choice for each text."""
    choices = [
        {
            "index": number,
            "message": {"role": "assistant", "content": text, **message},
            "finish_reason": finish_reason,
        }
        for number, text in enumerate(texts)
    ]
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "system_fingerprint": fingerprint,
        "choices": choices,
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return 200, {"x-request-id": "req-1"}, body


@contextmanager
def chat_endpoint(answer: Callable[[dict[str, Any]], Any] | None = None) -> Iterator[Endpoint]:
    """Serve until the block ends: first the responses in `script`, then those that `answer` returns for a request."""
    with images_endpoint() as endpoint:

        def respond(body: dict[str, Any]) -> Any:
            with endpoint.lock:
                endpoint.asked.append(body)
                scripted = endpoint.script.pop(0) if endpoint.script else None
            if scripted is not None:
                return scripted
            return answer(body) if answer is not None else completion("The pilot.")

        endpoint.respond = respond
        yield endpoint
