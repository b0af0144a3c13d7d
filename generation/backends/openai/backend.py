"""Any OpenAI-compatible images endpoint that the operator of this server allows."""

import base64
import binascii
import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, ClassVar

from django.conf import settings

from foundation.errors import DomainError
from generation.backends.base import Drawn, ImageRequest, Model, ModelUnusable, Parameters
from generation.backends.openai.download import fetch
from generation.backends.openai.parameters import OpenAIParameters

_TRIES = 5
_FIRST_PAUSE = 1.0
_LONGEST_WAIT = 120.0
_ROOM_BESIDE = 1 << 20
# Busy for the moment; such a request was not done, and is not charged.
_BUSY = frozenset({409, 429, 503, 529})
_REFUSED = frozenset({"content_policy_violation", "moderation_blocked", "content_filter"})
_NO_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


class OpenAIBackend:
    """Parameters: `endpoint`, `size`, `quality`, `style`, `response_format`, `send_seed`; see docs/generation.md."""

    name: ClassVar[str] = "openai"
    title: ClassVar[str] = "openai: a model behind an endpoint"
    needs_model_id: ClassVar[bool] = True
    wants_gpu: ClassVar[bool] = False

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:  # noqa: ARG002
        return OpenAIParameters.read(parameters).model_dump()

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Model:  # noqa: ARG002
        if find_spec("openai") is None:
            raise DomainError(
                "openai_not_installed", "The package openai is not installed; install requirements.txt."
            )
        # Allowed when it was planned is not allowed for ever.
        return OpenAIModel(model_id, self.clean(parameters, groups=()))


@dataclass(frozen=True)
class _Again:
    """Why a request may be sent once more, and how long the endpoint asks to wait before."""

    problem: str
    wait: float | None = None


