"""The platform's settings, with jobs that tests can watch."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.jobs.steps"]
JOB_INBOXES = ["tests.jobs.steps.background.broken_inbox", "tests.jobs.steps.background.inbox"]
