"""The client of chat completions for probes, captions and judges."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foundation.errors import DomainError
from generation.endpoints.connection import Connection, EndpointAddress, Failure

_ANSWER_BYTES = 8 << 20
# The old and the new name of the same limit; newer models refuse the old name.
_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"
_NAME = 200
DATA_BEGIN, DATA_END = "<<<DATA", "DATA>>>"  # around data in a message, which are not instructions


@dataclass(frozen=True)
class Message:
    """One message of a conversation; `picture` is a data URL."""

    role: str  # system or user
    text: str
    picture: str = ""

    def as_sent(self) -> dict[str, Any]:
        if not self.picture:
            return {"role": self.role, "content": self.text}
        image = {"type": "image_url", "image_url": {"url": self.picture}}
        return {"role": self.role, "content": [{"type": "text", "text": self.text}, image]}


def data_message(values: Mapping[str, str]) -> Message:
    """Return a user's message with data as JSON between fences that the data cannot close."""
    content = json.dumps(dict(values), ensure_ascii=False)
    # JSON escapes: the same text for the reader, but not a fence.
    content = content.replace("<", "\\u003c").replace(">", "\\u003e").replace("`", "\\u0060")
    return Message("user", f"{DATA_BEGIN}\n{content}\n{DATA_END}")


@dataclass(frozen=True)
class Sampling:
    """How a model draws its answers; None means the endpoint's own value."""

    max_tokens: int
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    samples: int = 1
    logprobs: int | None = None  # number of most likely tokens to return at each position


@dataclass(frozen=True)
class Choice:
    """One answer. `refusal` is the separate field in which a model declines."""

    text: str
    finish_reason: str = ""
    refusal: str = ""
    logprobs: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class ChatReply:
    """The result of one request, and what the endpoint reported about it; None: not reported."""

    choices: Sequence[Choice]
    served_model: str = ""
    fingerprint: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class ChatClient:
    """Asks one model of an endpoint."""

    def __init__(
        self, address: EndpointAddress, model_id: str, *, tries: int = 5, keep_alive: bool = False
    ) -> None:
        self._connection = Connection(
            address,
            limit=_ANSWER_BYTES,
            purpose=f"“{model_id}”, or the model does not support chat",
            tries=tries,
            keep_alive=keep_alive,
        )
        self._model_id = model_id
        self._limit_name = _LIMIT
        import openai

        self._openai = openai

    @property
    def url(self) -> str:
        return self._connection.url

    def stop(self) -> None:
        """End all pauses between tries with EndpointUnusable."""
        self._connection.stop()

    def close(self) -> None:
        """Close kept connections; no call may be running."""
        self._connection.close()

    def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, paid: bool = False
    ) -> ChatReply | Failure:
        """Send one request; raises EndpointUnusable if no request would be answered."""
        body = self._body(messages, sampling)
        return self._connection.ask(lambda: self._post(body, sampling.max_tokens), paid=paid)

    def whole_body(
        self, messages: Sequence[Message], sampling: Sampling, *, new_limit: bool
    ) -> dict[str, Any]:
        """Return the body of one request; `new_limit`: with the new name of the token limit."""
        limit_name = _NEW_LIMIT if new_limit else _LIMIT
        return self._body(messages, sampling) | {limit_name: sampling.max_tokens}

    def _body(self, messages: Sequence[Message], sampling: Sampling) -> dict[str, Any]:
        body = {"model": self._model_id, "messages": [message.as_sent() for message in messages]}
        return body | _options(sampling)

    def _post(self, body: dict[str, Any], max_tokens: int) -> ChatReply:
        limit_name = self._limit_name
        try:
            return self._read(body | {limit_name: max_tokens})
        except self._openai.APIStatusError as error:
            if (
                error.status_code != 400
                or limit_name != _LIMIT
                or error.code not in {"unsupported_parameter", "unsupported_value"}
                or error.param != _LIMIT
            ):
                raise
        self._limit_name = _NEW_LIMIT
        return self._read(body | {_NEW_LIMIT: max_tokens})

    def _read(self, body: dict[str, Any]) -> ChatReply:
        response = self._connection.post("/chat/completions", body)
        try:
            reply = read_reply(response.json())
        except (LookupError, TypeError, ValueError, AttributeError):
            raise DomainError(
                "answer_unreadable", "The endpoint's answer is not a chat completion."
            ) from None
        request_id = self._connection.clear(response.headers.get("x-request-id", ""))
        return replace(reply, facts={"request_id": request_id}) if request_id else reply


def _options(sampling: Sampling) -> dict[str, Any]:
    options: dict[str, Any] = {
        name: value
        for name in ("temperature", "top_p", "seed")
        if (value := getattr(sampling, name)) is not None
    }
    if sampling.samples > 1:
        options["n"] = sampling.samples
    if sampling.logprobs is not None:
        options |= {"logprobs": True, "top_logprobs": sampling.logprobs}
    return options


def read_reply(answer: Mapping[str, Any]) -> ChatReply:
    """Read a chat completion; raises LookupError, TypeError, ValueError or AttributeError if it is not one."""
    usage = answer.get("usage") or {}
    choices = [_choice(choice) for choice in answer["choices"]]
    if not choices:
        raise ValueError("no choice")
    return ChatReply(
        choices=choices,
        served_model=_name(answer.get("model")),
        fingerprint=_name(answer.get("system_fingerprint")),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
    )


def _choice(choice: Mapping[str, Any]) -> Choice:
    message = choice["message"]
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise TypeError("the content is not text")
    logprobs = (choice.get("logprobs") or {}).get("content") or ()
    return Choice(
        text=content or "",
        finish_reason=_name(choice.get("finish_reason")),
        refusal=str(message.get("refusal") or ""),
        logprobs=logprobs if isinstance(logprobs, list) else (),
    )


def _name(value: Any) -> str:
    return str(value or "").replace("\0", "")[:_NAME]


def _count(value: Any) -> int | None:
    """Return a number of tokens; None for a value that is not a number, so that no cost is computed from it."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None
