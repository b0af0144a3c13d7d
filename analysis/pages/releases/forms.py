"""What a lead chooses of a release, as a form."""

from typing import Any

from django import forms

from analysis.releases.contents import FORMATS, ReleaseParameters
from analysis.releases.documents.licences import DEFAULT, LICENCES
from analysis.releases.parameters import LEAST_K, MOST_K, K, parameters_of
from foundation.errors import DomainError

FORMAT_WORDS = {
    "parquet": "Parquet: tables for programs; what one line of code loads",
    "csv": "CSV: tables for spreadsheets",
    "jsonl": "JSON lines: tables for everything else",
    "images": "the pictures, re-encoded",
    "coco": "boxes as COCO",
    "label_studio": "tasks for Label Studio (with the Parquet tables they are made from)",
}


class KForm(forms.Form):
    """How many people have to share a combination: tried before building."""

    k = forms.IntegerField(label="People per combination (k)", min_value=LEAST_K, max_value=MOST_K, initial=K)
    leave_out_people = forms.BooleanField(
        label="Leave out people who cannot be protected otherwise", required=False
    )

    def chosen(self, *, otherwise: int = K) -> int:
        """Return k as given, or another where it is none."""
        return self.cleaned_data["k"] if self.is_bound and self.is_valid() else otherwise


class ReleaseForm(forms.Form):
    """Every choice of a release."""

    k = forms.IntegerField(
        label="People who share each combination (k)", min_value=LEAST_K, max_value=MOST_K, initial=K
    )
    licence = forms.ChoiceField(
        label="Licence",
        choices=[(name, one.name) for name, one in LICENCES.items()],
        initial=DEFAULT,
        help_text="What others may do with the labels. Stereotypes of the resource and images keep their own terms.",
    )
    formats = forms.MultipleChoiceField(
        label="What to write",
        choices=[(one, FORMAT_WORDS[one]) for one in FORMATS],
        initial=list(FORMATS),
        widget=forms.CheckboxSelectMultiple,
    )
    leave_out_people = forms.BooleanField(
        label="Leave out people who cannot be protected otherwise",
        required=False,
        help_text="Readers can match people across releases by their answers. This leaves out people who would "
        "then be recognizable, with their answers. Without it, such a release is refused.",
    )
    include_justifications = forms.BooleanField(
        label="Include what annotators wrote when unsure",
        required=False,
        help_text="Free text may say who wrote it. Read all of it before.",
    )

    @classmethod
    def beginning(cls, stored: dict[str, Any] | None, *, k: int) -> "ReleaseForm":
        """Return the form with the choices of the release before; `k` as it was tried on the page.

        To include free text is chosen anew each time: what was written since has not been read.
        """
        return cls(initial={**(stored or {}), "k": k, "include_justifications": False})

    def parameters(self) -> ReleaseParameters:
        """Return what was chosen, or raise DomainError naming the first wrong field."""
        if not self.is_valid():
            name, errors = next(iter(self.errors.items()))
            label = self.fields[name].label if name in self.fields else name
            raise DomainError("invalid_parameter", f"{label}: {errors[0]}", fields={name: str(errors[0])})
        return parameters_of(**self.cleaned_data)
