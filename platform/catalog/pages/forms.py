"""The form to import a resource. It parses input; the import validates it."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from catalog.models import Resource
from web.form_fields import checked_size

# Larger files must be imported with the command.
MAX_UPLOAD_BYTES = 20 * 1024 * 1024


class ResourceForm(forms.Form):
    """A CSV file and the name of the resource."""

    name = forms.CharField(max_length=120, help_text="Studies show the resource by this name.")
    file = forms.FileField(
        label="CSV file",
        help_text="A CSV file in UTF-8 with the columns identity and attribute. Rater counts and ratings "
        "are optional.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )
    geography = forms.FileField(
        required=False,
        label="Geography",
        help_text="A CSV file with the columns identity, iso_code and region. This file replaces the "
        "platform’s own geography.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )
    invented = forms.BooleanField(
        required=False,
        label="The groups are invented",
        help_text="Choose this for trying things out. If the groups are invented, the resource’s page shows "
        "no warning, and a group’s page shows the group’s stereotypes without a click. "
        "A later import does not change this setting.",
    )
    update = forms.BooleanField(
        required=False,
        label="Update the resource if a resource with this name exists",
        help_text="Studies that have started keep their own copy of the resource.",
    )

    def clean_file(self) -> "UploadedFile[Any]":
        return checked_size(self.cleaned_data["file"], upload_limit())

    def clean_geography(self) -> "UploadedFile[Any] | None":
        file = self.cleaned_data["geography"]
        return checked_size(file, upload_limit()) if file else None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        name = values.get("name")
        if name and not values.get("update") and Resource.objects.filter(name=name).exists():
            self.add_error(
                "name",
                f"There is already a resource named “{name}”. Tick the box below to update that resource.",
            )
        return values


def upload_limit() -> int:
    """Return the size limit of an uploaded table, in bytes."""
    return min(MAX_UPLOAD_BYTES, settings.TABLE_MAX_BYTES)
