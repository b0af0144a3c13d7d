"""How pages of runs say numbers."""

from django import template

from generation.runs.estimates import duration_words

register = template.Library()
register.filter("duration", duration_words)
