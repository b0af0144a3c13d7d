"""`{% campaign_tabs %}`: the pages of a campaign as tabs, those of outside tools last."""

from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from annotation import integrations
from annotation.models import Campaign
from web.templatetags.design import COMPONENTS, tabs

register = template.Library()

_LANGUAGES = {"Languages": "annotation:languages"}
_OF_DRAFT = {"Draft": "annotation:campaign", "Checks and practice": "annotation:known_tasks"}
_OF_ALL = {
    "Progress": "annotation:campaign",
    "Who labelled what": "annotation:coverage",
    "Annotators": "annotation:annotators",
}
_OF_WORK = {
    "Quality": "annotation:quality",
    "Checks and practice": "annotation:known_tasks",
    "Invitations": "annotation:invitations",
}
_OF_LEADS = {"Recruitment": "annotation:recruitments"}
_ANSWERS = {"Answers": "annotation:annotations"}


@register.inclusion_tag(f"{COMPONENTS}/navigation/tabs.html", takes_context=True)
def campaign_tabs(context: Context) -> dict[str, Any]:
    """Return the tabs of the page's campaign: fewer of a draft and of an imported one, more for leads."""
    campaign: Campaign = context["campaign"]
    if campaign.state == Campaign.State.DRAFT:
        pages = _OF_DRAFT | _LANGUAGES
    elif campaign.imported:
        pages = _OF_ALL | _ANSWERS
    else:
        pages = _OF_ALL | _OF_WORK | _LANGUAGES | _ANSWERS
        if context.get("may_change"):
            pages |= _OF_LEADS
            pages |= {tool.name: tool.campaign_page for tool in integrations.registered()}
    place = [context["study"].slug, campaign.slug]
    pairs = [part for label, name in pages.items() for part in (label, reverse(name, args=place))]
    return tabs(context, "Parts of the campaign", *pairs)
