"""Forms of the lead's image pages. They parse; the verbs decide."""

from typing import Any

from django import forms

from accounts.errors import DomainError
from generation.backends import BACKENDS
from generation.models import Condition

# The parameters that the page asks for, by back-end; the command line and the API take all of them.
SKETCH_FIELDS = ("default_probability",)
DIFFUSERS_FIELDS = (
    "num_inference_steps",
    "guidance_scale",
    "width",
    "height",
    "negative_prompt",
    "scheduler",
    "revision",
    "dtype",
    "device",
    "safety_checker",
)


def show_refusal(form: forms.Form, error: DomainError) -> None:
    """Put what a verb refused beside the fields it named, or above the form."""
    named = [name for name in error.fields if name in form.fields]
    for name in named:
        form.add_error(name, error.message)
    if not named:
        form.add_error(None, error.message)


class GenerateForm(forms.Form):
    """Which model makes the images, and how."""

    backend = forms.ChoiceField(
        choices=[(name, backend.title) for name, backend in BACKENDS.items()], label="What makes the images"
    )
    model_id = forms.CharField(
        required=False,
        max_length=300,
        label="Model",
        help_text="A pipeline folder on the server, or an id on the hub.",
    )
    model_label = forms.CharField(
        required=False,
        max_length=120,
        label="Name in reports",
        help_text="Left empty, the last part of the model’s id.",
    )
    default_probability = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        initial=0.1,
        label="Probability of each attribute",
        help_text="How often each attribute appears. By group: see the generate command.",
    )
    num_inference_steps = forms.IntegerField(required=False, min_value=1, max_value=1000, label="Steps")
    guidance_scale = forms.FloatField(required=False, min_value=0, max_value=100, label="Guidance")
    width = forms.IntegerField(required=False, min_value=8, max_value=8192, label="Width in pixels")
    height = forms.IntegerField(required=False, min_value=8, max_value=8192, label="Height in pixels")
    negative_prompt = forms.CharField(required=False, max_length=1000, label="Negative prompt")
    scheduler = forms.CharField(
        required=False,
        max_length=80,
        label="Scheduler",
        help_text="A class of diffusers, e.g. DDIMScheduler.",
    )
    revision = forms.CharField(
        required=False, max_length=120, label="Revision", help_text="A commit, tag or branch."
    )
    dtype = forms.ChoiceField(
        required=False,
        label="Precision",
        choices=[
            ("", "Chosen for the device"),
            ("float32", "float32"),
            ("float16", "float16"),
            ("bfloat16", "bfloat16"),
        ],
    )
    device = forms.CharField(
        required=False, max_length=20, label="Device", help_text="Left empty, a GPU if there is one."
    )
    safety_checker = forms.ChoiceField(
        required=False,
        label="The model’s own safety checker",
        choices=[("yes", "Use it, if the model has one"), ("no", "Leave it out")],
        help_text="Images it blanks are counted apart.",
    )

    def plan(self) -> dict[str, Any]:
        """Return the arguments of `planning.plan_run`."""
        data = self.cleaned_data
        names = SKETCH_FIELDS if data["backend"] == "sketch" else DIFFUSERS_FIELDS
        return {
            "backend": data["backend"],
            "model_id": data["model_id"] if BACKENDS[data["backend"]].needs_model_id else "",
            "parameters": {name: data[name] for name in names if data[name] not in ("", None)},
        }


class ImportForm(forms.Form):
    """A zip archive of images, and what is said of all of them."""

    archive = forms.FileField(
        label="Zip archive",
        help_text="One folder for each identity group, or a manifest.csv that names path and group.",
    )
    layout = forms.ChoiceField(
        choices=[
            ("groups", "A folder for each identity group, or a manifest"),
            ("pairs", "PAIRS: experiment / scenario / variant"),
        ],
        label="How it is laid out",
    )
    model_label = forms.CharField(
        required=False,
        max_length=120,
        label="Model that made them",
        help_text="How reports name it. Left empty: imported.",
    )
    condition = forms.ChoiceField(choices=Condition.choices, initial=Condition.DEFAULT)
    create_groups = forms.BooleanField(
        required=False,
        label="Add groups that the study does not have",
        help_text="Otherwise images of an unknown group are rejected and listed.",
    )
