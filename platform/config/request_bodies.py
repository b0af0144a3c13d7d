"""Reading of request bodies that the application refused without reading them."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

CHUNK = 256 * 1024


def discard_unread_bodies(application: Any) -> Any:
    """Wrap a WSGI application so that each body is read to its end before the response is sent.

    A proxy that is still sending a body when the server closes the connection answers 502 instead of the
    server's own 403 or 413. gunicorn discards unread bodies itself, but only small ones. Use this behind a proxy
    that buffers requests and limits their size, never directly behind browsers, which could send forever.
    """

    def wrapped(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        response: Iterable[bytes] = application(environ, start_response)
        with suppress(OSError):  # disconnected clients send no more
            while environ["wsgi.input"].read(CHUNK):
                pass
        return response

    return wrapped
