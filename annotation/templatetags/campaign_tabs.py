"""`{% campaign_tabs %}`: the pages of a campaign as tabs, those of outside tools last."""

from itertools import chain
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from annotation import integrations
from annotation.models import Campaign
from studies.access import may_open
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
    "Time and pay": "annotation:pay",
}
_RECRUITMENT = {"Recruitment": "annotation:recruitments"}
_ANSWERS = {"Answers": "annotation:annotations"}


@register.inclusion_tag(f"{COMPONENTS}/navigation/tabs.html", takes_context=True)
def campaign_tabs(context: Context) -> dict[str, Any]:
    """Return the tabs of the page's campaign that the person may open: fewer of a draft and of an imported one."""
    campaign: Campaign = context["campaign"]
    if campaign.state == Campaign.State.DRAFT:
        pages = _OF_DRAFT | _LANGUAGES
    elif campaign.imported:
        pages = _OF_ALL | _ANSWERS
    else:
        tools = {tool.name: tool.campaign_page for tool in integrations.registered()}
        pages = _OF_ALL | _OF_WORK | _LANGUAGES | _ANSWERS | _RECRUITMENT | tools
    request, study = context["request"], context["study"]
    addresses = [(label, reverse(name, args=[study.slug, campaign.slug])) for label, name in pages.items()]
    shown = [pair for pair in addresses if may_open(request, study, pair[1])]
    return tabs(context, "Parts of the campaign", *chain.from_iterable(shown))
