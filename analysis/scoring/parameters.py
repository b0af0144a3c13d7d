"""What can be chosen of each kind of scorer: defaults filled in, anything else refused by name."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.models import Scorer
from analysis.models.vector_types import FLOAT32, VECTOR_TYPES
from analysis.scoring.backends.choices import (
    BEAMS,
    CAPTIONERS,
    DECODINGS,
    ENDPOINT,
    MOST_CAPTIONS,
    NGRAMS,
    PRECISIONS,
    EncoderChoice,
)
from analysis.scoring.inputs.ngrams import is_kept
from analysis.scoring.inputs.prompts import CONTRAST, TEMPLATES, check_templates
from analysis.scoring.inputs.scope import ASKED, STEREOTYPES
from foundation.errors import DomainError

Kind = Scorer.Kind
Parameters = dict[str, Any]
Check = Callable[[str, Any], Any]

DEFAULT_MODELS: dict[str, str] = {
    Kind.CLIP: "ViT-B-32",
    Kind.PULL: "ViT-B-32",
    Kind.MCAS: "ViT-B-32",
    Kind.SENTIMENT: "distilbert-base-uncased-finetuned-sst-2-english",
    Kind.TOXICITY: "s-nlp/roberta_toxicity_classifier",
}
_DEFAULT_CLIP = "ViT-B-32"
_DEFAULT_TAG = "laion2b_s34b_b79k"  # of the default architecture


def clean(kind: str, model_id: str, parameters: Mapping[str, Any]) -> tuple[str, Parameters]:
    """Return the model and all parameters of a scorer; raise DomainError naming the one that is wrong."""
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise DomainError("scorer_unknown", f"There is no scorer “{kind}” here; there are {known}.")
    choices = _CHOICES[kind]
    unknown = sorted(set(parameters) - set(choices))
    if unknown:
        names = ", ".join(sorted(choices))
        raise _wrong(unknown[0], f"The scorer {kind} has no parameter “{unknown[0]}”; it has {names}.")
    cleaned = {
        name: check(name, parameters[name]) if name in parameters else default
        for name, (default, check) in choices.items()
    }
    model_id = (model_id or DEFAULT_MODELS.get(kind, "")).strip()
    if not model_id or len(model_id) > 300:
        raise _wrong(
            "model", "Name the model in 1 to 300 characters: a folder on the server, or its id on the hub."
        )
    _add_default_checkpoint(model_id, cleaned)
    if kind == Kind.CAPTIONS:
        cleaned = _of_captioner(cleaned, given=parameters)
    return model_id, cleaned


def encoder_choice(model_id: str, parameters: Parameters) -> EncoderChoice:
    """Return the encoder that a cleaned scorer needs: its own model, or what finds n-grams for captions."""
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


def _of_captioner(cleaned: Parameters, *, given: Mapping[str, Any]) -> Parameters:
    """Leave out what this captioner has no use for; refuse it where somebody asked for it."""
    captioner = cleaned["captioner"]
    useless = set(_ONLY_PICTURES if captioner == NGRAMS else _ONLY_NGRAMS)
    if captioner == ENDPOINT:
        useless |= {"decoding", "top_p"}
    elif cleaned["decoding"] == BEAMS:
        useless |= {"temperature", "top_p"}
    if asked := sorted(useless & set(given)):
        raise _wrong(asked[0], f"The parameter {asked[0]} is of no use with these captions ({captioner}).")
    # By default as many as in ViSAGe where they are cheap, and one where each is a call of a larger model.
    if cleaned["captions"] is None:
        cleaned["captions"] = MOST_CAPTIONS if captioner == NGRAMS else 1
    return {name: value for name, value in cleaned.items() if name not in useless}


def _text(longest: int, *, as_written: bool = False) -> Check:
    """Text without the white space around it, which of what stands between words is kept (`as_written`)."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or len(value) > longest:
            raise _wrong(name, f"The parameter {name} must be text of at most {longest} characters.")
        return value if as_written else value.strip()

    return check


