"""Texts that people wrote in one campaign and that another one shows: they are removed when their author withdraws."""

from collections.abc import Collection

from django.db import transaction

from accounts.models import Annotator
from annotation.assignment import leases
from annotation.models import CopiedText, Task, TaskStimulus

TAKEN_BACK = "(taken back)"  # replaces the removed text


@transaction.atomic
def forget(*, annotator: Annotator, studies: Collection[int]) -> int:
    """Remove the copies of a person's texts in campaigns of these studies, and stop asking about them.

    Returns the number of copies. Answers about them stay stored but no longer count. This is not undone if the person
    agrees again.
    """
    copies = CopiedText.objects.filter(writer=annotator, stimulus__task__campaign__study__in=studies)
    keys = list(copies.values_list("pk", "stimulus", "stimulus__task"))
    tasks = Task.objects.filter(pk__in=[task for _, _, task in keys])
    leases.release_tasks(tasks=tasks)  # leases before tasks, as everywhere, to avoid deadlocks
    tasks.update(withdrawn=True)
    leases.release_tasks(tasks=tasks)  # tasks that were leased between the two
    TaskStimulus.objects.filter(pk__in=[stimulus for _, stimulus, _ in keys]).update(text=TAKEN_BACK)
    CopiedText.objects.filter(pk__in=[pk for pk, _, _ in keys]).update(writer=None)
    return len(keys)
