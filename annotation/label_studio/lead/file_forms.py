"""Forms of the pages about a file from Label Studio. They parse; the verbs decide."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from annotation.campaigns.design import LONGEST_NAME, CampaignDesign
from annotation.imports.column_map import LabelImportOptions
from annotation.label_studio.format.inventory import Inventory, Item, suggestions
from annotation.label_studio.format.names import CONTROLS, FIELDS, parse_names
from annotation.label_studio.format.uploads import upload_limit
from foundation.errors import DomainError
from web.form_fields import checked_size

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

# Fields that apply to every row, as declared by the importer of tables, with this page's own labels and help.
_ROWS: dict[str, dict[str, Any]] = {
    "none_of_the_above": {
        "initial": "",
        "max_length": LONGEST_NAME,
        "label": "Choice that means “none of the above”",
        "help_text": "Fill this in only if the choice is not called “none”, “none of the above”, “none of these” or "
        "“none of them”.",
    },
    "model": {"max_length": LONGEST_NAME},
    "group_from_image": {"help_text": "Choose this if the files have names such as Velmari5.png."},
}


class FileForm(forms.Form):
    """A file that was exported from Label Studio."""

    file = forms.FileField(
        label="Export as JSON",
        help_text="A file from Label Studio’s Export, as JSON (not JSON-MIN).",
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )

    def clean_file(self) -> "UploadedFile[Any]":
        return checked_size(self.cleaned_data["file"], upload_limit())


class MappingForm(forms.Form):
    """The contents of each field or control of a file."""

    asked = forms.CharField(
        required=False,
        max_length=20_000,
        label="Attributes asked about in every task",
        help_text="One per line. Required if no field of the file lists these attributes: an attribute that was "
        "asked about and not marked counts as absent.",
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    name = CampaignDesign.form_field("name", label="Name of the campaign", help_text="")
    without_ground_truth = forms.BooleanField(
        required=False, label="Leave out annotations marked as ground truth"
    )

    def __init__(self, *args: Any, inventory: Inventory, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= {
            name: LabelImportOptions.form_field(name, **settings) for name, settings in _ROWS.items()
        }
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
        """Return the form's fields for the mapping."""
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
            "name": values.get("name"),
            "rows": {name: values[name] for name in _ROWS if values.get(name)},
        }


def _names(items: tuple[Item, ...]) -> list[str]:
    return list(dict.fromkeys(name_item.name for name_item in items))
