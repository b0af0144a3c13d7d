"""The light colours of the design tokens, for plots in files, which have no stylesheet."""

import re
from functools import lru_cache
from pathlib import Path

from django.contrib.staticfiles import finders


def stylesheet(name: str) -> str:
    """Return the text of a stylesheet among the static files; FileNotFoundError if there is none."""
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(name)
    return Path(path).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def light() -> dict[str, str]:
    """Return the value of every token in the light scheme, by its name without leading dashes."""
    scheme = stylesheet("web/css/tokens.css").partition("@media")[0]
    return dict(re.findall(r"--([\w-]+):\s*([^;]+);", scheme))
