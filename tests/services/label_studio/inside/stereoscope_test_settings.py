"""Label Studio's own settings, adapted for tests; read by its Python, not by ours."""

# Its settings read Django's settings while they are loaded, so those of its base must already be here.
from core.settings.base import *  # noqa: F403
from core.settings.label_studio import *  # noqa: F403

# In SQLite, a transaction that begins with a read cannot become a writer during another write, so begin IMMEDIATE.
DATABASES["default"]["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 60}  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
