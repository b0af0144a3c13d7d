"""Erasing a person: afterwards no row, file or log line names them, and their answers are treated as promised.

docs/operate/personal-data.md lists the effect on each table, generated from `privacy.inventory`.
"""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import Annotator, MatchedWords, User, new_pseudonym
from accounts.profiles import words_key
from analysis.models import Report
from annotation import integrations
from annotation.answers.questions import copied_texts
from annotation.assignment import leases, slots
from annotation.models import Campaign, CampaignSnapshot
from foundation.errors import Conflict, NotFound
from privacy.erasure import access, answers, panels, rights, tombstones
from privacy.erasure.names import PersonNames, names_of, own_invitations, remove_mentions
from privacy.inventory import Erasing, tables
from studies import audit
from studies.audit import chain
from studies.models import AuditEntry, StudyMembership

_REDACTION = "a person was erased"
_KEPT_ENTRIES = (chain.REDACTED, audit.ANNOTATOR_ERASED)


@dataclass(frozen=True)
class ErasureReport:
    """The result of an erasure, which names nobody."""

    studies: int
    answers_deleted: int
    answers_kept: int
    entries_redacted: int


def refuse(annotator: Annotator) -> None:
    """Raise Conflict if this person cannot be erased now."""
    if annotator.origin == Annotator.Origin.SIMULATED:
        raise Conflict("erasure_of_simulated", "This annotator is simulated: there is nobody to erase.")
    user = annotator.user
    if user is not None and (
        user.is_superuser
        or user.is_staff
        or user.is_lead
        or user.is_analyst
        or StudyMembership.objects.filter(user=user).exists()
    ):
        raise Conflict(
            "erasure_of_member",
            "This person is also a lead, analyst or administrator. An administrator must remove the person’s roles "
            "first.",
        )
    panels.refuse(annotator)


@transaction.atomic
def erase_annotator(*, annotator: Annotator, by: User | None) -> ErasureReport:
    """Erase a person in all studies. Only an earlier backup can undo it.

    `by` is the lead or administrator who erases the person, or None for the person themself and the command.
    Answers are deleted or kept under a nameless code, study by study, as the consent texts promised.
    """
    locked = Annotator.objects.select_for_update(of=("self",)).select_related("user").filter(pk=annotator.pk)
    annotator = locked.first() or _gone()
    if by is not None:
        rights.require(annotator=annotator, by=by)
    refuse(annotator)
    names = names_of(annotator)
    studies = answers.studies_of(annotator)
    tombstone = tombstones.bury(annotator)
    _forget_in_tools(annotator, by)
    campaigns = _stop_work(annotator)
    copies = annotator.copied_texts.values_list("stimulus__task__campaign__study", flat=True)
    copied_texts.forget(annotator=annotator, studies=set(copies))
    subjects = _subjects_of(annotator)
    outcome = answers.settle(annotator)
    panels.forget(annotator, names)
    _forget_profile(annotator)
    own_invitations(annotator).delete()
    _delete_rows(annotator)
    # Counts and results contain codes of annotators; they are computed again from the labels.
    CampaignSnapshot.objects.filter(campaign__in=campaigns).delete()
    Report.objects.filter(study__in=studies).delete()
    user = annotator.user
    if user is not None:
        access.forget(user, names)
    redacted = _redact_history(names, subjects, user, by)
    _leave_nameless(annotator, outcome.answers_kept > 0)
    remove_mentions(names)
    for study in studies:
        labels = outcome.promises[study.pk]
        audit.record(
            by=by, action=audit.ANNOTATOR_ERASED, subject=study, study=study, labels=str(labels.label)
        )
    if not studies:
        audit.record(by=by, action=audit.ANNOTATOR_ERASED, subject=tombstone, study=None, labels="none")
    return ErasureReport(len(studies), outcome.answers_deleted, outcome.answers_kept, redacted)


def _gone() -> Annotator:
    raise NotFound("annotator_erased", "This person has been erased already.")


