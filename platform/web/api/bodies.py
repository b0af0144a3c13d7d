"""Request bodies, read by the serializer that declares their fields; undeclared fields are refused."""

from collections.abc import Collection, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from foundation.errors import DomainError
from foundation.parameters import Declaration, ParameterSet

_FIELDS: Mapping[type, type[serializers.Field[Any, Any, Any, Any]]] = {
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    str: serializers.CharField,
}


class ParameterSetSerializer(Serializer[Any]):
    """A body with the parameters of a set, which checks limits and has the defaults."""

    parameters: type[ParameterSet]
    names: Collection[str] = ()  # names of the parameters in this body; all if empty
    needed: Collection[str] = ()  # names of required parameters

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        declared = self.parameters.declarations()
        derived = {
            name: _field(declared[name], required=name in self.needed) for name in self.names or declared
        }
        return {**super().get_fields(), **derived}


def _field(declared: Declaration, *, required: bool) -> serializers.Field[Any, Any, Any, Any]:
    told: dict[str, Any] = {"required": required, "label": declared.label, "help_text": declared.help}
    if declared.value_type in (tuple, list):
        return serializers.ListField(child=serializers.CharField(), **told)
    field = _FIELDS[declared.value_type](**told)
    # Set after construction, only for the schema: validators would refuse values with another message than the set.
    for limit, value in (
        ("min_value", declared.least),
        ("max_value", declared.most),
        ("max_length", declared.longest),
    ):
        if hasattr(field, limit):
            setattr(field, limit, value)
    return field


def checked_body(form: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated fields of the body."""
    body = form(data=request.data)
    _refuse_unknown(request.data, body.fields)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


def raw_body(form: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the body without validation of values, or {} if it is not an object; refuse unknown fields."""
    # Do not copy the declared fields: annotators' answers take this path.
    _refuse_unknown(request.data, form._declared_fields)
    return request.data if isinstance(request.data, dict) else {}


def _refuse_unknown(body: object, names: Collection[str]) -> None:
    if isinstance(body, dict) and (unknown := sorted(body.keys() - names)):
        message = f"{', '.join(unknown)} cannot be set by this request."
        raise DomainError(
            "field_unknown",
            message,
            fields=dict.fromkeys(unknown, "This field cannot be set by this request."),
        )
