"""A task's screen as plain templates and forms know it: what is shown, and the answer that is posted."""

from annotation.annotator.screen.form import posted_answer
from annotation.annotator.screen.screens import Screen

__all__ = ["Screen", "posted_answer"]
