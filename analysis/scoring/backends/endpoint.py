"""Captions by a vision–language model behind an OpenAI-compatible endpoint that the operator has set.

A lead chooses the model but not the address, so no lead can make this server send requests or the key to
another host.
"""

import base64
import io
from collections.abc import Sequence

from django.conf import settings
from PIL.Image import Image as Picture

from analysis.scoring.backends.captioners import CaptionInput, WrittenCaptions, tidy
from analysis.scoring.backends.choices import DEFAULT_PROMPT, Decoding
from foundation.errors import DomainError
from foundation.redaction import without_secrets
from generation.endpoints.chat import ChatClient, Message, Sampling
from generation.endpoints.connection import EndpointAddress, EndpointUnusable, Failure

_AT_ONCE = 4
_TRIES = 5  # then a rate limit or a server error stops the job, which can be continued later
# Error codes that concern one picture; any other refusal would repeat for every picture and stops the job.
_OF_THE_PICTURE = frozenset({"invalid_image", "invalid_image_format", "image_parse_error"})
_LARGEST_EDGE = 1_024


class EndpointCaptioner:
    """Sends one request per caption. Pictures are re-encoded: no file name or metadata leaves the server."""

    in_parallel = _AT_ONCE

    def __init__(self, model_id: str, *, prompt: str, decoding: Decoding) -> None:
        if not settings.VISION_BASE_URL:
            raise DomainError(
                "endpoint_missing",
                "No endpoint is set. Ask the operator of this server to set VISION_BASE_URL.",
            )
        address = EndpointAddress(settings.VISION_BASE_URL, settings.VISION_API_KEY, "VISION_API_KEY")
        self._client = ChatClient(address, model_id, tries=_TRIES)
        self._prompt, self._decoding = prompt or DEFAULT_PROMPT, decoding
        self.revision = ""

    def caption(self, inputs: Sequence[CaptionInput]) -> list[WrittenCaptions]:
        return [self.caption_alone(image) for image in inputs]

    def caption_alone(self, image: CaptionInput) -> WrittenCaptions:
        try:
            return self._captioned(image)
        except DomainError as error:
            return WrittenCaptions([], stopped=error)

    def _captioned(self, image: CaptionInput) -> WrittenCaptions:
        assert image.picture is not None
        message = Message("user", self._prompt, _data_uri(image.picture))
        texts: list[str] = []
        for number in range(self._decoding.captions):
            text, refusal = self._ask(message, (image.seed + number) % 2**31)
            if refusal:
                return WrittenCaptions(tidy(texts), refusal)
            texts.append(text)
        return WrittenCaptions(tidy(texts))

    def _ask(self, message: Message, seed: int) -> tuple[str, str]:
        """Return the model's text and "", or "" and the reason why it declined; DomainError stops the job."""
        sampling = Sampling(
            max_tokens=self._decoding.max_new_tokens,
            temperature=self._decoding.temperature if self._decoding.captions > 1 else 0,
            seed=seed,
        )
        try:
            reply = self._client.complete([message], sampling)
        except EndpointUnusable as error:
            raise _stopped(error.answered, error.detail, error.message) from None
        if isinstance(reply, Failure):
            if reply.declined or (reply.status == 400 and reply.code in _OF_THE_PICTURE):
                return "", f"The endpoint declined the request: {_hidden(reply.detail)}"
            raise _stopped(reply.status, reply.detail, reply.reason)
        choice = reply.choices[0]
        if choice.refusal:
            return "", f"The model declined the request: {choice.refusal}"
        return choice.text, ""


def _stopped(status: int | None, detail: str, reason: str) -> DomainError:
    """Return the error that stops the job, which can be continued later."""
    if status is None:
        sentence = (
            f"The endpoint does not answer: {_hidden(reason)} Continue when the endpoint answers again."
        )
        return DomainError("endpoint_unreachable", sentence)
    detail = _hidden(detail)
    if status == 401:
        sentence = f"The endpoint does not accept the key (VISION_API_KEY): {detail}"
    elif status == 403:
        sentence = f"The endpoint refused the request (403): {detail}"
    elif status == 429:
        sentence = (
            f"The endpoint accepts no more requests for now: {detail} "
            "Captions written so far are kept. Try again later."
        )
    else:
        sentence = f"The endpoint answered {status}: {detail}"
    return DomainError("endpoint_refused", sentence)


def _hidden(text: str) -> str:
    # A reply from another server may contain our key.
    return " ".join(without_secrets(text).split())[:200]


def _data_uri(picture: Picture) -> str:
    small = picture.copy()
    small.thumbnail((_LARGEST_EDGE, _LARGEST_EDGE))
    file = io.BytesIO()
    small.save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
