"""Pages from the invitation to the first task: introduction, consent, about you, the personal link."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts import consent_texts, profiles
from accounts.models import User
from accounts.pages.forms import ProfileForm, not_understood
from accounts.rights import Capability, requires
from accounts.sign_in.devices import device_of
from accounts.sign_in.limits import sign_in_by_link
from annotation.annotator.access import (
    annotator_of,
    consent_text,
    enrolment_for,
    page_at_end,
    pay_statement,
    step_before_work,
)
from annotation.answers.languages import language_of, offered
from annotation.assignment import gold_and_repeats, quota_rules
from annotation.campaigns.instruments.languages import translations as languages
from annotation.kinds.registry import in_language, kind_of, work_in
from annotation.models import Enrolment, Task
from annotation.people import invitations, withdrawal
from foundation.errors import DomainError, NotFound
from studies import consent

# The session key of a return link, from its creation until the annotator leaves the page that shows it.
RETURN_LINK = "annotate_return_link"
# The cookie of who wants pictures blurred until they show them; the task's script sets it too.
BLUR = "stereoscope_blur"
_BLUR_SECONDS = 365 * 24 * 3600


@requires(get=Capability.BY_KEY, post=Capability.BY_KEY)
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show the introduction; only 'Start' uses the link, so that previews in a mail program do not."""
    user = request.user if isinstance(request.user, User) else None
    try:
        usable_invitation = invitations.look_up(token, user=user)
        if request.method == "POST":
            return _start(request, token, user)
    except DomainError as error:
        page = "annotation/annotator/onboarding/link_unusable.html"
        return render(request, page, {"error": error, "here": request.path}, status=error.status)
    prefetched = "prefetch" in request.headers.get("Sec-Purpose", "")
    if request.method == "GET" and not prefetched and (user is None or not invitations.has_a_role(user)):
        invitations.note_opening(usable_invitation)
    campaign = usable_invitation.campaign
    translation.activate(language_of(None, campaign.offered_languages))
    labels = campaign.tasks.filter(purpose=Task.Purpose.LABEL, withdrawn=False)
    kind = kind_of(campaign)
    context = {
        "work": work_in(campaign),
        "kind": kind.public_name,
        "questions": []
        if kind.about_attributes
        else [in_language(question.label) for question in kind.questions],
        "pictures": kind.stimuli.medium == "image",
        "tasks": gold_and_repeats.at_most(campaign, labels.count()),
        "text": consent_text(campaign),
        "offered": offered(campaign),
        "pay": pay_statement(campaign),
        "is_annotator": annotator_of(request.user) is not None,
    }
    return render(request, "annotation/annotator/onboarding/invitation.html", context)


def _start(request: HttpRequest, token: str, user: User | None) -> HttpResponse:
    """Accept the invitation, sign the annotator in and go to the first step."""
    device = device_of(request).number
    enrolment = invitations.accept(token=token, user=user, fingerprint=fingerprint(request), device=device)
    person = enrolment.annotator.user
    if person is None:
        raise NotFound("annotator_without_sign_in", _("Nobody can sign in with this link."))
    if person != user:
        sign_in_by_link(request=request, user=person)
    step = step_before_work(enrolment)
    if step is None:  # no consent page follows on which they could choose
        _keep_language(enrolment)
    if invitations.look_up(token, user=person).annotator == enrolment.annotator:
        _remember_link(request, enrolment, token)  # a link for one person belongs to this person from now on
    elif step is not None:
        _remember_link(request, enrolment, invitations.return_link(enrolment=enrolment))
    return redirect(step or reverse("annotate:task", args=[enrolment.campaign_id]))


def _keep_language(enrolment: Enrolment) -> None:
    """Store the language in which a new annotator reads a campaign; it changes only on their request."""
    campaign = enrolment.campaign
    if enrolment.language is None and campaign.offered_languages is not None:
        languages.choose(enrolment=enrolment, language=language_of(None, campaign.offered_languages))


def _remember_link(request: HttpRequest, enrolment: Enrolment, token: str) -> None:
    address = request.build_absolute_uri(reverse("annotate:invitation", args=[token]))
    request.session[RETURN_LINK] = {"campaign": enrolment.campaign_id, "address": address}


def fingerprint(request: HttpRequest) -> str:
    """Return a browser's identification; only a keyed hash of it is stored."""
    return f"{request.META.get('REMOTE_ADDR', '')} {request.headers.get('User-Agent', '')}"


