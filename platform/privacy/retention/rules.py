"""The retention rules and their settings, shown as a table in docs/operate/personal-data.md."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from privacy.retention import campaigns, server


@dataclass(frozen=True)
class RetentionRule:
    """A rule that removes rows about people a number of days after an event; without days, they are kept.

    `remove` gets the latest moment of the event and returns the number of rows changed.
    """

    key: str  # name in the audit trail and the output of the command
    setting: str
    removes: str
    since: str
    suggested_days: int
    remove: Callable[[datetime], int]

    @property
    def days(self) -> int | None:
        days: int | None = getattr(settings, self.setting)
        return days


_CLOSED = "the campaign was closed"
RULES = (
    RetentionRule(
        "prints",
        "RETAIN_PRINTS_DAYS",
        "hashes of network address and browser, which help to notice people who join twice",
        _CLOSED,
        30,
        campaigns.remove_prints,
    ),
    RetentionRule(
        "addresses",
        "RETAIN_ADDRESSES_DAYS",
        "e-mail addresses of annotators’ accounts; the addresses of people with a role are kept",
        "the person’s last campaign was closed",
        90,
        campaigns.remove_addresses,
    ),
    RetentionRule(
        "personal_links",
        "RETAIN_PERSONAL_LINKS_DAYS",
        "links for one person, with their notes and e-mails",
        _CLOSED,
        90,
        campaigns.remove_personal_links,
    ),
    RetentionRule(
        "unused_links",
        "RETAIN_UNUSED_LINKS_DAYS",
        "invitation links that nobody used",
        "the link expired or was revoked, or the campaign was closed",
        30,
        campaigns.remove_unused_links,
    ),
    RetentionRule(
        "panel_ids",
        "RETAIN_PANEL_IDS_DAYS",
        "ids of people and places at a panel, if everybody in the recruitment was paid or refused",
        _CLOSED,
        60,
        campaigns.remove_panel_ids,
    ),
    RetentionRule(
        "sessions",
        "RETAIN_SESSIONS_DAYS",
        "sessions, with network address and browser",
        "the session ended",
        7,
        server.remove_sessions,
    ),
    RetentionRule(
        "sign_ins",
        "RETAIN_SIGN_INS_DAYS",
        "records of wrong passwords, with user name, network address and browser",
        "the wrong password was typed",
        30,
        server.remove_sign_ins,
    ),
    RetentionRule(
        "job_logs",
        "RETAIN_JOB_LOGS_DAYS",
        "log lines of jobs, and the records of these jobs in the database’s queue",
        "the job ended",
        180,
        server.remove_job_logs,
    ),
)


def rule_table() -> str:
    """Return the rules as a Markdown table."""
    lines = ["| setting | removes | days are counted from when | suggested days |", "|---|---|---|---|"]
    lines += [
        f"| `{rule.setting}` | {rule.removes} | {rule.since} | {rule.suggested_days} |" for rule in RULES
    ]
    return "\n".join(lines)
