"""The forms of a release."""

from typing import Any

from django import forms

from analysis.releases.documents.licences import LICENCES
from analysis.releases.parameters import ReleaseParameters
from foundation.errors import DomainError


class KForm(forms.Form):
    """The number of people who must share a combination, to try out before building."""

    k = ReleaseParameters.form_field("k", label="People per combination (k)", help_text="", required=True)
    leave_out_people = ReleaseParameters.form_field("leave_out_people", help_text="")

    def chosen(self, *, otherwise: int) -> int:
        """Return the k entered, or `otherwise` if none or an invalid k was entered."""
        return self.cleaned_data["k"] if self.is_bound and self.is_valid() else otherwise


class ReleaseForm(forms.Form):
    """All parameters of a release."""

    k = ReleaseParameters.form_field("k", required=True)
    licence = ReleaseParameters.form_field(
        "licence", choices=[(name, licence.name) for name, licence in LICENCES.items()], required=True
    )
    formats = ReleaseParameters.form_field("formats", help_text="", required=True)
    leave_out_people = ReleaseParameters.form_field("leave_out_people")
    include_justifications = ReleaseParameters.form_field("include_justifications")

    @classmethod
    def beginning(cls, stored: dict[str, Any] | None, *, k: int) -> "ReleaseForm":
        """Return the form with the previous release's choices and the `k` tried on the page.

        Free text is never included by default: text written since then has not been reviewed.
        """
        return cls(initial={**(stored or {}), "k": k, "include_justifications": False})

    def parameters(self) -> ReleaseParameters:
        """Return the chosen parameters; raise DomainError naming the first invalid field."""
        if not self.is_valid():
            name, errors = next(iter(self.errors.items()))
            label = self.fields[name].label if name in self.fields else name
            raise DomainError("invalid_parameter", f"{label}: {errors[0]}", fields={name: str(errors[0])})
        return ReleaseParameters.read(self.cleaned_data)
