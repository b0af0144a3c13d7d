"""Whether something failed because a disk is full, which a person can mend and which is no fault of the program."""

import errno

from django.db import OperationalError

_DISK_FULL = "53100"  # PostgreSQL's code
NO_ROOM = "The server's disk is full. Free some space and try again. Completed work is kept."


def no_room(error: BaseException) -> bool:
    """Return whether the disk of files, of the database or of its journal was full."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    if not isinstance(error, OperationalError):
        return False
    return "disk is full" in str(error) or getattr(error.__cause__, "sqlstate", "") == _DISK_FULL
