"""What the parameters of every answerer have in common: how answers are drawn."""

from foundation.parameters import parameter
from generation.backends.parameters import BackendParameters


class SamplingParameters(BackendParameters):
    """How a model draws its answers. What is left empty is taken from the probe set."""

    temperature: float | None = parameter(
        None,
        ge=0,
        le=2,
        label="Temperature",
        help="0: always the likeliest token. Left empty: the probe set’s.",
    )
    top_p: float | None = parameter(
        None,
        gt=0,
        le=1,
        expected="a number above 0 and at most 1",
        label="Top-p",
        help="The share of probability that tokens are drawn from. Left empty: the probe set’s.",
    )
    max_tokens: int | None = parameter(
        None, ge=1, le=8192, label="Tokens of an answer", help="At most. Left empty: the probe set’s."
    )
    largest_edge: int = parameter(
        1024,
        ge=64,
        le=4096,
        label="Largest edge of pictures",
        help="In pixels; larger pictures are made smaller.",
    )
