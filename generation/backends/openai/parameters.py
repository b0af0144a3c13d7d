"""The parameters of an image endpoint."""

from typing import ClassVar

from pydantic import field_validator

from foundation.parameters import parameter
from generation.backends.parameters import BackendParameters, parameter_invalid
from generation.endpoints.connection import allowed_endpoint


class OpenAIParameters(BackendParameters):
    """Parameters of a request to an endpoint; "" means the endpoint's own value."""

    backend: ClassVar[str] = "openai"

    endpoint: str = parameter(
        "",
        validate_default=True,
        label="Endpoint",
        help="An endpoint that the operator of this server allows. By default, the first endpoint is used.",
    )
    size: str = parameter(
        "",
        pattern=r"^(auto|[1-9]\d{1,4}x[1-9]\d{1,4})?$",
        max_length=20,
        expected="like 1024x1024",
        label="Size",
        help="The size of the image, as the endpoint calls it, such as 1024x1024.",
    )
    quality: str = parameter(
        "",
        pattern=r"^[\w.-]{0,40}$",
        max_length=40,
        expected="one word",
        label="Quality",
        help="The quality of the image, as the endpoint names it.",
    )
    style: str = parameter(
        "",
        pattern=r"^[\w.-]{0,40}$",
        max_length=40,
        expected="one word",
        label="Style",
        help="The style of the image, as the endpoint names it.",
    )
    response_format: str = parameter(
        "",
        words={"": "Chosen by the endpoint", "b64_json": "In the answer", "url": "At an address"},
        label="Response format",
        help="How the endpoint returns an image.",
    )
    send_seed: bool = parameter(
        False,
        label="Send the seed",
        help="Choose this only for endpoints that accept a seed. Other endpoints refuse the request.",
    )

    @field_validator("endpoint")
    @classmethod
    def _require_allowed(cls, url: str) -> str:
        """Return an allowed endpoint, so that no lead can make this server connect to another host."""
        try:
            return allowed_endpoint(url)
        except ValueError as error:
            raise parameter_invalid("endpoint", str(error)) from None
