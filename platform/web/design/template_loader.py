"""A template loader that removes line breaks and indentation."""

import re

from django.template.base import Origin
from django.template.loaders import app_directories

# Elements next to whose tags white space is not rendered.
_BLOCKS = (
    "address|article|aside|body|caption|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|"
    "html|legend|li|link|main|meta|nav|ol|optgroup|option|p|section|select|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
_BESIDE_BLOCK = re.compile(rf"\s*\n\s*(?=/?>|</?(?:{_BLOCKS})\b)|(?P<tag></?(?:{_BLOCKS})\b[^<>]*>)\s*\n\s*")
_LINE_BREAK = re.compile(r"\s*\n\s*")
# Elements in which white space is significant.
_VERBATIM = re.compile(r"<(?:pre|textarea|style)\b|<script\b(?![^>]*\bsrc=)")


class Loader(app_directories.Loader):
    """Replaces each line break and its indentation by one space, or by nothing where a space is not rendered.

    Templates with elements in which white space is significant are loaded unchanged.
    """

    def get_contents(self, origin: Origin) -> str:
        contents = super().get_contents(origin)
        if not origin.name.endswith(".html") or _VERBATIM.search(contents):
            return contents
        beside = _BESIDE_BLOCK.sub(lambda match: match["tag"] or "", contents)
        return _LINE_BREAK.sub(" ", beside).strip()
