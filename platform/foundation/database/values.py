"""Conversion of values for hand-written statements (`foundation.database.statements`)."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone


def uuid_value(value: UUID) -> Any:
    """Return a UUID in the format of the database."""
    return value if connection.features.has_native_uuid_field else value.hex


def moment_value(value: datetime) -> Any:
    """Return a time in the format of the database."""
    return connection.ops.adapt_datetimefield_value(value)


def moment(value: Any) -> datetime:
    """Return a time from the database as an aware datetime."""
    if isinstance(value, datetime):
        return value if timezone.is_aware(value) else timezone.make_aware(value, connection.timezone)
    return timezone.make_aware(datetime.fromisoformat(value), connection.timezone)
