"""The template contexts that the test client keeps."""

from django.template.base import Template
from django.template.context import Context
from django.test.signals import template_rendered
from django.utils.safestring import SafeString

_FIELDS = "django/forms/"


def render_and_keep_context(template: Template, context: Context) -> SafeString:
    """Render, and copy the context for `response.context`, unless `template` is that of a form's field.

    Django copies it for each field too, which no test reads: a fifth of the time of a page with many fields.
    """
    if not (template.name or "").startswith(_FIELDS):
        template_rendered.send(sender=template, template=template, context=context)
    return template.nodelist.render(context)
