"""Options of scoring models; importing this module loads no model library."""

from dataclasses import dataclass

from analysis.models.vector_types import FLOAT32
from analysis.scoring.backends.model_files import short_name

# The default on every device: half precision has two or three digits, and MCAS is reported to four decimals.
FULL = "fp32"
LOCAL = "local-dir:"
HUB = "hf-hub:"

BEAMS = "beams"
SAMPLE = "sample"

# Captioners: a model that reads n-grams, a model that sees the picture, or a model behind an endpoint.
NGRAMS = "ngrams"
MODEL = "model"
ENDPOINT = "endpoint"
MOST_CAPTIONS = 50
# The texts that classifiers and judges read.
CAPTIONS = "captions"
ASSOCIATIONS = "associations"
# The default prompt of models that follow instructions.
DEFAULT_PROMPT = "Describe this picture in one sentence."


@dataclass(frozen=True)
class EncoderChoice:
    """An architecture and a checkpoint as the user entered them.

    `architecture`: a name in open_clip, `hf-hub:…`, `local-dir:…`, a folder, or a JSON configuration.
    `pretrained`: an open_clip tag of the architecture, or a file of weights; "" if `architecture` names both.
    """

    architecture: str
    pretrained: str = ""
    precision: str = "fp32"
    vectors: str = FLOAT32  # type in which vectors are stored

    @property
    def label(self) -> str:
        """Name of the encoder in tables."""
        name = short_name(self.architecture.removeprefix(LOCAL).removeprefix(HUB))
        name = f"{name} {short_name(self.pretrained)}" if self.pretrained else name
        return name if self.vectors == FLOAT32 else f"{name}, {self.vectors} vectors"


@dataclass(frozen=True)
class Decoding:
    """Decoding options: the most likely candidates by beam search, or samples drawn with the image's seed."""

    captions: int
    way: str = BEAMS
    max_new_tokens: int = 30
    top_p: float = 0.9
    temperature: float = 1.0
