"""WSGI entry point: `gunicorn --pythonpath platform config.wsgi`."""

import gc
import os
import threading

from config.bytecode import keep_bytecode

gc.disable()  # until everything is loaded: loaded modules never become garbage
keep_bytecode()  # before Django is imported

from config.counters import share_counters  # noqa: E402

share_counters()  # before prometheus_client is

from django.conf import settings  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import get_resolver  # noqa: E402

from config.request_bodies import discard_unread_bodies  # noqa: E402
from foundation.call_stack import in_one_chunk  # noqa: E402

# Each thread of the server keeps its calls in one chunk of memory. gunicorn makes the threads and offers no other place
# to wrap them once; mypy objects to the replacement of any method.
threading.Thread.run = in_one_chunk(threading.Thread.run)  # type: ignore[method-assign]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

from jobs.run import registry  # noqa: E402 - after the apps are loaded

# Loaded in the process that gunicorn forks, because otherwise each worker's first request would take a second.
_ = get_resolver().url_patterns
registry.load()
if settings.TRUSTED_PROXIES:
    application = discard_unread_bodies(application)
# The garbage collector ignores everything loaded so far, so that gunicorn's workers continue to share this memory.
gc.freeze()
gc.enable()
