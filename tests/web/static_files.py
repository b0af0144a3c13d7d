"""One index of the static files for all clients of a test process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from whitenoise.middleware import WhiteNoiseMiddleware


@contextmanager
def index_static_files_once() -> Iterator[None]:
    """Share the index of files that WhiteNoise finds in the apps.

    Every client loads the middleware, which opens 240 files: a fifth of the time of tests of pages.
    """
    scan = WhiteNoiseMiddleware.add_files_from_finders
    indexes: dict[str, dict[str, Any]] = {}

    def share(middleware: WhiteNoiseMiddleware) -> None:
        key = repr(
            (middleware.static_prefix, middleware.max_age, settings.STORAGES, settings.STATICFILES_DIRS)
        )
        collected = middleware.files
        if key not in indexes:
            middleware.files = {}
            scan(middleware)
            indexes[key] = middleware.files
        middleware.files = collected | indexes[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", share)
        yield
