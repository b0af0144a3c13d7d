"""The `--by` option of management commands, and the user whom it names."""

import argparse

from accounts.models import User
from foundation.errors import NotFound


def add_person_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--by USERNAME`: the user for the audit trail and for membership of what is created."""
    parser.add_argument(
        "--by", metavar="USERNAME", help="user name of the person who does this (default: nobody)"
    )


def person(username: str | None) -> User | None:
    """Return the user named with `--by`, or None without the option."""
    if username is None:
        return None
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise NotFound("user_not_found", f"There is no active user named “{username}” (--by).")
    return user
