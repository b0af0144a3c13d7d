"""Erasing the sign-in data of an account: sessions and sign-in attempts."""

import functools
import operator
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models import Model, Q, QuerySet

from accounts.models import User
from privacy.erasure.names import PersonNames


def sessions_of(user: User) -> list[Session]:
    """Return the sessions of an account; all sessions are read, because they have no column for the account."""
    return [
        session
        for session in Session.objects.iterator(chunk_size=2000)
        if session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]


def sign_ins_of(user: User | None, model: type[Model]) -> QuerySet[Any]:
    """Return the rows of a table of sign-ins with the user name or address of an account."""
    rows = model._default_manager.all()
    names = [name for name in (user.get_username(), user.email) if name] if user else []
    if not names:
        return rows.none()
    return rows.filter(functools.reduce(operator.or_, (Q(username__iexact=name) for name in names)))


def forget(user: User, names: PersonNames) -> None:
    """Delete the account's sessions, which ends them, and its recorded and failed sign-ins.

    A lead's session may contain notes on newly made links, so the names are removed from all other sessions.
    """
    session_keys = {session.pk for session in sessions_of(user)}
    Session.objects.filter(pk__in=session_keys).delete()
    for session in Session.objects.iterator(chunk_size=2000):
        data = session.get_decoded()
        if names.are_in(data):
            session.session_data = SessionStore().encode(names.removed_from(data))
            session.save(update_fields=["session_data"])
    for model in (AccessAttempt, AccessFailureLog, AccessLog):
        sign_ins_of(user, model).delete()