class OpenAIModel:
    """A client of one model. The endpoint says neither revision nor seed: the same request gives another image."""

    revision = ""

    def __init__(self, model_id: str, parameters: Parameters) -> None:
        import openai

        from generation.backends.openai.client import Caller

        self._openai = openai
        self._stopping = threading.Event()
        # An image in base64 is a third longer; there is room for what is said beside it.
        limit = settings.IMAGE_MAX_BYTES * 4 // 3 + _ROOM_BESIDE
        self._caller = Caller(seconds=settings.OPENAI_TIMEOUT_SECONDS, limit=limit)
        self._model_id = model_id
        self._endpoint = parameters["endpoint"]
        self._send_seed = parameters["send_seed"]
        self.in_parallel = settings.OPENAI_IMAGES_AT_ONCE
        # The key was given for the first endpoint; no other one gets to see it.
        is_first_endpoint = self._endpoint == settings.OPENAI_BASE_URLS[0].rstrip("/")
        self._key = settings.OPENAI_API_KEY if is_first_endpoint else ""
        self._client = openai.OpenAI(
            base_url=self._endpoint,
            api_key=self._key or "none",
            max_retries=0,  # how long we wait, and for what, is ours to say
            timeout=settings.OPENAI_TIMEOUT_SECONDS,
            http_client=self._caller.client(),
        )
        self._options = {
            name: parameters[name]
            for name in ("size", "quality", "style", "response_format")
            if parameters[name]
        }

    def draw(self, request: ImageRequest) -> Drawn:
        """Ask for one image; again where nothing was made, or where it costs nothing to have it made twice."""
        attempt = 1
        while isinstance(answer := self._try(request), _Again):
            if attempt == _TRIES:
                return _failed(f"{answer.problem.rstrip('.')}. Asked {_TRIES} times.", charged=False)
            if self._stopping.wait(_pause(attempt, answer.wait)):
                raise ModelUnusable("stopped", "Stopped while the endpoint was busy.")
            attempt += 1
        return answer

    def stop(self) -> None:
        self._stopping.set()

    def _try(self, request: ImageRequest) -> Drawn | _Again:
        with self._caller.call() as call:
            try:
                return self._ask(request)
            except DomainError as error:
                return _failed(error.message, charged=True)
            except self._openai.APIStatusError as error:
                return self._judged(error, paid=request.paid) or _Again(
                    self._said(error), self._retry_after(error)
                )
            except self._openai.APIConnectionError as error:
                if not call.sent:
                    return _Again("The endpoint cannot be reached.")
                if call.timed_out or isinstance(error, self._openai.APITimeoutError):
                    seconds = settings.OPENAI_TIMEOUT_SECONDS
                    return _failed(f"The endpoint did not answer within {seconds} seconds.", charged=True)
                problem = "The endpoint hung up before it answered."
                # It may have been made and charged: the person who pays decides whether to ask again.
                return _failed(problem, charged=True) if request.paid else _Again(problem)

    def _ask(self, request: ImageRequest) -> Drawn:
        extra = {"seed": request.seed % 2**31} if self._send_seed else None
        answer = self._client.images.with_raw_response.generate(
            model=self._model_id, prompt=request.prompt, n=1, extra_body=extra, **self._options
        )
        try:
            images = answer.parse().data or []
            image = images[0]
            data = self._data(image)
        except DomainError as error:
            return _failed(error.message, charged=True)
        except (self._openai.APIError, LookupError, TypeError, ValueError, AttributeError):
            return _failed("The endpoint's answer holds no image.", charged=True)
        return Drawn(
            data=data,
            provenance={
                "endpoint": self._endpoint,
                "seed_sent": self._send_seed,
                "revised_prompt": self._clear(str(image.revised_prompt or "")),
                "request_id": self._clear(answer.headers.get("x-request-id", "")),
                "versions": {"openai": version("openai")},
            },
        )

    def _data(self, image: Any) -> bytes:
        if image.b64_json:
            if len(image.b64_json) * 3 // 4 > settings.IMAGE_MAX_BYTES + 3:
                limit = settings.IMAGE_MAX_BYTES / 1024 / 1024
                raise DomainError("image_too_large", f"The endpoint's image has more than {limit:g} MiB.")
            try:
                return base64.b64decode(image.b64_json, validate=True)
            except binascii.Error:
                raise DomainError("not_an_image", "The endpoint's image is not base64.") from None
        return fetch(
            image.url,
            endpoint=self._endpoint,
            limit=settings.IMAGE_MAX_BYTES,
            seconds=settings.OPENAI_TIMEOUT_SECONDS,
        )

    def _judged(self, error: Any, *, paid: bool) -> Drawn | None:
        """Return the outcome of an error that stays one, or None for one that may be asked again."""
        code = str(error.code or "")
        if code in _REFUSED or (error.status_code == 400 and "safety system" in str(error.message)):
            return Drawn(outcome="refused", reason=self._said(error), charged=False)
        if error.status_code == 401:
            raise ModelUnusable(
                "endpoint_forbidden",
                "The endpoint does not accept the key; see OPENAI_API_KEY in docs/operating.md. "
                f"{self._said(error)}",
            )
        if error.status_code == 403:
            # The key, a region, a model that has to be allowed, a proxy: only the endpoint knows.
            raise ModelUnusable(
                "endpoint_forbidden", f"The endpoint refused the request (403). {self._said(error)}"
            )
        if error.status_code == 404:
            raise ModelUnusable(
                "model_missing", f"The endpoint has no model “{self._model_id}”, or makes no images."
            )
        if code in _NO_MONEY:
            raise ModelUnusable("endpoint_unpaid", "The account at the endpoint has no money left.")
        # A proxy did not wait, or something broke: the image may have been made and charged.
        broken = error.status_code == 408 or error.status_code >= 500
        if error.status_code in _BUSY or (broken and not paid):
            return None
        return _failed(self._said(error), charged=broken)

    def _retry_after(self, error: Any) -> float | None:
        """Return how long the endpoint asks us to wait; a longer time than we would is for another day."""
        header = error.response.headers.get("retry-after", "")
        try:
            seconds = float(header)
        except ValueError:
            return None  # a date, or nothing: our own pauses do
        if not seconds <= _LONGEST_WAIT:
            raise ModelUnusable(
                "endpoint_busy", f"The endpoint asks to wait {seconds:,.0f} seconds; try again then."
            )
        return max(0.0, seconds)

    def _said(self, error: Any) -> str:
        body = error.body if isinstance(error.body, dict) else {"message": error.body}
        message = body.get("message") or body.get("detail") or f"it answered with {error.status_code}"
        return self._clear(f"The endpoint: {message}")

    def _clear(self, text: str) -> str:
        """Make one line of what another machine wrote, and take our key out of it, should it be there."""
        if self._key:
            text = text.replace(self._key, "…")
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:290]


def _pause(attempt: int, retry_after: float | None) -> float:
    """Return how long to wait: as asked, else twice as long each time, and not all threads at the same moment."""
    if retry_after is not None:
        return retry_after
    return _FIRST_PAUSE * 2.0 ** (attempt - 1) * random.uniform(0.75, 1.25)


def _failed(reason: str, *, charged: bool) -> Drawn:
    return Drawn(outcome="failed", reason=reason, charged=charged)
