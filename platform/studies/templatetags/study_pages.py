"""What every page of a study shows above its content."""

from itertools import chain
from typing import Any

from django import template
from django.template import Context

from studies.navigation import tabs_of
from web.templatetags.design import tabs

register = template.Library()


@register.inclusion_tag("studies/_tabs.html", takes_context=True)
def study_tabs(context: Context) -> dict[str, Any]:
    """The parts of the page's `study` as tabs, and a notice if its labels are simulated.

    A page that sets `may_change` shows the tabs of leads too.
    """
    study = context["study"]
    for_lead = bool(context.get("may_change"))
    labels_and_urls = tabs_of(study.slug, for_lead=for_lead, protocol=study.protocol)
    return {"study": study, **tabs(context, "Parts of the study", *chain.from_iterable(labels_and_urls))}
