"""The base class for the parameters of back-ends."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ConfigDict, field_validator, model_validator
from pydantic_core.core_schema import ValidationInfo

from foundation.errors import DomainError
from foundation.parameters import ParameterSet, Problem


class BackendParameters(ParameterSet):
    """Parameters of a back-end. Values may be text from a command line or a form; an empty value means the default."""

    model_config = ConfigDict(strict=False, str_strip_whitespace=True)

    error_code: ClassVar[str] = "parameter_invalid"
    backend: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _leave_out_empty(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Drop empty values, so that the default applies, often the model's own."""
        return {
            name: value
            for name, value in values.items()
            if not (value is None or (isinstance(value, str) and not value.strip()))
        }

    @field_validator("*", mode="before")
    @classmethod
    def _require_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse booleans where a number is expected: Python treats them as 1 and 0."""
        if isinstance(value, bool) and cls.declaration(str(info.field_name)).value_type in (int, float):
            raise ValueError("not a number")
        return value

    @classmethod
    def sentence(cls, problem: Problem) -> str:
        if problem.declaration is None:
            return (
                f"{cls.backend} has no parameter “{problem.name}”. The parameters of {cls.backend} are "
                f"{', '.join(cls.model_fields)}."
            )
        return f"The parameter {problem.name} must be {problem.declaration.expected}, not {problem.value!r}."


def parameter_invalid(name: str, message: str) -> DomainError:
    """Return the error for a parameter whose value only the back-end can check."""
    return DomainError(BackendParameters.error_code, message, fields={name: message})
