"""Template tags with what an annotator's device needs to resend answers that it could not send.

See static/annotation/annotator/submission/resend.js.
"""

from typing import Any
from uuid import UUID

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language

from annotation.annotator.translation.scripts import script_words

register = template.Library()
NOBODY = UUID(int=0)


@register.simple_tag(takes_context=True)
def device_mark(context: dict[str, Any]) -> str:
    """Return by what the device tells this person's drafts from those of others: a keyed hash, no name or key."""
    return salted_hmac("annotation.device_mark", str(context["request"].user.pk)).hexdigest()[:20]


@register.inclusion_tag("annotation/annotator/unsent.html", takes_context=True)
def unsent_answers(context: dict[str, Any], *, with_script: bool = True) -> dict[str, Any]:
    """Write the place where the device says what it still has to send; the task's own script binds it itself."""
    return {
        "who": device_mark(context),
        "submit_url": reverse("api:assignment-submit", args=[NOBODY]),
        "nobody": NOBODY,
        "csrf_token": context.get("csrf_token"),
        "with_script": with_script,
        "words": script_words(get_language() or settings.LANGUAGE_CODE) if with_script else {},
    }
