"""Template tags for the tabs of a study and the rights of the reader."""

from itertools import chain
from typing import Any

from django import template
from django.template import Context

from accounts.rights import Capability
from studies.access import is_opened_by_break_glass, may, may_open
from studies.models import BreakGlass
from studies.navigation import tabs_of
from web.templatetags.design import tabs

register = template.Library()


@register.inclusion_tag("studies/_tabs.html", takes_context=True)
def study_tabs(context: Context) -> dict[str, Any]:
    """Show the tabs of the page's `study` that the person may open, with notices about labels and administrators."""
    request, study = context["request"], context["study"]
    labels_and_urls = tabs_of(
        study.slug, opens=lambda address: may_open(request, study, address), protocol=study.protocol
    )
    glasses = (
        BreakGlass.objects.in_force().filter(study=study).select_related("user").order_by("ends_at")
        if is_opened_by_break_glass(request, study)
        else []
    )
    is_own = any(glass.user == request.user for glass in glasses)
    offers = not is_own and may(request, study, Capability.BREAK_GLASS)
    shown = {"study": study, "request": request, "glasses": glasses, "offers_break_glass": offers}
    return {**shown, **tabs(context, "Parts of the study", *chain.from_iterable(labels_and_urls))}


@register.simple_tag(takes_context=True)
def allows(context: Context, capability: str) -> bool:
    """Return whether the person has a right in `study`: `{% allows "SEE_QUALITY" as sees_quality %}`."""
    return may(context["request"], context["study"], Capability[capability])
