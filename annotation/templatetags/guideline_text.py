"""`{{ instrument.guidelines|guideline_text }}`: guidelines for leads, as annotators see them."""

from django import template
from django.utils.safestring import SafeString

from annotation.campaigns.instruments.markup import as_html

register = template.Library()


@register.filter
def guideline_text(text: str) -> SafeString:
    """Return guidelines with their headings, lists and emphasis."""
    return as_html(text)
