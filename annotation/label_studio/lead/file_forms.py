"""Forms of the pages about a file from Label Studio. They parse; the verbs decide."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from annotation.label_studio.format.inventory import Inventory, Item, suggestions
from annotation.label_studio.format.names import CONTROLS, FIELDS, parse_names
from annotation.label_studio.format.uploads import upload_limit
from foundation.errors import DomainError

_LABELS = {
    "image": "Image",
    "group": "Identity group",
    "attribute": "Attributes asked",
    "model": "Model",
    "condition": "Condition",
    "present": "Attributes ticked",
    "box": "Boxes",
    "none_of_the_above": "None of the above",
    "rating": "Rating",
    "justification": "Justification",
    "annotator": "Annotator",
}


class FileForm(forms.Form):
    """A file that was exported from a Label Studio."""

    file = forms.FileField(
        label="Export as JSON",
        help_text="From Label Studio’s Export, as JSON (not JSON-MIN).",
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )

    def clean_file(self) -> "UploadedFile[Any]":
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > upload_limit():
            raise forms.ValidationError(f"“{file.name}” is larger than the {upload_limit():,} bytes allowed.")
        return file


class MappingForm(forms.Form):
    """Which field or control of a file holds what."""

    asked = forms.CharField(
        required=False,
        max_length=20_000,
        label="Attributes asked of every task",
        help_text="One per line. Needed if no field lists them: an attribute asked about and not marked is absent.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    none_value = forms.CharField(
        required=False,
        max_length=120,
        label="Choice that means “none of the above”",
        help_text="Only if it is not called none, or none of the above, these or them.",
    )
    model = forms.CharField(
        required=False,
        max_length=120,
        label="Model",
        help_text="The model that made the images, if no field names it.",
    )
    name = forms.CharField(required=False, max_length=120, label="Name of the campaign")
    group_from_image = forms.BooleanField(
        required=False, label="The identity group is the file name without its number: Velmari5.png"
    )
    without_ground_truth = forms.BooleanField(
        required=False, label="Leave out annotations marked as ground truth"
    )

    def __init__(self, *args: Any, inventory: Inventory, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        suggested = suggestions(inventory)
        for field, description in FIELDS.items():
            items = inventory.controls if field in CONTROLS else inventory.fields
            self.fields[f"map_{field}"] = forms.ChoiceField(
                required=False,
                label=_LABELS[field],
                help_text=description[0].upper() + description[1:] + ".",
                choices=[("", "Not in this file"), *((name, name) for name in _names(items))],
                initial=suggested[field],
            )

    @property
    def mapped(self) -> list[forms.BoundField]:
        """Return the fields that say what holds what."""
        return [self[f"map_{field}"] for field in FIELDS]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        pairs = [f"{field}={name}" for field in FIELDS if (name := values.get(f"map_{field}"))]
        attributes = [line.strip() for line in str(values.get("asked") or "").splitlines() if line.strip()]
        try:
            parse_names(pairs, asked=tuple(attributes))
        except DomainError as error:
            raise forms.ValidationError(error.message) from None
        return {
            "map": pairs,
            "asked": attributes,
            "ground_truth": not values.get("without_ground_truth"),
            **{name: values.get(name) for name in ("none_value", "model", "name", "group_from_image")},
        }


def _names(items: tuple[Item, ...]) -> list[str]:
    return list(dict.fromkeys(name_item.name for name_item in items))