def _stop_work(annotator: Annotator) -> list[Campaign]:
    """Prevent further answers and release the person's open assignments; return their campaigns."""
    enrolments = list(annotator.enrolments.select_related("campaign").order_by("pk"))
    leases.lock_for_decisions(enrolments)
    campaigns = [enrolment.campaign for enrolment in enrolments]
    slots.lock_held(annotator.pk, [campaign.pk for campaign in campaigns])
    for campaign in campaigns:
        leases.release(annotator=annotator, campaign=campaign)
    return campaigns


def _forget_in_tools(annotator: Annotator, by: User | None) -> None:
    for tool in integrations.registered():
        tool.annotator_erased(annotator, by)


def _subjects_of(annotator: Annotator) -> set[str]:
    """Return the subjects in the audit trail that concern only this person."""
    enrolments = annotator.enrolments.values_list("pk", flat=True)
    invitations = own_invitations(annotator).values_list("pk", flat=True)
    places = annotator.panel_people.filter(places__isnull=False).values_list("places", flat=True)
    reports = annotator.image_reports.values_list("pk", flat=True)
    subjects = {f"annotator:{annotator.pk}", f"user:{annotator.user_id}"}
    for name, keys in (
        ("enrolment", enrolments),
        ("invitation", invitations),
        ("panelplace", places),
        ("imagereport", reports),
        ("annotation", annotator.annotations.values_list("pk", flat=True)),
    ):
        subjects |= {f"{name}:{key}" for key in keys}
    return subjects


def _forget_profile(annotator: Annotator) -> None:
    """Delete the person's profile, and leads' matches of words that nobody else has typed."""
    profile = getattr(annotator, "profile", None)
    if profile is None:
        return
    typed = [(field, word) for field, text in profile.words.items() for word in _listed(text)]
    profile.delete()
    slots.profile_changed(annotator)
    words_of_others = set()
    for words in type(profile).objects.exclude(words={}).values_list("words", flat=True).iterator():
        words_of_others |= {
            (field, words_key(word)) for field, text in words.items() for word in _listed(text)
        }
    for field, word in typed:
        if (field, words_key(word)) not in words_of_others:
            MatchedWords.objects.filter(field=field, words=words_key(word)).delete()


def _listed(text: object) -> list[str]:
    return [str(word) for word in text] if isinstance(text, list) else [str(text)]


def _delete_rows(annotator: Annotator) -> None:
    """Delete the person's rows in all tables declared as DELETE."""
    for table in tables():
        if table.erasing is Erasing.DELETE and table.person and not table.model.startswith("accounts.User"):
            table.rows_of(annotator).delete()


def _redact_history(names: PersonNames, subjects: set[str], user: User | None, by: User | None) -> int:
    """Redact entries of the audit trail that concern or name the person; return their number."""
    of_tools = [action for tool in integrations.registered() for action in tool.kept_audit_actions]
    entries = AuditEntry.objects.exclude(details={}).exclude(action__in=[*_KEPT_ENTRIES, *of_tools])
    about = [
        entry
        for entry in entries.select_related("study").order_by("pk").iterator(chunk_size=2000)
        if (user is not None and entry.actor_id == user.pk)
        or entry.subject in subjects
        or names.are_in(entry.details)
    ]
    for entry in about:
        chain.redact(entry=entry, by=by, reason=_REDACTION)
    return len(about)


def _leave_nameless(annotator: Annotator, needed: bool) -> None:
    """Delete the account and give the annotator a new random code; delete the annotator unless `needed`."""
    user = annotator.user
    annotator.user, annotator.pseudonym = None, new_pseudonym()
    annotator.source = annotator.source_id = ""
    annotator.save(update_fields=["user", "pseudonym", "source", "source_id"])
    if user is not None:
        user.delete()
    if not needed:
        annotator.delete()


def erase_again() -> tuple[int, int]:
    """Erase the people of a restored database who are in the list of erased people outside it.

    Return the number of people erased, and of people not erased because of a conflict such as an open payment.
    """
    codes = tombstones.erased_codes()
    erased = refused = 0
    for annotator in Annotator.objects.order_by("pk") if codes else ():
        if codes.keys().isdisjoint(tombstones.hashes_of(annotator)):
            continue
        try:
            erase_annotator(annotator=annotator, by=None)
            erased += 1
        except Conflict:
            refused += 1
    return erased, refused
