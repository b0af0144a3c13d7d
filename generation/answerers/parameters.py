"""Parameters that all answerers share: sampling of answers, and batches of requests."""

from foundation.parameters import ParameterSet, parameter
from generation.backends.parameters import BackendParameters


class SamplingParameters(BackendParameters):
    """How a model draws its answers. Empty values are taken from the probe set."""

    temperature: float | None = parameter(
        None,
        ge=0,
        le=2,
        label="Temperature",
        help="Temperature of the answers. With 0, the model always takes the most likely token. If empty, "
        "the value of the probe set is used.",
    )
    top_p: float | None = parameter(
        None,
        gt=0,
        le=1,
        expected="a number above 0 and at most 1",
        label="Top-p",
        help="Tokens are drawn from the most likely tokens that together have this probability. If empty, "
        "the value of the probe set is used.",
    )
    max_tokens: int | None = parameter(
        None,
        ge=1,
        le=8192,
        label="Most tokens in an answer",
        help="The largest number of tokens in an answer. If empty, the value of the probe set is used.",
    )
    largest_edge: int = parameter(
        1024,
        ge=64,
        le=4096,
        label="Largest edge of pictures",
        help="The size in pixels. Larger images are made smaller.",
    )


class BatchParameters(ParameterSet):
    """Whether requests are sent in files, and the price of such requests."""

    batch_endpoint: bool = parameter(
        False,
        label="Ask in batches",
        help="Upload files of requests, which the endpoint answers within a day, often at a lower price.",
    )
    batch_price_factor: float = parameter(
        0.5,
        ge=0,
        le=1,
        label="Price of batches",
        help="Price of a request in a batch, as a fraction of the usual price.",
    )
    batch_size: int = parameter(
        50_000,
        ge=1,
        le=50_000,
        label="Requests in a batch",
        help="The largest number of requests in a batch. With large images, a batch has fewer requests.",
    )
    batch_poll_seconds: int = parameter(
        60,
        ge=1,
        le=3_600,
        label="Seconds between checks",
        help="How often the endpoint is asked whether a batch is ready.",
    )
    batch_new_limit: bool = parameter(
        False,
        label="Limit tokens by max_completion_tokens",
        help="Choose this for models that refuse max_tokens. Requests then contain max_completion_tokens instead.",
    )
