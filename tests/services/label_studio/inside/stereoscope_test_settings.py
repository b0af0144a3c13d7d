"""Label Studio's own settings as its tests here use them; read by its Python, not by ours."""

# Its settings ask Django for settings while they are read: those of its base must stand here by then.
from core.settings.base import *  # noqa: F403
from core.settings.label_studio import *  # noqa: F403

# A reader that turns writer under SQLite fails at once where another writes: each transaction says so first.
DATABASES["default"]["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 60}  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
