"""Background work of recruitment; each subject registers its own jobs."""

from annotation.recruitment.payments import background as _payments  # noqa: F401 - registers its jobs
