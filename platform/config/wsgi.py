"""WSGI entry point: `gunicorn --pythonpath platform config.wsgi`."""

import os

from config.bytecode import keep_bytecode

keep_bytecode()  # before Django is imported

from django.conf import settings  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402

from config.request_bodies import discard_unread_bodies  # noqa: E402

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
if settings.TRUSTED_PROXIES:
    application = discard_unread_bodies(application)
