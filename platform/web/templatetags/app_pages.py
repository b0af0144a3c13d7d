"""Addresses of pages in higher apps, which settings name."""

from django import template
from django.conf import settings
from django.urls import reverse

register = template.Library()


@register.simple_tag
def app_page(setting: str, *arguments: object) -> str:
    """Return the address of the page that a setting names."""
    return reverse(getattr(settings, setting), args=arguments)
