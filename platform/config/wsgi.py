"""WSGI entry point: `gunicorn --pythonpath platform config.wsgi`."""

import os

from config.bytecode import keep_bytecode

keep_bytecode()  # before Django is imported

from django.core.wsgi import get_wsgi_application  # noqa: E402

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
