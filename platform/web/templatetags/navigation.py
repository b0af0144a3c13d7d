"""The tags that `base.html` builds the main navigation from."""

from typing import Any

from django import template

from web import navigation

register = template.Library()

register.simple_tag(navigation.sign_in_url)
register.simple_tag(navigation.sign_out_url)


@register.simple_tag
def navigation_links(user: Any) -> list[navigation.Link]:
    """The links of the main navigation that a person sees: `label` and `url` of each."""
    return navigation.links_for(user)
