"""Addresses of pages that belong to apps above the one that links to them: a setting names each."""

from django import template
from django.conf import settings
from django.urls import reverse

register = template.Library()


@register.simple_tag
def app_page(setting: str, *arguments: object) -> str:
    """Return the address of the page that a setting names."""
    return reverse(getattr(settings, setting), args=arguments)
