"""Detection of errors caused by a full disk, which an operator can mend."""

import errno

from django.db import OperationalError

_DISK_FULL = "53100"  # PostgreSQL's code
NO_ROOM = "The server's disk is full. Free some space and try again. Completed work is kept."


def no_room(error: BaseException) -> bool:
    """Return whether an error was caused by a full disk, of files or of the database."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    if not isinstance(error, OperationalError):
        return False
    return "disk is full" in str(error) or getattr(error.__cause__, "sqlstate", "") == _DISK_FULL
