"""The annotator and the campaign of a request, and the steps before the first task."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.translation import gettext

from accounts.models import Annotator, AnnotatorProfile, ConsentText, User
from annotation.answers.languages import SOURCE_LANGUAGE, in_reader_language, page_language, read_as
from annotation.campaigns.instruments import versions
from annotation.models import Assignment, Campaign, Enrolment
from foundation.errors import NotFound
from studies import consent


def annotator_of(user: User | AnonymousUser) -> Annotator | None:
    """Return the annotator of `user`, if there is one."""
    return Annotator.objects.filter(user=user.pk).first() if user.is_authenticated else None


def enrolment_for(request: HttpRequest, campaign_id: int) -> Enrolment:
    """Return the person's own enrolment; raises NotFound for campaigns to which they were not invited."""
    enrolment = (
        Enrolment.objects.select_related("annotator", "campaign__study__consent_text")
        .filter(campaign=campaign_id, annotator__user=request.user.pk)
        .first()
    )
    if enrolment is None:
        raise NotFound(
            "not_invited",
            gettext("You have no tasks here. Open your link again, or ask the person who sent you the link."),
        )
    return read_as(enrolment)


def own_assignment(enrolment: Enrolment, public_id: UUID) -> Assignment:
    """Return the annotator's own assignment; that of another does not exist for them."""
    assignment = (
        Assignment.objects.select_related("task__campaign")
        .filter(public_id=public_id, annotator=enrolment.annotator_id, task__campaign=enrolment.campaign_id)
        .first()
    )
    if assignment is None:
        raise NotFound("assignment_not_found", gettext("This task is not yours, or no longer exists."))
    return assignment


def step_before_work(enrolment: Enrolment) -> str | None:
    """Return the address of the next step before the first task: consent, then the optional questions about the
    person."""
    if not consent.has_consented(enrolment.annotator, enrolment.campaign.study):
        return reverse("annotate:consent", args=[enrolment.campaign_id])
    if not AnnotatorProfile.objects.filter(annotator=enrolment.annotator_id).exists():
        return reverse("annotate:profile", args=[enrolment.campaign_id])
    return None


def page_at_end(enrolment: Enrolment) -> str | None:
    """Return the page on which the work of somebody from a panel ends; None for all others."""
    if enrolment.most_screens is None:
        return None
    page: str | None = import_string(settings.PANEL_PAGE)(enrolment)
    return page


def panel_place(enrolment: Enrolment) -> dict[str, Any] | None:
    """Return the pay of an annotator's panel place; None for all others."""
    if enrolment.most_screens is None:
        return None
    place: dict[str, Any] | None = import_string(settings.PANEL_PLACE)(enrolment)
    return place


def pay_statement(campaign: Campaign) -> str:
    """Return the lead's text about pay, in the reader's language; empty if there is none."""
    text = str(campaign.options.get("pay", ""))
    if not text or page_language() == SOURCE_LANGUAGE or len(campaign.offered_languages or ()) < 2:
        return text
    return in_reader_language(versions.current(campaign), "pay", text)


def consent_text(campaign: Campaign) -> ConsentText:
    """Return the study's current consent text in the language of the page, or in English if it is not translated."""
    return consent.text_for(campaign.study, page_language())
