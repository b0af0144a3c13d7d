"""The parameters of a release, declared here for the form, the command, the API and the docs."""

from typing import Any

from pydantic import field_validator

from foundation.errors import DomainError
from foundation.parameters import ParameterSet, parameter

# The first three contain the same tables.
TABLE_FORMATS = ("parquet", "csv", "jsonl")
LABEL_STUDIO = "label_studio"
FORMAT_WORDS = {
    "parquet": "Parquet: tables that programs load with one line of code",
    "csv": "CSV: tables for spreadsheets",
    "jsonl": "JSON lines: tables for any other use",
    "images": "the pictures, re-encoded",
    "coco": "boxes as COCO",
    LABEL_STUDIO: "tasks for Label Studio (with the Parquet tables they are made from)",
}
FORMATS = tuple(FORMAT_WORDS)
# Only the owner can choose a licence: until then nobody has any permission.
NOT_CHOSEN = "all-rights-reserved"


class ReleaseParameters(ParameterSet):
    """Every choice a release depends on besides the labels. `licence` is an SPDX identifier or free text."""

    k: int = parameter(
        5,
        ge=2,
        le=1_000,
        label="People who share each combination (k)",
        help="How many people must share each combination of the released parts of their profiles.",
    )
    formats: tuple[str, ...] = parameter(
        FORMATS,
        words=FORMAT_WORDS,
        label="What to write",
        help="The formats of the release. Choose at least one of Parquet, CSV and JSON lines for the tables; "
        "tasks for Label Studio add Parquet.",
    )
    licence: str = parameter(
        NOT_CHOSEN,
        min_length=1,
        max_length=200,
        expected="a licence of 1 to 200 characters, such as CC-BY-4.0",
        label="Licence",
        help="What others may do with the labels. The resource’s stereotypes and the images keep their own terms.",
    )
    include_justifications: bool = parameter(
        False,
        label="Include what annotators wrote in their own words",
        help="Reasons for answering Unsure, and answers to questions that ask for text. Free text may say who wrote "
        "it. Read all these texts before you release them.",
    )
    leave_out_people: bool = parameter(
        False,
        label="Leave out people who cannot be protected otherwise",
        help="Readers can match people across releases by their answers. If you choose this, people whom readers "
        "could recognise in this way are left out, with their answers. Otherwise, a release that contains these "
        "people is refused.",
    )

    @field_validator("formats", mode="before")
    @classmethod
    def _complete_formats(cls, value: Any) -> Any:
        """Bring formats into their order and add Parquet, of which tasks for Label Studio are made."""
        formats = {*value, "parquet"} if LABEL_STUDIO in value else {*value}
        return (*(name for name in FORMATS if name in formats), *sorted(formats.difference(FORMATS)))

    @field_validator("formats")
    @classmethod
    def _require_tables(cls, formats: tuple[str, ...]) -> tuple[str, ...]:
        if not set(formats) & set(TABLE_FORMATS):
            message = f"A release needs its tables in one of {', '.join(TABLE_FORMATS)}."
            raise DomainError(cls.error_code, message, fields={"formats": message})
        return formats

    @field_validator("licence", mode="before")
    @classmethod
    def _strip_licence(cls, value: Any) -> Any:
        return " ".join(value.split()) if isinstance(value, str) else value

    @property
    def with_images(self) -> bool:
        """Whether picture files are part of the release."""
        return "images" in self.formats

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")
