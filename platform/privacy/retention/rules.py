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
        "hashes of address and browser, by which duplicates are suspected",
        _CLOSED,
        30,
        campaigns.remove_prints,
    ),
    RetentionRule(
        "addresses",
        "RETAIN_ADDRESSES_DAYS",
        "e-mail addresses of annotators’ accounts; those of people with a role stay",
        "the last of their campaigns was closed",
        90,
        campaigns.remove_addresses,
    ),
    RetentionRule(
        "personal_links",
        "RETAIN_PERSONAL_LINKS_DAYS",
        "links for one person, with the note and the letter that brought them",
        _CLOSED,
        90,
        campaigns.remove_personal_links,
    ),
    RetentionRule(
        "unused_links",
        "RETAIN_UNUSED_LINKS_DAYS",
        "invitation links that nobody used",
        "they expired or were revoked, or the campaign was closed",
        30,
        campaigns.remove_unused_links,
    ),
    RetentionRule(
        "panel_ids",
        "RETAIN_PANEL_IDS_DAYS",
        "ids of people and places at a panel, if everybody there was paid or refused",
        _CLOSED,
        60,
        campaigns.remove_panel_ids,
    ),
    RetentionRule(
        "sessions",
        "RETAIN_SESSIONS_DAYS",
        "sessions, with address and browser",
        "they ended",
        7,
        server.remove_sessions,
    ),
    RetentionRule(
        "sign_ins",
        "RETAIN_SIGN_INS_DAYS",
        "records of wrong passwords, with user name, address and browser",
        "they were typed",
        30,
        server.remove_sign_ins,
    ),
    RetentionRule(
        "job_logs",
        "RETAIN_JOB_LOGS_DAYS",
        "log lines of jobs, and what the queue in the database keeps of them",
        "the job ended",
        180,
        server.remove_job_logs,
    ),
)


def rule_table() -> str:
    """Return the rules as a Markdown table."""
    lines = ["| setting | removes | days are counted since | a sensible value |", "|---|---|---|---|"]
    lines += [
        f"| `{rule.setting}` | {rule.removes} | {rule.since} | {rule.suggested_days} |" for rule in RULES
    ]
    return "\n".join(lines)
