"""What a worker attends to twice a second beside its job, and that must not wait until a worker is free."""

import logging

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

EVERY = 0.5  # seconds


def read() -> None:
    """Call what the apps registered in JOB_INBOXES; what is wrong with one does not stop the others."""
    for path in settings.JOB_INBOXES:
        try:
            import_string(path)()
        except (DatabaseError, InterfaceError):
            raise
        except Exception:
            logger.exception("%s failed while a worker read its inboxes", path)
