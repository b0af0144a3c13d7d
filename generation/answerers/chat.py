"""OpenAI-compatible chat endpoints that the operator of this server allows."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from pydantic import field_validator

from foundation.parameters import parameter
from generation.answerers.base import Answerer, AnswerRequest, Parameters, Reply
from generation.answerers.parameters import SamplingParameters
from generation.backends.base import ModelUnusable
from generation.backends.parameters import parameter_invalid
from generation.endpoints.batches import BatchClient
from generation.endpoints.chat import ChatClient, ChatReply, Choice, Message, Sampling
from generation.endpoints.connection import EndpointUnusable, Failure, address_of, allowed_endpoint

_FILTERED = "content_filter"


class ChatParameters(SamplingParameters):
    """Parameters that are sent to an endpoint together with the question."""

    backend: ClassVar[str] = "chat"

    endpoint: str = parameter(
        "",
        validate_default=True,
        label="Endpoint",
        help="An endpoint that the operator of this server allows. By default, the first endpoint is used.",
    )
    send_seed: bool = parameter(
        True,
        label="Send the seed",
        help="Choose this only for endpoints that accept a seed. Other endpoints refuse the request.",
    )
    logprobs: int | None = parameter(
        None,
        ge=0,
        le=20,
        label="Log-probabilities",
        help="Number of most likely tokens to keep at each position, if the endpoint returns them.",
    )

    @field_validator("endpoint")
    @classmethod
    def _require_allowed(cls, url: str) -> str:
        """Return one of the allowed endpoints: no lead can make this server connect to another host."""
        try:
            return allowed_endpoint(url)
        except ValueError as error:
            raise parameter_invalid("endpoint", str(error)) from None


class ChatBackend:
    """Parameters: see `ChatParameters`."""

    name: ClassVar[str] = "chat"
    title: ClassVar[str] = "chat: a model behind an endpoint"
    needs_model_id: ClassVar[bool] = True
    wants_gpu: ClassVar[bool] = False

    def clean(self, parameters: Mapping[str, Any]) -> Parameters:
        return ChatParameters.read(parameters).model_dump()

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Answerer:  # noqa: ARG002
        # The endpoint may no longer be allowed.
        return ChatAnswerer(model_id, self.clean(parameters))


class ChatAnswerer:
    """Asks an endpoint. It has no revision: the model that served an answer is stored with the answer."""

    revision = ""

    def __init__(self, model_id: str, parameters: Parameters) -> None:
        self._client = ChatClient(address_of(parameters["endpoint"]), model_id, keep_alive=True)
        self._parameters = parameters
        self.address = parameters["endpoint"]
        self.in_parallel = settings.OPENAI_CHATS_AT_ONCE

    def stop(self) -> None:
        self._client.stop()

    def close(self) -> None:
        self._client.close()

    def answer(self, request: AnswerRequest) -> list[Reply]:
        """Send one request for one answer per seed; only the first seed is sent."""
        try:
            reply = self._client.complete(_messages(request), self._sampling(request), paid=request.paid)
        except EndpointUnusable as error:
            raise ModelUnusable(error.code, error.message) from None
        return replies_of(reply, len(request.seeds))

    def batch_client(self) -> BatchClient:
        """Return the client for the endpoint's batches."""
        return BatchClient(address_of(self.address))

    def batch_body(self, request: AnswerRequest, *, new_limit: bool) -> dict[str, Any]:
        """Return the body of a line in a batch's file; `new_limit`: with the new name of the token limit."""
        return self._client.whole_body(_messages(request), self._sampling(request), new_limit=new_limit)

    def _sampling(self, request: AnswerRequest) -> Sampling:
        parameters = self._parameters
        return Sampling(
            max_tokens=parameters["max_tokens"],
            temperature=parameters["temperature"],
            top_p=parameters["top_p"],
            seed=request.seeds[0] % 2**31 if parameters["send_seed"] else None,
            samples=len(request.seeds),
            logprobs=parameters["logprobs"],
        )


def _messages(request: AnswerRequest) -> list[Message]:
    messages = [Message("system", request.system)] if request.system else []
    return [
        *messages,
        Message("user", request.prompt, request.picture.data_url if request.picture else ""),
    ]


def replies_of(reply: ChatReply | Failure, most: int) -> list[Reply]:
    """Return a reply for each choice. The endpoint reports usage of the whole request; each choice gets a share."""
    if isinstance(reply, Failure):
        outcome = "declined" if reply.declined else "failed"
        return [Reply(outcome=outcome, reason=reply.reason, charged=reply.charged)] * most
    choices = reply.choices[:most]
    tokens_in, tokens_out = (_shares(tokens, len(choices)) for tokens in (reply.tokens_in, reply.tokens_out))
    return [
        _one(choice, reply, counts) for choice, *counts in zip(choices, tokens_in, tokens_out, strict=True)
    ]


def _one(choice: Choice, reply: ChatReply, counts: list[int | None]) -> Reply:
    facts = dict(reply.facts)
    if choice.logprobs:
        facts["logprobs"] = choice.logprobs
    filtered = choice.finish_reason == _FILTERED
    return Reply(
        # A refusal by the model itself is its answer.
        text=choice.text or choice.refusal,
        outcome="declined" if filtered else "done",
        reason="The endpoint’s content filter cut the answer short." if filtered else "",
        finish_reason=choice.finish_reason or ("refusal" if choice.refusal else ""),
        served_model=reply.served_model,
        fingerprint=reply.fingerprint,
        tokens_in=counts[0],
        tokens_out=counts[1],
        provenance=facts,
    )


def _shares(tokens: int | None, number: int) -> list[int | None]:
    """Return integer shares whose sum is the number of tokens."""
    if tokens is None:
        return [None] * number
    share, rest = divmod(tokens, number)
    return [share + (position < rest) for position in range(number)]
