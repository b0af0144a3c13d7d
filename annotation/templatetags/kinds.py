"""`{{ campaign|kind_name }}` and `{% if campaign|asks:"marks" %}`: what the declaration of its kind says."""

from django import template

from annotation.kinds.registry import OfKind, kind_of

register = template.Library()


@register.filter
def kind_name(campaign: OfKind) -> str:
    """Return the name of a campaign's kind."""
    return kind_of(campaign).name


@register.filter
def asks(campaign: OfKind, question_type: str) -> bool:
    """Return whether a campaign asks a question of this type."""
    return kind_of(campaign).asks(question_type)
