"""What every page of a study shows above its content, and what depends on who reads it."""

from itertools import chain
from typing import Any

from django import template
from django.template import Context

from accounts.rights import Capability
from studies.access import may, may_open
from studies.navigation import tabs_of
from web.templatetags.design import tabs

register = template.Library()


@register.inclusion_tag("studies/_tabs.html", takes_context=True)
def study_tabs(context: Context) -> dict[str, Any]:
    """The parts of the page's `study` that the person may open as tabs, and a notice if its labels are simulated."""
    request, study = context["request"], context["study"]
    labels_and_urls = tabs_of(
        study.slug, opens=lambda address: may_open(request, study, address), protocol=study.protocol
    )
    return {"study": study, **tabs(context, "Parts of the study", *chain.from_iterable(labels_and_urls))}


@register.simple_tag(takes_context=True)
def allows(context: Context, capability: str) -> bool:
    """Whether the person may do something in the page's `study`: `{% allows "SEE_QUALITY" as sees_quality %}`."""
    return may(context["request"], context["study"], Capability[capability])
