"""The light colours of the design's tokens, for files that other programs draw."""

import re
from functools import lru_cache
from pathlib import Path

from django.contrib.staticfiles import finders


def stylesheet(name: str) -> str:
    """The text of a stylesheet among the static files."""
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(name)
    return Path(path).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def light() -> dict[str, str]:
    """Every token's value in the light scheme, by its name without the dashes."""
    scheme = stylesheet("web/css/tokens.css").partition("@media")[0]
    return dict(re.findall(r"--([\w-]+):\s*([^;]+);", scheme))
