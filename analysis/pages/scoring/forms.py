"""What a lead chooses of a scorer, as a form. It parses; the verbs decide."""

from typing import Any

from django import forms

from analysis.models import Scorer
from analysis.models.vector_types import FLOAT16, FLOAT32
from analysis.scoring.backends.choices import ENDPOINT, FULL, MODEL, MOST_CAPTIONS, NGRAMS
from analysis.scoring.inputs.ngrams import keep_ngrams
from analysis.scoring.inputs.prompts import CONTRAST, TEMPLATES
from analysis.scoring.inputs.scope import ASKED, STEREOTYPES
from analysis.scoring.parameters import DEFAULT_MODELS, KINDS
from studies.models import Study

Kind = Scorer.Kind
_ENCODER = ("pretrained", "precision", "vectors")
# Kinds of captions are choices of their own here: each asks for something else.
CAPTIONS_BY = {
    f"{Kind.CAPTIONS}-{NGRAMS}": "captions: from words that CLIP finds",
    f"{Kind.CAPTIONS}-{MODEL}": "captions: by a model that sees the picture",
    f"{Kind.CAPTIONS}-{ENDPOINT}": "captions: by a model behind an endpoint",
}
# The parameters that the page asks for; the command and the API take all of them.
FIELDS: dict[str, tuple[str, ...]] = {
    Kind.CLIP: (*_ENCODER, "templates", "contrast", "attributes"),
    Kind.PULL: _ENCODER,
    Kind.MCAS: _ENCODER,
    Kind.SENTIMENT: ("captions_of",),
    Kind.TOXICITY: ("captions_of",),
    f"{Kind.CAPTIONS}-{NGRAMS}": (
        "captions",
        "clip",
        "clip_pretrained",
        "precision",
        "vectors",
        "top_ngrams",
    ),
    f"{Kind.CAPTIONS}-{MODEL}": ("captions", "prompt"),
    f"{Kind.CAPTIONS}-{ENDPOINT}": ("captions", "prompt"),
}
_LINES = {"rows": 3}


def _kind_choices() -> list[tuple[str, str]]:
    choices: list[tuple[str, str]] = []
    for kind in KINDS:
        choices += CAPTIONS_BY.items() if kind == Kind.CAPTIONS else [(str(kind), str(Kind(kind).label))]
    return [(value, words[0].upper() + words[1:]) for value, words in choices]


KIND_CHOICES = _kind_choices()


class ScorerForm(forms.Form):
    """Which model looks at what, and how."""

    kind = forms.ChoiceField(label="What to find out", choices=[])
    model_id = forms.CharField(
        required=False,
        max_length=300,
        label="Model",
        help_text="An architecture of open_clip, a folder or file on the server, or an id on the hub. Left empty: "
        f"{DEFAULT_MODELS[Kind.CLIP]} for vectors and CLIP, the models of BiasDora for sentiment and toxicity.",
    )
    pretrained = forms.CharField(
        required=False,
        max_length=300,
        label="Checkpoint",
        help_text="A tag of open_clip, or a file of weights. None for a folder or hub id.",
    )
    precision = forms.ChoiceField(
        required=False,
        label="Computed in",
        choices=[
            (FULL, "float32"),
            ("fp16", "float16, on a graphics card"),
            ("bf16", "bfloat16, on a graphics card"),
        ],
        help_text="Half precision needs half the memory on a graphics card and keeps three digits (float16) or two "
        "(bfloat16).",
    )
    vectors = forms.ChoiceField(
        required=False,
        label="Vectors kept as",
        choices=[
            (FLOAT32, "float32: as the model computed them"),
            (FLOAT16, "float16: half the bytes, rounded"),
        ],
        help_text="Rounding changes MCAS, pull and cosines by up to 0.0002.",
    )
    templates = forms.CharField(
        required=False,
        label="Prompts with the attribute",
        help_text="One in each line, with {attr}. Several are averaged.",
        initial="\n".join(TEMPLATES),
        widget=forms.Textarea(attrs=_LINES),
    )
    contrast = forms.CharField(
        required=False,
        label="Prompts to compare with",
        help_text="One in each line, without {attr}.",
        initial="\n".join(CONTRAST),
        widget=forms.Textarea(attrs=_LINES),
    )
    attributes = forms.ChoiceField(
        required=False,
        label="Attributes",
        choices=[
            (ASKED, "Those shown to people; where nobody was asked, the group’s stereotypes"),
            (STEREOTYPES, "The group’s stereotypes"),
        ],
    )
    captions = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_CAPTIONS,
        label="Captions of each image",
        help_text=f"At most; the same sentence counts once. Left empty: {MOST_CAPTIONS} from words, else 1.",
    )
    prompt = forms.CharField(
        required=False,
        max_length=2_000,
        label="What the model is asked",
        help_text="Models such as BLIP begin their caption with it. Left empty, others are asked to describe the "
        "picture in one sentence.",
        widget=forms.Textarea(attrs=_LINES),
    )
    clip = forms.CharField(
        required=False,
        max_length=300,
        label="CLIP that finds words",
        help_text=f"Left empty: {DEFAULT_MODELS[Kind.CLIP]}.",
    )
    clip_pretrained = forms.CharField(required=False, max_length=300, label="Its checkpoint")
    top_ngrams = forms.IntegerField(
        required=False, min_value=1, max_value=200, label="Words from each image", help_text="Left empty: 15."
    )
    ngrams = forms.CharField(
        required=False,
        max_length=200_000,
        label="Words to find",
        help_text="One word or phrase in each line. Left empty: a list of ours and the study’s attributes.",
        widget=forms.Textarea(attrs=_LINES),
    )
    captions_of = forms.ChoiceField(required=False, label="Captions to read")
    model_label = forms.CharField(
        required=False, max_length=110, label="Name in tables", help_text="Left empty, made from the model."
    )

    def __init__(self, *args: Any, study: Study, **options: Any) -> None:
        super().__init__(*args, **options)
        kinds = self.fields["kind"]
        assert isinstance(kinds, forms.ChoiceField)
        kinds.choices = KIND_CHOICES
        writers = study.scorers.filter(kind=Kind.CAPTIONS).values_list("model_label", flat=True)
        field = self.fields["captions_of"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "All captions of the study"), *((label, label) for label in writers)]

    def plan(self) -> dict[str, Any]:
        """Return the arguments of `starting.plan_scorer`."""
        data = self.cleaned_data
        kind, _, captioner = data["kind"].partition("-")
        parameters = {name: data[name] for name in FIELDS[data["kind"]] if data[name] not in ("", None)}
        for name in ("templates", "contrast"):
            if name in parameters:
                parameters[name] = [line.strip() for line in data[name].splitlines() if line.strip()]
        if captioner:
            parameters["captioner"] = captioner
        if captioner == NGRAMS and data["ngrams"].strip():
            parameters["ngrams"] = keep_ngrams(data["ngrams"].encode())
        if captioner == MODEL:
            parameters["prompt"] = data["prompt"]
        return {
            "kind": kind,
            "model_id": data["model_id"],
            "parameters": parameters,
            "label": data["model_label"],
        }
