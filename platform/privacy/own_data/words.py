"""Titles and labels for tables, columns and values on the page “Your data”.

The inventory decides which data are about a person. Tables without words here are still in the downloaded file.
The words never name a study, a group, a prompt or a role.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from annotation import integrations
from studies.personal_data import TableWords, Text


@dataclass(frozen=True)
class TableGroup:
    """A group of related tables."""

    key: str
    title: Text
    intro: Text
    tables: tuple[TableWords, ...]


_SINCE, _WHEN, _LAST_USED, _MADE = _("Since"), _("When"), _("Last used"), _("Made")
_ADDRESS, _BROWSER, _STATE = _("Network address"), _("Browser"), _("State")
_SIGN_INS: Mapping[str, Text] = {"attempt_time": _WHEN, "ip_address": _ADDRESS, "user_agent": _BROWSER}

ACCOUNT = TableGroup(
    "account",
    _("Your account"),
    _(
        "Your code is used instead of your name, on your answers and on the pages of the people who run the work."
    ),
    (
        TableWords(
            "accounts.Annotator",
            "annotator",
            _("Your code"),
            {"pseudonym": _("Your code"), "created_at": _SINCE},
        ),
        TableWords(
            "accounts.User",
            "account",
            _("Your sign-in"),
            {
                "username": _("User name"),
                "display_name": _("Name"),
                "email": _("E-mail address"),
                "date_joined": _SINCE,
                "last_login": _("Last sign-in"),
            },
        ),
        TableWords(
            "account.EmailAddress",
            "email_addresses",
            _("E-mail addresses"),
            {"email": _("E-mail address"), "verified": _("Confirmed")},
        ),
        TableWords(
            "account.EmailConfirmation",
            "email_confirmations",
            _("E-mails to confirm an address"),
            {"created": _MADE, "sent": _("Sent")},
        ),
        TableWords(
            "socialaccount.SocialAccount",
            "providers",
            _("Accounts elsewhere with which you sign in"),
            {
                "uid": _("Your id at the provider"),
                "date_joined": _SINCE,
                "last_login": _("Last sign-in"),
            },
        ),
    ),
)
ABOUT_YOU = TableGroup(
    "about-you",
    _("About you"),
    _("What you said about yourself. You can change or delete these answers at any time."),
    (
        TableWords(
            "accounts.AnnotatorProfile",
            "about_you",
            _("What you said"),
            {
                "gender": _("Gender"),
                "region_of_origin": _("Region you come from"),
                "nationality": _("Nationality"),
                "country_of_residence": _("Country you live in"),
                "age_band": _("Age"),
                "languages": _("Languages"),
                "updated_at": _("Last changed"),
            },
        ),
    ),
)
AGREEMENT = TableGroup(
    "agreement",
    _("What you agreed to"),
    _("The record shows that you gave your answers with your consent."),
    (
        TableWords(
            "accounts.Consent",
            "consents",
            _("Texts you agreed to"),
            {"version": _("Version of the text"), "given_at": _("Agreed"), "withdrawn_at": _("Withdrawn")},
        ),
        TableWords(
            "studies.Withdrawal",
            "withdrawals",
            _("Consent you withdrew"),
            {"withdrawn_at": _("Withdrawn"), "ended_at": _("Agreed again")},
        ),
    ),
)
WORK = TableGroup(
    "work",
    _("Your work"),
    _("The work you take part in, the links you used, and notes about your work."),
    (
        TableWords(
            "annotation.Invitation",
            "links",
            _("Your personal links"),
            {"created_at": _MADE, "expires_at": _("Works until"), "revoked_at": _("Ended")},
        ),
        TableWords(
            "annotation.InvitationLetter",
            "letters",
            _("E-mails with a personal link for you"),
            {"address": _("E-mail address"), "planned_at": _MADE, "sent_at": _("Sent")},
        ),
        TableWords(
            "annotation.Enrolment",
            "work",
            _("Where you take part"),
            {
                "work": _("Work"),
                "joined_at": _SINCE,
                "state": _STATE,
                "reason": _("Reason given"),
                "joined_print": _(
                    "Hash of your network address and browser (to notice people who join twice)"
                ),
                "joined_device": _("Hash of a cookie (for the same purpose)"),
            },
        ),
        TableWords("annotation.Assignment", "tasks", _("Tasks you were given")),
        TableWords(
            "annotation.PracticeRound",
            "practice",
            _("Practice"),
            {"work": _("Work"), "started_at": _("Begun"), "passed": _("Passed")},
        ),
        TableWords("annotation.PracticeAnswer", "practice_answers", _("Answers in practice")),
        TableWords(
            "annotation.QualityEvent",
            "notes_on_your_work",
            _("Notes on your work"),
            {
                "created_at": _WHEN,
                "sentence": _("Notes about your work"),
                "action": _("What followed"),
                "ended_at": _("Ended"),
            },
        ),
        TableWords(
            "annotation.ImageReport",
            "pictures_you_reported",
            _("Pictures you reported"),
            {
                "created_at": _WHEN,
                "reason": _("Reason"),
                "details": _("What you wrote"),
                "closed_at": _("Looked at"),
            },
        ),
    ),
)
ANSWERS = TableGroup(
    "answers",
    _("Your answers"),
    _("Each answer you submitted, with earlier versions of those you corrected."),
    (
        TableWords(
            "annotation.Annotation",
            "answers",
            _("Answers"),
            {
                "submitted_at": _("Submitted"),
                "work": _("Work"),
                "answer": _("Your answer"),
                "justification": _("Your reasons"),
                "active_seconds": _("Seconds at work"),
            },
        ),
        TableWords("annotation.Judgement", "parts_of_answers", _("Parts of answers, one by one")),
        TableWords("annotation.Box", "boxes", _("Boxes you drew")),
        TableWords("annotation.Point", "points", _("Points you set")),
        TableWords(
            "annotation.TaskStimulus",
            "texts_shown_to_others",
            _("Texts you wrote that others were asked about"),
            {"text": _("Text")},
        ),
    ),
)
PANEL = TableGroup(
    "panel",
    _("The panel that sent you"),
    _("Your id at the panel, and what you were paid."),
    (
        TableWords(
            "recruitment.PanelPerson",
            "panel",
            _("Your panel account"),
            {"panel_id": _("Your id at the panel")},
        ),
        TableWords(
            "recruitment.PanelPlace",
            "places",
            _("Your places"),
            {
                "arrived_at": _("Arrived"),
                "ended_at": _("Ended"),
                "answered": _("Screens answered"),
                "state": _STATE,
                "outcome": _("Decision"),
                "reason": _("Reason given"),
            },
        ),
        TableWords(
            "recruitment.PanelPayment",
            "payments",
            _("Payments"),
            {"created_at": _MADE, "kind": _("Kind"), "sum": _("Amount"), "state": _STATE},
        ),
    ),
)
SIGN_IN = TableGroup(
    "sign-in",
    _("Sign-in and security"),
    _("This information is kept to protect your account."),
    (
        TableWords(
            "usersessions.UserSession",
            "sessions",
            _("Where you are signed in"),
            {"created_at": _SINCE, "last_seen_at": _LAST_USED, "ip": _ADDRESS, "user_agent": _BROWSER},
        ),
        TableWords("axes.AccessLog", "sign_ins", _("Sign-ins"), _SIGN_INS),
        TableWords("axes.AccessAttempt", "wrong_passwords", _("Wrong passwords"), _SIGN_INS),
        TableWords("axes.AccessFailureLog", "wrong_passwords_log", _("Log of wrong passwords"), _SIGN_INS),
        TableWords(
            "mfa.Authenticator",
            "second_factors",
            _("Second factors"),
            {"type": _("Kind"), "created_at": _SINCE, "last_used_at": _LAST_USED},
        ),
        TableWords(
            "accounts.ApiToken",
            "api_tokens",
            _("API tokens"),
            {
                "name": _("Name"),
                "created_at": _MADE,
                "expires_at": _("Works until"),
                "last_used_at": _LAST_USED,
                "revoked_at": _("Ended"),
            },
        ),
    ),
)
SUBJECTS = (ACCOUNT, ABOUT_YOU, AGREEMENT, ANSWERS, WORK, PANEL, SIGN_IN)

# Data that are stored but not shown, with reasons.
NOT_SHOWN: tuple[Text, ...] = (
    _(
        "Your password and the keys of your links, sessions and tokens. These secrets are stored in a form "
        "that nobody can read."
    ),
    _(
        "Which of your tasks were checks and which of your answers count. Knowing which tasks are checks "
        "would change how people work. When the work is over, you can ask which tasks were checks and which "
        "answers count."
    ),
    _(
        "Notes by the people who run the work, such as who a link is for. You can ask the people who run the work "
        "for these notes."
    ),
    _("The history of the work, which says who did what and when."),
    _(
        "Results and published data. Results and published data contain answers under other codes, so "
        "nobody can find your answers by your code."
    ),
    _("Copies in backups, and logs of network servers in front of this server."),
)

VALUES: Mapping[tuple[str, str], Mapping[str, Text]] = {
    ("annotation.Enrolment", "state"): {
        "active": _("taking part"),
        "paused": _("paused"),
        "excluded": _("ended"),
    },
    ("annotation.QualityEvent", "action"): {"warn": _("You got a note"), "pause": _("You were paused")},
    ("recruitment.PanelPlace", "state"): {
        "working": _("at work"),
        "completed": _("completed"),
        "screened_out": _("no work left"),
        "declined": _("did not take part"),
        "left": _("left early"),
    },
    ("recruitment.PanelPlace", "outcome"): {"approved": _("accepted"), "rejected": _("not accepted")},
    ("recruitment.PanelPayment", "kind"): {
        "approve": _("reward"),
        "reject": _("no reward"),
        "screen_out": _("for coming although no work was left"),
        "bonus": _("bonus"),
    },
    ("recruitment.PanelPayment", "state"): {
        "planned": _("planned"),
        "sent": _("sent"),
        "confirmed": _("paid"),
        "unknown": _("not known yet"),
        "refused": _("refused by the panel"),
    },
    ("mfa.Authenticator", "type"): {
        "recovery_codes": _("Recovery codes"),
        "totp": _("Authenticator app"),
        "webauthn": _("Passkey"),
    },
}


def subjects() -> tuple[TableGroup, ...]:
    """Return all subjects in the order of the page, including those of external tools."""
    of_tools = (
        TableGroup(
            tool.slug.replace("_", "-"),
            tool.name,
            _(
                "What we know about your work in the labelling tool. The labelling tool’s server stores its own data."
            ),
            words,
        )
        for tool in integrations.registered()
        if (words := tuple(tool.personal_words()))
    )
    return (*SUBJECTS, *of_tools)
