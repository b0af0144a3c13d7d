"""A web server on a free loopback port, for programs that need HTTP when no server runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.db import connections


class _Handler(WSGIRequestHandler):
    # Headers and body are written separately; without this, each response would wait for a delayed ACK.
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the caller reports on the requests."""


class _Server(ThreadedWSGIServer):
    daemon_threads = True

    def process_request_thread(self, *args: Any) -> None:
        super().process_request_thread(*args)
        connections.close_all()


@contextmanager
def serving() -> Iterator[str]:
    """Serve the site from this process until the block ends; yield its address."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.set_app(get_wsgi_application())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