@requires(get=Capability.ANNOTATE, post=Capability.ANNOTATE)
@never_cache
def agree(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show the current consent text and content notice, and record agreement to that version."""
    enrolment = enrolment_for(request, campaign_id)
    study = enrolment.campaign.study
    text = consent_text(enrolment.campaign)
    stale = False
    if request.method == "POST":
        # People agree to the text that they read: a version published in between is shown first.
        stale = request.POST.get("text") != str(text.pk)
        if not stale:
            withdrawal.agree(annotator=enrolment.annotator, text=text, study=study)
            _keep_language(enrolment)
            onward = redirect(step_before_work(enrolment) or reverse("annotate:task", args=[campaign_id]))
            if "blur" in request.POST:
                onward.set_cookie(
                    BLUR, "1", max_age=_BLUR_SECONDS, samesite="Lax", secure=request.is_secure()
                )
            return onward
    if enrolment.campaign.offered_languages is not None:
        translation.activate(text.language)  # of a text that is not translated, the whole page is in English
    several = len(enrolment.campaign.offered_languages or ()) > 1
    context = {
        "campaign_id": campaign_id,
        "text": text,
        "offered": offered(enrolment.campaign) if several and enrolment.language is None else (),
        "several": several,
        "parts": consent_texts.parts(text.body),
        "pictures": kind_of(enrolment.campaign).stimuli.medium == "image",
        "stale": stale,
        "withdrawn": consent.withdrawal_of(enrolment.annotator, study),
        "can_withdraw": withdrawal.is_possible(annotator=enrolment.annotator, study=study),
        "agreed": consent.has_consented(enrolment.annotator, study),
        "leave": page_at_end(enrolment) or reverse("annotate:home"),
    }
    return render(
        request, "annotation/annotator/onboarding/consent.html", context, status=409 if stale else 200
    )


@requires(get=Capability.ANNOTATE, post=Capability.ANNOTATE)
@never_cache
def about_you(request: HttpRequest, campaign_id: int | None = None) -> HttpResponse:
    """Ask optional questions about the person, which they may skip."""
    annotator = annotator_of(request.user)
    if annotator is None:
        raise NotFound(
            "not_an_annotator", _("You are not an annotator, so there is nothing to fill in here.")
        )
    joining = campaign_id is not None
    onward = reverse("annotate:link", args=[campaign_id]) if joining else reverse("annotate:home")
    profile = profiles.of(annotator)
    form = ProfileForm(request.POST if request.method == "POST" else None, instance=profile)
    unclear: list[str] = []
    if request.method == "POST":
        if "skip" in request.POST:
            if profile.pk is None:
                profiles.describe(annotator=annotator)
            return redirect(onward)
        if form.is_valid():
            profile = form.describe()
            unclear = [
                field for field in _rule_fields(request, campaign_id) if not_understood(profile, field)
            ]
            if not unclear or "seen" in request.POST:
                return redirect(onward)
            form = ProfileForm(instance=profile)
    context = {
        "form": form,
        "joining": joining,
        "onward": onward,
        "pseudonym": annotator.pseudonym,
        "unclear": len(unclear),
    }
    return render(
        request, "annotation/annotator/onboarding/profile.html", context, status=400 if form.errors else 200
    )


def _rule_fields(request: HttpRequest, campaign_id: int | None) -> set[str]:
    """Return the fields of a profile that the rules of the campaign look at."""
    if campaign_id is None:
        return set()
    return {rule.field for rule in quota_rules.stored(enrolment_for(request, campaign_id).campaign)}


@requires(get=Capability.ANNOTATE)
@never_cache
def return_link(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Show the personal link for coming back, on any device."""
    enrolment = enrolment_for(request, campaign_id)
    stored_link = request.session.get(RETURN_LINK)
    if stored_link is None and page_at_end(enrolment):
        return redirect("annotate:task", campaign_id)  # their way back is the panel's own link
    context = {
        "campaign_id": campaign_id,
        "link": stored_link["address"] if stored_link and stored_link["campaign"] == campaign_id else "",
    }
    return render(request, "annotation/annotator/onboarding/return_link.html", context)


@requires(post=Capability.ANNOTATE)
@never_cache
def make_return_link(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Make a new personal link; an earlier link stops working."""
    enrolment = enrolment_for(request, campaign_id)
    _remember_link(request, enrolment, invitations.return_link(enrolment=enrolment))
    return redirect("annotate:link", campaign_id)
