"""Forms of the lead's image pages. They parse; the verbs decide."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from foundation.errors import DomainError
from generation.backends import BACKENDS
from generation.models import Condition
from generation.prompts.sets import prompt_set, published_prompt_sets
from jobs.run.teams import MOST_WORKERS
from studies.models import Study

# The parameters that the page asks for, by back-end; the command line takes all of them.
PARAMETERS = {
    "sketch": ("default_probability",),
    "diffusers": (
        "num_inference_steps",
        "guidance_scale",
        "width",
        "height",
        "negative_prompt",
        "scheduler",
        "revision",
        "dtype",
        "device",
        "offload",
        "batch_size",
        "safety_checker",
        "config",
        "lora",
        "lora_scale",
        "vae_tiling",
        "vae_slicing",
        "channels_last",
        "compile",
    ),
    "openai": ("endpoint", "size", "quality"),
}
PAID = ("openai",)


def show_refusal(form: forms.Form, error: DomainError) -> None:
    """Put what a verb refused beside the fields it named, or above the form."""
    named = [name for name in error.fields if name in form.fields]
    for name in named:
        form.add_error(name, error.message)
    if not named:
        form.add_error(None, error.message)


class GenerateForm(forms.Form):
    """Which model makes the images, of which prompts, and how."""

    prompt_set = forms.ChoiceField(required=False, label="Prompts")
    backend = forms.ChoiceField(
        choices=[(name, backend.title) for name, backend in BACKENDS.items()], label="What makes the images"
    )
    model_id = forms.CharField(
        required=False,
        max_length=300,
        label="Model",
        help_text="A pipeline folder on the server, an id on the hub, or the endpoint’s name of the model.",
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
    offload = forms.ChoiceField(
        required=False,
        label="Offload",
        choices=[
            ("", "None: the whole model on the device"),
            ("model", "Part by part: slower, needs less memory"),
            ("sequential", "Layer by layer: slowest, needs least"),
        ],
    )
    batch_size = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=256,
        label="Images in one call",
        help_text="Left empty, one: then an image does not depend on what else was made.",
    )
    safety_checker = forms.ChoiceField(
        required=False,
        label="The model’s own safety checker",
        choices=[("yes", "Use it, if the model has one"), ("no", "Leave it out")],
        help_text="Images it blanks are counted apart.",
    )
    config = forms.CharField(
        required=False,
        max_length=300,
        label="Configuration of a single file",
        help_text="For a .safetensors file: the folder of a pipeline of the same kind.",
    )
    lora = forms.CharField(
        required=False,
        max_length=300,
        label="LoRA",
        help_text="A .safetensors file on the server, or a folder that holds exactly one.",
    )
    lora_scale = forms.FloatField(
        required=False, min_value=-10, max_value=10, label="LoRA scale", help_text="If empty, 1."
    )
    vae_tiling = forms.BooleanField(
        required=False, label="Decode in tiles", help_text="Less memory for large images."
    )
    vae_slicing = forms.BooleanField(
        required=False, label="Decode a batch image by image", help_text="Less memory for batches."
    )
    channels_last = forms.BooleanField(
        required=False, label="Channels last", help_text="A memory layout that is faster on tensor cores."
    )
    compile = forms.BooleanField(
        required=False,
        label="Compile the model",
        help_text="The first image takes longer, the others are faster.",
    )
    endpoint = forms.ChoiceField(
        required=False, label="Endpoint", help_text="Those that whoever operates this server allows."
    )
    size = forms.CharField(
        required=False, max_length=20, label="Size", help_text="As the endpoint names it, e.g. 1024x1024."
    )
    quality = forms.CharField(
        required=False, max_length=40, label="Quality", help_text="As the endpoint names it."
    )
    price = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=9,
        decimal_places=4,
        label="Price of one image",
        help_text="What the endpoint charges, in the currency of your contract with it.",
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=2,
        label="Budget",
        help_text="The run stops before it has cost more. You can raise it later, and the run goes on.",
    )

    workers = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_WORKERS,
        label="Number of workers",
        help_text="How many workers share the images, for example one per graphics card. If empty, one.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usable = [] if study.protocol == Study.Protocol.MCAS else published_prompt_sets()
        sets = [("", "All prompts of the study")]
        sets += [(one.name, one.title) for one in usable if not one.has_phrases]
        prompts, endpoint = self.fields["prompt_set"], self.fields["endpoint"]
        assert isinstance(prompts, forms.ChoiceField)
        assert isinstance(endpoint, forms.ChoiceField)
        prompts.choices = sets
        endpoint.choices = [(url.rstrip("/"), url) for url in settings.OPENAI_BASE_URLS] or [
            ("", "None is set: see OPENAI_BASE_URLS")
        ]

    def repeated(self) -> SafeString:
        """Return what stands in the form as hidden inputs, without ids: those are the visible fields'."""
        return format_html_join("", "{}", ((field.as_hidden(attrs={"id": False}),) for field in self))

    def plan(self) -> dict[str, Any]:
        """Return the arguments of `estimating.estimate` and of `planning.plan_run`."""
        data = self.cleaned_data
        backend, paid = data["backend"], data["backend"] in PAID
        return {
            "backend": backend,
            "model_id": data["model_id"] if BACKENDS[backend].needs_model_id else "",
            "model_label": data["model_label"],
            "parameters": {
                name: data[name]
                for name in PARAMETERS[backend]
                if data[name] not in ("", None) and data[name] is not False
            },
            "prompt_set": prompt_set(data["prompt_set"]) if data["prompt_set"] else None,
            "price": data["price"] if paid else None,
            "budget": data["budget"] if paid else None,
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
