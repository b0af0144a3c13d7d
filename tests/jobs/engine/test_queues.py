"""The queue of work that needs a graphics card."""

import pytest

from jobs.engine.queues import queue_for

pytestmark = pytest.mark.database_free


def test_a_single_worker_does_everything_unless_a_gpu_queue_is_set_up():
    assert queue_for(True) == "default"
    assert queue_for(False) == "default"


def test_where_a_gpu_queue_is_set_up_only_work_that_wants_it_goes_there(settings):
    settings.GPU_QUEUE = True

    assert queue_for(True) == "gpu"
    assert queue_for(False) == "default"
