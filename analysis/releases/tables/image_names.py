"""Names of images without a file, without information about the machine or the account that they came from."""

import re
from urllib.parse import urlsplit

_ADDRESS = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+:)?//")
_QUERY = re.compile(r"\?[^/?]*=.*", re.DOTALL)
_ABSOLUTE = re.compile(r"[\\/~]|[A-Za-z]:[\\/]|(?:.*[\\/])?\.\.[\\/]", re.DOTALL)
_HOMES = ("home", "users")  # what follows is somebody's name
_KEPT = 2


def published_name(source: str) -> str | None:
    """Return the released part of an image's source; None if nothing is left.

    For an address, only the path, because host, query and fragment may contain names, keys and signatures. For an
    absolute path, the last two parts, without the name of a home folder. Any other path is the name with which the
    labels were published.
    """
    if _ADDRESS.match(source):
        try:
            address = urlsplit(source)
        except ValueError:
            return None
        path = address.path.partition(";")[0]
        return (_end_of(path) if address.scheme.lower() == "file" else path.lstrip("/")) or None
    source = _QUERY.sub("", source)
    return (_end_of(source) if _ABSOLUTE.match(source) else source) or None


def _end_of(path: str) -> str:
    parts = [part for part in re.split(r"[\\/]", path) if part not in ("", ".", "..")]
    for at, part in enumerate(parts[:-1]):
        if part.casefold() in _HOMES:
            parts = parts[at + 2 :] or parts[-1:]
            break
    else:
        parts = parts[1:] if parts and (parts[0][0] == "~" or parts[0].endswith(":")) else parts
    return "/".join(parts[-_KEPT:])
