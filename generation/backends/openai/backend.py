"""OpenAI-compatible image endpoints that the operator of this server allows."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

from django.conf import settings

from foundation.errors import DomainError
from generation.backends.base import Drawn, ImageRequest, Model, ModelUnusable, Parameters
from generation.backends.openai.download import fetch
from generation.backends.openai.parameters import OpenAIParameters
from generation.endpoints.connection import Connection, EndpointUnusable, Failure, address_of

_ROOM_BESIDE = 1 << 20


class OpenAIBackend:
    """Requests images from an endpoint; the parameters are listed in docs/use/reference/generation.md."""

    name: ClassVar[str] = "openai"
    title: ClassVar[str] = "openai: a model behind an endpoint"
    needs_model_id: ClassVar[bool] = True
    wants_gpu: ClassVar[bool] = False

    def clean(self, parameters: Mapping[str, Any], *, groups: Sequence[str]) -> Parameters:  # noqa: ARG002
        return OpenAIParameters.read(parameters).model_dump()

    def load(self, *, model_id: str, parameters: Parameters, revision: str = "") -> Model:  # noqa: ARG002
        # The endpoint may no longer be allowed: check again.
        return OpenAIModel(model_id, self.clean(parameters, groups=()))


class OpenAIModel:
    """A client of one model. The endpoint reports no revision or seed: the same request gives a different image."""

    revision = ""

    def __init__(self, model_id: str, parameters: Parameters) -> None:
        # An image in base64 is a third longer; the rest of the answer gets 1 MiB.
        limit = settings.IMAGE_MAX_BYTES * 4 // 3 + _ROOM_BESIDE
        self._endpoint = parameters["endpoint"]
        self._connection = Connection(
            address_of(self._endpoint),
            limit=limit,
            purpose=f"“{model_id}”, or the model cannot generate images",
        )
        import openai

        self._openai = openai
        self._model_id = model_id
        self._send_seed = parameters["send_seed"]
        self.in_parallel = settings.OPENAI_IMAGES_AT_ONCE
        self._options = {
            name: parameters[name]
            for name in ("size", "quality", "style", "response_format")
            if parameters[name]
        }

    def draw(self, request: ImageRequest) -> Drawn:
        """Request one image; retry if no image was made, or if making it twice costs nothing."""
        try:
            answer = self._connection.ask(lambda: self._ask(request), paid=request.paid)
        except EndpointUnusable as error:
            raise ModelUnusable(error.code, error.message) from None
        if isinstance(answer, Failure):
            outcome = "refused" if answer.declined else "failed"
            return Drawn(outcome=outcome, reason=answer.reason, charged=answer.charged)
        return answer

    def stop(self) -> None:
        self._connection.stop()

    def _ask(self, request: ImageRequest) -> Drawn:
        extra = {"seed": request.seed % 2**31} if self._send_seed else None
        answer = self._connection.client.images.with_raw_response.generate(
            model=self._model_id, prompt=request.prompt, n=1, extra_body=extra, **self._options
        )
        try:
            images = answer.parse().data or []
            image = images[0]
            data = self._data(image)
        except DomainError:
            raise
        except (self._openai.APIError, LookupError, TypeError, ValueError, AttributeError):
            raise DomainError("not_an_image", "The endpoint's answer contains no image.") from None
        return Drawn(
            data=data,
            provenance={
                "endpoint": self._endpoint,
                "seed_sent": self._send_seed,
                "revised_prompt": self._connection.clear(str(image.revised_prompt or "")),
                "request_id": self._connection.clear(answer.headers.get("x-request-id", "")),
                "versions": {"openai": version("openai")},
            },
        )

    def _data(self, image: Any) -> bytes:
        if image.b64_json:
            if len(image.b64_json) * 3 // 4 > settings.IMAGE_MAX_BYTES + 3:
                limit = settings.IMAGE_MAX_BYTES / 1024 / 1024
                raise DomainError("image_too_large", f"The endpoint's image is larger than {limit:g} MiB.")
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
