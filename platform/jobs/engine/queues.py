"""The queues of jobs. A worker takes jobs from some queues, by default from all."""

from django.conf import settings

DEFAULT = "default"
GPU = "gpu"
QUEUES = (DEFAULT, GPU)


class QueueUnreachable(Exception):
    """The queue cannot accept messages at present."""


def queue_for(wants_gpu: bool) -> str:
    """Return the queue for a job, depending on whether it needs a graphics card.

    Without GPU_QUEUE, all jobs go to one queue, so that a single worker can run them.
    """
    return GPU if wants_gpu and settings.GPU_QUEUE else DEFAULT
