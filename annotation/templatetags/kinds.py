"""`{{ campaign|kind_name }}` and `{% if campaign|marks_attributes %}`: what the declaration of its kind says."""

from django import template

from annotation.kinds.questions import Question
from annotation.kinds.registry import OfKind, kind_of

register = template.Library()


@register.filter
def kind_name(campaign: OfKind) -> str:
    """Return the name of a campaign's kind."""
    return kind_of(campaign).name


@register.filter
def rates_attributes(campaign: OfKind) -> bool:
    """Return whether each task of a campaign asks for a rating of one attribute."""
    return kind_of(campaign).rates_attributes


@register.filter
def marks_attributes(campaign: OfKind) -> bool:
    """Return whether each task of a campaign asks which attributes an image shows."""
    return kind_of(campaign).marks_attributes


@register.filter
def about_attributes(campaign: OfKind) -> bool:
    """Return whether the tasks of a campaign ask about planned attributes."""
    return kind_of(campaign).about_attributes


@register.filter
def knowable(campaign: OfKind) -> bool:
    """Return whether a campaign asks anything whose right answer can be known."""
    return kind_of(campaign).knowable


@register.filter
def questions(campaign: OfKind) -> tuple[Question, ...]:
    """Return the questions of a campaign in the order asked."""
    return kind_of(campaign).questions
