"""The form of a scorer; `launch.plan_scorer` validates its values."""

from typing import Any

from django import forms
from django.conf import settings

from analysis.models import Scorer
from analysis.scoring.backends.choices import ASSOCIATIONS, ENDPOINT, MODEL, NGRAMS
from analysis.scoring.inputs.ngrams import keep_ngrams
from analysis.scoring.overview import KINDS_ABOUT_IMAGES
from analysis.scoring.parameters import (
    DEFAULT_MODELS,
    MONEY,
    CaptionParameters,
    ClassifierParameters,
    ClipParameters,
    JudgeParameters,
)
from studies.models import Study

Kind = Scorer.Kind
_ENCODER = ("pretrained", "precision", "vectors")
# Each captioner is a separate choice here, because it has different fields.
CAPTIONS_BY = {
    f"{Kind.CAPTIONS}-{captioner}": f"captions: {words}"
    for captioner, words in CaptionParameters.declaration("captioner").words.items()
}
# The parameters on the page; the command and the API accept all of them.
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
    f"{Kind.SENTIMENT}-{ASSOCIATIONS}": (),
    f"{Kind.TOXICITY}-{ASSOCIATIONS}": (),
    Kind.JUDGE: ("endpoint", "repeats", "temperature", *MONEY),
}
OF_ASSOCIATIONS = (
    (f"{Kind.SENTIMENT}-{ASSOCIATIONS}", "Sentiment of associations"),
    (f"{Kind.TOXICITY}-{ASSOCIATIONS}", "Toxicity of associations"),
    (str(Kind.JUDGE), "Bias level of associations, by a language model"),
)
_LINES = {"rows": 3}


def _kind_choices() -> list[tuple[str, str]]:
    choices: list[tuple[str, str]] = []
    for kind in KINDS_ABOUT_IMAGES:
        choices += CAPTIONS_BY.items() if kind == Kind.CAPTIONS else [(str(kind), str(Kind(kind).label))]
    return [(value, words[0].upper() + words[1:]) for value, words in choices]


KIND_CHOICES = _kind_choices()


class ScorerForm(forms.Form):
    """The measure, model and parameters of a new scorer."""

    kind = forms.ChoiceField(label="Measure", choices=[])
    model_id = forms.CharField(
        required=False,
        max_length=300,
        label="Model",
        help_text="An architecture of open_clip, a folder or file on the server, or an id on the hub. If "
        f"empty, {DEFAULT_MODELS[Kind.CLIP]} is used for vectors and CLIP, and the models of BiasDora for "
        "sentiment and toxicity.",
    )
    ngrams = forms.CharField(
        required=False,
        max_length=200_000,
        label="Words to find",
        help_text="One word or phrase on each line. If empty, a built-in list and the study’s attributes "
        "are used.",
        widget=forms.Textarea(attrs=_LINES),
    )
    model_label = forms.CharField(
        required=False,
        max_length=110,
        label="Name of the scorer",
        help_text="Tables use this name. If empty, the model’s name is used.",
    )

    def __init__(self, *args: Any, study: Study, **options: Any) -> None:
        super().__init__(*args, **options)
        kinds = self.fields["kind"]
        assert isinstance(kinds, forms.ChoiceField)
        kinds.choices = [*KIND_CHOICES, *(OF_ASSOCIATIONS if study.probe_runs.exists() else ())]
        for parameters, names in (
            (CaptionParameters, ("captions", "prompt", "clip", "clip_pretrained", "top_ngrams")),
            (ClipParameters, FIELDS[Kind.CLIP]),
        ):
            self.fields |= parameters.form_fields(names)
        self.fields |= JudgeParameters.form_fields(("repeats", "temperature", *MONEY))
        urls = [(url.rstrip("/"), url) for url in settings.OPENAI_BASE_URLS]
        self.fields["endpoint"] = forms.ChoiceField(
            required=False,
            label=JudgeParameters.declaration("endpoint").label,
            help_text=JudgeParameters.declaration("endpoint").help,
            choices=urls or [("", "No endpoint is set: see the setting OPENAI_BASE_URLS")],
        )
        writers = study.scorers.filter(kind=Kind.CAPTIONS).values_list("model_label", flat=True)
        self.fields["captions_of"] = forms.ChoiceField(
            required=False,
            label=ClassifierParameters.declaration("captions_of").label,
            choices=[("", "All captions of the study"), *((label, label) for label in writers)],
        )

    def plan(self) -> dict[str, Any]:
        """Return the arguments of `launch.plan_scorer`."""
        data = self.cleaned_data
        kind, _, captioner = data["kind"].partition("-")
        of_associations = captioner == ASSOCIATIONS
        parameters = {name: data[name] for name in FIELDS[data["kind"]] if data[name] not in ("", None)}
        for name in ("templates", "contrast"):
            if name in parameters:
                parameters[name] = [line.strip() for line in data[name].splitlines() if line.strip()]
        if of_associations:
            parameters["of"] = ASSOCIATIONS
        elif captioner:
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
