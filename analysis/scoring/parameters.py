"""The parameters of each kind of scorer, declared once for the form, the command, the API and the docs."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import StringConstraints, field_validator

from analysis.models import Scorer
from analysis.models.vector_types import FLOAT16, FLOAT32
from analysis.scoring.backends.choices import (
    ASSOCIATIONS,
    BEAMS,
    CAPTIONS,
    ENDPOINT,
    FULL,
    MODEL,
    MOST_CAPTIONS,
    NGRAMS,
    SAMPLE,
    EncoderChoice,
)
from analysis.scoring.inputs.ngrams import is_kept
from analysis.scoring.inputs.prompts import CONTRAST, TEMPLATES, check_templates
from analysis.scoring.inputs.scope import ASKED, STEREOTYPES
from foundation.errors import DomainError
from foundation.parameters import ParameterSet, Problem, parameter
from generation.endpoints.connection import allowed_endpoint

Kind = Scorer.Kind
Parameters = dict[str, Any]
MONEY = ("price_in", "price_out", "budget")

_DEFAULT_CLIP = "ViT-B-32"
_DEFAULT_TAG = "laion2b_s34b_b79k"  # of the default architecture
DEFAULT_MODELS: dict[str, str] = {
    Kind.CLIP: _DEFAULT_CLIP,
    Kind.PULL: _DEFAULT_CLIP,
    Kind.MCAS: _DEFAULT_CLIP,
    Kind.SENTIMENT: "distilbert-base-uncased-finetuned-sst-2-english",
    Kind.TOXICITY: "s-nlp/roberta_toxicity_classifier",
}
_PROMPTS = "1 to 100 prompts of at most 400 characters each"
_PRECISION: dict[str, Any] = {
    "words": {
        FULL: "float32",
        "fp16": "float16, on a graphics card",
        "bf16": "bfloat16, on a graphics card",
    },
    "label": "Computed in",
    "help": "Half precision needs half as much memory on a graphics card and keeps three digits (float16) or two "
    "(bfloat16).",
}
_VECTORS: dict[str, Any] = {
    "words": {
        FLOAT32: "float32: as the model computed them",
        FLOAT16: "float16: half the bytes, rounded",
    },
    "label": "Vectors kept as",
    "help": "Rounding changes MCAS, pull and cosines by up to 0.0002.",
}
_Text = Annotated[str, StringConstraints(strip_whitespace=True)]


class ScorerParameters(ParameterSet):
    """Base class for the parameters of a kind of scorer."""

    error_code: ClassVar[str] = "parameter_invalid"

    @classmethod
    def sentence(cls, problem: Problem) -> str:
        if problem.declaration is None:
            names = ", ".join(sorted(cls.model_fields))
            return f"This scorer has no parameter “{problem.name}”; it has {names}."
        return f"The parameter {problem.name} must be {problem.declaration.expected}, not {problem.value!r}."


class EncoderParameters(ScorerParameters):
    """Parameters of loading CLIP and storing its vectors."""

    pretrained: _Text = parameter(
        "",
        max_length=300,
        label="Checkpoint",
        help="An open_clip tag or a file of weights. Leave empty for a folder or hub id.",
    )
    precision: str = parameter(FULL, **_PRECISION)
    vectors: str = parameter(FLOAT32, **_VECTORS)


class ClipParameters(EncoderParameters):
    """Parameters of CLIP scores: the probability that an image shows an attribute."""

    templates: list[str] = parameter(
        list(TEMPLATES),
        expected=_PROMPTS,
        label="Prompts with the attribute",
        help="One prompt per line, with {attr} in place of the attribute. The scores of several prompts are "
        "averaged.",
    )
    contrast: list[str] = parameter(
        list(CONTRAST),
        expected=_PROMPTS,
        label="Prompts to compare with",
        help="One prompt per line, without {attr}.",
    )
    attributes: str = parameter(
        ASKED,
        words={
            ASKED: "Attributes that people were asked about; if there are none, the group’s stereotypes",
            STEREOTYPES: "The group’s stereotypes",
        },
        label="Attributes",
        help="Which attributes to look for in a group’s images.",
    )

    @field_validator("templates", "contrast", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("templates")
    @classmethod
    def _check_templates(cls, prompts: list[str]) -> list[str]:
        return _checked_prompts(prompts, places=frozenset({"attr"}))

    @field_validator("contrast")
    @classmethod
    def _check_contrast(cls, prompts: list[str]) -> list[str]:
        return _checked_prompts(prompts, places=frozenset())


class CaptionParameters(ScorerParameters):
    """Parameters of captions."""

    captioner: str = parameter(
        NGRAMS,
        words={
            NGRAMS: "from words that CLIP finds",
            MODEL: "by a model that sees the picture",
            ENDPOINT: "by a model behind an endpoint",
        },
        label="Captions",
        help="The model that writes captions.",
    )
    captions: int | None = parameter(
        None,
        ge=1,
        le=MOST_CAPTIONS,
        label="Captions of each image",
        help=f"The most captions written for one image. Identical sentences count once. If empty, "
        f"the number is {MOST_CAPTIONS} for captions from words, otherwise 1.",
    )
    decoding: str = parameter(
        BEAMS,
        words={
            BEAMS: "The most likely captions, by beam search",
            SAMPLE: "Random captions, drawn with the image’s seed",
        },
        label="Decoding",
        help="How the captions of an image are chosen.",
    )
    max_new_tokens: int = parameter(
        30,
        ge=1,
        le=400,
        label="Longest caption",
        help="The greatest length of a caption, in tokens of the model.",
    )
    temperature: float = parameter(
        1.0,
        ge=0.01,
        le=2,
        label="Temperature",
        help="Temperature for random captions and captions from an endpoint.",
    )
    top_p: float = parameter(
        0.9,
        ge=0.01,
        le=1,
        label="Top p",
        help="Tokens are drawn from the most likely tokens that together have this probability.",
    )
    prompt: _Text = parameter(
        "",
        max_length=2_000,
        label="What the model is asked",
        help="Models such as BLIP begin their caption with this text. If empty, other models are asked to describe "
        "the picture in one sentence.",
    )
    clip: _Text = parameter(
        _DEFAULT_CLIP,
        max_length=300,
        label="CLIP model that finds words",
        help=f"If empty, {_DEFAULT_CLIP} is used.",
    )
    clip_pretrained: _Text = parameter(
        "", max_length=300, label="Checkpoint of CLIP", help="An open_clip tag or a file of weights."
    )
    precision: str = parameter(FULL, **_PRECISION)
    vectors: str = parameter(FLOAT32, **_VECTORS)
    ngrams: str = parameter(
        "",
        expected="the digest of a stored list",
        label="Words to find",
        help="If empty, a built-in list and the study’s attributes are used.",
    )
    top_ngrams: int = parameter(
        15,
        ge=1,
        le=200,
        label="Words from each image",
        help="Number of words that CLIP finds in each image. If empty, the number is 15.",
    )
    joiner: str = parameter(
        ", ", max_length=20, label="Joiner", help="The text to put between words, exactly as you write it."
    )

    @field_validator("ngrams")
    @classmethod
    def _require_kept(cls, digest: str) -> str:
        """Accept only the digest of a stored list, because it becomes part of a path in storage."""
        if digest and not is_kept(digest):
            message = (
                "No list of n-grams with this digest is stored. Give the file with the list (--ngrams FILE)."
            )
            raise _wrong("ngrams", message)
        return digest


class ClassifierParameters(ScorerParameters):
    """Parameters of a classifier."""

    of: str = parameter(
        CAPTIONS,
        words={CAPTIONS: "captions", ASSOCIATIONS: "significant associations of words with descriptors"},
        label="Texts to read",
        help="Captions of images, or the sentence or word of each association.",
    )
    captions_of: _Text = parameter(
        "",
        max_length=120,
        label="Captions to read",
        help="The name of the scorer that wrote the captions. Leave empty for all captions of the study.",
    )


class JudgeParameters(ScorerParameters):
    """Parameters of a judge, which rates how biased associations are, from 1 to 5."""

    of: str = parameter(
        ASSOCIATIONS,
        words={ASSOCIATIONS: "significant associations of words with descriptors"},
        label="Texts to rate",
        help="The sentence of each association, or its descriptor and word.",
    )
    endpoint: _Text = parameter(
        "",
        validate_default=True,
        label="Endpoint",
        help="An endpoint that the operator of this server allows. By default, the first endpoint is used.",
    )
    repeats: int = parameter(
        1, ge=1, le=9, label="Repeats", help="Number of ratings of each pair. The median counts."
    )
    temperature: float | None = parameter(
        None,
        ge=0,
        le=2,
        label="Temperature",
        help="If empty, the temperature is 0, or 0.7 if pairs are rated several times.",
    )

    price_in: float | None = parameter(
        None,
        ge=0,
        le=10_000,
        label="Price of input tokens",
        help="Price of a million input tokens, for models that charge by the token.",
    )
    price_out: float | None = parameter(
        None,
        ge=0,
        le=10_000,
        label="Price of output tokens",
        help="Price of a million output tokens, for models that charge by the token.",
    )
    budget: float | None = parameter(
        None,
        ge=0,
        le=10_000_000,
        label="Budget",
        help="A request that the budget does not cover is not sent. With a larger budget, the judge continues.",
    )

    @field_validator("endpoint")
    @classmethod
    def _require_allowed(cls, url: str) -> str:
        """Accept only an allowed endpoint, so that no lead can make this server connect to another host."""
        try:
            return allowed_endpoint(url)
        except ValueError as error:
            raise _wrong("endpoint", str(error)) from None


PARAMETERS: dict[str, type[ScorerParameters]] = {
    Kind.CLIP: ClipParameters,
    Kind.PULL: EncoderParameters,
    Kind.MCAS: EncoderParameters,
    Kind.CAPTIONS: CaptionParameters,
    Kind.SENTIMENT: ClassifierParameters,
    Kind.TOXICITY: ClassifierParameters,
    Kind.JUDGE: JudgeParameters,
}
KINDS = tuple(PARAMETERS)
_ONLY_NGRAMS = ("clip", "clip_pretrained", "precision", "vectors", "ngrams", "top_ngrams", "joiner")
_ONLY_PICTURES = ("prompt",)


def clean(kind: str, model_id: str, parameters: Mapping[str, Any]) -> tuple[str, Parameters]:
    """Return the model and all parameters of a scorer; raise DomainError naming an invalid parameter."""
    if kind not in KINDS:
        raise DomainError(
            "scorer_unknown", f"There is no scorer “{kind}”. The scorers are {', '.join(KINDS)}."
        )
    cleaned = PARAMETERS[kind].read(parameters).model_dump()
    model_id = (model_id or DEFAULT_MODELS.get(kind, "")).strip()
    if not model_id or len(model_id) > 300:
        raise _wrong(
            "model", "Enter a model in 1 to 300 characters: a folder on the server, or an id on the hub."
        )
    _add_default_checkpoint(model_id, cleaned)
    if kind == Kind.CAPTIONS:
        cleaned = _of_captioner(cleaned, chosen=parameters)
    if kind in {Kind.SENTIMENT, Kind.TOXICITY}:
        # `of` is newer than many scorers of captions; without it, their configuration keeps its digest.
        del cleaned["captions_of" if cleaned["of"] == ASSOCIATIONS else "of"]
    if kind == Kind.JUDGE and cleaned["temperature"] is None:
        cleaned["temperature"] = 0.7 if cleaned["repeats"] > 1 else 0.0
    return model_id, cleaned


def encoder_choice(model_id: str, parameters: Parameters) -> EncoderChoice:
    """Return the encoder for cleaned parameters: the scorer's model, or CLIP for captions from n-grams."""
    if "clip" in parameters:
        return EncoderChoice(
            parameters["clip"],
            parameters["clip_pretrained"],
            parameters["precision"],
            parameters["vectors"],
        )
    return EncoderChoice(model_id, parameters["pretrained"], parameters["precision"], parameters["vectors"])


