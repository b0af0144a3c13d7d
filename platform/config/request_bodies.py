"""Request bodies that the application refused without reading them."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

CHUNK = 256 * 1024


def discard_unread_bodies(application: Any) -> Any:
    """Wrap a WSGI application so that each body is read to its end before the answer goes out.

    A proxy that is still sending a body when the server closes the connection answers 502 in place of the
    server's own 403 or 413. gunicorn discards unread bodies itself, but only small ones. Use this behind a proxy
    that takes in whole requests and limits their size, never before browsers: they could send for ever.
    """

    def wrapped(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        response: Iterable[bytes] = application(environ, start_response)
        with suppress(OSError):  # who hung up sends no more
            while environ["wsgi.input"].read(CHUNK):
                pass
        return response

    return wrapped
