"""Urgent work that every worker does twice a second, even while it runs a job."""

import logging

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

EVERY = 0.5  # seconds


def read() -> None:
    """Call the functions in JOB_INBOXES; log errors, except of the database, and continue."""
    for path in settings.JOB_INBOXES:
        try:
            import_string(path)()
        except (DatabaseError, InterfaceError):
            raise
        except Exception:
            logger.exception("%s failed while a worker read its inboxes", path)