def _add_default_checkpoint(model_id: str, cleaned: Parameters) -> None:
    for name, architecture in (("pretrained", model_id), ("clip_pretrained", cleaned.get("clip"))):
        if name in cleaned and not cleaned[name] and architecture == _DEFAULT_CLIP:
            cleaned[name] = _DEFAULT_TAG


def _of_captioner(cleaned: Parameters, *, chosen: Mapping[str, Any]) -> Parameters:
    """Return the parameters that this captioner uses; raise DomainError if another was chosen."""
    captioner = cleaned["captioner"]
    useless = set(_ONLY_PICTURES if captioner == NGRAMS else _ONLY_NGRAMS)
    if captioner == ENDPOINT:
        useless |= {"decoding", "top_p"}
    elif cleaned["decoding"] == BEAMS:
        useless |= {"temperature", "top_p"}
    if unused := sorted(useless & set(chosen)):
        raise _wrong(
            unused[0], f"The parameter {unused[0]} has no effect with captions of this kind ({captioner})."
        )
    # The default is ViSAGe's number if captions are cheap, and 1 if each needs a call to a larger model.
    if cleaned["captions"] is None:
        cleaned["captions"] = MOST_CAPTIONS if captioner == NGRAMS else 1
    return {name: value for name, value in cleaned.items() if name not in useless}


