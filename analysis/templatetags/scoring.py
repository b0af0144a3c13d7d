"""Template tags that describe scorers: `{% load scoring %}`."""

from typing import Any

from django import template

from analysis.scoring.backends.model_files import short_name

register = template.Library()

_NAMES = {
    "pretrained": "Checkpoint",
    "clip": "CLIP model that finds words",
    "clip_pretrained": "Checkpoint of CLIP",
    "templates": "Prompts with the attribute",
    "contrast": "Prompts to compare with",
    "attributes": "Attributes",
    "captions": "Maximum number of captions per image",
    "captioner": "Captions are written by",
    "captions_of": "Captions to read",
    "max_new_tokens": "Longest caption, in tokens",
    "ngrams": "Words to find",
    "top_ngrams": "Words from each image",
    "top_p": "Top p",
    "vectors": "Vectors kept as",
}
_VALUES = {
    ("attributes", "asked"): "attributes shown to people, or stereotypes if there are none",
    ("attributes", "stereotypes"): "stereotypes of the group",
    ("captioner", "ngrams"): "a language model, from words that CLIP finds",
    ("captioner", "model"): "a model that sees the picture",
    ("captioner", "endpoint"): "a model behind an endpoint",
    ("decoding", "beams"): "the most likely, by beam search",
    ("decoding", "sample"): "drawn with the seed of each image",
}
_MODELS = {"pretrained", "clip", "clip_pretrained"}


@register.filter
def model_name(model_id: str) -> str:
    """Return a model as people know it: no path of a server."""
    return short_name(model_id)


@register.filter
def parameter_name(name: str) -> str:
    """Return what a parameter is called on pages."""
    return _NAMES.get(name, name.replace("_", " ").capitalize())


@register.filter
def parameter_value(value: Any, name: str) -> str:
    """Return a parameter's value in words."""
    if isinstance(value, list):
        return " · ".join(map(str, value))
    if name in _MODELS:
        return short_name(value)
    if name == "ngrams":
        return f"the scorer’s own list ({value[:12]})"
    return _VALUES.get((name, value), str(value))
