"""Tasks with known answers: gold tasks, mixed in without notice, and practice tasks, done before the others.

Answers to them never count as labels. The contents of a task are fixed when it is made, because every process caches
them; known answers can be changed.
"""

from annotation.campaigns.known_tasks.attribute_answers import Right, listed_attributes
from annotation.campaigns.known_tasks.changes import PURPOSES, TaskContent, add, change, remove
from annotation.campaigns.known_tasks.question_answers import screen_parts
from annotation.campaigns.known_tasks.refusals import MAX_EXPLANATION
from annotation.campaigns.known_tasks.screens import (
    PlannedScreen,
    as_screen,
    screen_named,
    screens_of,
    shown_in,
)

__all__ = [
    "MAX_EXPLANATION",
    "PURPOSES",
    "PlannedScreen",
    "Right",
    "TaskContent",
    "add",
    "as_screen",
    "change",
    "listed_attributes",
    "remove",
    "screen_named",
    "screen_parts",
    "screens_of",
    "shown_in",
]
