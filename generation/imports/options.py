"""Options of an image import, shared by the form, the command and the documentation."""

from typing import Any

from pydantic import field_validator

from foundation.parameters import ParameterSet, parameter
from generation.models import Condition
from generation.runs.planning import clean_label

_DEFAULT_LABEL = "imported"


class ImageImportOptions(ParameterSet):
    """The layout of an import, and values for images that lack their own."""

    layout: str = parameter(
        "groups",
        words={
            "groups": "A folder for each identity group, or a manifest",
            "pairs": "PAIRS: experiment / scenario / variant",
        },
        label="Layout of the files",
        help="How folders and files are arranged.",
    )
    model_label: str = parameter(
        _DEFAULT_LABEL,
        max_length=120,
        label="Model that made the images",
        help=f"The name of the model in reports. If empty, {_DEFAULT_LABEL} is used.",
    )
    condition: str = parameter(
        Condition.DEFAULT.value,
        words=dict(Condition.choices),
        label="Condition",
        help="The condition of the images, if the manifest does not contain it.",
    )
    create_groups: bool = parameter(
        False,
        label="Add groups that the study does not have",
        help="If this is not chosen, images of unknown groups are rejected and listed.",
    )

    @field_validator("model_label", mode="before")
    @classmethod
    def _clean_label(cls, label: Any) -> Any:
        return clean_label(label or _DEFAULT_LABEL) if isinstance(label, str) else label