def _checked_prompts(prompts: list[str], *, places: frozenset[str]) -> list[str]:
    texts = list(dict.fromkeys(prompt.strip() for prompt in prompts))
    if not 1 <= len(prompts) <= 100 or not all(0 < len(text) <= 400 for text in texts):
        raise ValueError(_PROMPTS)
    check_templates(texts, places=places)
    return texts


def _wrong(name: str, message: str) -> DomainError:
    return DomainError("parameter_invalid", message, fields={name: message})


def without_money(cleaned: Parameters) -> tuple[Parameters, dict[str, Decimal]]:
    """Return the parameters without prices and budget, and the prices and budget that are given.

    Raises DomainError for one price without the other, or a budget without prices.
    """
    money = {name: Decimal(str(cleaned[name])) for name in MONEY if cleaned.get(name) is not None}
    if ("price_in" in money) != ("price_out" in money):
        raise _wrong("price_out", "Enter both prices: for input tokens and for output tokens.")
    if "budget" in money and "price_in" not in money:
        raise _wrong("budget", "A budget needs the prices of tokens.")
    return {name: value for name, value in cleaned.items() if name not in MONEY}, money


def digestible(kind: str, model_id: str, parameters: Parameters) -> str:
    """Return the configuration as canonical JSON: equal texts mean the same scorer."""
    return json.dumps([kind, model_id, parameters], sort_keys=True, ensure_ascii=False)
