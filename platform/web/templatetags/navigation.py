"""Template tags for the main navigation in `base.html`."""

from typing import Any

from django import template

from web import navigation

register = template.Library()

register.simple_tag(navigation.sign_in_url)
register.simple_tag(navigation.sign_out_url)


@register.simple_tag
def navigation_links(user: Any) -> list[navigation.Link]:
    """Return the links of the main navigation that a person sees, each with `label` and `url`."""
    return navigation.links_for(user)
