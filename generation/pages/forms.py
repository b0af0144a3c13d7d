"""Forms of the lead's image pages. Forms parse input; the called functions validate it."""

from typing import Any

from django import forms
from django.conf import settings

from generation.backends import BACKENDS
from generation.backends.diffusers.parameters import DiffusersParameters
from generation.backends.openai.parameters import OpenAIParameters
from generation.backends.parameters import BackendParameters
from generation.backends.sketch.backend import SketchParameters
from generation.imports.options import ImageImportOptions
from generation.prompts.sets import prompt_set, published_prompt_sets
from jobs.run.teams import MOST_WORKERS
from studies.models import Study
from web.form_fields import set_choices

PARAMETERS: dict[str, type[BackendParameters]] = {
    "sketch": SketchParameters,
    "diffusers": DiffusersParameters,
    "openai": OpenAIParameters,
}
# Parameters that only the command line accepts.
_COMMAND_ONLY = {"probabilities", "true_cfg_scale", "variant", "style", "response_format", "send_seed"}
PAID = ("openai",)
INVENTED = ("sketch",)


def asked_of(parameters: type[BackendParameters]) -> list[str]:
    """Return the names of the parameters on the page."""
    return [name for name in parameters.model_fields if name not in _COMMAND_ONLY]


def offered_backends(study: Study) -> list[tuple[str, str]]:
    """Return the back-ends on the page; drawings of invented figures are offered only in simulated studies."""
    return [
        (name, backend.title) for name, backend in BACKENDS.items() if study.simulated or name not in INVENTED
    ]


class GenerateForm(forms.Form):
    """The model, prompts and parameters of a generation run."""

    prompt_set = forms.ChoiceField(required=False, label="Prompts")
    backend = forms.ChoiceField(label="Back-end")
    model_id = forms.CharField(
        required=False,
        max_length=300,
        label="Model",
        help_text="A pipeline folder on the server, an id on the hub, or the name of the model at the endpoint.",
    )
    model_label = forms.CharField(
        required=False,
        max_length=120,
        label="Name in reports",
        help_text="If empty, the last part of the model’s id is used.",
    )
    price = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=9,
        decimal_places=4,
        label="Price of one image",
        help_text="The price that the endpoint charges, in the currency of your contract.",
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=2,
        label="Budget",
        help_text="The run stops before it costs more than this amount. You can raise the budget later and "
        "resume the run.",
    )

    workers = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_WORKERS,
        label="Number of workers",
        help_text="Number of workers that share the images, for example one for each graphics card. If "
        "empty, one worker is used.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usable = [] if study.protocol == Study.Protocol.MCAS else published_prompt_sets()
        sets = [("", "All prompts of the study")]
        sets += [
            (published.name, published.title)
            for published in usable
            if not published.has_phrases
            and (study.protocol == Study.Protocol.BIASDORA or not published.has_descriptors)
        ]
        set_choices(self, "prompt_set", sets)
        set_choices(self, "backend", offered_backends(study))
        for parameters in PARAMETERS.values():
            self.fields |= parameters.form_fields(asked_of(parameters))
        endpoint = self.fields["endpoint"]
        urls = [(url.rstrip("/"), url) for url in settings.OPENAI_BASE_URLS]
        self.fields["endpoint"] = forms.ChoiceField(
            required=False,
            label=endpoint.label,
            help_text=endpoint.help_text,
            choices=urls or [("", "No endpoint is set: see the setting OPENAI_BASE_URLS")],
        )

    def plan(self) -> dict[str, Any]:
        """Return the arguments of `estimates.estimate` and `planning.plan_run`."""
        data = self.cleaned_data
        backend, paid = data["backend"], data["backend"] in PAID
        return {
            "backend": backend,
            "model_id": data["model_id"] if BACKENDS[backend].needs_model_id else "",
            "model_label": data["model_label"],
            "parameters": {
                name: data[name]
                for name in asked_of(PARAMETERS[backend])
                if data[name] not in ("", None) and data[name] is not False
            },
            "prompt_set": prompt_set(data["prompt_set"]) if data["prompt_set"] else None,
            "price": data["price"] if paid else None,
            "budget": data["budget"] if paid else None,
        }


class ImportForm(forms.Form):
    """A zip archive of images, and the options that apply to all of them."""

    archive = forms.FileField(
        label="Zip archive",
        help_text="Choose below how the folders describe the images.",
    )
    layout = ImageImportOptions.form_field("layout", help_text="", required=True)
    model_label = ImageImportOptions.form_field("model_label", initial="")
    condition = ImageImportOptions.form_field("condition", required=True)
    create_groups = ImageImportOptions.form_field("create_groups")
