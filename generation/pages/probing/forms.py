"""Forms of the pages of probe runs. Forms parse input; the called functions validate it."""

from typing import Any

from django import forms
from django.conf import settings

from generation.answerers import ANSWERERS
from generation.answerers.chat import ChatParameters
from generation.answerers.parameters import BatchParameters, SamplingParameters
from generation.answerers.script.backend import ScriptParameters
from generation.answerers.transformers.backend import TransformersParameters
from generation.models import ProbeRun
from generation.probing.coding import CODES
from generation.probing.overrides import LONGEST_REASON
from generation.probing.planning import ProbePlan, last_probe_set, probe_sets_of
from studies.models import Study
from web.form_fields import set_choices

PARAMETERS: dict[str, type[SamplingParameters]] = {
    "script": ScriptParameters,
    "chat": ChatParameters,
    "transformers": TransformersParameters,
}
_INVENTED = "script"
# Parameters that are objects, which have no form fields of their own.
_OBJECTS = ("bias", "associations")
_LINES = {"rows": 2, "spellcheck": "false"}


def _price_field(label: str, help_text: str = "") -> forms.DecimalField:
    return forms.DecimalField(
        required=False, min_value=0, max_digits=12, decimal_places=4, label=label, help_text=help_text
    )


class PriceForm(forms.Form):
    """The prices of a model and the budget of a run."""

    price_in = _price_field(
        "Price of a million input tokens", "The price is in the currency of your contract with the endpoint."
    )
    price_out = _price_field("Price of a million output tokens")
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=2,
        label="Budget",
        help_text="The run stops before it costs more than this amount. You can raise the budget later.",
    )


def offered_answerers(study: Study) -> list[tuple[str, str]]:
    """Return the answerers on the page; the invented model is offered only in simulated studies."""
    return [
        (name, backend.title) for name, backend in ANSWERERS.items() if study.simulated or name != _INVENTED
    ]


class ProbeForm(PriceForm):
    """The model, questions and parameters of a probe run."""

    probe_set = forms.ChoiceField(label="Probe set")
    backend = forms.ChoiceField(label="What answers")
    model_id = forms.CharField(
        required=False,
        max_length=300,
        label="Model",
        help_text="The name of the model at the endpoint, or a folder on the server.",
    )
    model_label = forms.CharField(
        required=False,
        max_length=120,
        label="Name in reports",
        help_text="If empty, the last part of the model’s id is used.",
    )
    orders = forms.ChoiceField(
        required=False,
        choices=[("", "As the probe set says"), *ProbeRun.Orders.choices],
        label="Orders of the options",
    )
    runs = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        label="Runs",
        help_text="Number of times that each question is asked. If empty, the number in the probe set is used.",
    )
    samples_per_request = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        label="Answers in a request",
        help_text="Number of answers to the same question in one request, if the endpoint supports this. If "
        "empty, each request asks for one answer.",
    )
    fresh = forms.BooleanField(
        required=False,
        label="Ask everything again",
        help_text="All questions are asked in a new run. If this is not chosen, the answers that this study already "
        "has are reused.",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sets = probe_sets_of(study)
        set_choices(self, "probe_set", [(name, content.title) for name, content in self._sets.items()])
        set_choices(self, "backend", offered_answerers(study))
        for parameters in PARAMETERS.values():
            self.fields |= parameters.form_fields()
        self.fields |= BatchParameters.form_fields()
        for name in _OBJECTS:
            declared = ScriptParameters.declaration(name)
            help_text = f"{declared.help} As JSON, {declared.expected.removeprefix('given as ')}."
            self.fields[name] = forms.JSONField(
                required=False, label=declared.label, help_text=help_text, widget=forms.Textarea(_LINES)
            )
        endpoint = self.fields["endpoint"]
        urls = [(url.rstrip("/"), url) for url in settings.OPENAI_BASE_URLS]
        self.fields["endpoint"] = forms.ChoiceField(
            required=False,
            label=endpoint.label,
            help_text=endpoint.help_text,
            choices=urls or [("", "No endpoint is set: see the setting OPENAI_BASE_URLS")],
        )

    def plan(self, study: Study) -> ProbePlan:
        """Return the plan of the form; prices and budget apply only to an endpoint."""
        data = self.cleaned_data
        backend, paid = data["backend"], data["backend"] == "chat"
        return ProbePlan(
            study=study,
            probe_set=self._sets[data["probe_set"]],
            probe_set_name=data["probe_set"],
            backend=backend,
            model_id=data["model_id"] if ANSWERERS[backend].needs_model_id else "",
            model_label=data["model_label"],
            parameters={
                name: data[name] for name in PARAMETERS[backend].model_fields if data[name] not in ("", None)
            },
            runs=data["runs"],
            orders=data["orders"],
            samples_per_request=data["samples_per_request"] or 1,
            price_in=data["price_in"] if paid else None,
            price_out=data["price_out"] if paid else None,
            budget=data["budget"] if paid else None,
            fresh=data["fresh"],
            batches={
                name: data[name]
                for name in BatchParameters.model_fields
                if paid and data["batch_endpoint"] and data[name] is not None
            },
        )


class OverrideForm(forms.Form):
    """A lead's coding of an answer, with a reason."""

    outcome = forms.ChoiceField(label="Coding", choices=[("", "Choose"), *((name, name) for name in CODES)])
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        label="Reason",
        help_text="Why your coding counts instead of all other codings. The reason is stored with the answer.",
        widget=forms.Textarea({"rows": 2}),
    )


def nothing_chosen(study: Study) -> dict[str, str]:
    """Return initial values; the invented model is chosen if the study is simulated and no endpoint is allowed."""
    return {
        "probe_set": last_probe_set(study, probe_sets_of(study)),
        "backend": _INVENTED if study.simulated and not settings.OPENAI_BASE_URLS else "chat",
        "send_seed": "on",
        **dict.fromkeys(_OBJECTS, ""),
    }
