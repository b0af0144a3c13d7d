"""Removing old data about sign-ins and jobs."""

from datetime import datetime

from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session
from django_tasks_db.models import DBTaskResult

from jobs.models import JobLine


def remove_sessions(before: datetime) -> int:
    """Delete ended sessions with their address and browser; return the number of rows."""
    session_count: int = Session.objects.filter(expire_date__lte=before).delete()[0]
    # Signing out deletes the session but not this row, whose last use is the best known end.
    ended = UserSession.objects.filter(last_seen_at__lte=before)
    ended_count: int = ended.exclude(session_key__in=Session.objects.values("session_key")).delete()[0]
    return session_count + ended_count


def remove_sign_ins(before: datetime) -> int:
    """Delete records of sign-in attempts; return the number of rows."""
    tables = (AccessAttempt, AccessFailureLog, AccessLog)
    return sum(table.objects.filter(attempt_time__lte=before).delete()[0] for table in tables)


def remove_job_logs(before: datetime) -> int:
    """Delete log lines and queue entries of ended jobs, but not the jobs; return the number of rows."""
    lines = JobLine.objects.filter(job__finished_at__lte=before).delete()[0]
    return lines + DBTaskResult.objects.filter(finished_at__lte=before).delete()[0]
