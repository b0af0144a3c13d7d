"""A task's screen for plain templates and forms: its contents, and the posted answer."""

from annotation.annotator.screen.form import posted_answer
from annotation.annotator.screen.screens import Screen

__all__ = ["Screen", "posted_answer"]
