"""A field for several files, the size of a file, and setting the choices of a field when its form is created."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet


class _FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of uploaded files; its value is a list."""

    widget = _FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = [super(FilesField, self).clean(file) for file in data or ()]
        return files or [file for file in [super().clean(None, initial)] if file]


def checked_size(file: "UploadedFile[Any]", most_bytes: int) -> "UploadedFile[Any]":
    """Return an uploaded file; raise ValidationError if it is too large."""
    if (file.size or 0) > most_bytes:
        raise forms.ValidationError(f"“{file.name}” is larger than the {most_bytes:,} bytes allowed.")
    return file


def set_choices(form: forms.BaseForm, name: str, choices: Iterable[tuple[Any, Any]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)


def set_queryset(form: forms.BaseForm, name: str, rows: QuerySet[Any]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows
