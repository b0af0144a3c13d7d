"""The queues that work waits in. A worker takes from some of them, by default from all."""

from django.conf import settings

DEFAULT = "default"
GPU = "gpu"
QUEUES = (DEFAULT, GPU)


class QueueUnreachable(Exception):
    """The queue takes no message now."""


def queue_for(wants_gpu: bool) -> str:
    """Return where to put work that does or does not want a graphics card.

    Without GPU_QUEUE all work goes to one queue, so that a single worker does everything.
    """
    return GPU if wants_gpu and settings.GPU_QUEUE else DEFAULT
