"""Letters to the leads of a study."""

import smtplib
from collections.abc import Callable

from django.core.mail import EmailMessage

from accounts.models import User
from accounts.rights import Role
from foundation.errors import DomainError
from jobs.progress.reporter import Progress
from studies.models import Study


def send_to_leads(*, study: Study, letter: Callable[[str], EmailMessage], progress: Progress) -> str:
    """Send `letter(address)` to each active lead with an address; return a summary sentence."""
    leads = User.objects.filter(
        study_memberships__study=study, study_memberships__role=Role.LEAD, is_active=True
    )
    addresses = sorted(set(leads.exclude(email="").values_list("email", flat=True)))
    progress.start(len(addresses))
    for address in addresses:
        try:
            letter(address).send()
        except (smtplib.SMTPException, OSError) as error:
            # Only the type, because a mail server's answer may contain addresses and more.
            raise DomainError(
                "mail_not_sent",
                f"The mail server accepted no e-mails ({type(error).__name__}). Check EMAIL_HOST and the other EMAIL "
                f"settings.",
            ) from error
        progress.advance()
    return f"Sent to {len(addresses)} lead{'' if len(addresses) == 1 else 's'}."
