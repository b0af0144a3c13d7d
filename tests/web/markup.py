"""Comparing HTML without regard to white space."""

import re


def compact(html: str) -> str:
    """Return HTML with no white space beside a tag, and one space elsewhere."""
    return re.sub(r"\s*(<[^>]*>)\s*", r"\1", " ".join(html.split()))