def _kept_list(name: str, value: Any) -> str:
    """The digest of a list of n-grams that is in storage: nothing else may become part of a path there."""
    if value == "":
        return ""
    if not isinstance(value, str) or not is_kept(value):
        raise _wrong(
            name, "No list of n-grams is kept under that digest: give the list itself (--ngrams FILE)."
        )
    return value


def _one_of(values: Sequence[str]) -> Check:
    def check(name: str, value: Any) -> Any:
        if value not in values:
            raise _wrong(name, f"The parameter {name} must be one of {', '.join(values)}, not {value!r}.")
        return value

    return check


def _whole(least: int, most: int) -> Check:
    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise _wrong(
                name, f"The parameter {name} must be a whole number from {least} to {most}, not {value!r}."
            )
        return value

    return check


def _number(least: float, most: float) -> Check:
    def check(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise _wrong(
                name, f"The parameter {name} must be a number from {least:g} to {most:g}, not {value!r}."
            )
        return float(value)

    return check


def _prompts(places: frozenset[str]) -> Check:
    def check(name: str, value: Any) -> list[str]:
        if isinstance(value, str):
            value = [value]
        if (
            not isinstance(value, list)
            or not 1 <= len(value) <= 100
            or not all(_is_prompt(one) for one in value)
        ):
            raise _wrong(
                name, f"The parameter {name} must be 1 to 100 prompts of at most 400 characters each."
            )
        cleaned = list(dict.fromkeys(one.strip() for one in value))
        check_templates(cleaned, places=places)
        return cleaned

    return check


def _is_prompt(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= 400


def _wrong(name: str, message: str) -> DomainError:
    return DomainError("parameter_invalid", message, fields={name: message})


def digestible(kind: str, model_id: str, parameters: Parameters) -> str:
    """Return what makes two scorers the same, as text with one spelling."""
    return json.dumps([kind, model_id, parameters], sort_keys=True, ensure_ascii=False)


_ONLY_NGRAMS = ("clip", "clip_pretrained", "precision", "vectors", "ngrams", "top_ngrams", "joiner")
_ONLY_PICTURES = ("prompt",)
_ENCODER: dict[str, tuple[Any, Check]] = {
    "pretrained": ("", _text(300)),
    "precision": ("fp32", _one_of(PRECISIONS)),
    "vectors": (FLOAT32, _one_of(VECTOR_TYPES)),
}
_CLASSIFIER: dict[str, tuple[Any, Check]] = {"captions_of": ("", _text(120))}
_CHOICES: dict[str, dict[str, tuple[Any, Check]]] = {
    Kind.CLIP: {
        **_ENCODER,
        "templates": (list(TEMPLATES), _prompts(frozenset({"attr"}))),
        "contrast": (list(CONTRAST), _prompts(frozenset())),
        "attributes": (ASKED, _one_of((ASKED, STEREOTYPES))),
    },
    Kind.PULL: _ENCODER,
    Kind.MCAS: _ENCODER,
    Kind.CAPTIONS: {
        "captioner": (NGRAMS, _one_of(CAPTIONERS)),
        "captions": (None, _whole(1, MOST_CAPTIONS)),
        "decoding": (BEAMS, _one_of(DECODINGS)),
        "max_new_tokens": (30, _whole(1, 400)),
        "temperature": (1.0, _number(0.01, 2)),
        "top_p": (0.9, _number(0.01, 1)),
        "prompt": ("", _text(2_000)),
        "clip": (_DEFAULT_CLIP, _text(300)),
        "clip_pretrained": ("", _text(300)),
        "precision": ("fp32", _one_of(PRECISIONS)),
        "vectors": (FLOAT32, _one_of(VECTOR_TYPES)),
        "ngrams": ("", _kept_list),
        "top_ngrams": (15, _whole(1, 200)),
        "joiner": (", ", _text(20, as_written=True)),
    },
    Kind.SENTIMENT: _CLASSIFIER,
    Kind.TOXICITY: _CLASSIFIER,
}
KINDS = tuple(_CHOICES)
