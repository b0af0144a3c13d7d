"""What can be chosen of models, without loading anything to say so."""

from dataclasses import dataclass

from analysis.models.vector_types import FLOAT32
from analysis.scoring.backends.model_files import short_name

# The default on every device: half precision has two or three digits, and MCAS is read to four decimals.
FULL = "fp32"
LOCAL = "local-dir:"
HUB = "hf-hub:"

BEAMS = "beams"
SAMPLE = "sample"

# Which model writes captions: one over n-grams, one that sees the picture, or one behind an endpoint.
NGRAMS = "ngrams"
MODEL = "model"
ENDPOINT = "endpoint"
MOST_CAPTIONS = 50
# What classifiers and judges read.
CAPTIONS = "captions"
ASSOCIATIONS = "associations"
# What a model that follows instructions is asked when nobody said what.
DEFAULT_PROMPT = "Describe this picture in one sentence."


@dataclass(frozen=True)
class EncoderChoice:
    """An architecture and a checkpoint as somebody named them.

    `architecture`: a name that open_clip knows, `hf-hub:…`, `local-dir:…` or a folder, or a JSON configuration.
    `pretrained`: a tag that open_clip knows for it, or a file of weights; "" where the first names both.
    """

    architecture: str
    pretrained: str = ""
    precision: str = "fp32"
    vectors: str = FLOAT32  # how its vectors are kept

    @property
    def label(self) -> str:
        """How tables name it."""
        name = short_name(self.architecture.removeprefix(LOCAL).removeprefix(HUB))
        name = f"{name} {short_name(self.pretrained)}" if self.pretrained else name
        return name if self.vectors == FLOAT32 else f"{name}, {self.vectors} vectors"


@dataclass(frozen=True)
class Decoding:
    """How candidates are found: the likeliest by beam search, or drawn with the seed of the image."""

    captions: int
    way: str = BEAMS
    max_new_tokens: int = 30
    top_p: float = 0.9
    temperature: float = 1.0
