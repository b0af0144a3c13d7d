"""Texts that people wrote in one campaign and that another one shows: they go when their writer takes them back."""

from collections.abc import Collection

from django.db import transaction

from accounts.models import Annotator
from annotation.assignment import leases
from annotation.models import CopiedText, Task, TaskStimulus

TAKEN_BACK = "(taken back)"  # stands where the text stood


@transaction.atomic
def forget(*, annotator: Annotator, studies: Collection[int]) -> int:
    """Blank the copies of what somebody wrote, in campaigns of these studies, and ask about them no more.

    Returns how many there were. Answers about them stay stored and count no more. It is not undone when the person
    agrees again.
    """
    copies = CopiedText.objects.filter(writer=annotator, stimulus__task__campaign__study__in=studies)
    keys = list(copies.values_list("pk", "stimulus", "stimulus__task"))
    tasks = Task.objects.filter(pk__in=[task for _, _, task in keys])
    leases.release_tasks(tasks=tasks)  # leases before tasks, as everywhere, to avoid deadlocks
    tasks.update(withdrawn=True)
    leases.release_tasks(tasks=tasks)  # what was leased between the two
    TaskStimulus.objects.filter(pk__in=[stimulus for _, stimulus, _ in keys]).update(text=TAKEN_BACK)
    CopiedText.objects.filter(pk__in=[pk for pk, _, _ in keys]).update(writer=None)
    return len(keys)
