"""Forms to import a file of answers. Forms parse input; the called functions validate it."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from generation.imports.answers.fields import FIELDS, AnswerImportOptions
from generation.imports.answers.sample import FileSample
from generation.imports.answers.uploads import SUFFIXES, upload_limit
from generation.probing.probe_sets import ProbeSet
from web.form_fields import checked_size

# Codes are not imported, because imported answers are coded again.
MAPPED = tuple(field for field in FIELDS if field != "code")
# Fields that most files have; the form lists them first.
FIRST = ("text", "question", "scenario", "group", "image", "descriptor", "letter", "order", "repeat", "model")
NEEDED = ("text", "question")
_LABELS = {"text": "Answer", "first": "Option named first", "label": "Name in reports"}


class AnswerFileForm(forms.Form):
    """The upload of a file of answers."""

    file = forms.FileField(
        label="File of answers",
        help_text="CSV, JSON lines, a log of Inspect AI, or the table probe_answers of a release.",
        widget=forms.ClearableFileInput(attrs={"accept": ",".join(SUFFIXES)}),
    )

    def clean_file(self) -> "UploadedFile[Any]":
        return checked_size(self.cleaned_data["file"], upload_limit())


class AnswerColumnsForm(forms.Form):
    """The columns of a file by field, and the options that apply to all its answers."""

    probe_set = forms.ChoiceField(
        required=False,
        label="Probe set",
        help_text="The probe set that contains the questions answered in the file.",
    )

    def __init__(
        self, *args: Any, sample: FileSample, probe_sets: Mapping[str, ProbeSet], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["probe_set"]
        assert isinstance(chosen, forms.ChoiceField)
        chosen.choices = [
            ("", "As in the file"),
            *((name, f"{content.title} ({name})") for name, content in probe_sets.items()),
        ]
        suggested = sample.suggested()
        for field in MAPPED:
            self.fields[f"map_{field}"] = forms.ChoiceField(
                required=field in NEEDED,
                label=_LABELS.get(field, field.replace("_", " ").capitalize()),
                help_text=f"{FIELDS[field][0].upper()}{FIELDS[field][1:]}.",
                choices=[("", "Not in this file"), *((name, name) for name in sample.columns)],
                initial=suggested[field],
            )
        self.fields |= AnswerImportOptions.form_fields()

    def mapped_first(self) -> list[forms.BoundField]:
        return [self[f"map_{field}"] for field in FIRST]

    def mapped_last(self) -> list[forms.BoundField]:
        return [self[f"map_{field}"] for field in MAPPED if field not in FIRST]

    def stated(self) -> tuple[dict[str, str], str, dict[str, Any]]:
        """Return columns by field, probe set and options: the submitted values, or the initial ones."""
        values = self.cleaned_data if self.is_bound else {name: self[name].initial for name in self.fields}
        columns = {field: values[f"map_{field}"] for field in MAPPED if values.get(f"map_{field}")}
        options = {
            name: values[name]
            for name in AnswerImportOptions.model_fields
            if values.get(name) not in ("", None)
        }
        return columns, values.get("probe_set") or "", options
