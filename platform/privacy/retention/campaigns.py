"""Removing data about people that a closed campaign no longer needs."""

from datetime import datetime

from allauth.account.models import EmailAddress
from django.db.models import Exists, OuterRef, Q

from accounts.models import User
from annotation.models import Campaign, Enrolment, Invitation
from annotation.recruitment import identities
from annotation.recruitment.models import Recruitment
from studies.models import StudyMembership


def _closed(before: datetime, campaign: str = "campaign") -> Q:
    return Q(**{f"{campaign}__state": Campaign.State.CLOSED, f"{campaign}__closed_at__lte": before})


def remove_prints(before: datetime) -> int:
    """Empty the hashes of address and browser; return the number of enrolments changed."""
    rows = Enrolment.objects.filter(_closed(before)).exclude(joined_print="", joined_device="")
    return rows.update(joined_print="", joined_device="")


def remove_addresses(before: datetime) -> int:
    """Remove the e-mail addresses of people whose campaigns are all closed; return the number of people."""
    enrolled = Enrolment.objects.filter(annotator__user=OuterRef("pk"))
    roles = Q(is_superuser=True) | Q(is_staff=True) | Q(is_lead=True) | Q(is_analyst=True)
    people = User.objects.filter(
        Exists(enrolled), ~Exists(enrolled.exclude(_closed(before))), ~roles
    ).exclude(pk__in=StudyMembership.objects.values("user"))
    address_rows = EmailAddress.objects.filter(user=OuterRef("pk"))
    user_ids = list(people.filter(~Q(email="") | Exists(address_rows)).values_list("pk", flat=True))
    EmailAddress.objects.filter(user__in=user_ids).delete()
    User.objects.filter(pk__in=user_ids).update(email="")
    return len(user_ids)


def remove_personal_links(before: datetime) -> int:
    """Delete links for one person; return their number. Enrolments are kept without the link."""
    personal = Q(annotator__isnull=False) | Q(limit=1)
    return _delete(_closed(before) & personal)


def remove_unused_links(before: datetime) -> int:
    """Delete unused links that can no longer be used to join; return their number."""
    over = Q(expires_at__lte=before) | Q(revoked_at__lte=before) | _closed(before)
    return _delete(over & Q(enrolments__isnull=True))


def _delete(condition: Q) -> int:
    invitation_ids = Invitation.objects.filter(condition).values("pk")
    _, deleted = Invitation.objects.filter(pk__in=invitation_ids).delete()
    return deleted.get("annotation.Invitation", 0)


def remove_panel_ids(before: datetime) -> int:
    """Erase the panel ids of settled recruitments; return the number of places changed."""
    return identities.erase(Recruitment.objects.filter(_closed(before), settled_at__lte=before))
