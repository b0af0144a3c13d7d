"""ASGI entry point."""

import os

from config.bytecode import keep_bytecode

keep_bytecode()  # before Django is imported

from django.core.asgi import get_asgi_application  # noqa: E402

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_asgi_application()
