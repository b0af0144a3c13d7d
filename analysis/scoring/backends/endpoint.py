"""Captions by a vision–language model behind an OpenAI-compatible endpoint that the operator has named.

A lead chooses the model, never the address: so nobody makes this server call another one, or sends it the key.
"""

import base64
import io
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from PIL.Image import Image as Picture

from analysis.scoring.backends.captioners import CaptionInput, WrittenCaptions, tidy
from analysis.scoring.backends.choices import DEFAULT_PROMPT, Decoding
from analysis.scoring.backends.model_files import first_line, require
from foundation.errors import DomainError
from foundation.redaction import without_secrets

_AT_ONCE = 4
_TRIES = 5  # after which a limit or a broken server stops the job, which goes on later
_SECONDS = 120
# Why one picture is declined; any other refusal would meet every picture, and stops the job.
_OF_THE_PICTURE = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "moderation_blocked",
        "invalid_image",
        "invalid_image_format",
        "image_parse_error",
        "image_content_policy_violation",
        "ResponsibleAIPolicyViolation",
    }
)
_LARGEST_EDGE = 1_024


class EndpointCaptioner:
    """Asks once for each caption. Pictures are re-encoded: neither file name nor metadata leaves the server."""

    in_parallel = _AT_ONCE

    def __init__(self, model_id: str, *, prompt: str, decoding: Decoding) -> None:
        if not settings.VISION_BASE_URL:
            raise DomainError(
                "endpoint_missing",
                "No endpoint is set: the operator of this server sets one with VISION_BASE_URL.",
            )
        require("openai")
        from openai import DefaultHttpxClient, OpenAI

        self._client = OpenAI(
            base_url=settings.VISION_BASE_URL,
            api_key=settings.VISION_API_KEY or "none",
            max_retries=_TRIES,
            # A redirect would be an address that the operator has not named.
            http_client=DefaultHttpxClient(follow_redirects=False, timeout=_SECONDS),
        )
        self._model, self._prompt, self._decoding = model_id, prompt or DEFAULT_PROMPT, decoding
        self.revision = ""
        self._limit = "max_tokens"

    def caption(self, inputs: Sequence[CaptionInput]) -> list[WrittenCaptions]:
        return [self.caption_alone(image) for image in inputs]

    def caption_alone(self, image: CaptionInput) -> WrittenCaptions:
        try:
            return self._captioned(image)
        except DomainError as error:
            return WrittenCaptions([], stopped=error)

    def _captioned(self, image: CaptionInput) -> WrittenCaptions:
        assert image.picture is not None
        picture = _data_uri(image.picture)
        texts: list[str] = []
        for number in range(self._decoding.captions):
            text, refusal = self._ask(picture, (image.seed + number) % 2**31)
            if refusal:
                return WrittenCaptions(tidy(texts), refusal)
            texts.append(text)
        return WrittenCaptions(tidy(texts))

    def _ask(self, picture: str, seed: int) -> tuple[str, str]:
        """Return what the model said, or why it declined this picture; raise DomainError when it cannot be asked."""
        import openai

        content: Any = [
            {"type": "text", "text": self._prompt},
            {"type": "image_url", "image_url": {"url": picture}},
        ]
        try:
            answer = self._completion([{"role": "user", "content": content}], seed)
        except openai.APIStatusError as error:
            if error.status_code == 400 and error.code in _OF_THE_PICTURE:
                return "", f"The endpoint declined it: {_message(error)}"
            raise DomainError("endpoint_refused", _refused(error)) from None
        except openai.OpenAIError as error:
            raise DomainError(
                "endpoint_unreachable",
                f"The endpoint does not answer: {first_line(error)} Go on when it does.",
            ) from None
        message = answer.choices[0].message if answer.choices else None
        if message is not None and getattr(message, "refusal", None):
            return "", f"The model declined it: {message.refusal}"
        return (message.content or "") if message is not None else "", ""

    def _completion(self, messages: Any, seed: int) -> Any:
        import openai

        options: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            "temperature": self._decoding.temperature if self._decoding.captions > 1 else 0,
            "seed": seed,
        }
        # Which of its names the limit goes by is not for types to say.
        create: Any = self._client.chat.completions.create
        limit = self._limit
        try:
            return create(**options, **{limit: self._decoding.max_new_tokens})
        except openai.BadRequestError as error:
            # Newer models know the same limit by another name.
            if limit != "max_tokens" or error.code != "unsupported_parameter" or error.param != limit:
                raise
        self._limit = "max_completion_tokens"
        return create(**options, **{self._limit: self._decoding.max_new_tokens})


def _refused(error: Any) -> str:
    if error.status_code == 401:
        return f"The endpoint does not accept the key (VISION_API_KEY): {_message(error)}"
    if error.status_code == 403:
        return f"The endpoint refused the request (403): {_message(error)}"
    if error.status_code == 429:
        return f"The endpoint wants no more requests for now: {_message(error)} What was written stays; go on later."
    return f"The endpoint answered {error.status_code}: {_message(error)}"


def _message(error: Any) -> str:
    body = error.body if isinstance(error.body, dict) else {"message": error.body}
    text = str(body.get("message") or body.get("detail") or first_line(error))
    # What another machine says may hold our key.
    return " ".join(without_secrets(text).split())[:200]


def _data_uri(picture: Picture) -> str:
    small = picture.copy()
    small.thumbnail((_LARGEST_EDGE, _LARGEST_EDGE))
    file = io.BytesIO()
    small.save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
